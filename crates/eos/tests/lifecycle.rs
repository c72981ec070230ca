//! What happens to things after they are made: changed, deleted, made again, withdrawn.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write as _;
use std::process::Stdio;

use support::{Run, Sandbox};

fn refused(run: &Run, exit: i32, code: &str) {
    assert_eq!(run.code, exit, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(code), "{}", run.stderr);
}

fn piped(sandbox: &Sandbox, args: &[&str], input: &str) -> Run {
    let mut child = sandbox
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Run::from(child.wait_with_output().unwrap())
}

#[test]
fn delete_takes_a_name_with_its_own_kind_and_nothing_else() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres", "crm"]);
    sandbox.ok(&["create", "redis"]);
    refused(&sandbox.run(&["delete", "redis", "crm"]), 3, "E0107");
    refused(&sandbox.run(&["delete", "bogus", "redis"]), 3, "E0107");
    sandbox.ok(&["delete", "postgres", "crm"]);
    assert!(sandbox.ok(&["list"]).stdout.contains("redis"));
}

#[test]
fn what_is_made_again_finds_the_secrets_of_its_data() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres"]);
    sandbox.ok(&["secret", "rotate", "postgres/superuser_password"]);
    let before = sandbox.ok(&["secret", "show", "postgres/superuser_password"]).stdout;
    let said = sandbox.ok(&["delete", "postgres"]).stdout;
    assert!(said.contains("its secrets stay with it"), "{said}");
    let again = sandbox.ok(&["create", "postgres"]).stdout;
    assert!(!again.contains("Secrets made"), "{again}");
    assert_eq!(sandbox.ok(&["secret", "show", "postgres/superuser_password"]).stdout, before);
    assert!(sandbox.read("pillar/infrastructure/production/postgres.sls").contains("superuser_password?v=2"));
}

#[test]
fn a_host_can_be_given_another_address() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["update", "host", "local", "--address", "10.0.0.5"]);
    let pillar = sandbox.read("pillar/hosts/local.sls");
    assert!(pillar.contains("address: 10.0.0.5") && pillar.contains("nomad_node: n1"), "{pillar}");
    refused(&sandbox.run(&["update", "host", "nobody", "--address", "10.0.0.6"]), 3, "E0409");
}

#[test]
fn an_operation_stays_in_its_environment_and_can_be_withdrawn() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "stage1", "--env", "staging"]);
    refused(&sandbox.run(&["resize", "lvm", "data", "+5G", "--host", "stage1"]), 3, "E0406");
    sandbox.ok(&["resize", "lvm", "data", "+5G"]);
    let listed = sandbox.ok(&["list", "operations"]).stdout;
    assert!(listed.contains("000001-resize-lvm") && listed.contains("+5G"), "{listed}");
    sandbox.ok(&["delete", "000001-resize-lvm"]);
    assert!(!sandbox.estate().join("build/production/operations").exists());
}

#[test]
fn updating_agents_is_an_operation_whether_or_not_there_is_one_of_that_name() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "wazuh-agents"]);
    let said = sandbox.ok(&["update", "wazuh-agents"]).stdout;
    assert!(said.contains("Operation 000001-update-wazuh-agents is recorded"), "{said}");
}

#[test]
fn a_secret_of_several_lines_is_kept_whole() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let text = "first line\nsecond line";
    let run = piped(&sandbox, &["secret", "set", "redis/password"], &format!("{text}\n"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(sandbox.ok(&["secret", "show", "redis/password"]).stdout, format!("{text}\n"));
}

#[test]
fn a_secret_that_opens_data_is_not_rotated() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "backups", "--target", "sftp:backup@example.org:/srv/restic"]);
    refused(&sandbox.run(&["secret", "rotate", "backups/password"]), 4, "E0414");
}

#[test]
fn nothing_is_written_or_removed_through_a_link_in_build() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let outside = sandbox.path().join("outside");
    std::fs::create_dir_all(outside.join("production/x")).unwrap();
    std::fs::write(outside.join("production/x/precious"), "precious").unwrap();
    std::fs::remove_dir_all(sandbox.estate().join("build")).unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.estate().join("build")).unwrap();
    refused(&sandbox.run(&["compile"]), 3, "E0206");
    assert_eq!(std::fs::read_to_string(outside.join("production/x/precious")).unwrap(), "precious");

    std::fs::remove_file(sandbox.estate().join("build")).unwrap();
    sandbox.ok(&["compile"]);
    let main = sandbox.estate().join("build/production/redis/main.tf.json");
    std::fs::remove_file(&main).unwrap();
    std::os::unix::fs::symlink(outside.join("production/x/precious"), &main).unwrap();
    refused(&sandbox.run(&["compile"]), 3, "E0206");
    assert_eq!(std::fs::read_to_string(outside.join("production/x/precious")).unwrap(), "precious");
}

#[test]
fn a_kind_written_by_hand_is_warned_about_until_it_is_pinned() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let entry = sandbox
        .read("pillar/infrastructure/production/redis.sls")
        .replace("redis:\n      kind", "other:\n      kind")
        .replace("6379", "6380");
    sandbox.write("pillar/infrastructure/production/other.sls", entry);
    sandbox.write(
        "eos.lock",
        sandbox
            .read("eos.lock")
            .lines()
            .filter(|line| !line.starts_with("redis ="))
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    );
    sandbox.commit_by_hand();
    let run = sandbox.ok(&["compile"]);
    assert!(run.stderr.contains("E0112") && run.stderr.contains("other uses redis"), "{}", run.stderr);
    sandbox.ok(&["upgrade"]);
    assert!(!sandbox.ok(&["compile"]).stderr.contains("E0112"));
}

#[test]
fn a_port_that_eos_only_knows_of_is_taken_too() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "mailcow"]);
    let said = sandbox.ok(&["create", "jenkins"]).stdout;
    assert!(said.contains("port 8081, since mailcow has 8080"), "{said}");
}

#[test]
fn a_commit_says_who_when_and_why() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "--because", "sessions"]);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    for trailer in [
        "Eos-Command: eos create redis --because sessions",
        "Eos-User: kim",
        "Eos-Time: 2026-09-21T14:13:20Z",
        "Eos-Reason: sessions",
    ] {
        assert!(message.lines().any(|line| line == trailer), "{trailer} is not in\n{message}");
    }
}

#[test]
fn two_routes_cannot_have_one_host_name() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud", "--sso"]);
    let run = sandbox.run(&["create", "nextcloud", "second", "--sso"]);
    refused(&run, 3, "E0416");
    sandbox.ok(&["create", "nextcloud", "second", "--sso", "--hostname", "second.example.org"]);
}

#[test]
fn doctor_sees_a_changed_copy_of_a_pinned_kind() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let copy = "vendor/catalog/redis/component.yaml";
    sandbox.write(copy, sandbox.read(copy) + "# changed\n");
    sandbox.commit_by_hand();
    let run = sandbox.run(&["doctor"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains("vendor/catalog/redis is not what eos.lock pins"), "{}", run.stdout);
}

#[test]
fn a_kind_behind_a_link_out_of_the_estate_is_refused() {
    let sandbox = Sandbox::with_estate();
    let outside = sandbox.path().join("mykind");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("component.yaml"), "format: 1\n").unwrap();
    std::fs::create_dir(sandbox.estate().join("catalog")).unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.estate().join("catalog/mykind")).unwrap();
    refused(&sandbox.run(&["catalog", "list"]), 3, "E0206");
}
