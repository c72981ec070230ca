//! kill -9 of eos, of tofu, of both; Ctrl-C. Afterwards resume ends as an undisturbed run, undo as before it, and
//! nothing is done twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use eos_engine::journal;
use eos_engine::record::{Outcome, Record};
use serde_json::{Value as Json, json};

use crate::driver::{Command, Job, Kill, When, records_of};
use crate::estate::{Estate, outcome, set};
use crate::spec::{Spec, UP};

fn before(estate: &Estate) {
    estate.write(&Spec::new("base", "v1"));
    estate.write(&Spec::new("web", "v1").takes("upstream", "base", "id"));
    estate.write(&Spec::new("old", "v1"));
}

/// One unit replaced, one below it that follows, one new, one that goes.
fn after(estate: &Estate) {
    estate.write(&Spec::new("base", "v2"));
    estate.write(&Spec::new("web", "v2").takes("upstream", "base", "id"));
    estate.write(&Spec::new("extra", "v2").needs(&["base"]));
    estate.remove("old");
}

/// What an undisturbed run gives.
struct Reference {
    estate: Estate,
    world_before: World,
    world_after: World,
    log: Vec<String>,
    records: u32,
}

type World = BTreeMap<String, BTreeMap<String, Json>>;

/// Made by the first test that wants it, gone with the last.
fn reference(test: &str) -> Option<Arc<Reference>> {
    static SHARED: Mutex<Weak<Reference>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reference) = shared.upgrade() {
        return Some(reference);
    }
    let estate = Estate::encrypted(test)?;
    before(&estate);
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    estate.clear_log();
    let world_before = estate.world();
    after(&estate);
    let whole = estate.copy();
    assert_eq!(outcome(&whole.ok(Command::Apply)).0, "done");
    let records = records_of(&whole.root).last().unwrap().len() as u32;
    assert!(whole.wired());
    let made = Reference { estate, world_before, world_after: whole.world(), log: whole.log(), records };
    let reference = Arc::new(made);
    *shared = Arc::downgrade(&reference);
    Some(reference)
}

fn kill(when: When, eos: bool, tofu: bool) -> Kill {
    Kill { when, eos, tofu, interrupt: false }
}

/// Resumes until the run is over; a person looks after what is listed. Gives the addresses that were listed.
fn resume_to_the_end(estate: &Estate, case: &str) -> Vec<String> {
    let mut listed = Vec::new();
    for looked_after in [false, true] {
        let job = Job { looked_after, ..estate.job(Command::Resume) };
        let answer = estate.run(&job);
        if answer.json["refused"][0]["code"] == "E0903" {
            return listed;
        }
        let answer = answer.accepted();
        match outcome(&answer).0.as_str() {
            "done" | "undone" => return listed,
            "stuck" if !looked_after => {
                for unit in answer["report"]["units"].as_object().unwrap().values() {
                    listed.extend(
                        unit["reasons"].as_array().unwrap().iter().map(|r| r.as_str().unwrap().to_owned()),
                    );
                }
            }
            other => panic!("{case}: resume ended {other}: {answer:#}"),
        }
    }
    panic!("{case}: resume did not end")
}

fn resumes_from(case: &str, reference: &Reference, strike: Kill) {
    let estate = reference.estate.copy();
    let answer = estate.killed(Command::Apply, strike);
    let died = answer.signal.is_some();
    let over = !died && outcome(&answer.json).0 == "done";
    let listed = if over { Vec::new() } else { resume_to_the_end(&estate, case) };
    assert_eq!(estate.world(), reference.world_after, "{case}");
    assert!(estate.wired(), "{case}");
    let mut log = estate.log();
    if !listed.is_empty() {
        // What was listed as possibly done may have been done again.
        log.dedup();
    }
    assert_eq!(log, reference.log, "{case}: something was done twice or not at all; listed: {listed:?}");
    assert_eq!(estate.ok(Command::Plan)["empty"], true, "{case}");
}

