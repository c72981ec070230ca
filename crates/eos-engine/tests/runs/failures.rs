//! A failure in each unit, with each policy: the report says what tofu's states say, and nothing is done twice.

use std::collections::BTreeMap;

use eos_engine::record::{Record, Step};
use eos_engine::{Layout, OnFailure, runs};
use serde_json::{Value as Json, json};

use crate::driver::{Command, Job, records_of};
use crate::estate::{Estate, outcome, set};
use crate::spec::Spec;

const UNITS: [&str; 4] = ["a", "b", "c", "x"];

/// a ← b ← c, and x alone; `broken` fails.
fn write(estate: &Estate, version: &str, broken: &str) {
    for (name, upstream) in [("a", None), ("b", Some("a")), ("c", Some("b")), ("x", None)] {
        let mut spec = Spec::new(name, version);
        if let Some(upstream) = upstream {
            spec = spec.takes("upstream", upstream, "id");
        }
        if name == broken {
            spec = spec.breakable();
        }
        estate.write(&spec);
    }
    std::fs::write(estate.path("broken"), "").unwrap();
}

/// What tofu's state says of a unit, in the report's words.
fn said_by_tofu(estate: &Estate, unit: &str) -> &'static str {
    let world = estate.world();
    let Some(resources) = world.get(unit) else { return "planned" };
    let tainted = resources.values().any(|resource| resource["status"] == "tainted");
    if tainted { "failed" } else { "done" }
}

fn check_report(estate: &Estate, case: &str, states: &BTreeMap<String, String>) {
    for unit in UNITS {
        let said = said_by_tofu(estate, unit);
        let reported = states[unit].as_str();
        let same = reported == said || (reported == "undone" && said == "planned");
        assert!(same, "{case}: the report says {unit} is {reported}, tofu's state {said}");
    }
}

fn fails(broken: &str, on_failure: OnFailure) {
    let case = format!("{broken} fails, {on_failure:?}");
    let Some(estate) = Estate::encrypted(&case) else { return };
    write(&estate, "v1", broken);
    let answer = estate.run(&Job { on_failure, ..estate.job(Command::Apply) }).accepted();
    let (end, states) = outcome(&answer);
    check_report(&estate, &case, &states);
    let is = |unit: &str| states[unit].as_str();
    assert!(answer["report"]["problems"].to_string().contains("E0912"), "{case}: {answer:#}");
    match on_failure {
        OnFailure::Undo => {
            assert_eq!(end, "undone", "{case}: {answer:#}");
            assert!(estate.world().is_empty(), "{case}");
            return;
        }
        OnFailure::Stop => assert_eq!(is(broken), "failed"),
        OnFailure::ContinueIndependent => {
            assert_eq!(is(broken), "failed");
            let below = UNITS.iter().filter(|unit| broken != "x" && **unit != "x" && **unit > broken);
            for unit in below.clone() {
                assert_eq!(is(unit), "planned", "{case}: {unit}");
            }
            let others = UNITS.iter().filter(|unit| **unit != broken && !below.clone().any(|b| b == *unit));
            for unit in others {
                assert_eq!(is(unit), "done", "{case}: {unit}");
            }
        }
    }
    assert_eq!(end, "failed");
    // Once the cause is gone, the rest is done, and only the rest.
    std::fs::remove_file(estate.path("broken")).unwrap();
    let answer = estate.ok(Command::Resume);
    assert_eq!(outcome(&answer).0, "done", "{case}: {answer:#}");
    assert!(estate.wired(), "{case}");
    let expected: Vec<String> =
        UNITS.iter().flat_map(|unit| ["one", "two"].map(|key| format!("{unit}.{key} v1"))).collect();
    assert_eq!(estate.log(), expected, "{case}: nothing twice");
    assert_eq!(estate.ok(Command::Plan)["empty"], true, "{case}");
}

