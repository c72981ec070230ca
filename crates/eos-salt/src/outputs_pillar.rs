//! The pillar module that gives Salt what tofu's units published.

/// `terraform_outputs.py`, as shipped in the Salt tree: put it into `_pillar/` of a master's tree, or into a folder of
/// `module_dirs`, and name it in `ext_pillar` with the folder of the published outputs.
pub const TERRAFORM_OUTPUTS: &str = include_str!("../../../salt/_pillar/terraform_outputs.py");

/// Where an estate keeps what its units published: `<env>/<unit>.json`.
pub(crate) const OUTPUTS_FOLDER: &str = ".eos/state/outputs";