fn undoes_from(case: &str, reference: &Reference, strike: Kill) {
    let estate = reference.estate.copy();
    let strikes_tofu = strike.tofu;
    let answer = estate.killed(Command::Apply, strike);
    if answer.signal.is_none() {
        let end = outcome(&answer.json).0;
        assert!(end == "done" || strikes_tofu && matches!(end.as_str(), "failed" | "stuck"), "{case}: {end}");
    }
    if records_of(&estate.root).len() < 2 {
        return;
    }
    let job = Job { commit: "c2".into(), looked_after: true, ..estate.job(Command::Undo) };
    let answer = estate.run(&job).accepted();
    assert_eq!(outcome(&answer).0, "undone", "{case}: {answer:#}");
    assert_eq!(estate.world(), reference.world_before, "{case}");
    before(&estate);
    let _ = std::fs::remove_dir_all(estate.path("build/test/extra"));
    assert!(estate.wired(), "{case}");
    assert_eq!(estate.ok(Command::Plan)["empty"], true, "{case}: the old revision plans empty");
}

/// Something else is typed first: an apply of one of the units, or of another one that is new. It does what it says, or it is
/// refused since something is half-done, which is still known then.
fn forgets_nothing_from(case: &str, reference: &Reference, strike: Kill) {
    let estate = reference.estate.copy();
    estate.killed(Command::Apply, strike.clone());
    let When::Record(record) = strike.when else { panic!("{case}") };
    let unit = ["web", "old", "base", "extra", "other"][record as usize % 5];
    if unit == "other" {
        estate.write(&Spec::new("other", "v1"));
    }
    let next = estate.run(&Job { only: Some(set(&[unit])), ..estate.job(Command::Apply) });
    match next.json.get("refused").is_some() {
        true => {
            // What is to go may be gone already.
            let gone = unit == "old" && !estate.world().contains_key(unit);
            assert_eq!(next.refused(), [if gone { "E0409" } else { "E0902" }], "{case}: --only {unit}");
        }
        false => assert_eq!(outcome(&next.accepted()).0, "done", "{case}: --only {unit}"),
    }
    let open = eos_engine::runs::open(&eos_engine::Layout::new(estate.root.clone())).unwrap().0;
    let half_done = open.iter().any(|known| known.run.half_done().next().is_some());
    let listed = if half_done { resume_to_the_end(&estate, case) } else { Vec::new() };
    estate.ok(Command::Apply);
    let mut log = estate.log();
    log.retain(|line| !line.starts_with("other."));
    if !listed.is_empty() {
        log.dedup();
    }
    assert_eq!(log, reference.log, "{case}: --only {unit}: made twice or not at all");
    let mut world = estate.world();
    world.remove("other");
    assert_eq!(world, reference.world_after, "{case}: --only {unit}");
    assert_eq!(estate.ok(Command::Plan)["empty"], true, "{case}: --only {unit}");
}

/// After every record. Eight tests, so that they run side by side.
fn after_every_record(test: &str, go_on: fn(&str, &Reference, Kill), (eos, tofu): (bool, bool)) {
    let Some(reference) = reference(test) else { return };
    for record in 0..reference.records {
        let case = format!("{test}: record {record}");
        go_on(&case, &reference, kill(When::Record(record), eos, tofu));
    }
}

#[test]
fn eos_killed_after_every_record_and_resumed() {
    after_every_record("eos_killed_and_resumed", resumes_from, (true, false));
}

#[test]
fn eos_and_tofu_killed_after_every_record_and_resumed() {
    after_every_record("eos_and_tofu_killed_and_resumed", resumes_from, (true, true));
}

#[test]
fn eos_killed_after_every_record_and_undone() {
    after_every_record("eos_killed_and_undone", undoes_from, (true, false));
}

#[test]
fn eos_and_tofu_killed_after_every_record_and_undone() {
    after_every_record("eos_and_tofu_killed_and_undone", undoes_from, (true, true));
}

