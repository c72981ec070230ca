//! kill -9 of eos in the middle of `eos apply`, at moments drawn from a seed. What was done is not done again, resume
//! ends where an undisturbed run ends, and undo where it began. The engine's own tests kill after every record.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::place::{Place, text};
use crate::support::seeded::Seeded;

/// A ledger, a desk and a lamp that are there; a change of all three and another lamp are recorded.
fn about_to_change() -> Place {
    let place = Place::new();
    let log = place.outside("log");
    let log = text(&log);
    place.ok(&["create", "lamp", "--log", log, "--no-apply"]);
    place.ok(&["update", "desk", "--log", log, "--seconds", "1", "--no-apply"]);
    place.ok(&["apply", "--yes"]);
    place.ok(&["update", "desk", "--color", "red", "--no-apply"]);
    place.ok(&["update", "ledger", "--size", "big", "--no-apply"]);
    place.ok(&["create", "lamp", "extra", "--desk", "desk", "--log", log, "--no-apply"]);
    std::fs::remove_file(log).unwrap();
    place
}

/// What local-exec writes when it is made, in the order of needs.
const MADE: [&str; 2] = ["desk red", "extra"];

/// Kills eos after a part of the time an undisturbed run took. Gives whether it was still at work.
fn killed(place: &Place, after: Duration) -> bool {
    let mut run = place.begin(&["apply", "--yes"]);
    std::thread::sleep(after);
    let at_work = !run.is_over();
    run.signal(Signal::KILL);
    run.end();
    at_work
}

fn tries(seed: u64, count: usize) {
    let base = about_to_change();
    let whole = base.copy("whole");
    let began = Instant::now();
    whole.ok(&["apply", "--yes"]);
    let took = began.elapsed();
    assert_eq!(whole.lines("log"), MADE);
    let mut random = Seeded::from(seed);
    let mut cut_off = 0;
    for number in 0..count {
        let part = u32::try_from(random.below(100)).unwrap();
        let case = format!("try {number}, seed {seed}, after {part} % of {took:?}");
        std::fs::remove_file(base.outside("log")).unwrap_or_default();
        let place = base.copy(&format!("try-{number}"));
        cut_off += usize::from(killed(&place, took * part / 100));
        if number % 2 == 0 {
            resumed(&place, &case);
        } else {
            undone(&place, &case);
        }
        // Only eos was killed: its tofu ended what it was at, and nobody did it again.
        let log = place.lines("log");
        for made in MADE {
            assert!(log.iter().filter(|line| *line == made).count() <= 1, "{case}: made again: {log:?}");
        }
    }
    assert!(cut_off > 0, "no run was cut off in {count} tries of {took:?}");
}

fn resumed(place: &Place, case: &str) {
    let unfinished = unfinished(place);
    let resumed = place.run(&["resume"]);
    assert_eq!(resumed.code, 0, "{case}\n{}{}", resumed.stdout, resumed.stderr);
    assert_ne!(resumed.stdout.starts_with("Nothing to resume"), unfinished, "{case}\n{}", resumed.stdout);
    if !unfinished {
        // Killed before the run began, or after its end: the change is recorded, and this does what is left of it.
        place.ok(&["apply", "--yes"]);
    }
    let plan = place.run(&["plan"]);
    assert_eq!(plan.code, 0, "{case}\n{}{}", plan.stdout, plan.stderr);
    assert_eq!(place.lines("log"), MADE, "{case}");
}

fn unfinished(place: &Place) -> bool {
    place.json(&["status"])["runs"].as_array().is_some_and(|runs| !runs.is_empty())
}

fn undone(place: &Place, case: &str) {
    let head = place.head();
    if !unfinished(place) && place.lines("log").is_empty() {
        // Nothing of this run to take back.
        return;
    }
    let undone = place.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{case}\n{}{}", undone.stdout, undone.stderr);
    assert_ne!(place.head(), head, "{case}: the pillar went back");
    let plan = place.run(&["plan"]);
    assert_eq!(plan.code, 0, "{case}\n{}{}", plan.stdout, plan.stderr);
    let shown = place.ok(&["show", "desk"]).stdout;
    assert!(!shown.contains("red"), "{case}: {shown}");
}

#[test]
fn eos_killed_at_some_moments() {
    tries(0x5eed_cafe, 6);
}

#[test]
#[ignore = "long: part of make soak"]
fn eos_killed_at_many_moments() {
    tries(0x0dd5_eed5, 60);
}
