//! One estate from its first component to its last, with drift made by hand on each layer in between.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::shop::{Shop, ask_redis, has};

/// A kind of the estate's own: a file on the host, which its undoing state takes away.
pub const NOTE: &str = r#"#!yaml
format: 1
kind: note
summary: A note for whoever signs in
proof: validates
settings:
  path: {type: string, default: /nowhere, fixed: true, pattern: "/[A-Za-z0-9._/-]+", help: Where it lies}
  text: {type: string, default: open from nine to five, help: What it says}
states:
  note:
    file.managed:
      - name: "@{setting.path}"
      - mode: "0640"
      - contents: "@{setting.text}"
undo_states:
  note:
    file.absent:
      - name: "@{setting.path}"
"#;

pub fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode()
        & 0o7777
}

pub fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn from_the_first_component_to_the_last() {
    let shop = Shop::new();
    let note = shop.sandbox.path().join("note");
    shop.sandbox.write("catalog/note/component.yaml", NOTE);
    shop.sandbox.commit_by_hand();
    let created = shop.ok(&["create", "note", "--path", note.to_str().unwrap(), "--yes"]);
    has(&created.stdout, "+ create  note");
    assert_eq!(std::fs::read_to_string(&note).unwrap().trim(), "open from nine to five");
    let (port, created) = shop.create_redis("life", "first-password");
    let address = format!("127.0.0.1:{port}");
    has(&created.stdout, "+ create  life");
    has(&created.stdout, "1 unit stays as it is");
    has(&created.stdout, &address);
    has(&created.stderr, "life: done");
    has(&ask_redis(port, "first-password", &["SET wish tea", "PING"]), "+OK\r\n+OK\r\n+PONG");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");

    shop.ok(&["update", "life", "--max-memory", "32M", "--no-apply"]);
    let planned = shop.exits(2, &["plan", "--out", "../kept.plan"]);
    has(&planned.stdout, "~ change  life");
    let updated = shop.ok(&["apply", "../kept.plan", "--yes"]);
    assert_eq!(rows(&planned.stdout), rows(&updated.stdout), "with what Nomad said of it");
    has(&ask_redis(port, "first-password", &["CONFIG GET maxmemory"]), &(32 << 20).to_string());
    assert_eq!(shop.versions("production-life"), 2);
    let why = shop.ok(&["why", "build/production/life/jobs/life.nomad.json:3"]).stdout;
    has(&why, "live   Nomad's job production-life in namespace default, version 1");
    has(&why, "as it compiles now");
    let why = shop.ok(&["why", "build/production/note/main.tf.json"]).stdout;
    has(&why, "on host local (masterless)");
    has(&shop.ok(&["drift"]).stdout, "Nothing in production differs");

    drift_of_hosts_and_jobs(&shop, &note);
    what_was_changed_by_hand_is_accepted(&shop);
    what_was_stopped_comes_back(&shop, port);
    what_the_state_forgot_is_found_again(&shop, &note);
    three_commits_back_with_its_data(&shop, &note, port);

    let destroyed = shop.ok(&["destroy", "production", "--yes"]);
    has(&destroyed.stdout, "Data that is kept: life");
    shop.nothing_is_left_of("production-life", port);
    assert!(!note.exists(), "its undoing state has taken it away");
    assert!(shop.data_folder("life").join("appendonlydir").is_dir(), "the data is kept");
    has(&shop.ok(&["status"]).stdout, "Kept: eos_salt_state.volumes of life (database)");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");

    let (words, port) = shop.redis("life", &["--yes"]);
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let again = shop.ok(&words);
    has(&ask_redis(port, "first-password", &["GET wish"]), "tea");
    assert!(
        !again.stdout.contains("Secrets made"),
        "the password of the data is used again: {}",
        again.stdout
    );
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    let status = shop.ok(&["status"]).stdout;
    assert!(!status.contains("Kept:"), "what was kept is in use again:\n{status}");
    let data = shop.data_folder("life");
    assert!(data.is_dir());
    let lost = shop.ok(&["destroy", "production", "--destroy-data", "life", "--yes"]).stdout;
    has(&lost, "Data that is lost: life");
    assert!(!lost.contains("data stays") && !lost.contains("is kept"), "{lost}");
    shop.nothing_is_left_of("production-life", port);
    assert!(!data.exists(), "what is called lost is gone");
}