/// Where no tofu is at work, the next one is struck as soon as it is.
#[test]
fn tofu_killed_after_every_record_and_resumed() {
    after_every_record("tofu_killed_and_resumed", resumes_from, (false, true));
}

#[test]
fn tofu_killed_after_every_record_and_undone() {
    after_every_record("tofu_killed_and_undone", undoes_from, (false, true));
}

#[test]
fn eos_killed_after_every_record_and_something_else_typed() {
    after_every_record("eos_killed_and_something_else", forgets_nothing_from, (true, false));
}

#[test]
fn eos_and_tofu_killed_after_every_record_and_something_else_typed() {
    after_every_record("eos_and_tofu_killed_and_something_else", forgets_nothing_from, (true, true));
}

/// Also a resume and an undo may be killed, and taken up again.
#[test]
#[ignore = "the whole matrix: make soak"]
fn every_record_of_a_resume_and_of_an_undo() {
    let Some(reference) = reference("every_record_of_a_resume") else { return };
    for command in [Command::Resume, Command::Undo] {
        for again in 2..40 {
            let estate = reference.estate.copy();
            estate.killed(Command::Apply, kill(When::Record(8), true, true));
            let kill = Some(kill(When::Record(again), true, false));
            let first =
                estate.run(&Job { kill, looked_after: true, commit: "c2".into(), ..estate.job(command) });
            if first.signal.is_some() {
                resume_to_the_end(&estate, &format!("{command:?} killed at {again}"));
            } else if again > 12 {
                break;
            }
            let expected =
                if command == Command::Undo { &reference.world_before } else { &reference.world_after };
            assert_eq!(&estate.world(), expected, "{command:?} killed at {again}");
        }
    }
}

/// Tofu alone is killed, at each resource of each unit: eos sees it, lists what may be unrecorded, and goes on later.
#[test]
fn tofu_killed_at_every_resource() {
    let Some(reference) = reference("tofu_killed_at_every_resource") else { return };
    for (unit, resources) in &reference.world_after {
        for address in resources.keys() {
            let when = When::Start(unit.clone(), address.clone());
            let case = format!("tofu killed at {address} of {unit}");
            resumes_from(&case, &reference, kill(when, false, true));
        }
    }
}

fn slow(estate: &Estate) {
    let command = format!("sleep 1; echo slow >> {UP}/log");
    let body = json!({"input": "x", "depends_on": ["terraform_data.two"], "provisioner": [{"local-exec": {"command": command}}]});
    estate.write(&Spec::new("slow", "v1").resource("lazy", body));
    estate.write(&Spec::new("next", "v1").takes("upstream", "slow", "id"));
}

fn strike(when: When) -> Kill {
    kill(when, false, true)
}

#[test]
fn a_killed_tofu_that_was_creating_something_foreign_leaves_the_run_stuck() {
    let Some(estate) = Estate::new("a_killed_tofu") else { return };
    slow(&estate);
    let when = When::Provision("slow".into(), "terraform_data.lazy".into());
    let answer = estate.killed(Command::Apply, strike(when)).accepted();
    let (end, units) = outcome(&answer);
    assert_eq!(end, "stuck", "{answer:#}");
    assert_eq!((units["slow"].as_str(), units["next"].as_str()), ("stuck", "planned"));
    // Tofu had not written its state yet: also what it had finished is unrecorded, and listed.
    let reasons = answer["report"]["units"]["slow"]["reasons"].to_string();
    for address in [
        "terraform_data.one was created (id ",
        "terraform_data.two was",
        "terraform_data.lazy was being created",
    ] {
        assert!(reasons.contains(address), "{address}: {reasons}");
    }
    // It stays so until somebody has looked, and stands in the way of the next run.
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "stuck");
    assert_eq!(estate.run(&estate.job(Command::Apply)).refused(), ["E0902"]);
    let resume = Job { looked_after: true, ..estate.job(Command::Resume) };
    assert_eq!(outcome(&estate.run(&resume).accepted()).0, "done");
    assert!(estate.wired());
    let count = |line: &str| estate.log().iter().filter(|l| *l == line).count();
    assert_eq!((count("slow"), count("next.one v1"), count("next.two v1")), (1, 1, 1));
}

