//! Secrets: set, rotated, refused.

use super::support::{Run, Sandbox};
use super::{piped, refused};

#[test]
fn a_key_in_pem_is_kept_whole() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let text = "-----BEGIN PRIVATE KEY-----\nfirst line\nsecond line\n-----END PRIVATE KEY-----";
    let run = piped(&sandbox, &["secret", "set", "redis/password"], &format!("{text}\n"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(sandbox.ok(&["secret", "show", "redis/password"]).stdout, format!("{text}\n"));
}

#[test]
fn a_secret_that_opens_data_is_not_rotated() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "backups", "--target", "sftp:backup@example.org:/srv/restic"]);
    sandbox.applied_elsewhere();
    refused(&sandbox.run(&["secret", "rotate", "backups/password"]), 4, "E0414");
}

#[test]
fn a_secret_of_a_hand_written_entry_is_set_without_a_second_entry() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let own = "pillar/infrastructure/production/grafana.sls";
    let entry = sandbox.read(own).replace("#!yaml\n", "#!yaml\n# ours\n");
    sandbox.write("pillar/infrastructure/production/init.sls", entry.replace("?v=1", "?v=7"));
    std::fs::remove_file(sandbox.estate().join(own)).unwrap();
    sandbox.commit_by_hand();
    let set = piped(&sandbox, &["secret", "set", "grafana/admin_password"], "hunter2");
    assert_eq!(set.code, 0, "{}", set.stderr);
    assert!(!sandbox.estate().join(own).exists());
    assert_eq!(sandbox.ok(&["secret", "show", "grafana/admin_password"]).stdout, "hunter2\n");
}

#[test]
fn an_empty_or_unreadable_secret_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::with_estate();
    refused(&sandbox.run(&["create", "grafana", "--admin-password="]), 3, "E0303");
    refused(&sandbox.run(&["create", "redis", "--version", ""]), 3, "E0107");
    let memory = sandbox.run(&["create", "redis", "--memory", "512M"]);
    refused(&memory, 3, "E0107");
    assert!(memory.stderr.contains("without a unit"), "{}", memory.stderr);
    refused(&sandbox.run(&["catalog", "new", "redis"]), 3, "E0408");
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let run = sandbox.command(&["create", "grafana", "--admin-password"]).arg(odd).output().unwrap();
    refused(&Run::from(run), 3, "E0107");
    assert!(!sandbox.estate().join("pillar/infrastructure/production/grafana.sls").exists());
}

#[test]
fn doctor_tells_an_open_identity_and_other_tools_than_were_recorded() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::with_estate();
    let lock = sandbox.read("eos.lock");
    let line = lock.lines().find(|line| line.starts_with("nomad = ")).unwrap();
    sandbox.write("eos.lock", lock.replace(line, "nomad = \"1.0.0\""));
    let identity = sandbox.path().join("home/.config/eos/identity.txt");
    std::fs::set_permissions(&identity, std::fs::Permissions::from_mode(0o644)).unwrap();
    let said = sandbox.run(&["doctor"]);
    assert_eq!(said.code, 1, "{}", said.stdout);
    assert!(said.stdout.contains("open to others (mode 644)"), "{}", said.stdout);
    assert!(said.stdout.contains("eos.lock has nomad 1.0.0"), "{}", said.stdout);
}

#[test]
fn a_kept_secret_is_shown_and_not_changed() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let value = sandbox.ok(&["secret", "show", "grafana/admin_password"]).stdout;
    sandbox.applied_elsewhere();
    sandbox.ok(&["delete", "grafana"]);
    assert!(sandbox.ok(&["secret", "list"]).stdout.contains("kept data"));
    assert_eq!(sandbox.ok(&["secret", "show", "grafana/admin_password"]).stdout, value);
    refused(&sandbox.run(&["secret", "rotate", "grafana/admin_password"]), 3, "has no secret");
    refused(
        &sandbox.run(&["secret", "show", "grafana/admin_pasword"]),
        3,
        "did you mean grafana/admin_password?",
    );
}

/// A name that was changed by hand keeps its references, which have the name of before.
#[test]
fn a_secret_is_renewed_for_all_who_read_it() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let file = |name: &str| format!("pillar/infrastructure/production/{name}.sls");
    let text = sandbox.read(&file("redis"));
    for (name, port) in [("cache", 7001), ("queue", 7002)] {
        let own = text.replace("    redis:\n", &format!("    {name}:\n")).replace("6379", &port.to_string());
        sandbox.write(&file(name), own.replace("production/redis/data", &format!("production/{name}/data")));
    }
    std::fs::remove_file(sandbox.estate().join(file("redis"))).unwrap();
    sandbox.commit_by_hand();
    let run = sandbox.ok(&["secret", "rotate", "redis/password"]);
    assert!(run.stdout.contains("redis/password is now version 2"), "{}", run.stdout);
    for name in ["cache", "queue"] {
        let now = sandbox.read(&file(name));
        assert!(now.contains("secret://production/redis/password?v=2"), "{now}");
    }
    let run = sandbox.with_stdin(&["secret", "set", "redis/password"], "Aixohr2zoo8Phoh4gooj5eek\n");
    assert_eq!(run.code, 0, "{}", run.stderr);
    sandbox.ok(&["compile", "--check"]);
}

#[test]
fn a_secret_that_another_name_reads_stays() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "main"]);
    sandbox.ok(&["create", "redis", "replica"]);
    let file = "pillar/infrastructure/production/replica.sls";
    sandbox
        .write(file, sandbox.read(file).replace("production/replica/password", "production/main/password"));
    sandbox.commit_by_hand();
    let said = sandbox.ok(&["delete", "main"]).stdout;
    assert!(said.contains("the secret main/password stays: replica reads it"), "{said}");
    assert_eq!(sandbox.files("secrets/production/main"), ["secrets/production/main/password.v1.age"]);
    assert_eq!(sandbox.ok(&["compile"]).stderr, "");
    let said = sandbox.ok(&["purge", "main"]).stdout;
    assert!(said.contains("the secret main/password stays: replica reads it"), "{said}");
    assert!(!said.contains("gone"), "{said}");
    sandbox.ok(&["delete", "replica"]);
    assert!(sandbox.ok(&["purge", "main"]).stdout.contains("its secrets are gone"));
    assert!(sandbox.files("secrets/production/replica").is_empty());
}
