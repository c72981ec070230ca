//! What is recorded, and what is not.

use super::refused;
use super::support::{Run, Sandbox, in_terminal};

#[test]
fn nothing_is_recorded_on_no_branch() {
    let sandbox = Sandbox::with_estate();
    sandbox.git(&["checkout", "-q", "--detach"]);
    refused(&sandbox.run(&["create", "redis"]), 4, "E0113");
    sandbox.ok(&["list"]);
    sandbox.git(&["switch", "-q", "-"]);
    sandbox.ok(&["create", "redis"]);
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
fn what_nothing_would_read_is_not_recorded() {
    let sandbox = Sandbox::with_estate();
    let settings = sandbox.read("eos.toml");
    sandbox.write("eos.toml", format!("{settings}\n[environments.production-eu]\ntier = \"production\"\n"));
    sandbox.commit_by_hand();
    sandbox.ok(&["create", "host", "eu1", "--address", "10.9.0.1", "--env", "production-eu"]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let unread = sandbox.run(&["create", "redis", "--env", "production-eu"]);
    refused(&unread, 3, "E0210");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
    let lines = unread.stderr.lines().skip_while(|line| !line.contains("'environment:production-eu'"));
    assert!(lines.clone().any(|line| line.contains("- infrastructure.production-eu.*")), "{}", unread.stderr);
    for name in ["init", "operations", "orchestrate.sls"] {
        refused(&sandbox.run(&["create", "redis", name]), 3, "E0411");
    }
    refused(&sandbox.run(&["create", "host", "init"]), 3, "E0411");
}

#[test]
fn a_value_may_be_attached_to_a_short_flag() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "host", "stage1", "--address", "10.0.0.7", "-estaging"]);
    sandbox.ok(&["create", "redis", "-estaging"]);
    sandbox.ok(&["update", "redis", "-estaging", "--port", "6380"]);
    assert!(sandbox.read("pillar/infrastructure/staging/redis.sls").contains("6380"));
    let two = sandbox.path().join("two");
    sandbox.ok(&["-C..", "init", "two"]);
    sandbox.ok(&["-C../two", "create", "host", "in-two", "--address", "10.0.0.8"]);
    assert!(two.join("pillar/hosts/in-two.sls").exists());
}

/// Two pairs of ports that clash, as a merge by hand leaves them.
fn two_mistakes() -> Sandbox {
    let sandbox = Sandbox::with_estate();
    for kind in ["grafana", "gitea", "redis", "nats"] {
        sandbox.ok(&["create", kind]);
    }
    let edit = |name: &str, before: &str, after: &str| {
        let path = sandbox.estate().join(format!("pillar/infrastructure/production/{name}.sls"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(before), "{text}");
        std::fs::write(&path, text.replace(before, after)).unwrap();
    };
    edit("gitea", "        port: 3001\n", "        port: 3000\n");
    edit("nats", "        port: 4222\n", "        port: 6379\n");
    sandbox.commit_by_hand();
    refused(&sandbox.run(&["compile"]), 3, "E0404");
    sandbox
}

#[test]
fn of_two_mistakes_one_can_be_mended_before_the_other() {
    let sandbox = two_mistakes();
    let shown = sandbox.ok(&["update", "gitea", "--port", "3005", "--dry-run"]);
    assert!(shown.stdout.contains("+        port: 3005") && shown.stdout.contains("one mistake is left"));
    // What is noticed about the command itself is said all the same.
    let said = ["update", "grafana", "--port", "3006", "--admin-password", "hunter2", "--dry-run"];
    let noticed = sandbox.ok(&said);
    assert!(noticed.stdout.contains("one mistake is left"), "{}", noticed.stdout);
    assert!(noticed.stderr.contains("warning[E0504]"), "{}", noticed.stderr);
    let mended = sandbox.ok(&["update", "gitea", "--port", "3005"]);
    assert!(
        mended.stdout.contains("Recorded as") && mended.stdout.contains("one mistake is left"),
        "{}",
        mended.stdout
    );
    assert!(mended.stderr.contains("nats and redis both want port 6379"), "{}", mended.stderr);
    let job = sandbox.read("build/production/gitea/jobs/gitea.nomad.json");
    assert!(!job.contains("3005"), "build/ waits until everything compiles");
    sandbox.ok(&["delete", "nats"]);
    sandbox.ok(&["compile", "--check"]);
    assert!(sandbox.read("build/production/gitea/jobs/gitea.nomad.json").contains("3005"));
}

#[test]
fn what_mends_nothing_or_makes_another_mistake_is_refused() {
    let sandbox = two_mistakes();
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    refused(&sandbox.run(&["update", "grafana", "--memory", "600"]), 3, "E0404");
    refused(&sandbox.run(&["create", "memcached"]), 3, "E0404");
    refused(&sandbox.run(&["update", "gitea", "--port", "6379"]), 3, "E0404");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);
}

