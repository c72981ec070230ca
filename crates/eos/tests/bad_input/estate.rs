//! Estates in a condition that a command must not build upon.

use crate::case::{assert_same, condition, refused, snapshot};
use crate::support::{Run, Sandbox};

/// Replaces text in a file of the estate and commits it.
fn edited(path: &str, from: &str, to: &str) -> Sandbox {
    let sandbox = Sandbox::with_estate();
    let before = sandbox.read(path);
    let after = before.replacen(from, to, 1);
    assert_ne!(before, after, "{path} has no {from:?}");
    sandbox.write(path, after);
    sandbox.commit_by_hand();
    sandbox
}

#[test]
fn a_newer_format() {
    refused(&edited("eos.toml", "format = 1", "format = 7"), "a_newer_estate", 3, &["list"]);
    refused(&edited("eos.lock", "format = 1", "format = 7"), "a_newer_lock", 3, &["create", "grafana"]);
}

#[test]
fn a_newer_intent_record() {
    let sandbox = Sandbox::with_estate();
    sandbox.write(".eos/state/intent.json", r#"{"format": 7, "base": null, "commit": "x", "files": []}"#);
    refused(&sandbox, "a_newer_intent_record", 3, &["list"]);
}

#[test]
fn a_broken_estate_file() {
    refused(&edited("eos.toml", "format = 1", "format = "), "eos_toml_broken", 3, &["list"]);
    refused(
        &edited("eos.toml", "format = 1", "format = 1\nexecuter = \"tofu\""),
        "eos_toml_unknown_field",
        3,
        &["list"],
    );
    refused(
        &edited("eos.toml", "default_environment = \"production\"", "default_environment = \"live\""),
        "eos_toml_default_environment",
        3,
        &["list"],
    );
    refused(
        &edited("eos.toml", "executor = \"tofu\"", "executor = \"pulumi\""),
        "eos_toml_executor",
        3,
        &["list"],
    );
    refused(&edited("eos.toml", "\"shop\"", "\"../../pwn\""), "eos_toml_name", 3, &["compile"]);
}

#[test]
fn both_files_broken_are_told_of_together() {
    let sandbox = edited("eos.toml", "format = 1", "format = 7");
    sandbox.write("eos.lock", "compiler = [");
    sandbox.commit_by_hand();
    refused(&sandbox, "eos_toml_and_eos_lock_broken", 3, &["list"]);
}

#[test]
fn no_lock_file() {
    let sandbox = Sandbox::with_estate();
    std::fs::remove_file(sandbox.estate().join("eos.lock")).unwrap();
    sandbox.commit_by_hand();
    refused(&sandbox, "no_lock_file", 3, &["list"]);
}

#[test]
fn a_lock_of_another_compiler() {
    refused(
        &edited("eos.lock", &format!("compiler = {}", eos_compile::COMPILER), "compiler = 0"),
        "a_lock_of_an_older_compiler",
        4,
        &["compile"],
    );
    let sandbox = edited("eos.lock", "compiler = ", "compiler = 9");
    refused(&sandbox, "a_lock_of_another_compiler", 4, &["compile"]);
    refused(&sandbox, "a_lock_of_another_compiler_create", 4, &["create", "grafana"]);
}

#[test]
fn a_lock_that_pins_another_component() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let path = "vendor/catalog/grafana/component.yaml";
    let lock = sandbox
        .read("eos.lock")
        .lines()
        .map(|line| {
            if line.starts_with("grafana = ") {
                format!("grafana = \"{}\"", "0".repeat(64))
            } else {
                line.to_owned()
            }
        })
        .collect::<Vec<_>>()
        .join("\n");
    assert!(sandbox.estate().join(path).is_file());
    sandbox.write("eos.lock", lock + "\n");
    sandbox.commit_by_hand();
    refused(&sandbox, "a_lock_that_pins_another_component", 4, &["compile"]);
}

#[test]
fn a_copy_that_is_not_what_is_pinned() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis"]);
    sandbox.ok(&["compile", "--check"]);
    let copy = "vendor/catalog/redis/component.yaml";
    sandbox.write(copy, sandbox.read(copy) + "# changed\n");
    sandbox.commit_by_hand();
    refused(&sandbox, "a_copy_that_is_not_what_is_pinned", 4, &["compile", "--check"]);
}

#[test]
fn a_dirty_tree() {
    let sandbox = Sandbox::with_estate();
    sandbox.write("pillar/infrastructure/production/init.sls", "#!yaml\n# half an edit\n{}\n");
    refused(&sandbox, "a_dirty_tree", 4, &["create", "grafana"]);
    // What commits nothing is not refused for the sake of a commit of its own.
    refused(&sandbox, "a_dirty_tree_for_a_plan", 4, &["plan"]);
    refused(&sandbox, "a_dirty_tree_for_an_apply", 4, &["apply"]);
    refused(&sandbox, "a_dirty_tree_for_a_dry_run", 4, &["create", "grafana", "--dry-run"]);
    for number in 0..9 {
        sandbox.write(&format!("pillar/infrastructure/production/new{number}.sls"), "#!yaml\n{}\n");
    }
    refused(&sandbox, "a_very_dirty_tree", 4, &["create", "grafana"]);
}

#[test]
fn a_detached_head() {
    let sandbox = Sandbox::with_estate();
    sandbox.git(&["checkout", "-q", "--detach"]);
    refused(&sandbox, "a_detached_head", 4, &["create", "grafana"]);
}