/// The rows of a plan.
fn rows(text: &str) -> &str {
    let from = text.find("ACTION").unwrap();
    &text[from..from + text[from..].find("\n\n").unwrap()]
}

/// A folder's mode, a file's text and a job's count are changed behind eos's back.
fn drift_of_hosts_and_jobs(shop: &Shop, note: &Path) {
    let data = shop.data_folder("life");
    let before = mode(&data);
    set_mode(&data, 0o700);
    std::fs::write(note, "closed\n").unwrap();
    assert!(shop.nomad_says(&["job", "scale", "-detach", "production-life", "server", "0"]).status.success());
    let found = shop.exits(2, &["drift"]).stdout;
    for part in ["life\n", "eos_nomad_job.job", "eos_salt_state.volumes", "note\n", "eos_salt_state.host"] {
        has(&found, part);
    }
    has(&found, "-closed");
    has(&shop.ok(&["status"]).stdout, "Drift: note was not as applied when last looked at");
    let watched = shop.exits(2, &["drift", "watch", "--times", "1"]).stdout;
    has(&watched, "production: life, note differs from what was applied");
    has(&shop.exits(4, &["drift", "accept", "note", "--yes"]).stderr, "what it holds there is not known");
    shop.ok(&["drift", "ignore", "note", "--because", "until monday"]);
    let found = shop.exits(2, &["drift"]).stdout;
    has(&found, "Ignored: eos_salt_state.host of note, by kim@");
    assert!(!found.contains("note\n"), "{found}");
    shop.ok(&["drift", "ignore", "note", "--end"]);
    has(&shop.exits(2, &["drift"]).stdout, "note\n");
    shop.ok(&["drift", "ignore", "note", "--because", "until monday"]);
    std::fs::write(note, "closed for good").unwrap();
    has(&shop.exits(2, &["drift", "watch", "--times", "1"]).stdout, "life, note differs");
    let reverted = shop.ok(&["drift", "revert", "--yes"]);
    has(&reverted.stdout, "2 units to change");
    assert_eq!((mode(&data), mode(note)), (before, 0o640));
    assert_eq!(std::fs::read_to_string(note).unwrap().trim(), "open from nine to five");
    assert_eq!(shop.job("production-life")["TaskGroups"][0]["Count"], 1);
    has(&shop.ok(&["drift"]).stdout, "Nothing in production differs");
}

/// A field that comes from one setting is asked for from now on; one that no setting decides is not.
fn what_was_changed_by_hand_is_accepted(shop: &Shop) {
    let submit = |log_files: u64| {
        let mut job = shop.job("production-life");
        let task = &mut job["TaskGroups"][0]["Tasks"][0];
        task["Resources"]["CPU"] = 123.into();
        task["LogConfig"]["MaxFiles"] = log_files.into();
        let file = shop.sandbox.path().join("by-hand.json");
        std::fs::write(&file, serde_json::json!({ "Job": job }).to_string()).unwrap();
        assert!(
            shop.nomad_says(&["job", "run", "-json", "-detach", file.to_str().unwrap()]).status.success()
        );
    };
    submit(4);
    let refused = shop.exits(4, &["drift", "accept", "life", "--yes"]).stderr;
    has(&refused, "E0923");
    has(&refused, "LogConfig/MaxFiles");
    has(&shop.exits(2, &["drift"]).stdout, "eos drift ignore life");
    submit(3);
    has(&shop.exits(2, &["drift"]).stdout, "eos drift accept life");
    let (versions, commits) =
        (shop.versions("production-life"), shop.sandbox.git(&["rev-list", "--count", "HEAD"]));
    let accepted = shop.ok(&["drift", "accept", "life", "--because", "it is slow", "--yes"]);
    has(&accepted.stdout, "life: cpu 123 from now on, as it is there");
    has(&shop.sandbox.git(&["log", "-1", "--format=%B"]), "accept the drift of life in production");
    assert_ne!(shop.sandbox.git(&["rev-list", "--count", "HEAD"]), commits);
    has(&shop.ok(&["drift"]).stdout, "Nothing in production differs");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    assert_eq!(shop.versions("production-life"), versions, "the job was left as it is");
}

