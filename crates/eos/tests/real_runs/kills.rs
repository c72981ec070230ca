//! kill -9 of eos, of tofu, of both, in an apply with Nomad: after each record of the journal, and at random moments.
//! Resume ends as if nothing had happened, undo as before.
//!
//! `EOS_TEST_SEED` repeats the moments of an earlier run, which says its seed; `EOS_TEST_RECORD` takes one record alone.

use std::sync::Mutex;
use std::time::Duration;

use crate::processes::{self, Process};
use crate::shop::{Shop, ask_redis, has};
use crate::support::seeded::Seeded;
use test_tools::free_ports;

#[derive(Debug, Clone, Copy)]
enum Victim {
    Eos,
    Tofu,
    Both,
}

#[derive(Debug, Clone, Copy)]
enum Moment {
    /// So long into the apply.
    After(Duration),
    /// When Nomad has the first job, which is in no state yet.
    Registered,
    /// When this record of the journal is on the disk and nothing was done since.
    Record(u32),
}

#[derive(Debug, Clone, Copy)]
enum Then {
    Resume,
    Undo,
}

/// What a run of two units writes: what it is, who took it up, four steps a unit, how it ended.
const RECORDS: u32 = 2 + 2 * 4 + 1;

#[test]
fn a_killed_run_is_resumed_or_taken_back() {
    let mut seeded = Seeded::new();
    let moment = Moment::After(Duration::from_millis(seeded.below(9000)));
    // Both units are begun and none is over; and anywhere.
    let at_work = Moment::Record(2 + seeded.below(4) as u32);
    let anywhere = Moment::Record(seeded.below(RECORDS.into()) as u32);
    let tries = [
        ("kill-eos", Victim::Eos, anywhere, Then::Resume),
        ("kill-tofu", Victim::Tofu, moment, Then::Resume),
        ("kill-both", Victim::Both, at_work, Then::Resume),
        ("kill-undo", Victim::Both, Moment::Registered, Then::Undo),
    ];
    std::thread::scope(|scope| {
        for (name, victim, moment, then) in tries {
            scope.spawn(move || kill(name, victim, moment, then));
        }
    });
}

#[test]
#[ignore = "long: part of make soak"]
fn killed_at_many_moments() {
    let mut seeded = Seeded::new();
    for round in 0..5 {
        std::thread::scope(|scope| {
            for (number, victim) in
                [Victim::Eos, Victim::Tofu, Victim::Both, Victim::Both].into_iter().enumerate()
            {
                let then = if number == 3 { Then::Undo } else { Then::Resume };
                let after = Moment::After(Duration::from_millis(seeded.below(15_000)));
                scope.spawn(move || kill(&format!("round{round}-{number}"), victim, after, then));
            }
        });
    }
}

#[test]
#[ignore = "long: part of make soak"]
fn killed_after_every_record() {
    let only: Option<u32> = std::env::var("EOS_TEST_RECORD").ok().and_then(|text| text.parse().ok());
    let mut tries = Vec::new();
    for record in (0..RECORDS).rev().filter(|record| only.is_none_or(|only| only == *record)) {
        for victim in [Victim::Eos, Victim::Tofu, Victim::Both] {
            for then in [Then::Resume, Then::Undo] {
                tries.push((record, victim, then));
            }
        }
    }
    let left = Mutex::new(tries);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some((record, victim, then)) = left.lock().unwrap().pop() else { return };
                    let name = format!("at{record}-{victim:?}-{then:?}").to_lowercase();
                    kill(&name, victim, Moment::Record(record), then);
                }
            });
        }
    });
}