/// Who goes back without applying sees what becomes of each entry, as with an undo.
#[test]
fn a_rollback_that_is_only_recorded_says_what_it_changes() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "--no-apply"]);
    sandbox.ok(&["create", "prometheus", "--retention", "3d", "--no-apply"]);
    sandbox.ok(&["delete", "redis", "--no-apply"]);
    let back = sandbox.ok(&["rollback", "HEAD~2", "--no-apply"]).stdout;
    assert!(
        back.contains("redis is asked for again") && back.contains("prometheus is no longer asked for"),
        "{back}"
    );
    assert!(back.contains("recorded by "), "{back}");
}

#[test]
fn where_no_is_said_nothing_is_applied_and_other_words_are_refused() {
    let sandbox = Sandbox::with_estate();
    for (index, word) in ["0", "false", "NO", "off"].into_iter().enumerate() {
        let mut command = sandbox.command(&["create", "redis", &format!("r{index}")]);
        let run = Run::from(command.env("EOS_APPLY", word).output().unwrap());
        assert!(run.code == 0 && run.stdout.contains("Nothing was applied"), "{word}: {}", run.stderr);
    }
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    for words in [&["create", "redis", "other"][..], &["delete", "r0"], &["rollback", "HEAD~1"]] {
        let run = Run::from(sandbox.command(words).env("EOS_APPLY", "nope").output().unwrap());
        refused(&run, 3, "E0107");
        assert!(
            run.stderr.contains("EOS_APPLY=no") && run.stderr.contains("EOS_APPLY=yes"),
            "{}",
            run.stderr
        );
    }
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);
    // What does not ask is answered, and so is what was said for this command alone.
    for words in [&["list"][..], &["create", "redis", "other", "--no-apply"]] {
        let run = Run::from(sandbox.command(words).env("EOS_APPLY", "nope").output().unwrap());
        assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
    }
}

/// Nothing listens at the mirror: what is offline does not even try.
#[test]
fn whatever_is_said_but_no_offline_is_offline() {
    let sandbox = Sandbox::new();
    for (word, is_offline) in [("yes", true), ("1", true), ("sure", true), ("0", false), ("no", false)] {
        let mut command = sandbox.command(&["tools", "install", "tofu"]);
        command.env("PATH", "/nonexistent").env("XDG_CACHE_HOME", sandbox.path().join("empty"));
        command.env_remove("EOS_TOOLS_BUNDLE").env("EOS_RELEASE_BASE", "http://127.0.0.1:9");
        let run = Run::from(command.env("EOS_OFFLINE", word).output().unwrap());
        refused(&run, 1, "E0602");
        assert_eq!(run.stderr.contains("not tried: offline"), is_offline, "{word}: {}", run.stderr);
    }
}

