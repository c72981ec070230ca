//! Why a line of `main.tf.json` that no setting is behind is there.
//!
//! What a setting, a host or a default is behind has its origin in the provenance. The rest is the emitter's own doing or
//! the catalogue's; this table says which and why, so that `eos why` leaves no line unexplained.

/// The reason of a line, by the path of the value on it: `["terraform", "backend", "local", "path"]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The compiler writes it for every unit.
    Compiler(&'static str),
    /// The component says it, under this key of `component.yaml`.
    Catalog(&'static str),
}

/// Resources of eos's own provider, whose arguments the compiler writes.
const OWN: [&str; 2] = ["eos_nomad_job", "eos_salt_state"];

/// Argument of such a resource → why it is there. `target` and `via` are traced to the pillar where it says them.
const ARGUMENTS: &[(&str, &str)] = &[
    ("data_class", "its volumes hold data of this class, which decides how they are guarded"),
    ("data_classes", "the job works on data of these classes; none of it is ever lost to a plan"),
    (
        "depends_on",
        "volumes first, then the host, then what provisions a need, then the job; on one host one by one",
    ),
    ("lifecycle", "data is kept: a plan that would destroy this resource is refused"),
    ("name", "environment, unit and resource: what the running thing is known by, and adopted by"),
    ("on_destroy", "the states that undo the others when the unit goes"),
    ("purge_on_destroy", "a job that goes leaves nothing in Nomad, so that one of its name can come again"),
    ("sls", "the states are the file beside this one, which salt-call reads without eos"),
    ("spec", "the job is the file beside this one, which nomad job run reads without eos"),
    ("target", "the host the unit is placed on"),
    ("trigger", "the operation's id: applied once, never again"),
    ("via", "how Salt reaches the host"),
    ("wait", "what comes next counts on it: a job is healthy, a batch complete, before the next resource"),
];

/// Why the value at `path` is there; nothing for a path no emitter writes.
pub fn reason(path: &[&str]) -> Option<Reason> {
    use Reason::{Catalog, Compiler};
    Some(match path {
        ["terraform"] => Compiler("versions, providers and where the state is"),
        ["terraform", "required_version", ..] => {
            Compiler("the oldest OpenTofu or Terraform whose plans and state eos works with")
        }
        ["terraform", "required_providers"] | ["terraform", "required_providers", "eos", ..] => {
            Compiler("the provider that runs Nomad jobs and Salt states")
        }
        ["terraform", "required_providers", ..] => Catalog("cloud:providers"),
        ["terraform", "backend", ..] => Compiler(
            "each unit has a state of its own, under estate/environment/unit; eos.toml says where (backend)",
        ),
        ["variable", ..] => {
            Compiler("a value that exists once another unit is applied; inputs.auto.tfvars.json carries it")
        }
        ["module", _, "source"] => {
            Compiler("the catalogue's module, copied to build/modules under the digest of its files")
        }
        ["module", ..] => Catalog("cloud:modules"),
        ["resource"] => Compiler("what this unit consists of"),
        ["resource", own] | ["resource", own, _] if OWN.contains(own) => {
            Compiler("a resource of eos's own provider, one for each job and each file of states")
        }
        ["resource", own, _, argument, ..] if OWN.contains(own) => {
            Compiler(ARGUMENTS.iter().find(|(known, _)| known == argument)?.1)
        }
        ["resource", _, _, "lifecycle", ..] => {
            Compiler("it holds data: a plan that would destroy it is refused (cloud:data_classes)")
        }
        ["resource", ..] => Catalog("cloud:resources"),
        ["provider", ..] => Catalog("cloud:providers"),
        ["data", ..] => Catalog("cloud:data"),
        ["output", ..] => Catalog("outputs"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_the_ones_of_the_provider() {
        // Sorted, and none that the schema does not have: `lifecycle` and `depends_on` are OpenTofu's own.
        assert!(ARGUMENTS.is_sorted());
        let schema = eos_model::provider_schema::provider_schema().to_string();
        for (argument, _) in ARGUMENTS.iter().filter(|(name, _)| !["depends_on", "lifecycle"].contains(name))
        {
            assert!(schema.contains(&format!("\"{argument}\"")), "{argument}");
        }
    }

    #[test]
    fn what_is_unknown_has_no_reason() {
        assert_eq!(reason(&["terraform", "cloud"]), None);
        assert_eq!(reason(&["resource", "eos_nomad_job", "job", "colour"]), None);
        assert!(matches!(reason(&["resource", "aws_instance", "a", "ami"]), Some(Reason::Catalog(_))));
    }
}
