//! Secrets that cannot be read, and people who may not.

use crate::case::{check, refused};
use crate::support::{Run, Sandbox};

fn with_grafana() -> Sandbox {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    sandbox
}

fn identity(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.path().join("home/.config/eos/identity.txt")
}

#[test]
fn a_missing_identity() {
    let sandbox = with_grafana();
    std::fs::remove_file(identity(&sandbox)).unwrap();
    refused(&sandbox, "a_missing_identity", 3, &["secret", "show", "grafana/admin_password"]);
    // Writing needs only public keys.
    sandbox.ok(&["secret", "rotate", "grafana/admin_password"]);
}

#[test]
fn an_identity_that_is_none() {
    let sandbox = with_grafana();
    std::fs::write(identity(&sandbox), "hunter2hunter2\n").unwrap();
    let run = sandbox.run(&["secret", "show", "grafana/admin_password"]);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    refused(&sandbox, "an_identity_that_is_none", 3, &["secret", "show", "grafana/admin_password"]);
}

#[test]
fn somebody_else_s_identity() {
    let (sandbox, other) = (with_grafana(), with_grafana());
    std::fs::copy(identity(&other), identity(&sandbox)).unwrap();
    refused(&sandbox, "somebody_else_s_identity", 1, &["secret", "show", "grafana/admin_password"]);
    assert_eq!(sandbox.run(&["doctor"]).code, 1);
}

#[test]
fn a_damaged_secret() {
    let sandbox = with_grafana();
    let path = sandbox.files("secrets").into_iter().find(|path| path.contains("admin_password")).unwrap();
    sandbox.write(&path, "not age at all\n");
    sandbox.commit_by_hand();
    refused(&sandbox, "a_damaged_secret", 1, &["secret", "show", "grafana/admin_password"]);
    std::fs::remove_file(sandbox.estate().join(&path)).unwrap();
    sandbox.commit_by_hand();
    refused(&sandbox, "a_secret_without_its_file", 3, &["secret", "show", "grafana/admin_password"]);
}

#[test]
fn an_unknown_secret() {
    let sandbox = with_grafana();
    refused(&sandbox, "an_unknown_secret", 3, &["secret", "show", "grafana/admin_pasword"]);
    refused(&sandbox, "a_secret_of_an_unknown_name", 3, &["secret", "rotate", "grafanna/admin_password"]);
    refused(&sandbox, "a_secret_without_a_key", 3, &["secret", "show", "grafana"]);
    // Another name's secret is no typo of this one, however alike the keys are.
    let run = sandbox.run(&["secret", "rotate", "authentik/admin_password"]);
    assert!(run.code == 3 && !run.stderr.contains("did you mean"), "{}", run.stderr);
}

#[test]
fn a_secret_of_several_lines() {
    let sandbox = with_grafana();
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let given = "--admin-password=first line\nsecond";
    refused(&sandbox, "a_secret_of_several_lines", 3, &["create", "grafana", "g2", given]);
    let set = sandbox.with_stdin(&["secret", "set", "grafana/admin_password"], "first line\nsecond\n");
    assert!(set.code == 3 && set.stderr.contains("several lines"), "{}", set.stderr);
    assert!(!set.stderr.contains("second"), "{}", set.stderr);
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn a_bad_recipient() {
    let sandbox = with_grafana();
    refused(&sandbox, "a_bad_recipient", 3, &["secret", "recipients", "add", "age1nobody"]);
    refused(&sandbox, "no_recipient", 3, &["secret", "recipients", "add"]);
    let own =
        sandbox.json(&["secret", "recipients"])["recipients"][0]["recipient"].as_str().unwrap().to_owned();
    refused(&sandbox, "the_last_recipient", 3, &["secret", "recipients", "remove", &own]);
    refused(&sandbox, "a_recipient_that_is_there", 3, &["secret", "recipients", "add", &own]);
}

#[test]
fn a_recipients_file_with_nonsense() {
    let sandbox = with_grafana();
    let path = sandbox
        .files("secrets")
        .into_iter()
        .find(|path| path.ends_with("recipients.txt") || path.contains("recipients"))
        .unwrap();
    let text = sandbox.read(&path) + "nonsense\n";
    sandbox.write(&path, text);
    sandbox.commit_by_hand();
    refused(&sandbox, "a_recipients_file_with_nonsense", 3, &["create", "postgres"]);
}

#[test]
fn a_secret_that_counts_at_the_first_start_only() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud"]);
    // Nothing has started yet: a new one is as good.
    sandbox.ok(&["secret", "rotate", "postgres/superuser_password"]);
    sandbox.ok(&["update", "nextcloud", "--admin-password", "hunter2"]);
    sandbox.applied_elsewhere();
    let rotate = |name: &str, path: &str| refused(&sandbox, name, 4, &["secret", "rotate", path]);
    rotate("a_rotated_secret_of_the_first_start", "nextcloud/admin_password");
    rotate("a_rotated_secret_of_a_need", "nextcloud/database_password");
    rotate("a_rotated_superuser_password", "postgres/superuser_password");
    let update = ["update", "postgres", "--superuser-password", "hunter2"];
    refused(&sandbox, "an_updated_superuser_password", 4, &update);
}

