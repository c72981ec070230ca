//! What a person can do while a run goes on, and with one that stopped in the middle.

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Begun, Place, until};
use crate::refused::child_of;

/// A desk whose making takes a while, and the tofu that makes it.
pub fn being_made(place: &Place, words: &[&str]) -> (Begun, i32) {
    let run = place.begin(words);
    let mut tofu = 0;
    until("tofu makes the desk", || {
        tofu = child_of(run.pid().as_raw_nonzero().get(), "tofu").unwrap_or(0);
        tofu != 0 && child_of(tofu, "sh").is_some()
    });
    (run, tofu)
}

/// Nothing is recorded of an undo that cannot begin.
#[test]
fn a_run_that_goes_on_is_not_taken_back() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let (run, _) = being_made(&place, &["update", "desk", "--color", "red", "--seconds", "5", "--yes"]);
    let head = place.head();
    place.says("run_undo_of_a_run_that_goes_on", &place.exits(4, &["undo", "--yes"]));
    assert_eq!(place.head(), head);
    assert_eq!(run.end().code, 0);
    place.is_settled();
    assert!(place.ok(&["show", "desk"]).stdout.contains("red"));
}

/// Ctrl-C is nobody's failure: what was being made is called stopped, with what to type.
#[test]
fn what_was_only_stopped_is_not_called_failed() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let (run, _) = being_made(&place, &["update", "desk", "--color", "red", "--seconds", "5", "--yes"]);
    run.signal(Signal::INT);
    let run = run.end();
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(!run.stdout.contains("failed"), "{}", run.stdout);
    place.says("run_stopped", &run);
    let status = place.ok(&["status"]);
    assert!(!status.stdout.contains("failed"), "{}", status.stdout);
    place.says("run_stopped_status", &status);
    assert_eq!(place.json(&["status"])["runs"][0]["units"]["desk"]["state"], "stopped");
    place.ok(&["resume"]);
    place.is_settled();
}

/// A tofu that outlived its eos has the unit's folder to itself, by hand as well.
#[test]
fn a_tofu_that_goes_on_alone_is_not_worked_beside() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let (run, tofu) = being_made(&place, &["update", "desk", "--color", "red", "--seconds", "12", "--yes"]);
    run.signal(Signal::KILL);
    run.end();
    for words in [&["plan"][..], &["tofu", "desk", "--", "state", "list"]] {
        let refused = place.exits(4, words);
        assert!(refused.stderr.contains(&format!("by tofu (pid {tofu})")), "{words:?}: {}", refused.stderr);
    }
    place.ok(&["resume"]);
    place.is_settled();
}

/// The way on that is told of a stuck run is one that leads on.
#[test]
fn a_stuck_run_says_what_helps() {
    let place = Place::new();
    place.ok(&["create", "ledger", "--yes"]);
    let (run, tofu) = being_made(&place, &["create", "desk", "--seconds", "5", "--yes"]);
    kill_process(Pid::from_raw(tofu).unwrap(), Signal::KILL).unwrap();
    assert_eq!(run.end().code, 5);
    let status = place.ok(&["status"]).stdout;
    let told = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("terraform_data.top was being created when tofu was killed"), "{status}");
    assert!(
        told.contains("look after what is listed, then eos resume --looked-after goes on with it"),
        "{status}"
    );
    assert!(told.contains("eos undo --looked-after takes it back"), "{status}");
    // Nobody is sent to an apply that is refused.
    place.says("run_stuck_plan", &place.exits(2, &["plan"]));
    place.exits(4, &["apply", "--yes"]);
    place.exits(5, &["resume"]);
    place.ok(&["resume", "--looked-after"]);
    place.is_settled();
}

/// Whoever has to look at what is to be removed can.
#[test]
fn a_unit_that_is_not_asked_for_any_more_can_be_looked_at() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["delete", "desk", "--no-apply"]);
    assert_eq!(place.ok(&["tofu", "desk", "--", "state", "list"]).stdout, "terraform_data.top\n");
}
