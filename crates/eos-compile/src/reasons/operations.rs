//! Why a line of an environment's one-off operations is there.

use serde_json::json;

use super::salt::within;
use super::{Path, Reason, manifest, tofu};
use crate::origin::Origin;
use crate::passes::emit_operations;
use crate::work::Work;

pub fn reasons(work: &Work<'_>, file: &str, path: &Path) -> Vec<Reason> {
    let steps: Vec<&str> = path.iter().map(|step| step.name.as_str()).collect();
    let operations = work.input.environment.operations.values();
    let compiler = |causes: Vec<super::Cause>| {
        causes.into_iter().filter_map(|cause| match cause {
            super::Cause::Compiler(why) => Some(Reason::Compiler(why)),
            super::Cause::Estate(key) => Some(Reason::From(Origin::estate(&key))),
            _ => None,
        })
    };
    match file {
        "main.tf.json" => {
            let mut found: Vec<Reason> = compiler(tofu::every_module(&steps)).collect();
            let key = steps.get(2).filter(|_| steps[0] == "resource");
            let mut behind =
                operations.filter(|one| Some(emit_operations::key(&one.id).as_str()) == key.copied());
            found.extend(behind.next().map(|one| said(work, one)));
            found
        }
        "manifest.json" => compiler(manifest::causes(path)).collect(),
        "provenance.json" | "inputs.auto.tfvars.json" => compiler(manifest::whole_file(file)).collect(),
        _ => {
            let stem = file.strip_prefix("salt/").and_then(|name| name.strip_suffix(".sls"));
            let Some(one) = operations.into_iter().find(|one| Some(one.id.stem().as_str()) == stem) else {
                return Vec::new();
            };
            let section = format!("operations:{}:states", one.verb);
            let component = work.input.catalog.component(&one.kind).ok();
            let spec = component.as_ref().and_then(|component| component.operations.get(&one.verb));
            let key = spec.map(|spec| within(&section, &json!(spec.states), path).join(":"));
            let catalog = key.map(|key| Reason::From(Origin::catalog(&one.kind, &key)));
            catalog.into_iter().chain([said(work, one)]).collect()
        }
    }
}

/// Where an operation was recorded.
fn said(work: &Work<'_>, one: &eos_pillar::OperationEntry) -> Reason {
    Reason::From(work.written(&one.node, format!("eos:operations:{}", one.id)))
}
