//! kill -9 of eos, of tofu, of both in the middle of `eos apply`: after a record of the journal, and at any moment. What
//! was done is not done again, resume ends where an undisturbed run ends, and undo where it began.
//!
//! Here a seeded sample, in `make soak` all of it; the engine's own tests kill after every record as well.

use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::place::{Place, text, until};
use crate::support::processes::{self, Process};
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

#[derive(Debug, Clone, Copy)]
enum Victim {
    Eos,
    Tofu,
    Both,
}

#[derive(Debug, Clone, Copy)]
enum Then {
    Resume,
    Undo,
}

type Try = (u32, Victim, Then);

/// What that change writes: what it is, who took it up, four steps for each of four units, how it ended.
const RECORDS: u32 = 2 + 4 * 4 + 1;

fn every_try() -> Vec<Try> {
    let victims = [Victim::Eos, Victim::Tofu, Victim::Both];
    let both = |record, victim| [Then::Resume, Then::Undo].map(|then| (record, victim, then));
    (0..RECORDS).flat_map(|record| victims.into_iter().flat_map(move |victim| both(record, victim))).collect()
}

/// Two at a time, each with an estate of its own: what is made is counted in a file.
fn strike_at(tries: Vec<Try>) {
    let left = Mutex::new(tries);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let base = about_to_change();
                loop {
                    let Some(next) = left.lock().unwrap().pop() else { return };
                    one_strike(&base, next);
                }
            });
        }
    });
}

fn one_strike(base: &Place, (record, victim, then): Try) {
    let case = format!("{victim:?} killed after record {record}, then {then:?}");
    std::fs::remove_file(base.outside("log")).unwrap_or_default();
    let place = base.copy(&format!("at{record}-{victim:?}-{then:?}"));
    strike(&place, record, victim);
    let mut looked_after = false;
    // Tofu was killed while it made something that only its provider knows of: a person looks, and says so.
    let mut go_on = |words: &[&str]| {
        let run = place.run(words);
        looked_after = run.code == 5;
        let run = if looked_after { place.run(&[words, &["--looked-after"]].concat()) } else { run };
        assert_eq!(run.code, 0, "{case}\n{}{}", run.stdout, run.stderr);
    };
    match then {
        Then::Resume => {
            go_on(&["resume"]);
            let mut log = place.lines("log");
            if looked_after {
                // What was listed as possibly made may have been made again.
                log.dedup();
            }
            assert_eq!(log, MADE, "{case}");
        }
        Then::Undo => {
            go_on(&["undo", "--yes"]);
            let shown = place.ok(&["show", "desk"]).stdout;
            assert!(!shown.contains("red"), "{case}: {shown}");
        }
    }
    let plan = place.run(&["plan"]);
    assert_eq!(plan.code, 0, "{case}\n{}{}", plan.stdout, plan.stderr);
    std::fs::remove_dir_all(place.path("")).unwrap();
}

/// Applies, and kills when this record is on the disk and nothing was done since.
fn strike(place: &Place, record: u32, victim: Victim) {
    let mut command = place.command(&["apply", "--yes"]);
    command.env("EOS_TEST_STOP_AFTER", record.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = command.spawn().unwrap();
    until("it has stopped", || processes::is_stopped(run.id()) || run.try_wait().unwrap().is_some());
    let estate = place.path("build").parent().unwrap().to_owned();
    let kill_tofu = || {
        let tofu = processes::applying(&estate);
        tofu.iter().for_each(Process::kill);
        tofu.is_some()
    };
    match victim {
        Victim::Eos => run.kill().unwrap(),
        Victim::Both => {
            run.kill().unwrap();
            // Several units may be at it.
            while kill_tofu() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        // Where none is at work, the next one has to go.
        Victim::Tofu => {
            let mut struck = kill_tofu();
            processes::go_on(run.id());
            while !struck && run.try_wait().unwrap().is_none() {
                struck = kill_tofu();
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
    run.wait().unwrap();
}

#[test]
fn killed_after_some_records() {
    let (mut random, mut all) = (Seeded::new(), every_try());
    let draw = |_| all.swap_remove(random.below(all.len() as u64) as usize);
    strike_at((0..12).map(draw).collect());
}

#[test]
#[ignore = "long: part of make soak"]
fn killed_after_every_record() {
    strike_at(every_try());
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
