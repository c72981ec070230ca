//! Many commands on one estate at once: each is recorded, one after the other, and nothing is left behind.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use support::{Run, Sandbox};

const COMMANDS: usize = 200;
const NAMES: usize = 8;

fn name(command: usize) -> String {
    format!("cache{}", command % NAMES)
}

/// Every command asks for a value of its own, so that it can be found again.
fn memory(command: usize) -> String {
    (1000 + command).to_string()
}

fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    sandbox.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn all_end_well(children: Vec<Child>) {
    for (number, child) in children.into_iter().enumerate() {
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.code, 0, "command {number}: {}{}", run.stdout, run.stderr);
    }
}

/// Locks, drafts and half-written files that somebody forgot.
fn left_behind(sandbox: &Sandbox) -> Vec<String> {
    let forgotten = |path: &String| {
        let own = path == ".eos/state/lock"
            || path == ".eos/state/machines/local"
            || path.starts_with(".git/hooks/");
        !own && (path.starts_with(".eos/state/")
            || path.ends_with(".lock") && path != "eos.lock"
            || path.ends_with(".eos-tmp")
            || path.starts_with(".git/eos-"))
    };
    sandbox.files("").into_iter().filter(forgotten).collect()
}

#[test]
fn two_hundred_updates_are_all_recorded_in_one_line() {
    let sandbox = Sandbox::with_estate();
    for number in 0..NAMES {
        sandbox.ok(&["create", "redis", &name(number)]);
    }
    let before = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let children = (0..COMMANDS)
        .map(|number| start(&sandbox, &["update", &name(number), "--memory", &memory(number)]))
        .collect();
    all_end_well(children);

    let log = sandbox.git(&[
        "log",
        "--reverse",
        "--format=%H %P|%an|%s|%(trailers:key=Eos-Command,valueonly)",
        &format!("{before}..HEAD"),
    ]);
    let lines: Vec<&str> = log.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), COMMANDS, "one commit a command");
    let (mut tip, mut said, mut last) = (before, BTreeSet::new(), BTreeMap::new());
    for line in lines {
        let mut fields = line.split('|');
        let (commit, parents) = fields.next().unwrap().split_once(' ').unwrap();
        assert_eq!(parents, tip, "each commit has the one before as its only parent");
        tip = commit.to_owned();
        assert_eq!(fields.next(), Some("kim"), "without a git identity the user is the author");
        let words: Vec<&str> = fields.nth(1).unwrap().split(' ').collect();
        let ["eos", "update", name, "--memory", memory] = words[..] else { panic!("{line}") };
        assert!(said.insert(memory.to_owned()), "{memory} is recorded twice");
        last.insert(name.to_owned(), memory.to_owned());
        // The commit has what its command asked for, and touches nothing else.
        let path = format!("pillar/infrastructure/production/{name}.sls");
        let shown = sandbox.git(&["show", "--format=", "-U0", commit]);
        assert!(
            shown
                .lines()
                .any(|line| line.starts_with('+') && line.trim_end().ends_with(&format!("memory: {memory}"))),
            "{shown}"
        );
        let touched: Vec<&str> = shown.lines().filter(|line| line.starts_with("diff --git ")).collect();
        assert_eq!(touched, [format!("diff --git a/{path} b/{path}")]);
    }
    assert_eq!(said, (0..COMMANDS).map(memory).collect(), "none is lost");
    for (name, memory) in last {
        let text = sandbox.read(&format!("pillar/infrastructure/production/{name}.sls"));
        assert!(
            text.contains(&format!("memory: {memory}\n")),
            "{name} is not what its last command said:\n{text}"
        );
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    sandbox.ok(&["compile", "--check"]);
    sandbox.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(left_behind(&sandbox), Vec::<String>::new());
}

#[test]
fn creates_at_once_get_ports_of_their_own() {
    let sandbox = Sandbox::with_estate();
    all_end_well((0..NAMES).map(|number| start(&sandbox, &["create", "redis", &name(number)])).collect());
    let ports: BTreeSet<String> = (0..NAMES)
        .map(|number| sandbox.json(&["show", &name(number)])["entry"]["settings"]["port"].to_string())
        .collect();
    assert_eq!(ports.len(), NAMES, "{ports:?}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(left_behind(&sandbox), Vec::<String>::new());
}

#[test]
fn compiling_at_once_gives_the_whole_build_folder() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud", "--sso"]);
    std::fs::remove_dir_all(sandbox.estate().join("build")).unwrap();
    all_end_well((0..16).map(|_| start(&sandbox, &["compile"])).collect());
    sandbox.ok(&["compile", "--check"]);
    assert_eq!(left_behind(&sandbox), Vec::<String>::new());
}

/// Two that write one folder would meet in its half-written files.
#[test]
fn compiling_waits_for_its_turn_and_checking_does_not() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let build = sandbox.estate().join("build");
    std::fs::remove_dir_all(&build).unwrap();
    let reading = eos_pillar::Estate::open(sandbox.estate().as_path().try_into().unwrap()).unwrap();
    let mut compiling = start(&sandbox, &["compile"]);
    for _ in 0..5 {
        assert_eq!(sandbox.run(&["compile", "--check"]).code, 2, "nothing is built yet");
    }
    assert!(compiling.try_wait().unwrap().is_none() && !build.exists());
    drop(reading);
    all_end_well(vec![compiling]);
    sandbox.ok(&["compile", "--check"]);
}

/// An editor asks git all the time what has changed, and git then refreshes its index under its own lock.
#[test]
fn a_git_at_work_beside_eos_stops_nothing() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "cache0"]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                sandbox.git(&["status", "--porcelain"]);
            }
        });
        for number in 0..30 {
            let run = sandbox.run(&["update", "cache0", "--memory", &memory(number)]);
            if run.code != 0 {
                done.store(true, Ordering::Relaxed);
                panic!("update {number}: {}", run.stderr);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.git(&["rev-list", "--count", "HEAD"]).trim(), "33");
    assert_eq!(left_behind(&sandbox), Vec::<String>::new());
}
