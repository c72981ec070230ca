//! A chain and a diamond: created, planned empty, updated, shrunk, destroyed.

use serde_json::{Value as Json, json};

use crate::driver::{Command, Job};
use crate::estate::{Estate, outcome, read_json, set};
use crate::spec::Spec;

/// a ← b ← c, each taking the id of the one before.
pub fn chain(estate: &Estate, version: &str) {
    estate.write(&Spec::new("a", version));
    estate.write(&Spec::new("b", version).takes("upstream", "a", "id"));
    estate.write(&Spec::new("c", version).takes("upstream", "b", "id"));
}

fn verdicts(plan: &Json) -> Vec<(String, String)> {
    let units = plan["units"].as_object().unwrap();
    units
        .iter()
        .map(|(name, unit)| (name.clone(), unit["verdict"]["verdict"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn a_chain_is_created_planned_empty_updated_and_destroyed() {
    let Some(estate) = Estate::new("a_chain_is_created") else { return };
    chain(&estate, "v1");
    let plan = estate.ok(Command::Plan);
    assert_eq!(plan["order"], json!(["a", "b", "c"]));
    let expected = [("a", "changes"), ("b", "envelope"), ("c", "envelope")];
    assert_eq!(verdicts(&plan), expected.map(|(unit, verdict)| (unit.to_owned(), verdict.to_owned())));
    assert_eq!(
        plan["units"]["b"]["verdict"]["waits_for"][0],
        json!({"variable": "upstream", "unit": "a", "output": "id"})
    );
    assert_eq!(plan["units"]["a"]["blast_radius"], 2);
    assert!(estate.log().is_empty(), "a plan does nothing");

    let (end, units) = outcome(&estate.ok(Command::Apply));
    assert_eq!(end, "done");
    assert!(units.values().all(|state| state == "done"), "{units:?}");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1", "b.one v1", "b.two v1", "c.one v1", "c.two v1"]);
    assert!(estate.wired());
    assert_eq!(read_json(&estate.path(".eos/state/outputs/test/a.json"))["outputs"]["version"], "v1");

    let plan = estate.ok(Command::Plan);
    assert_eq!(plan["empty"], true, "{plan:#}");
    assert_eq!(plan["asked_tofu"].as_array().unwrap().len(), 3);

    // Nothing changed and nobody wants to look: tofu is not called at all.
    let plan = estate.run(&Job { no_refresh: true, ..estate.job(Command::Plan) }).accepted();
    assert_eq!(plan["empty"], true);
    assert_eq!(plan["asked_tofu"], json!([]));

    estate.clear_log();
    chain(&estate, "v2");
    let (end, _) = outcome(&estate.ok(Command::Apply));
    assert_eq!(end, "done");
    assert_eq!(estate.log(), ["a.one v2", "a.two v2", "b.one v2", "b.two v2", "c.one v2", "c.two v2"]);
    assert!(estate.wired(), "the ids of the replaced resources reached the units below");
    assert_eq!(estate.ok(Command::Plan)["empty"], true);

    let (end, _) = outcome(&estate.ok(Command::Destroy));
    assert_eq!(end, "done");
    assert!(estate.world().is_empty(), "{:?}", estate.world());
    assert!(!estate.path(".eos/state/outputs/test/a.json").exists());
}

#[test]
fn a_diamond_is_done_in_order_and_an_orphan_goes() {
    let Some(estate) = Estate::new("a_diamond") else { return };
    estate.write(&Spec::new("top", "1"));
    estate.write(&Spec::new("left", "1").takes("upstream", "top", "id"));
    estate.write(&Spec::new("right", "1").takes("upstream", "top", "version"));
    estate.write(&Spec::new("bottom", "1").takes("left", "left", "id").takes("right", "right", "version"));
    let plan = estate.ok(Command::Plan);
    assert_eq!(plan["order"], json!(["top", "left", "right", "bottom"]));
    // A known output lets the unit below be planned before anything is applied.
    assert_eq!(plan["units"]["right"]["verdict"]["verdict"], "changes");
    assert_eq!(plan["units"]["right"]["inputs"]["upstream"], "1");
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert!(estate.wired());
    let lines = std::fs::read_to_string(estate.path("log")).unwrap();
    let at = |line: &str| lines.lines().position(|other| other == line).unwrap();
    assert!(at("top.two 1") < at("left.one 1") && at("left.two 1") < at("bottom.one 1"));

    // `bottom` moves from `right` to a new unit; `right` goes once nobody uses it.
    estate.remove("right");
    estate.write(&Spec::new("other", "1"));
    estate.write(&Spec::new("bottom", "2").takes("left", "left", "id").takes("right", "other", "version"));
    let plan = estate.ok(Command::Plan);
    assert_eq!(plan["order"], json!(["other", "top", "left", "bottom", "right"]));
    assert_eq!(plan["changes"][0]["kind"], "destroy", "destroys are shown first");
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let world = estate.world();
    assert!(!world.contains_key("right") && world.contains_key("other"));
    assert!(estate.wired());
    assert_eq!(estate.ok(Command::Plan)["empty"], true);
}

#[test]
fn a_plan_file_is_applied_as_it_is_or_refused() {
    let Some(estate) = Estate::new("a_plan_file") else { return };
    chain(&estate, "v1");
    estate.ok(Command::PlanOut);
    // Another commit, then other bytes: refused, and nothing was done.
    let other = Job { commit: "c2".into(), ..estate.job(Command::ApplyFile) };
    assert_eq!(estate.run(&other).refused(), ["E0907"]);
    estate.write(&Spec::new("a", "v2"));
    assert_eq!(estate.run(&estate.job(Command::ApplyFile)).refused(), ["E0907"]);
    assert!(estate.world().is_empty());
    chain(&estate, "v1");
    assert_eq!(outcome(&estate.ok(Command::ApplyFile)).0, "done");
    assert!(estate.wired());
    // The same plan again: every unit was applied since.
    assert!(estate.run(&estate.job(Command::ApplyFile)).refused().iter().all(|code| code == "E0907"));
}

#[test]
fn some_units_only_and_what_they_need() {
    let Some(estate) = Estate::new("some_units_only") else { return };
    chain(&estate, "v1");
    let only = |names: &[&str]| Job { only: Some(set(names)), ..estate.job(Command::Apply) };
    assert_eq!(estate.run(&only(&["b"])).refused(), ["E0908"]);
    assert_eq!(estate.run(&only(&["nothing"])).refused(), ["E0409"]);
    assert_eq!(outcome(&estate.run(&only(&["a"])).accepted()).0, "done");
    assert_eq!(outcome(&estate.run(&only(&["b"])).accepted()).0, "done");
    let mut world = estate.world();
    assert!(world.remove("a").is_some() && world.remove("b").is_some() && world.is_empty());
    // Taking away what another still needs is refused.
    let destroy = Job { command: Command::Destroy, ..only(&["a"]) };
    assert_eq!(estate.run(&destroy).refused(), ["E0410"]);
}

/// What is only created and gives nobody a value is told by the plan's own events; anything else is shown by tofu, which
/// says the same of it.
#[test]
fn a_new_unit_is_not_shown_where_that_tells_no_more() {
    let Some(estate) = Estate::new("a_new_unit_is_not_shown") else { return };
    let (wrapper, calls) = (estate.path("tofu-wrapper"), estate.path("calls"));
    let real = estate.job(Command::Plan).tofu;
    let script = format!("#!/bin/sh\necho \"$1 $PWD\" >> '{calls}'\nexec '{real}' \"$@\"\n");
    std::fs::write(&wrapper, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&wrapper, mode).unwrap();
    let plan = || {
        let _ = std::fs::remove_file(&calls);
        let plan = estate.run(&Job { tofu: wrapper.clone(), ..estate.job(Command::Plan) }).accepted();
        let calls = std::fs::read_to_string(&calls).unwrap();
        (plan, calls.lines().filter(|call| call.starts_with("show ")).count())
    };
    estate.write(&Spec::new("a", "v1"));
    let (alone, shown) = plan();
    assert_eq!(shown, 0);
    // Another that takes a value of it: now its plan is shown.
    estate.write(&Spec::new("b", "v1").takes("upstream", "a", "version"));
    let (both, shown) = plan();
    assert_eq!(shown, 1, "b is new as well, and gives nobody a value");
    let changes = |plan: &Json| plan["units"]["a"]["verdict"]["changes"].clone();
    assert_eq!(changes(&alone), changes(&both));
    assert_eq!(changes(&alone).as_array().unwrap().len(), 2);
    outcome(&estate.ok(Command::Apply));
    estate.write(&Spec::new("b", "v2").takes("upstream", "a", "version"));
    assert_eq!(plan().1, 1, "what exists is always shown");
}