/// Two units are applied at once, and somebody is killed meanwhile.
fn kill(name: &str, victim: Victim, moment: Moment, then: Then) {
    let mut shop = Shop::new();
    // From here on there is something to go back to.
    shop.ok(&["apply", "--yes"]);
    let names = [format!("{name}-a"), format!("{name}-b")];
    let ports = free_ports::<2>();
    for (name, port) in names.iter().zip(ports) {
        let words = shop.redis_at(port, name, &["--no-apply"]);
        let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
        shop.ok(&words);
    }
    let jobs = names.each_ref().map(|name| format!("production-{name}"));
    let code = strike(&mut shop, &jobs, victim, moment);
    let told = format!("{name}: {victim:?} killed {moment:?}, eos ended with {code:?}");
    eprintln!("{told}");
    let status = shop.sandbox.json(&["status"]);
    let unfinished = !status["runs"].as_array().unwrap().is_empty();
    // Killed when all was written down: eos had only to end.
    let is_applied = |name: &String| {
        let mut units = status["units"].as_array().unwrap().iter();
        units.any(|unit| unit["unit"] == **name && unit["state"] == "applied")
    };
    assert!(unfinished || names.iter().all(is_applied), "{told}: {status:#}");
    if unfinished {
        has(&shop.ok(&["status"]).stdout, "eos resume goes on with it, eos undo takes it back");
    }
    match then {
        Then::Resume => {
            let resumed = shop.run(&["resume"]);
            assert_eq!(resumed.code, 0, "{told}\n{}{}", resumed.stdout, resumed.stderr);
            has(&shop.ok(&["plan"]).stdout, "nothing to do");
            for ((name, job), port) in names.iter().zip(&jobs).zip(ports) {
                assert_eq!(shop.versions(job), 1, "{told}: registered once");
                let secret = format!("{name}/password");
                let password = shop.sandbox.json(&["secret", "show", &secret])["value"].clone();
                has(&ask_redis(port, password.as_str().unwrap(), &["PING"]), "+PONG");
            }
            has(&shop.ok(&["status"]).stdout, "applied");
            shop.ok(&["destroy", "production", "--yes"]);
        }
        Then::Undo => {
            let undone = shop.run(&["undo", "--yes"]);
            assert_eq!(undone.code, 0, "{told}\n{}{}", undone.stdout, undone.stderr);
            has(&undone.stdout, "as it was before");
            has(&shop.ok(&["plan"]).stdout, "nothing to do");
            for name in &names {
                assert!(!shop.is_asked_for(name), "{told}: the pillar went back");
                // Data that was made is known of, also where tofu had not written it down.
                let data = shop.data_folder(name);
                if data.exists() {
                    let kept = shop.sandbox.json(&["status"])["kept"].clone();
                    assert!(!kept[name].is_null(), "{told}: {kept}");
                    shop.ok(&["purge", name, "--yes"]);
                    assert!(!data.exists(), "{told}");
                }
            }
        }
    }
    for (job, port) in jobs.iter().zip(ports) {
        shop.nothing_is_left_of(job, port);
    }
}

/// Applies, and kills. Gives the exit code of eos.
fn strike(shop: &mut Shop, jobs: &[String], victim: Victim, moment: Moment) -> Option<i32> {
    if let Moment::Record(number) = moment {
        shop.variables.push(("EOS_TEST_STOP_AFTER".into(), number.to_string()));
    }
    let mut run = shop.begin(&["apply", "--yes"]);
    shop.variables.clear();
    match moment {
        Moment::After(time) => {
            run.until_it_says(": applying");
            std::thread::sleep(time);
        }
        Moment::Registered => {
            shop.nomad.until("a job is registered", || jobs.iter().any(|job| shop.versions(job) > 0));
        }
        Moment::Record(_) => run.until_it_stops(),
    }
    let estate = shop.sandbox.estate();
    if matches!(victim, Victim::Eos | Victim::Both) {
        run.child.kill().unwrap();
    }
    match (victim, moment) {
        (Victim::Eos, _) => {}
        // Two units may be at it.
        (Victim::Both, _) => {
            while let Some(tofu) = processes::applying(&estate) {
                tofu.kill();
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        (Victim::Tofu, Moment::After(_) | Moment::Registered) => {
            processes::applying(&estate).iter().for_each(Process::kill);
        }
        // Where none is at work, the next one has to go.
        (Victim::Tofu, Moment::Record(_)) => {
            let strike = || {
                let tofu = processes::applying(&estate);
                tofu.iter().for_each(Process::kill);
                tofu.is_some()
            };
            let struck = strike();
            run.go_on_and(|| struck || strike());
        }
    }
    run.end().0
}
