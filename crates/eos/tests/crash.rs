//! `kill -9` at any point of a command: the next one ends in the old or the new tree, and nothing is in its way.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use support::{Run, Sandbox};

const CREATE: &[&str] = &["create", "grafana"];
/// Pulls in four others: some thirty files in one change.
const CREATE_MANY: &[&str] = &["create", "grafana", "--sso"];

fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    sandbox.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn kill(mut child: Child) {
    // It may have ended already; then there is nothing to kill.
    let _ = child.kill();
    child.wait().unwrap();
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

fn head(sandbox: &Sandbox) -> String {
    sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

/// What must hold after the command that follows a kill. Says whether the change has happened.
fn settled(sandbox: &Sandbox, base: &str, told: &str) -> bool {
    let run = sandbox.run(&["list", "--json"]);
    assert_eq!(run.code, 0, "{told}: eos list: {}{}", run.stdout, run.stderr);
    let head = head(sandbox);
    let happened = head != base;
    if happened {
        assert_eq!(
            sandbox.git(&["rev-parse", "HEAD^"]).trim(),
            base,
            "{told}: neither the old nor the new commit"
        );
    }
    assert_eq!(run.stdout.contains("\"grafana\""), happened, "{told}: the list is not what HEAD says");
    // Ignored files are asked for too: half-written ones have an ignored name.
    let status = sandbox.git(&["status", "--porcelain", "--ignored"]);
    let dirty: Vec<&str> = status.lines().filter(|line| !["!! .eos/", "!! build/"].contains(line)).collect();
    assert_eq!(dirty, Vec::<&str>::new(), "{told}: files are not those of HEAD");
    for lock in ["index.lock", "HEAD.lock", "refs/heads/main.lock", "eos-index", "eos-branch"] {
        assert!(!sandbox.estate().join(".git").join(lock).exists(), "{told}: .git/{lock} is left");
    }
    assert!(!sandbox.estate().join(".eos/state/intent.json").exists(), "{told}: the intent is left");
    happened
}

/// Back to the tree before, with git itself: its locks must be free as well.
fn back(sandbox: &Sandbox, base: &str) {
    sandbox.git(&["reset", "-q", "--hard", base]);
}

fn ends_in_order(sandbox: &Sandbox) {
    sandbox.ok(CREATE);
    sandbox.ok(&["compile"]);
    sandbox.ok(&["compile", "--check"]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    sandbox.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(sandbox.files(".eos/state"), [".eos/state/lock", ".eos/state/machines/local"]);
    let shown = sandbox.ok(&["secret", "show", "grafana/admin_password"]);
    assert!(shown.stdout.trim().len() >= 16, "the secret of the new tree can be read");
}

#[test]
fn killed_at_two_hundred_moments_create_is_done_or_undone() {
    const KILLS: u32 = 200;
    let sandbox = Sandbox::with_estate();
    let base = head(&sandbox);
    let mut whole = Duration::ZERO;
    for _ in 0..3 {
        let begin = Instant::now();
        sandbox.ok(CREATE);
        whole = whole.max(begin.elapsed());
        back(&sandbox, &base);
    }
    let mut dice = Dice(1);
    let mut phases = [0; 3];
    for number in 0..4 * KILLS {
        if phases.iter().sum::<u32>() == KILLS {
            break;
        }
        // One moment in each of two hundred slices, so that no part of the run is left out.
        let within = dice.below(1000) as u32;
        let moment = whole * (number % KILLS * 1000 + within) / (KILLS * 1000);
        let mut child = start(&sandbox, CREATE);
        std::thread::sleep(moment);
        let in_time = child.try_wait().unwrap().is_none();
        kill(child);
        if in_time {
            phases[phase(&sandbox, &base)] += 1;
        } else {
            // It has become faster than it was at first.
            whole = whole * 99 / 100;
        }
        if settled(&sandbox, &base, &format!("kill {number} after {moment:?} of {whole:?}")) {
            back(&sandbox, &base);
        }
    }
    let [before, recording, after] = phases;
    assert_eq!(before + recording + after, KILLS, "too few kills came in time: {phases:?}");
    assert!(before >= KILLS / 20 && recording + after >= KILLS / 20, "kills are not spread: {phases:?}");
    ends_in_order(&sandbox);
}

/// How far a killed command had come: nothing recorded, recording, recorded.
fn phase(sandbox: &Sandbox, base: &str) -> usize {
    if sandbox.estate().join(".eos/state/intent.json").exists() {
        1
    } else if head(sandbox) != base {
        2
    } else {
        0
    }
}

/// Waits for a file to appear, looking all the time; gives up when the command has ended.
fn appears(child: &mut Child, path: &Path) -> bool {
    loop {
        for _ in 0..20 {
            if path.symlink_metadata().is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
    }
}

#[test]
fn killed_while_it_records_create_is_done_or_undone() {
    let sandbox = Sandbox::with_estate();
    let base = head(&sandbox);
    let mut dice = Dice(2);
    let moments = [
        ".eos/state/.intent.json.eos-tmp",
        ".eos/state/intent.json",
        ".git/index.lock",
        ".eos.lock.eos-tmp",
        "pillar/infrastructure/production/authentik.sls",
        "pillar/infrastructure/production/.grafana.sls.eos-tmp",
        "secrets/production/grafana",
        "vendor/catalog/postgres/component.yaml",
        ".git/eos-branch",
        ".git/refs/heads/main.lock",
        ".eos/state/index.draft",
        "build/production/grafana",
    ];
    let mut hits = vec![0; moments.len()];
    for round in 0..20 {
        // At least five times each, and until each was hit.
        for (at, moment) in moments.iter().enumerate() {
            if round >= 5 && hits[at] > 0 {
                continue;
            }
            let _ = std::fs::remove_dir_all(sandbox.estate().join("build"));
            let mut child = start(&sandbox, CREATE_MANY);
            hits[at] += usize::from(appears(&mut child, &sandbox.estate().join(moment)));
            if round > 0 {
                std::thread::sleep(Duration::from_micros(dice.below(3000)));
            }
            kill(child);
            if settled(&sandbox, &base, &format!("kill {round} at {moment}")) {
                back(&sandbox, &base);
            }
        }
    }
    let missed: Vec<&&str> =
        moments.iter().zip(&hits).filter(|(_, hits)| **hits == 0).map(|(moment, _)| moment).collect();
    assert!(missed.is_empty(), "no kill came at {missed:?}");
    ends_in_order(&sandbox);
}

#[test]
fn a_killed_delete_is_done_or_undone() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(CREATE);
    let base = head(&sandbox);
    let mut dice = Dice(3);
    let mut hits = [0; 3];
    for number in 0..24 {
        let moment = [".eos/state/intent.json", ".git/index.lock", ".git/refs/heads/main.lock"][number % 3];
        let mut child = start(&sandbox, &["delete", "grafana"]);
        hits[number % 3] += usize::from(appears(&mut child, &sandbox.estate().join(moment)));
        std::thread::sleep(Duration::from_micros(dice.below(3000)));
        kill(child);
        sandbox.ok(&["list"]);
        let there = sandbox.estate().join("pillar/infrastructure/production/grafana.sls").exists();
        assert_eq!(there, head(&sandbox) == base, "kill {number} at {moment}");
        let status = sandbox.git(&["status", "--porcelain", "--ignored"]);
        assert_eq!(
            status.lines().filter(|line| !["!! .eos/", "!! build/"].contains(line)).count(),
            0,
            "kill {number} at {moment}: {status}"
        );
        back(&sandbox, &base);
    }
    assert!(hits.iter().all(|hits| *hits > 0), "the moments were missed: {hits:?}");
    sandbox.ok(&["delete", "grafana"]);
    sandbox.git(&["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn after_a_killed_init_the_estate_is_there_or_can_be_made() {
    let mut dice = Dice(4);
    let whole = {
        let begin = Instant::now();
        Sandbox::new().ok(&["init", "shop"]);
        begin.elapsed()
    };
    for number in 0..40 {
        let sandbox = Sandbox::new();
        let moment = whole * (number * 1000 + dice.below(1000) as u32) / 40_000;
        let child = start(&sandbox, &["init", "shop"]);
        std::thread::sleep(moment);
        kill(child);
        let again =
            Run::from(sandbox.command(&["init", "shop"]).current_dir(sandbox.path()).output().unwrap());
        assert!(
            again.code == 0 || again.stderr.contains("is an estate already"),
            "kill {number} after {moment:?}: {}",
            again.stderr
        );
        sandbox.ok(&["create", "host", "local", "--nomad-node", "n1"]);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
        sandbox.git(&["fsck", "--strict", "--no-dangling"]);
    }
}