#[test]
fn a_failure_with_stop() {
    UNITS.iter().for_each(|unit| fails(unit, OnFailure::Stop));
}

#[test]
fn a_failure_with_undo() {
    UNITS.iter().for_each(|unit| fails(unit, OnFailure::Undo));
}

#[test]
fn a_failure_with_continue_independent() {
    UNITS.iter().for_each(|unit| fails(unit, OnFailure::ContinueIndependent));
}

#[test]
fn a_failed_update_is_taken_back_to_the_version_before() {
    let Some(estate) = Estate::encrypted("a_failed_update") else { return };
    write(&estate, "v1", "none");
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let before = estate.world();
    estate.clear_log();
    write(&estate, "v2", "b");
    let job = Job { on_failure: OnFailure::Undo, commit: "c2".into(), ..estate.job(Command::Apply) };
    let answer = estate.run(&job).accepted();
    assert_eq!(outcome(&answer).0, "undone", "{answer:#}");
    assert_eq!(estate.world(), before);
    write(&estate, "v1", "none");
    assert!(estate.wired(), "units that were not touched by the failure follow what was restored above them");
    assert_eq!(estate.ok(Command::Plan)["empty"], true);
}

#[test]
fn a_failed_run_gives_way_to_a_corrected_one() {
    let Some(estate) = Estate::new("gives_way") else { return };
    write(&estate, "v1", "b");
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "failed");
    // One that is not over is found however many others are.
    let found = || runs::all(&Layout::new(estate.root.clone()), 0).unwrap().0.len();
    assert_eq!(found(), 1);
    write(&estate, "v1", "none");
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert_eq!(found(), 0);
    assert_eq!(estate.run(&estate.job(Command::Resume)).refused(), ["E0903"]);
    assert_eq!(estate.ok(Command::Plan)["empty"], true);
}

#[test]
fn an_unhealthy_unit_is_not_applied_again() {
    let Some(estate) = Estate::new("an_unhealthy_unit") else { return };
    estate.write(&Spec::new("a", "v1"));
    estate.write(&Spec::new("b", "v1").takes("upstream", "a", "id"));
    let sick = Job { unhealthy: set(&["a"]), ..estate.job(Command::Apply) };
    let answer = estate.run(&sick).accepted();
    let (end, states) = outcome(&answer);
    assert_eq!((end.as_str(), states["a"].as_str(), states["b"].as_str()), ("failed", "failed", "planned"));
    assert!(answer["report"]["problems"].to_string().contains("E0913"));
    // The journal knows why as well: eos status tells it later.
    let reason = "a was applied and is not healthy: it does not answer\nnobody listens there";
    assert_eq!(failure_of(&estate), ("E0913".to_owned(), reason.to_owned()));
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "done");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1", "b.one v1", "b.two v1"]);
}

/// What was there before is back; that it does not work is told, and keeps nothing from being taken back.
#[test]
fn what_was_taken_back_and_does_not_work_is_told() {
    let Some(estate) = Estate::new("taken_back_and_sick") else { return };
    for version in ["v1", "v2"] {
        estate.write(&Spec::new("a", version));
        estate.write(&Spec::new("b", version).takes("upstream", "a", "id"));
        estate.ok(Command::Apply);
    }
    let answer = estate.run(&Job { unhealthy: set(&["a"]), ..estate.job(Command::Undo) }).accepted();
    let (end, states) = outcome(&answer);
    assert_eq!((end.as_str(), states["a"].as_str(), states["b"].as_str()), ("undone", "undone", "undone"));
    let told = answer["report"]["problems"].as_array().unwrap();
    assert_eq!(told.len(), 1, "{answer:#}");
    assert_eq!((&told[0]["code"], &told[0]["severity"]), (&"E0913".into(), &"warning".into()));
    assert_eq!(told[0]["message"], "a is taken back and is not healthy: it does not answer");
}