#[test]
fn a_reference_into_another_environment() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    let file = "pillar/infrastructure/production/redis.sls";
    let text = sandbox.read(file);
    sandbox.write(file, text.replace("secret://production/", "secret://staging/"));
    sandbox.commit_by_hand();
    refused(&sandbox, "a_reference_into_another_environment", 3, &["compile"]);
    // Without a file it may be about to be set: that is said and no more.
    sandbox.write(file, text.replace("password?v=1", "password?v=7"));
    sandbox.commit_by_hand();
    let run = sandbox.ok(&["compile"]);
    check(&sandbox, "a_reference_without_a_file", &run);
    let set = sandbox.with_stdin(&["secret", "set", "redis/password"], "Aixohr2zoo8Phoh4gooj5eek\n");
    assert!(set.code == 0 && !set.stderr.contains("E0503"), "{}", set.stderr);
    assert_eq!(sandbox.ok(&["compile"]).stderr, "");
}

/// Who reads the secrets would be decided by a file that anybody can change.
#[test]
fn links_among_the_secrets() {
    let sandbox = with_grafana();
    let outside = sandbox.path().join("others.txt");
    let recipients = sandbox.estate().join("secrets/recipients.txt");
    std::fs::rename(&recipients, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &recipients).unwrap();
    sandbox.commit_by_hand();
    refused(&sandbox, "recipients_that_are_a_link", 3, &["create", "redis"]);
    std::fs::rename(&outside, &recipients).unwrap();
    let path = sandbox.files("secrets").into_iter().find(|path| path.contains("admin_password")).unwrap();
    let path = sandbox.estate().join(path);
    std::fs::rename(&path, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    sandbox.commit_by_hand();
    refused(&sandbox, "a_secret_that_is_a_link", 3, &["secret", "show", "grafana/admin_password"]);
    let set = sandbox.with_stdin(&["secret", "set", "grafana/admin_password"], "hunter2hunter2");
    assert!(set.code == 3 && set.stderr.contains("E0206"), "{}{}", set.stdout, set.stderr);
}

#[test]
fn a_pipe_where_a_secret_should_be() {
    let sandbox = with_grafana();
    let path = sandbox.files("secrets").into_iter().find(|path| path.contains("admin_password")).unwrap();
    let path = sandbox.estate().join(path);
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused(&sandbox, "a_secret_that_is_a_pipe", 1, &["secret", "show", "grafana/admin_password"]);
}

#[test]
fn characters_that_no_variable_holds() {
    let sandbox = with_grafana();
    for value in ["a\0bcdefgh", "a\u{1b}[Dbcdefgh"] {
        let run = sandbox.with_stdin(&["secret", "set", "grafana/admin_password"], value);
        assert!(run.code == 3 && run.stderr.contains("cannot be seen"), "{}{}", run.stdout, run.stderr);
        assert!(!run.stderr.contains("bcdefgh"), "{}", run.stderr);
    }
}

/// `git add` would take the key along to everybody who has a clone.
#[test]
fn an_identity_inside_the_estate() {
    let sandbox = Sandbox::new();
    let own = sandbox.path().join("shop/identity.txt");
    let run = Run::from(sandbox.command(&["init", "shop"]).env("EOS_IDENTITY", &own).output().unwrap());
    assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
    assert!(!sandbox.path().join("shop").exists());
    check(&sandbox, "an_identity_inside_the_estate", &run);

    let sandbox = with_grafana();
    let inside = |args: &[&str], file: &std::path::Path| {
        Run::from(sandbox.command(args).env("EOS_IDENTITY", file).output().unwrap())
    };
    let own = sandbox.estate().join("keys/identity.txt");
    assert_eq!(inside(&["secret", "identity"], &own).code, 3);
    assert!(!own.exists());
    // One that somebody put there works, and is warned of; through a link to the estate as well.
    sandbox.write("keys/identity.txt", "");
    std::fs::copy(identity(&sandbox), &own).unwrap();
    std::fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let linked = sandbox.path().join("linked");
    std::os::unix::fs::symlink(sandbox.estate(), &linked).unwrap();
    for file in [own, linked.join("keys/identity.txt")] {
        let run = inside(&["secret", "show", "grafana/admin_password"], &file);
        assert!(run.code == 0 && run.stderr.contains("warning[E0507]"), "{}{}", run.stdout, run.stderr);
        let run = inside(&["doctor"], &file);
        assert!(run.code == 1 && run.stdout.contains("bad   E0507"), "{}", run.stdout);
    }
    assert!(!sandbox.ok(&["list"]).stderr.contains("E0507"));
}
