//! The way through an estate as eos was asked for, every command of it, and as the README tells it.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Run, Sandbox};

/// Types a line in the estate; what is behind ` < ` goes to its stdin.
fn types(sandbox: &Sandbox, line: &str) -> Run {
    let (line, given) = line.split_once(" < ").unwrap_or((line, ""));
    let words: Vec<&str> = line.split_whitespace().collect();
    let run = sandbox.with_stdin(&words, given);
    assert_eq!(run.code, 0, "eos {line}\n{}{}", run.stdout, run.stderr);
    run
}

#[test]
fn the_whole_way() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["-C", ".", "init", "shop"]);
    types(&sandbox, "create host local");
    types(&sandbox, "create postgres --size 100G");
    types(&sandbox, "create postgres crm --size 20G");
    let created = types(&sandbox, "create nextcloud --sso --distributed-storage").stdout;
    for pulled in ["redis", "authentik", "hecate", "cephfs"] {
        let told =
            |line: &str| line.starts_with(&format!("Created {pulled} ")) && line.contains("needs it for");
        assert!(created.lines().any(told), "{pulled} is not told of:\n{created}");
    }
    // What no state does is said, not only written down in the catalogue.
    assert!(created.contains("cephfs: no Ceph cluster is built"), "{created}");
    types(&sandbox, "create grafana --admin-password - --port 3000 < hunter2hunter2");
    types(&sandbox, "create authentik --frontend-for mailcow");

    let listed = types(&sandbox, "list").stdout;
    for name in
        ["authentik", "cephfs", "crm", "grafana", "hecate", "mailcow", "nextcloud", "postgres", "redis"]
    {
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name}: {listed}");
    }
    assert!(types(&sandbox, "show nextcloud").stdout.contains("8081"));
    let picture = types(&sandbox, "graph --format svg").stdout;
    assert!(picture.starts_with("<svg") && picture.contains("nextcloud"), "{picture}");
    let why = types(&sandbox, "why build/production/nextcloud/main.tf.json").stdout;
    assert!(why.contains("eos create nextcloud --sso --distributed-storage"), "{why}");

    types(&sandbox, "update grafana --port 3001");
    assert!(sandbox.read("build/production/grafana/jobs/grafana.nomad.json").contains("3001"));
    let history = types(&sandbox, "history").stdout;
    assert!(history.contains("update grafana --port 3001") && !history.contains("hunter2"), "{history}");
    assert!(types(&sandbox, "secret list").stdout.contains("grafana/admin_password"));
    let before = types(&sandbox, "secret show grafana/admin_password").stdout;
    types(&sandbox, "secret rotate grafana/admin_password");
    assert_ne!(before, types(&sandbox, "secret show grafana/admin_password").stdout);
    types(&sandbox, "delete grafana");
    assert!(!sandbox.estate().join("build/production/grafana").exists());

    types(&sandbox, "compile --check");
    std::fs::write(sandbox.estate().join("build/production/nextcloud/main.tf.json"), "{}").unwrap();
    assert_eq!(sandbox.run(&["compile", "--check"]).code, 2, "build/ is not what the pillar says");
    types(&sandbox, "compile");
    types(&sandbox, "compile --check");
    let doctor = types(&sandbox, "doctor").stdout;
    assert!(
        doctor.contains("note  Nomad at http://127.0.0.1:1 "),
        "this machine's own Nomad was asked: {doctor}"
    );
}

#[test]
fn nextcloud_pulls_in_what_it_needs_and_says_why() {
    let sandbox = Sandbox::with_estate();
    let run = sandbox.ok(&["create", "nextcloud", "--sso", "--distributed-storage"]);
    for pulled in ["postgres", "redis", "authentik", "hecate", "cephfs"] {
        let line = run
            .stdout
            .lines()
            .find(|line| line.starts_with(&format!("Created {pulled} ")))
            .unwrap_or_else(|| panic!("{pulled} is not told of:\n{}", run.stdout));
        assert!(line.contains("nextcloud needs it for") || line.contains("authentik needs it for"), "{line}");
        assert!(sandbox.estate().join(format!("build/production/{pulled}/main.tf.json")).is_file());
    }
}
