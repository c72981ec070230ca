//! kill -9 at random moments of an apply with Nomad: resume ends as if nothing had happened, undo as before.
//!
//! `EOS_TEST_SEED` repeats the moments of an earlier run, which says its seed.

use std::time::Duration;

use crate::processes::{self, Process};
use crate::shop::{Shop, ask_redis, has};

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

/// Numbers that are the same for the same seed (xorshift).
struct Seeded(u64);

impl Seeded {
    fn new() -> Seeded {
        let given = std::env::var("EOS_TEST_SEED").ok().and_then(|text| text.parse().ok());
        let now =
            || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros() as u64;
        let seed = given.unwrap_or_else(now).max(1);
        eprintln!("EOS_TEST_SEED={seed}");
        Seeded(seed)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

#[test]
fn a_killed_run_is_resumed_or_taken_back() {
    let mut seeded = Seeded::new();
    let tries = [
        ("kill-eos", Victim::Eos, Then::Resume),
        ("kill-tofu", Victim::Tofu, Then::Resume),
        ("kill-both", Victim::Both, Then::Resume),
        ("kill-undo", Victim::Both, Then::Undo),
    ];
    let tries: Vec<_> = tries.into_iter().map(|one| (one, seeded.below(9000))).collect();
    std::thread::scope(|scope| {
        for ((name, victim, then), after) in tries {
            scope.spawn(move || kill(name, victim, then, Duration::from_millis(after)));
        }
    });
}

/// Minutes; `cargo test --test real_runs -- --ignored`.
#[test]
#[ignore = "twenty more moments take a quarter of an hour"]
fn killed_at_many_moments() {
    let mut seeded = Seeded::new();
    for round in 0..5 {
        std::thread::scope(|scope| {
            for (number, victim) in
                [Victim::Eos, Victim::Tofu, Victim::Both, Victim::Both].into_iter().enumerate()
            {
                let then = if number == 3 { Then::Undo } else { Then::Resume };
                let after = Duration::from_millis(seeded.below(15_000));
                scope.spawn(move || kill(&format!("round{round}-{number}"), victim, then, after));
            }
        });
    }
}

fn kill(name: &str, victim: Victim, then: Then, after: Duration) {
    let shop = Shop::new();
    let (words, port) = shop.redis(name, &["--yes"]);
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let mut run = shop.begin(&words);
    run.until_it_says(&format!("{name}: applying"));
    std::thread::sleep(after);
    let told = format!("{name}: {victim:?} killed {after:?} into the apply");
    let tofu = processes::applying(&shop.sandbox.estate());
    if matches!(victim, Victim::Eos | Victim::Both) {
        let _ = run.child.kill();
    }
    if matches!(victim, Victim::Tofu | Victim::Both) {
        tofu.as_ref().map(Process::kill);
    }
    let (code, said) = run.end();
    eprintln!(
        "{told}; tofu was {}, eos ended with {code:?}",
        if tofu.is_some() { "at work" } else { "done" }
    );
    let job = format!("production-{name}");
    // Late enough, it was over already.
    if code != Some(0) {
        let status = shop.ok(&["status"]).stdout;
        has(&status, "eos resume goes on with it, eos undo takes it back");
        if matches!(victim, Victim::Tofu) {
            has(&said, "killed");
        }
    }
    match then {
        Then::Resume => {
            let resumed = shop.run(&["resume"]);
            assert_eq!(resumed.code, 0, "{told}\n{said}\n{}{}", resumed.stdout, resumed.stderr);
            has(&shop.ok(&["plan"]).stdout, "nothing to do");
            assert_eq!(shop.versions(&job), 1, "{told}: registered once");
            let password =
                shop.sandbox.json(&["secret", "show", &format!("{name}/password")])["value"].clone();
            has(&ask_redis(port, password.as_str().unwrap(), &["PING"]), "+PONG");
            has(&shop.ok(&["status"]).stdout, "applied");
            shop.ok(&["destroy", "production", "--yes"]);
        }
        Then::Undo => {
            let undone = shop.run(&["undo", "--yes"]);
            assert_eq!(undone.code, 0, "{told}\n{said}\n{}{}", undone.stdout, undone.stderr);
            has(&undone.stdout, "taken away, since it was new");
            has(&shop.ok(&["plan"]).stdout, "nothing to do");
            assert!(
                !shop.sandbox.files("pillar").iter().any(|path| path.contains(name)),
                "the pillar went back"
            );
        }
    }
    shop.nothing_is_left_of(&job, port);
}