#[test]
fn all_tools_that_are_there_are_verified_when_none_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let verify = |path: &std::path::Path| {
        let mut command = sandbox.command(&["tools", "verify"]);
        command.env("PATH", path).env("XDG_CACHE_HOME", sandbox.path().join("empty"));
        command
    };
    let verified = |path: &std::path::Path| Run::from(verify(path).output().unwrap());
    let bin = sandbox.path().join("programs-of-the-department");
    assert!(verified(&bin).stdout.contains("No tool is installed"));
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("nomad"), "#!/bin/sh\necho Nomad v1.10.5\n").unwrap();
    std::fs::set_permissions(bin.join("nomad"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = verified(&bin).stdout;
    assert!(said.starts_with("nomad 1.10.5 is ") && said.lines().count() == 1, "{said}");
    let Some(mut terminal) = in_terminal(&verify(&bin)) else { return };
    let said = Run::from(terminal.output().unwrap()).stdout;
    assert!(said.lines().count() == 2 && said.lines().all(|line| line.len() <= 100), "{said}");
}

#[test]
fn what_cannot_be_printed_is_a_failure() {
    let sandbox = Sandbox::with_estate();
    for words in [&["list", "hosts"][..], &["list", "hosts", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = sandbox.command(words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
    }
}

/// Where tofu is nowhere to be had, terraform is taken when an estate is made, and that is recorded. An estate that says
/// tofu is told what to type instead of being said to be well.
#[test]
fn the_estate_records_who_applies_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let bin = sandbox.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("terraform"), "#!/bin/sh\necho Terraform v1.11.4\n").unwrap();
    std::fs::set_permissions(bin.join("terraform"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let run = |words: &[&str]| {
        let mut command = sandbox.command(words);
        command.env("PATH", &path).env("EOS_OFFLINE", "yes").env("EOS_APPLY", "yes");
        Run::from(command.output().unwrap())
    };
    let outside = run(&["doctor"]).stdout;
    assert!(outside.contains("terraform 1.11.4"), "what init would take: {outside}");
    let made = run(&["init", "shop"]).stdout.replace('\n', " ");
    assert!(
        made.contains("applied by terraform, which is here while tofu is not; its state is not"),
        "{made}"
    );
    assert!(sandbox.read("eos.toml").contains("executor = \"terraform\""));
    sandbox.write("eos.toml", sandbox.read("eos.toml").replace("\"terraform\"", "\"tofu\""));
    sandbox.commit_by_hand();
    let said = run(&["doctor"]).stdout.replace("\n           ", " ");
    assert!(
        said.contains("executor = \"terraform\" in eos.toml") && !said.contains("ok    terraform"),
        "{said}"
    );
    assert_eq!(run(&["create", "host", "local", "--no-apply"]).code, 0);
    assert_eq!(run(&["create", "redis", "--no-apply"]).code, 0);
    let plan = run(&["plan"]);
    let said = plan.stderr.replace("\n       ", " ");
    assert!(said.contains("E0602") && said.contains("executor = \"terraform\" in eos.toml"), "{said}");
}

#[test]
fn an_estate_is_made_where_its_path_leads_and_nothing_else_is() {
    let sandbox = Sandbox::new();
    let said = sandbox.ok(&["init", "none/../shop", "--name", "shop"]).stdout;
    assert!(
        sandbox.path().join("shop/eos.toml").is_file() && !sandbox.path().join("none").exists(),
        "{said}"
    );
    let offered = said.lines().find_map(|line| line.trim().strip_prefix("cd ")).unwrap();
    assert!(sandbox.path().join(offered).is_dir(), "{said}");
    assert_eq!(sandbox.read(".gitattributes"), "* -text\n");
}

/// git itself may have been told to write other line ends: files would look edited by hand.
#[test]
fn a_checkout_with_other_line_ends_is_as_eos_wrote_it() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.git(&["config", "core.autocrlf", "true"]);
    std::fs::remove_dir_all(sandbox.estate().join("pillar")).unwrap();
    sandbox.git(&["checkout", "--", "pillar"]);
    sandbox.ok(&["update", "redis", "--memory", "600"]);
}

#[test]
fn the_history_of_one_environment_is_its_own() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["create", "host", "stage1", "--env", "staging", "--address", "10.0.0.9"]);
    sandbox.ok(&["create", "redis", "--env", "staging", "--host", "stage1", "--because", "to try"]);
    let said = sandbox.ok(&["history", "--env", "staging"]).stdout;
    assert!(said.contains("to try") && said.contains("stage1") && !said.contains("host local"), "{said}");
    assert!(!said.contains("eos create redis\n"), "{said}");
    assert!(sandbox.ok(&["history"]).stdout.contains("eos create redis\n"));
}

/// What was made for another becomes one's own when something about it is asked for, and this is said.
#[test]
fn what_was_made_for_another_and_is_updated() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud"]);
    let file = "pillar/infrastructure/production/redis.sls";
    let before = sandbox.read(file);
    assert!(before.contains("created_for: nextcloud"), "{before}");
    let said = sandbox.ok(&["update", "redis"]).stdout;
    assert_eq!((said.lines().next(), sandbox.read(file)), (Some(NOTHING), before));
    let said = sandbox.ok(&["update", "redis", "--port", "6399"]).stdout;
    assert!(said.contains("redis was made for nextcloud; it is now one you asked for"), "{said}");
    assert!(!sandbox.read(file).contains("created_for"));
    assert!(!sandbox.ok(&["update", "redis", "--port", "6400"]).stdout.contains("made for"));
    let said = sandbox.ok(&["create", "postgres"]).stdout;
    assert!(said.contains("it is now one you asked for"), "{said}");
}

const NOTHING: &str = "Nothing to change: the estate says so already.";
