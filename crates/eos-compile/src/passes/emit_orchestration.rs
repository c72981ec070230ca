//! The same units for Salt shops: `salt-run state.orchestrate` applies them in the same order.

use serde_json::{Map, Value as Json, json};

use crate::passes::resolve_names::OPERATIONS;
use crate::work::Work;

/// The runner that applies one unit, on the master.
const RUNNER: &str = "infrastructure.apply";

pub fn run(work: &mut Work<'_>) {
    let env = &work.input.environment.name;
    let id = |unit: &str| format!("{env}/{unit}");
    let mut states = Map::new();
    let mut add = |unit: &str, needs: Vec<Json>| {
        let mut arguments = vec![json!({"name": RUNNER}), json!({"environment": env}), json!({"unit": unit})];
        if !needs.is_empty() {
            arguments.push(json!({"require": needs}));
        }
        states.insert(id(unit), json!({"salt.runner": arguments}));
    };
    for name in &work.order {
        let needs = work.units[name].upstream.iter().map(|need| json!({"salt": id(need.as_str())})).collect();
        add(name.as_str(), needs);
    }
    if !work.input.environment.operations.is_empty() {
        add(OPERATIONS, work.order.iter().map(|name| json!({"salt": id(name.as_str())})).collect());
    }
    if states.is_empty() {
        return;
    }
    let path = format!("build/{env}/orchestrate.sls");
    work.files.insert(path, format!("#!yaml\n{}", eos_yaml::write(&Json::Object(states))).into_bytes());
}
