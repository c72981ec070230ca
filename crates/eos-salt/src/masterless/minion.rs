//! The configuration of a masterless minion.

use std::path::PathBuf;

use camino::Utf8Path;
use serde_json::{Value as Json, json};

use crate::outputs_pillar::OUTPUTS_FOLDER;
use crate::run::StateRun;

/// Everything but the private places, which whoever runs Salt adds: `root_dir`, `file_roots` and the shipped modules.
pub(crate) fn configuration(run: &StateRun<'_>, estate: Option<&Utf8Path>, module_dirs: &[PathBuf]) -> Json {
    let mut minion = json!({
        "id": run.target,
        "file_client": "local",
        "master_type": "disable",
        "module_dirs": module_dirs,
        // Values of the pillar are for states to use; what leaves is redacted by us.
        "pillar_mask_output": false,
        "log_level_logfile": "quiet",
    });
    if let Some(environment) = run.environment {
        minion["grains"] = json!({"environment": environment});
    }
    if let Some(estate) = estate {
        minion["pillar_roots"] = json!({"base": [estate.join("pillar")]});
        minion["ext_pillar"] = json!([{"terraform_outputs": estate.join(OUTPUTS_FOLDER)}]);
    }
    minion
}