/// Has the journal say that the run is over though a unit of it is half-done, as another clone's run makes it.
pub fn overtaken(estate: &Estate) -> eos_engine::Run {
    let layout = eos_engine::Layout::new(estate.root.clone());
    let run = eos_engine::runs::open(&layout).unwrap().0.remove(0).run;
    let path = layout.journal(&run.begun.run);
    let (mut journal, _) = journal::Journal::open::<Record>(&path).unwrap();
    journal.append(&Record::Ended { at: run.begun.at, outcome: Outcome::Superseded }).unwrap();
    drop(journal);
    std::fs::create_dir_all(layout.runs().join("finished")).unwrap();
    std::fs::rename(path, layout.finished_journal(&run.begun.run)).unwrap();
    run
}

/// What an overtaken run was making is not made again until somebody has looked, nor while its tofu still works.
#[test]
fn what_an_overtaken_run_left_half_done_is_not_made_twice() {
    for tofu in [true, false] {
        let Some(estate) = Estate::new("an_overtaken_run") else { return };
        slow(&estate);
        let when = When::Provision("slow".into(), "terraform_data.lazy".into());
        assert_eq!(estate.killed(Command::Apply, kill(when, true, tofu)).signal, Some(9));
        let run = overtaken(&estate);
        let again = estate.run(&estate.job(Command::Apply));
        if tofu {
            assert_eq!(again.refused(), ["E0914"]);
            let looked = Job { looked_after: true, ..estate.job(Command::Apply) };
            assert_eq!(outcome(&estate.run(&looked).accepted()).0, "done");
        } else {
            assert_eq!(again.refused(), ["E0902"], "its tofu is at work");
            let child = run.units.values().find_map(|unit| unit.child).unwrap();
            assert!(child.wait_until_gone(&mut || true));
            assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
            assert_eq!(estate.log().iter().filter(|line| *line == "slow").count(), 1);
        }
    }
}

/// Nor is what it was replacing, nor what can be planned only once another unit is applied.
#[test]
fn what_an_overtaken_run_was_replacing_or_may_make_later_is_not_made_twice() {
    let lazy = |version: &str| {
        let command = format!("sleep 1; echo lazy {version} >> {UP}/log");
        json!({"triggers_replace": [version], "provisioner": [{"local-exec": {"command": command}}]})
    };
    for replaced in [true, false] {
        let Some(estate) = Estate::new("an_overtaken_run") else { return };
        let web = Spec::new("web", "v1").takes("upstream", "base", "id");
        estate.write(&Spec::new("base", "v1"));
        if replaced {
            estate.write(&web.resource("lazy", lazy("v1")));
            estate.ok(Command::Apply);
        }
        estate.write(&Spec::new("web", "v1").takes("upstream", "base", "id").resource("lazy", lazy("v2")));
        let when = When::Provision("web".into(), "terraform_data.lazy".into());
        assert_eq!(estate.killed(Command::Apply, kill(when, true, true)).signal, Some(9));
        overtaken(&estate);
        if !replaced {
            estate.write(&Spec::new("base", "v2"));
        }
        let again = estate.run(&estate.job(Command::Apply));
        let told = again.json["refused"].to_string();
        assert!(told.contains("terraform_data.lazy"), "{told}");
        assert_eq!(again.refused(), ["E0914"], "replaced: {replaced}");
        let looked = Job { looked_after: true, ..estate.job(Command::Apply) };
        assert_eq!(outcome(&estate.run(&looked).accepted()).0, "done");
    }
}