fn what_was_stopped_comes_back(shop: &Shop, port: u16) {
    assert!(shop.nomad_says(&["job", "stop", "-detach", "production-life"]).status.success());
    // No setting could ask for it: only what works is offered.
    let found = shop.exits(2, &["drift"]).stdout;
    has(&found, "eos_nomad_job.job");
    has(&found, "Next: eos drift revert brings it back, eos drift ignore life");
    let refused = shop.exits(4, &["drift", "accept", "life", "--yes"]).stderr;
    has(&refused, "eos drift revert life brings it back");
    let planned = shop.exits(2, &["plan"]).stdout;
    has(&planned, "life");
    shop.ok(&["apply", "--yes"]);
    has(&ask_redis(port, "first-password", &["GET wish"]), "tea");
    shop.ok(&["plan"]);
}

/// What is taken out of tofu's state by hand is adopted, not made a second time.
fn what_the_state_forgot_is_found_again(shop: &Shop, note: &Path) {
    let listed = shop.ok(&["tofu", "life", "--", "state", "list"]).stdout;
    assert_eq!(listed.lines().collect::<Vec<_>>(), ["eos_nomad_job.job", "eos_salt_state.volumes"]);
    let versions = shop.versions("production-life");
    shop.ok(&["tofu", "life", "--", "state", "rm", "eos_nomad_job.job"]);
    shop.ok(&["tofu", "note", "--", "state", "rm", "eos_salt_state.host"]);
    has(&shop.exits(2, &["plan"]).stdout, "2 units to create");
    shop.ok(&["apply", "--yes"]);
    assert_eq!(shop.versions("production-life"), versions, "nothing was registered again");
    assert!(note.is_file());
    shop.ok(&["plan"]);
}

/// A change of the job, one of another unit, and the end of the first with its data kept: then back over all three.
fn three_commits_back_with_its_data(shop: &Shop, note: &Path, port: u16) {
    let data = shop.data_folder("life");
    let witness = data.join("put-there-by-hand");
    std::fs::write(&witness, "here since before").unwrap();
    let identity = |path: &Path| {
        let about = std::fs::metadata(path).unwrap();
        (about.ino(), about.modified().unwrap())
    };
    has(&ask_redis(port, "first-password", &["SET more milk"]), "+OK\r\n+OK");
    // Nomad forgets old versions, and numbers them on.
    let version = || shop.job("production-life")["Version"].as_u64();
    let (folder, file, before) = (identity(&data).0, identity(&witness), version().unwrap());
    let commit = shop.sandbox.git(&["rev-parse", "HEAD"]);

    shop.ok(&["update", "life", "--max-memory", "48M", "--yes"]);
    assert_eq!(version(), Some(before + 1), "registered once");
    shop.ok(&["update", "note", "--text", "closed for today", "--yes"]);
    has(&shop.ok(&["delete", "life", "--yes"]).stdout, "Data that is kept: life");
    shop.nothing_is_left_of("production-life", port);
    assert_eq!(shop.sandbox.git(&["rev-parse", "HEAD~3"]), commit, "three recorded changes");
    assert_eq!((identity(&data).0, identity(&witness)), (folder, file));

    let back = shop.ok(&["rollback", "HEAD~3", "--yes"]).stdout;
    has(&back, "its data stays");
    assert_eq!(shop.versions("production-life"), 1, "registered once, as a job that was not there");
    let said = ask_redis(port, "first-password", &["GET wish", "GET more", "CONFIG GET maxmemory"]);
    for part in ["tea", "milk", &(32 << 20).to_string()] {
        has(&said, part);
    }
    assert_eq!((identity(&data).0, identity(&witness)), (folder, file), "the data was not touched");
    assert_eq!(std::fs::read_to_string(note).unwrap().trim(), "open from nine to five");
    let listed = shop.ok(&["tofu", "life", "--", "state", "list"]).stdout;
    assert_eq!(listed.lines().collect::<Vec<_>>(), ["eos_nomad_job.job", "eos_salt_state.volumes"]);
    let status = shop.ok(&["status"]).stdout;
    assert!(!status.contains("Kept:"), "what was kept is in use again:\n{status}");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    assert_eq!(shop.versions("production-life"), 1);
}