#[test]
fn a_branch_lock_held_by_another_git() {
    let sandbox = Sandbox::with_estate();
    sandbox.write(".git/refs/heads/main.lock", "");
    refused(&sandbox, "a_branch_lock_held_by_another_git", 1, &["create", "grafana"]);
    assert!(
        sandbox.estate().join(".git/refs/heads/main.lock").exists(),
        "somebody else's lock was taken away"
    );
    std::fs::remove_file(sandbox.estate().join(".git/refs/heads/main.lock")).unwrap();
    sandbox.ok(&["create", "grafana"]);
}

#[test]
fn an_index_lock_held_by_another_git() {
    let sandbox = Sandbox::with_estate();
    sandbox.write(".git/index.lock", "");
    refused(&sandbox, "an_index_lock_held_by_another_git", 1, &["create", "grafana"]);
    assert!(sandbox.estate().join(".git/index.lock").exists(), "somebody else's lock was taken away");
    // Looking needs no lock of git's.
    sandbox.ok(&["list"]);
    std::fs::remove_file(sandbox.estate().join(".git/index.lock")).unwrap();
    sandbox.ok(&["create", "grafana"]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_estate_without_git() {
    let sandbox = Sandbox::with_estate();
    std::fs::remove_dir_all(sandbox.estate().join(".git")).unwrap();
    refused(&sandbox, "an_estate_without_git", 1, &["list"]);
    refused(&sandbox, "an_estate_without_git_create", 1, &["create", "grafana"]);
}

#[test]
fn a_merge_under_way() {
    let sandbox = Sandbox::with_estate();
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    sandbox.write("pillar/infrastructure/production/init.sls", "#!yaml\na: 1\n");
    sandbox.commit_by_hand();
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write("pillar/infrastructure/production/init.sls", "#!yaml\na: 2\n");
    sandbox.commit_by_hand();
    let merge = std::process::Command::new("git")
        .args(["-c", "user.name=Kim", "-c", "user.email=k@example.org", "merge", "other"])
        .current_dir(sandbox.estate())
        .output()
        .unwrap();
    assert!(!merge.status.success());
    refused(&sandbox, "a_merge_under_way", 4, &["create", "grafana"]);
    refused(&sandbox, "a_merge_under_way_compile", 3, &["compile"]);
}

#[test]
fn an_unknown_file_in_the_way_of_build() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana"]);
    let before = condition(&sandbox);
    std::fs::remove_dir_all(sandbox.estate().join("build")).unwrap();
    std::fs::write(sandbox.estate().join("build"), "a file\n").unwrap();
    let run = sandbox.run(&["compile"]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    snapshot(&sandbox, "a_file_in_the_way_of_build", &format!("exit 1\n{}", run.stderr));
    std::fs::remove_file(sandbox.estate().join("build")).unwrap();
    sandbox.ok(&["compile"]);
    assert_same(&before, &condition(&sandbox), "once it is out of the way");
}

#[test]
fn a_refused_init_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path().join("mine");
    std::fs::create_dir_all(folder.join("pillar")).unwrap();
    std::fs::write(folder.join("pillar/top.sls"), "base: {}\n").unwrap();
    refused(&sandbox, "init_over_a_file", 4, &["init", "mine"]);
    let there: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, ["pillar"], "neither .git nor .eos");
    std::fs::write(sandbox.path().join("file"), "").unwrap();
    refused(&sandbox, "init_below_a_file", 1, &["init", "file/shop"]);
}

#[test]
fn a_merge_conflict() {
    let sandbox = Sandbox::with_estate();
    let branch = sandbox.git(&["branch", "--show-current"]);
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    sandbox.ok(&["create", "redis"]);
    sandbox.git(&["checkout", "-q", branch.trim()]);
    sandbox.ok(&["create", "memcached"]);
    let merge = std::process::Command::new("git")
        .args(["merge", "-q", "other"])
        .current_dir(sandbox.estate())
        .output();
    assert!(!merge.unwrap().status.success(), "both changed eos.lock");
    refused(&sandbox, "a_merge_conflict_in_eos_lock", 3, &["list"]);
    // What the message says to do leads out of it.
    sandbox.git(&["checkout", "--ours", "eos.lock"]);
    sandbox.commit_by_hand();
    sandbox.ok(&["upgrade"]);
    assert_eq!(sandbox.ok(&["compile"]).stderr, "");
    let toml = sandbox.read("eos.toml");
    sandbox.write("eos.toml", format!("<<<<<<< HEAD\n{toml}=======\n>>>>>>> other\n"));
    sandbox.commit_by_hand();
    refused(&sandbox, "a_merge_conflict_in_eos_toml", 3, &["list"]);
}

#[test]
fn a_folder_whose_name_is_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new();
    let folder = sandbox.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&folder).unwrap();
    for args in [&["init", "shop"] as &[&str], &["init", "."], &["-C", ".", "init"], &["list"]] {
        let run = Run::from(sandbox.command(args).current_dir(&folder).output().unwrap());
        assert!(
            run.code == 3 && run.stderr.contains("error[E0205]"),
            "{args:?}: {}{}",
            run.stdout,
            run.stderr
        );
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(sandbox.path().join("home")).unwrap().count(), 0, "no identity was made");
}