/// Ctrl-C, and then kill -9 of a tofu that hangs: it wrote no state, whatever it was asked before.
#[test]
fn a_tofu_that_is_killed_after_an_interrupt_is_not_taken_for_one_that_stopped() {
    let Some(estate) = Estate::new("killed_after_an_interrupt") else { return };
    slow(&estate);
    let when = When::Provision("slow".into(), "terraform_data.lazy".into());
    let kill = Kill { when, eos: false, tofu: true, interrupt: true };
    let answer = estate.killed(Command::Apply, kill).accepted();
    let (end, units) = outcome(&answer);
    assert_eq!((end.as_str(), units["slow"].as_str()), ("stuck", "stuck"), "{answer:#}");
    assert!(!answer.to_string().contains("wrote its state"), "{answer:#}");
    assert_eq!(estate.run(&estate.job(Command::Apply)).refused(), ["E0902"]);
}

/// Other clones see that a run is at a unit again, which it had left in order when it failed.
#[test]
fn a_unit_that_is_resumed_is_not_called_in_order() {
    let Some(estate) = Estate::new("a_unit_that_is_resumed") else { return };
    estate.write(&Spec::new("a", "v1").breakable());
    std::fs::write(estate.path("broken"), "").unwrap();
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "failed");
    assert!(estate.attempt("a").over);
    std::fs::remove_file(estate.path("broken")).unwrap();
    let when = When::Start("a".into(), "terraform_data.fragile".into());
    assert_eq!(estate.killed(Command::Resume, kill(when, true, true)).signal, Some(9));
    assert!(!estate.attempt("a").over, "it is being made");
}

/// An undo that is cut off is judged by the bytes that it applied: the run's own may not have what it was making.
#[test]
fn an_undo_that_was_making_something_harmless_goes_on() {
    let Some(estate) = Estate::new("an_undo_cut_off") else { return };
    estate.write(&Spec::new("a", "v1").resource("plain", json!({"input": "x"})));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let before = estate.world();
    estate.write(&Spec::new("a", "v1"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let when = When::Start("a".into(), "terraform_data.plain".into());
    assert_eq!(estate.killed(Command::Undo, kill(when, true, true)).signal, Some(9));
    let answer = estate.ok(Command::Resume);
    assert_eq!(outcome(&answer).0, "undone", "{answer:#}");
    assert_eq!(estate.world(), before);
}

#[test]
fn an_interrupt_lets_tofu_write_its_state_and_begins_nothing_more() {
    let Some(estate) = Estate::new("an_interrupt") else { return };
    slow(&estate);
    let when = When::Provision("slow".into(), "terraform_data.lazy".into());
    let answer =
        estate.killed(Command::Apply, Kill { when, eos: false, tofu: false, interrupt: true }).accepted();
    let (end, units) = outcome(&answer);
    assert_eq!(end, "stopped", "{answer:#}");
    assert_eq!((units["slow"].as_str(), units["next"].as_str()), ("stopped", "planned"));
    assert!(answer["report"]["problems"].to_string().contains("E0922"));
    assert!(estate.world().contains_key("slow"), "tofu wrote its state");
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "done");
    assert!(estate.wired());
    let log = estate.log();
    assert_eq!(log, ["next.one v1", "next.two v1", "slow", "slow.one v1", "slow.two v1"]);
}

/// kill -9 of eos leaves tofu applying; nobody else touches the unit, and resume waits for it.
#[test]
fn a_tofu_that_outlives_eos_is_waited_for() {
    let Some(estate) = Estate::new("a_tofu_that_outlives_eos") else { return };
    slow(&estate);
    let when = When::Provision("slow".into(), "terraform_data.lazy".into());
    let answer = estate.killed(Command::Apply, kill(when, true, false));
    assert_eq!(answer.signal, Some(9));
    let plan = estate.run(&estate.job(Command::Plan));
    assert_eq!(plan.refused(), ["E0902"], "its folder is in use by the tofu that was left");
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "done");
    assert_eq!(estate.log(), ["next.one v1", "next.two v1", "slow", "slow.one v1", "slow.two v1"]);
}
