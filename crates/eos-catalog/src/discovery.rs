//! The need that every kind with a service has: a register of services, where the estate has one.
//!
//! Written here once and not in each `component.yaml`, so that a kind of one's own has it too.

use serde_json::{Map, Value as Json, json};

/// The offer of a register of services, and the need for it.
pub const DISCOVERY: &str = "discovery";

/// Adds the need to a component that has a checked port, unless it says something about it itself.
pub(crate) fn add_need(component: &mut Json) {
    let has =
        |component: &Json, section: &str| component.get(section).is_some_and(|s| s.get(DISCOVERY).is_some());
    let is_checked = |task: &Json| task.get("checks").and_then(Json::as_array).is_some_and(|c| !c.is_empty());
    let serves = component.get("tasks").and_then(Json::as_object).is_some_and(|t| t.values().any(is_checked));
    if !serves || has(component, "offers") || has(component, "needs") {
        return;
    }
    let Some(fields) = component.as_object_mut() else { return };
    let needs = fields.entry("needs").or_insert_with(|| Json::Object(Map::new()));
    if let Some(needs) = needs.as_object_mut() {
        let help = "registering its services, which Nomad does otherwise";
        needs.insert(DISCOVERY.to_owned(), json!({"offer": DISCOVERY, "soft": true, "help": help}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serves_may_be_registered_and_the_register_itself_not() {
        let tasks = json!({"server": {"checks": [{"port": "http"}]}});
        let mut serves = json!({"tasks": tasks});
        add_need(&mut serves);
        assert_eq!(serves["needs"][DISCOVERY]["soft"], true);
        for mut other in [
            json!({"tasks": tasks, "offers": {DISCOVERY: {}}}),
            json!({"tasks": {"server": {"checks": []}}}),
            json!({"states": {}}),
        ] {
            let before = other.clone();
            add_need(&mut other);
            assert_eq!(other, before);
        }
    }
}