/// Nothing is known against what nobody had looked at to the end.
#[test]
fn a_stop_while_health_is_looked_at_is_a_stop() {
    let Some(estate) = Estate::new("a_stop_while_looking") else { return };
    estate.write(&Spec::new("a", "v1"));
    let stopped = Job { unhealthy: set(&["a"]), stopped_looking: true, ..estate.job(Command::Apply) };
    let answer = estate.run(&stopped).accepted();
    assert_eq!(outcome(&answer).0, "stopped", "{answer:#}");
    assert_eq!(failure_of(&estate), ("E0922".to_owned(), "stopped while looking".to_owned()));
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "done");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1"], "nothing twice");
}

/// Nor against what Nomad cannot be asked about: nothing is taken back for its silence.
#[test]
fn a_nomad_that_cannot_be_asked_is_no_failure_of_the_unit() {
    let Some(estate) = Estate::new("a_nomad_that_cannot_be_asked") else { return };
    estate.write(&Spec::new("a", "v1"));
    let on_failure = eos_engine::OnFailure::Undo;
    let unheard = Job { unhealthy: set(&["a"]), unheard: true, on_failure, ..estate.job(Command::Apply) };
    let answer = estate.run(&unheard).accepted();
    let (end, states) = outcome(&answer);
    assert_eq!((end.as_str(), states["a"].as_str()), ("stopped", "verifying"), "{answer:#}");
    let told = answer["report"]["problems"][0]["message"].as_str().unwrap();
    assert_eq!(told, "a was applied; whether it works is not known: Nomad does not answer");
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "done");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1"], "nothing twice, nothing taken back");
}

/// The code and the message of the last failure in the last run's journal.
fn failure_of(estate: &Estate) -> (String, String) {
    let records = records_of(&estate.root).pop().unwrap();
    let failed = records.into_iter().rev().find_map(|record| match record {
        Record::Unit { step: Step::Failed { code, message }, .. } => Some((code, message)),
        _ => None,
    });
    failed.expect("something failed")
}

#[test]
fn what_has_no_inverse_is_listed_before_an_undo() {
    let Some(estate) = Estate::new("no_inverse") else { return };
    estate.write(&Spec::new("a", "v1"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let plan = estate.ok(Command::PlanUndo);
    assert_eq!(plan["units"][0]["goal"], "gone");
    let stays: Vec<Json> = plan["units"][0]["without_inverse"].as_array().unwrap().clone();
    assert_eq!(stays.len(), 2, "both ran a command: {plan:#}");
    assert_eq!(stays[0], json!(["terraform_data.one", "a command that was run when it was created"]));
    // A run that is done can be undone too.
    assert_eq!(outcome(&estate.ok(Command::Undo)).0, "undone");
    assert!(estate.world().is_empty());
    assert_eq!(estate.run(&estate.job(Command::Undo)).refused(), ["E0903"]);
}

/// What cannot be taken back still needs what it was built on.
#[test]
fn a_unit_that_cannot_be_taken_back_keeps_what_it_needs() {
    let Some(estate) = Estate::new("cannot_be_taken_back") else { return };
    estate.write(&Spec::new("base", "v1"));
    estate.write(&Spec::new("web", "v1").takes("upstream", "base", "id"));
    estate.write(&Spec::new("alone", "v1"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let path = estate.path(".eos/state/tofu/shop/test/web.tfstate");
    let state = std::fs::read(&path).unwrap();
    std::fs::write(&path, "no state").unwrap();
    let (end, units) = outcome(&estate.ok(Command::Undo));
    // Nothing may be left behind that nobody knows of: it is tried again as soon as the cause is gone.
    assert_eq!(end, "failed");
    let states = ["web", "base", "alone"].map(|unit| units[unit].as_str());
    assert_eq!(states, ["failed", "done", "undone"]);
    std::fs::write(&path, state).unwrap();
    assert!(estate.world().contains_key("base"), "web stands on it");
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "undone");
    assert!(estate.world().is_empty());
}
