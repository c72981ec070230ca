//! Where secrets go in a whole life of a component: to the task that needs them and to Nomad's own data, nowhere else.

use std::collections::BTreeSet;

use crate::processes::Process;
use crate::scanner::Scanner;
use crate::shop::{Shop, ask_redis, has};
use crate::support::Run;

const PASSWORD: &str = "planted-password-5f20c1";
const TOKEN: &str = "planted-cloud-token-88d1e7";

/// A state whose pillar has a secret, which Salt writes into a file.
const LOCKBOX: &str = r#"#!yaml
format: 1
kind: lockbox
summary: A file that only its owner reads
proof: validates
settings:
  path: {type: string, default: /nowhere, fixed: true, help: Where it lies}
cloud:
  providers:
    eos: {source: eos.local/eos/eos, version: 0.1.0}
  resources:
    eos_salt_state:
      box:
        name: production/lockbox/box
        target: local
        via: masterless
        sls: '{"box": {"file.managed": [{"name": "@{setting.path}"}, {"mode": "0600"}, {"contents_pillar": "box:content"}]}}'
        on_destroy: '{"box": {"file.absent": [{"name": "@{setting.path}"}]}}'
        pillar: '{"box": {"content": "secret://production/hidden/password?v=1"}}'
"#;

#[test]
fn secrets_stay_where_they_belong() {
    let mut shop = Shop::new();
    let temporary = shop.sandbox.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    // Given to eos, and needed by no provider of these units.
    shop.variables.push(("HCLOUD_TOKEN".into(), TOKEN.into()));
    shop.variables.push(("TMPDIR".into(), temporary.to_str().unwrap().into()));
    let mut scanner = Scanner::default();
    scanner.add("the cloud's token", TOKEN);
    scanner.add("the password", PASSWORD);
    let watch = scanner.watch(shop.sandbox.path(), given_to_eos);

    let (port, created) = shop.create_redis("hidden", PASSWORD);
    has(&ask_redis(port, PASSWORD, &["PING"]), "+PONG");
    let mut outputs = vec![created];
    // Through Salt's pillar into the one file that it is for, which lies elsewhere.
    let elsewhere = tempfile::tempdir().unwrap();
    let lockbox = elsewhere.path().join("box");
    shop.sandbox.write("catalog/lockbox/component.yaml", LOCKBOX);
    shop.sandbox.commit_by_hand();
    outputs.push(shop.ok(&["create", "lockbox", "--path", lockbox.to_str().unwrap(), "--yes"]));
    assert_eq!(std::fs::read_to_string(&lockbox).unwrap().trim(), PASSWORD);
    outputs.push(shop.ok(&["update", "hidden", "--max-memory", "32M", "--yes"]));
    // Kept as a file, which stays where every file is looked at.
    outputs.push(shop.ok(&["update", "hidden", "--max-memory", "48M", "--no-apply"]));
    outputs.push(shop.exits(2, &["plan", "--out", "kept.plan"]));
    outputs.push(shop.ok(&["apply", "kept.plan", "--yes"]));
    assert!(shop.sandbox.read("kept.plan").contains("\"tfplan\""));
    let rotated = shop.ok(&["secret", "rotate", "hidden/password", "--yes"]);
    let shown = shop.ok(&["secret", "show", "hidden/password", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    let password = shown["result"]["value"].as_str().unwrap().to_owned();
    has(&ask_redis(port, &password, &["PING"]), "+PONG");
    assert!(
        ask_redis(port, PASSWORD, &["PING"]).starts_with("-WRONGPASS"),
        "the old one is not taken any more"
    );
    let mut later = scanner.clone();
    later.add("the rotated password", &password);
    let first = watch.end();
    let watch = later.watch(shop.sandbox.path(), given_to_eos);
    assert!(
        shop.nomad_says(&["job", "scale", "-detach", "production-hidden", "server", "0"]).status.success()
    );
    std::fs::write(&lockbox, "open\n").unwrap();
    outputs.push(shop.exits(2, &["drift"]));
    outputs.push(shop.ok(&["drift", "revert", "--yes"]));
    assert_eq!(std::fs::read_to_string(&lockbox).unwrap().trim(), PASSWORD);
    outputs.push(shop.ok(&["plan", "--json"]));
    let mut found: BTreeSet<String> = nomads_answers(&shop, &later).into_iter().collect();
    // What is shown once is shown there, and only the new one.
    found.extend(scanner.text("what eos secret rotate said", &said(&rotated)));
    has(&rotated.stdout, &password);
    outputs.push(shop.ok(&["destroy", "production", "--yes"]));
    for run in &outputs {
        found.extend(later.text("what eos said", &said(run)));
    }
    for (seen, looks) in [first, watch.end()] {
        assert!(looks > 20, "{looks} looks");
        found.extend(seen);
    }
    found.extend(later.files(shop.sandbox.path()));
    found.extend(later.objects(&shop.sandbox.estate()));
    assert!(found.is_empty(), "{found:#?}");
    shop.nothing_is_left_of("production-hidden", port);
    assert!(!lockbox.exists());
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The token is where the person put it: in the environment of the eos that they started. A copy of that process which
/// is about to become another program still shows its words and variables.
pub fn given_to_eos(process: &Process) -> bool {
    let started_here = |pid: i32| pid == std::process::id() as i32;
    let is_eos = |process: &Process| {
        process.program.ends_with("eos") && process.command.starts_with(env!("CARGO_BIN_EXE_eos"))
    };
    let becoming = |process: &Process| {
        crate::processes::all().any(|parent| {
            parent.pid == process.parent && started_here(parent.parent) && parent.command == process.command
        })
    };
    is_eos(process)
        && !process.environment.contains(PASSWORD)
        && !process.command.contains(PASSWORD)
        && (started_here(process.parent) || becoming(process))
}

pub fn said(run: &Run) -> String {
    format!("{}{}", run.stdout, run.stderr)
}

/// What Nomad tells anybody who may ask it about jobs.
fn nomads_answers(shop: &Shop, scanner: &Scanner) -> Vec<String> {
    let inspected = shop.nomad_says(&["job", "inspect", "production-hidden"]);
    let inspected = String::from_utf8(inspected.stdout).unwrap();
    has(&inspected, "secret://production/hidden/password?v=2");
    let mut found = scanner.text("nomad job inspect", &inspected);
    let job = "/v1/job/production-hidden";
    let mut paths: Vec<String> = ["", "/versions", "/allocations", "/evaluations", "/deployments"]
        .iter()
        .map(|part| format!("{job}{part}"))
        .collect();
    for allocation in shop.nomad.get(&format!("{job}/allocations")).as_array().into_iter().flatten() {
        paths.push(format!("/v1/allocation/{}", allocation["ID"].as_str().unwrap()));
    }
    for path in paths {
        let answer = shop.nomad.get(&path).to_string();
        assert!(answer.contains("hidden"), "{path}: {answer}");
        found.extend(scanner.text(&path, &answer));
    }
    found
}
