//! What a run that is taken back takes with it, and what it leaves alone.

use crate::place::{NOTE, Place, text};
use crate::support::tool;

/// A folder with data on a host.
const VAT: &str = r#"#!yaml
format: 1
kind: vat
summary: A folder that something was put into
proof: validates
settings:
  stuck_by: {type: string, default: /nowhere, help: It cannot be made while this file is there}
storage:
  data: {class: database, size: 1G, help: What is in it}
states:
  lid:
    cmd.run: [{name: "test ! -e '@{setting.stuck_by}'"}]
"#;

pub fn pillar(place: &Place, name: &str) -> bool {
    place.path(&format!("pillar/infrastructure/production/{name}.sls")).exists()
}

fn changed_files(place: &Place) -> String {
    place.git(&["show", "--format=", "--name-status", "HEAD"])
}

/// A colleague's recorded work is not the run's.
#[test]
fn an_undo_leaves_what_others_recorded_before_the_run() {
    let place = Place::new();
    place.ok(&["create", "chore", "a", "--yes"]);
    place.ok(&["create", "chore", "b", "--yes"]);
    place.ok(&["create", "chore", "c", "--no-apply"]);
    place.ok(&["update", "b", "--input", "two", "--no-apply"]);
    place.ok(&["apply", "--only", "b", "--yes"]);
    let undone = place.ok(&["undo", "--yes"]).stdout;
    assert_eq!(changed_files(&place), "M\tpillar/infrastructure/production/b.sls");
    assert!(undone.contains("Recorded apart from the run and not applied: c."), "{undone}");
    assert!(place.ok(&["show", "b"]).stdout.contains("one"));
    // What is left to do is what the colleague asked for.
    let plan = place.exits(2, &["plan"]).stdout;
    assert!(plan.contains("1 unit to create") && !plan.contains(" b "), "{plan}");
}

/// What a later run applied is not forgotten: a clone that has not pulled it would take it away.
#[test]
fn an_undo_that_is_resumed_leaves_the_commit_of_a_later_run() {
    let place = Place::new();
    place.ok(&["create", "chore", "a", "--yes"]);
    place.ok(&["create", "chore", "b", "--yes"]);
    place.stopped_after("8", &["undo", "--yes"]);
    let undone = place.head();
    place.ok(&["create", "chore", "c", "--yes"]);
    place.ok(&["resume"]);
    place.is_settled();
    place.git(&["reset", "-q", "--hard", &undone]);
    let refused = place.exits(4, &["apply", "--yes"]);
    assert!(refused.stderr.contains("E0905"), "{}", refused.stderr);
}

/// A need alone changes no byte of the unit that has it, only what is recorded of it.
#[test]
fn a_need_that_came_with_the_run_goes_with_it_and_is_written_down_once() {
    const GATE: &str = r#"#!yaml
format: 1
kind: gate
summary: Gate in front of a stall
proof: validates
cloud:
  resources:
    terraform_data:
      it: {input: "@{name}"}
offers:
  way: {help: A way in, outputs: {}}
"#;
    const STALL: &str = r#"#!yaml
format: 1
kind: stall
summary: Stall on a market
proof: validates
cloud:
  resources:
    terraform_data:
      it: {input: "@{name}"}
features:
  gated:
    help: Reached through a gate
    add:
      needs:
        way: {offer: way, create: gate, help: the way in}
"#;
    let place = Place::new();
    place.add_kind("gate", GATE);
    place.add_kind("stall", STALL);
    place.ok(&["create", "stall", "--yes"]);
    let entry = place.git(&["show", "HEAD:pillar/infrastructure/production/stall.sls"]);
    let updated = place.ok(&["update", "stall", "--gated", "--yes"]);
    assert!(updated.stdout.contains("gate"), "{}", updated.stdout);
    let again = place.ok(&["apply", "--yes"]);
    assert!(!again.stderr.contains("Run "), "there was nothing to do: {}", again.stderr);
    place.ok(&["undo", "--yes"]);
    assert!(!pillar(&place, "gate"));
    assert_eq!(place.git(&["show", "HEAD:pillar/infrastructure/production/stall.sls"]), entry);
    place.is_settled();
}

/// What went with the run comes back with it; what was purged since is not asked for again, and its secrets stay gone.
#[test]
fn an_undo_revives_no_secret_that_was_purged() {
    const BOX: &str = r#"#!yaml
format: 1
kind: strongbox
summary: Box with a lock and something in it
proof: validates
settings:
  combination: {type: secret, generate: 12, help: What opens it}
  color: {type: string, default: brown, help: What it looks like}
cloud:
  resources:
    terraform_data:
      gold: {input: "@{name}"}
      paint: {input: "@{setting.color}"}
  data_classes: {terraform_data.gold: database}
"#;
    let place = Place::new();
    place.add_kind("strongbox", BOX);
    place.ok(&["create", "chore", "--yes"]);
    place.ok(&["create", "strongbox", "box", "--yes"]);
    let secret = place.path("secrets/production/box/combination.v1.age");
    place.ok(&["update", "box", "--color", "red", "--yes"]);
    let red = place.head();
    // Somebody took the secret away: the box as it was cannot be opened.
    place.git(&["rm", "-q", text(&secret)]);
    place.git(&["commit", "-qm", "by hand"]);
    let refused = place.exits(4, &["undo", "--yes"]).stderr;
    assert!(refused.contains("secrets of box were taken away"), "{refused}");
    assert!(!secret.exists());
    place.git(&["reset", "-q", "--hard", &red]);

    // What holds nothing goes with its secret.
    let empty =
        BOX.replace("strongbox", "locker").replace("  data_classes: {terraform_data.gold: database}\n", "");
    place.add_kind("locker", &empty);
    place.ok(&["create", "locker", "--yes"]);
    place.ok(&["delete", "locker", "--yes"]);
    let of_locker = place.path("secrets/production/locker/combination.v1.age");
    assert!(!of_locker.exists());
    place.ok(&["undo", "--yes"]);
    assert!(of_locker.exists() && pillar(&place, "locker"), "it went with the run and is back with it");
    place.is_settled();

    place.ok(&["delete", "box", "--yes"]);
    assert!(secret.exists(), "its data is kept");
    place.ok(&["undo", "--yes"]);
    assert!(secret.exists() && pillar(&place, "box"));
    place.is_settled();

    place.ok(&["delete", "box", "--yes"]);
    place.ok(&["update", "chore", "--input", "two", "--yes"]);
    place.ok(&["purge", "box", "--yes"]);
    // The last run is the purge itself.
    let head = place.head();
    let refused = place.exits(4, &["undo", "--yes"]).stderr;
    assert!(refused.contains("E0109") && refused.contains("box"), "{refused}");
    assert_eq!(place.head(), head);
    place.ok(&["update", "chore", "--input", "three", "--yes"]);
    place.ok(&["undo", "--yes"]);
    assert_eq!(changed_files(&place), "M\tpillar/infrastructure/production/chore.sls");
    place.ok(&["rollback", "HEAD~2", "--yes"]);
    assert!(!secret.exists() && !pillar(&place, "box"));
    place.is_settled();
}

/// A run that was cut off before there was any data leaves none behind, and no secret to open it with.
#[test]
fn what_was_never_made_is_not_said_to_stay() {
    const VAULT: &str = r#"#!yaml
format: 1
kind: crypt
summary: Crypt with a door, gold behind it and a seal on it
proof: validates
settings:
  combination: {type: secret, generate: 12, help: What opens it}
  stuck_by: {type: string, default: /nowhere, help: The door does not open while this file is there}
  broken_by: {type: string, default: /nowhere, help: No seal holds while this file is there}
cloud:
  resources:
    terraform_data:
      door:
        provisioner: {local-exec: {command: "test ! -e '@{setting.stuck_by}'"}}
      gold: {input: "${terraform_data.door.id}"}
      seal:
        triggers_replace: ["${terraform_data.gold.id}"]
        provisioner: {local-exec: {command: "test ! -e '@{setting.broken_by}'"}}
  data_classes: {terraform_data.gold: database}
"#;
    let place = Place::new();
    place.add_kind("crypt", VAULT);
    place.ok(&["create", "chore", "--yes"]);
    let broken = place.outside("broken");
    std::fs::write(&broken, "").unwrap();
    let secret = place.path("secrets/production/crypt/combination.v1.age");
    let made = |flag: &str, more: &[&str]| {
        place.exits(1, &[&["create", "crypt", flag, text(&broken), "--yes"], more].concat())
    };
    let nothing_is_left = |said: &str| {
        assert!(!said.contains("with its data"), "nothing was there to stay: {said}");
        assert!(said.contains("Taken back: "), "{said}");
        assert!(!secret.exists() && !place.ok(&["secret", "list"]).stdout.contains("crypt"));
        assert!(!pillar(&place, "crypt"));
        place.is_settled();
    };
    made("--stuck-by", &[]);
    assert!(secret.exists());
    nothing_is_left(&place.ok(&["undo", "--yes"]).stdout);
    nothing_is_left(&made("--stuck-by", &["--on-failure", "undo"]).stdout);
    place.stopped_after("1", &["create", "crypt", "--yes"]);
    nothing_is_left(&place.ok(&["undo", "--yes"]).stdout);
    // With the gold in it, it is another matter.
    made("--broken-by", &[]);
    let undone = place.ok(&["undo", "--yes"]).stdout;
    assert_eq!(undone.matches("terraform_data.gold stays, with its data").count(), 2, "{undone}");
    assert!(secret.exists() && place.ok(&["status"]).stdout.contains("Kept: terraform_data.gold of crypt"));
}

/// What was recorded since and stands on what the run made cannot be told apart from it.
#[test]
fn an_undo_is_refused_where_others_build_on_it() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["create", "lamp", "--no-apply"]);
    let head = place.head();
    let refused = place.exits(4, &["undo", "--yes"]);
    assert_eq!(place.head(), head);
    place.says("run_undo_of_what_others_need", &refused);
    place.is_not_touched("desk");
}

/// A rollback to where the pillar says the same would take nothing back, and apply the rest.
#[test]
fn no_rollback_is_offered_to_where_the_pillar_says_the_same() {
    let place = Place::new();
    let broken = place.outside("broken");
    std::fs::write(&broken, "").unwrap();
    place.ok(&["create", "desk", "--broken-by", text(&broken), "--no-apply"]);
    place.ok(&["create", "lamp", "--no-apply"]);
    place.ok(&["apply", "--only", "ledger", "--yes"]);
    place.exits(1, &["apply", "--only", "desk", "--yes"]);
    let status = place.ok(&["status"]).stdout;
    let flat = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("eos resume goes on with it; eos delete takes a name out"), "{status}");
    assert!(!flat.contains("rollback"), "{status}");
}

/// The first run too: nothing of what it failed to make is asked for again (D3).
#[test]
fn a_first_run_that_is_taken_back_is_taken_out_of_the_pillar() {
    let place = Place::new();
    let broken = place.outside("broken");
    std::fs::write(&broken, "").unwrap();
    place.ok(&["create", "desk", "--broken-by", text(&broken), "--no-apply"]);
    let failed = place.exits(1, &["apply", "--yes", "--on-failure", "undo"]);
    assert!(failed.stderr.contains("taken back, in the pillar too"), "{}", failed.stderr);
    assert!(!pillar(&place, "desk") && !pillar(&place, "ledger"));
    place.is_settled();
}

/// An entry in a file of somebody's own goes back as that file does, as long as nothing else is in the way.
#[test]
fn what_somebody_wrote_by_hand_goes_back_as_a_whole() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    let mine = place.path("pillar/infrastructure/production/mine.sls");
    let write = |lines: &str| {
        std::fs::write(&mine, format!("# mine\neos:\n  components:\n{lines}")).unwrap();
        place.git(&["add", "-A"]);
        place.git(&["commit", "-qm", "by hand"]);
    };
    let one =
        |name: &str, input: &str| format!("    {name}: {{kind: chore, settings: {{input: {input}}}}}\n");
    write(&one("x", "one"));
    place.ok(&["apply", "--yes"]);
    write(&one("x", "two"));
    place.ok(&["apply", "--yes"]);
    place.ok(&["undo", "--yes"]);
    assert_eq!(changed_files(&place), "M\tpillar/infrastructure/production/mine.sls");
    place.is_settled();
    // Two in one file, of which one was applied: what was recorded of the other would be lost.
    write(&(one("x", "three") + &one("y", "one")));
    place.ok(&["apply", "--only", "x", "--yes"]);
    let head = place.head();
    let refused = place.exits(4, &["undo", "--yes"]).stderr;
    assert!(refused.contains("mine.sls says what x is, and more"), "{refused}");
    assert_eq!(place.head(), head);
}

/// A failure on the way back is one that goes away with its cause: nobody is asked to look after nothing.
#[test]
fn an_undo_that_failed_is_resumed() {
    let place = Place::new();
    let broken = place.outside("broken");
    place.ok(&["create", "desk", "--broken-by", text(&broken), "--yes"]);
    place.ok(&["update", "desk", "--color", "red", "--yes"]);
    std::fs::write(&broken, "").unwrap();
    place.says("run_undo_failed", &place.exits(1, &["undo", "--yes"]));
    let status = place.ok(&["status"]).stdout;
    assert!(status.contains("eos resume goes on taking it back"), "{status}");
    assert!(!status.contains("looked-after"), "{status}");
    std::fs::remove_file(&broken).unwrap();
    // Nothing is asked; whoever says yes all the same is not refused.
    place.ok(&["resume", "--yes"]);
    place.is_settled();
    assert!(place.ok(&["show", "desk"]).stdout.contains("brown"));
}

/// A mistake of somebody else's in the pillar does not hide what is half-done, nor keep it so.
#[test]
fn a_pillar_that_does_not_compile_blinds_nobody() {
    let place = Place::new();
    let broken = place.outside("broken");
    place.ok(&["create", "chore", "--yes"]);
    std::fs::write(&broken, "").unwrap();
    place.exits(1, &["create", "desk", "--broken-by", text(&broken), "--yes"]);
    std::fs::remove_file(&broken).unwrap();
    let mistake = place.path("pillar/infrastructure/production/theirs.sls");
    std::fs::write(&mistake, "eos:\n  components:\n    x: {kind: nonsense}\n").unwrap();
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "by somebody else"]);
    place.says("run_status_of_a_mistake", &place.exits(3, &["status"]));
    let again = place.copy("again");
    let resumed = place.ok(&["resume"]).stdout;
    assert!(resumed.contains("Done: 2 units"), "{resumed}");
    let undone = again.ok(&["undo", "--yes"]);
    assert!(undone.stdout.contains("Taken back"), "{}", undone.stdout);
    assert!(undone.stderr.contains("build/production is not up to date"), "{}", undone.stderr);
    assert!(!pillar(&again, "desk"));
    for place in [&place, &again] {
        place.git(&["rm", "-q", "pillar/infrastructure/production/theirs.sls"]);
        place.git(&["commit", "-qm", "mended"]);
        place.is_settled();
    }
}

/// A host is declared for as long as something stands on it.
#[test]
fn a_host_outlives_what_is_taken_back_from_it() {
    tool("salt");
    let place = Place::new();
    place.add_kind("note", NOTE);
    let (first, six) = (place.outside("first"), place.outside("six"));
    place.ok(&["create", "host", "h5", "--address", "127.0.0.5", "--connection", "masterless", "--yes"]);
    place.ok(&["create", "note", "first", "--host", "h5", "--path", text(&first), "--yes"]);
    let before = place.head();
    place.ok(&["create", "host", "h6", "--address", "127.0.0.6", "--connection", "masterless", "--yes"]);
    place.ok(&["create", "note", "six", "--host", "h6", "--path", text(&six), "--yes"]);
    place.ok(&["undo", "--yes"]);
    assert!(!six.exists() && first.exists());
    assert_eq!(changed_files(&place), "D\tpillar/infrastructure/production/six.sls");
    place.ok(&["create", "note", "six", "--host", "h6", "--path", text(&six), "--yes"]);
    let back = place.ok(&["rollback", &before, "--yes"]).stdout;
    assert!(back.contains("host h6 stays declared, since six stands on it"), "{back}");
    assert!(!six.exists() && first.exists());
    place.is_settled();
    // Nothing stands on it any more.
    let back = place.ok(&["rollback", &before, "--yes"]).stdout;
    assert!(!back.contains("h6 stays"), "{back}");
    assert!(!place.path("pillar/hosts/h6.sls").exists());
}

/// Something recorded earlier that cannot even be planned is in nobody's way.
#[test]
fn what_others_recorded_is_not_carried_out_along() {
    let place = Place::new();
    place.ok(&["create", "host", "far", "--address", "10.0.0.9", "--connection", "minion", "--no-apply"]);
    place.ok(&["create", "chore", "--yes"]);
    place.ok(&["create", "desk", "--no-apply"]);
    place.ok(&["create", "redis", "--runtime", "host", "--host", "far", "--no-apply"]);
    place.says("run_what_others_recorded", &place.ok(&["update", "chore", "--input", "two", "--yes"]));
    // What stands on it comes along, and what that needs.
    place.ok(&["create", "lamp", "--desk", "desk", "--yes"]);
    let status = place.json(&["status"]);
    let state = |unit: &str| {
        let rows = status["units"].as_array().unwrap();
        rows.iter().find(|row| row["unit"] == unit).unwrap()["state"].clone()
    };
    for unit in ["chore", "desk", "ledger", "lamp"] {
        assert_eq!(state(unit), "applied", "{status}");
    }
    assert_eq!(state("redis"), "not applied", "{status}");
}

/// Whoever recorded something, and applied it days later, is told what an undo takes out of the pillar, and how it comes
/// back.
#[test]
fn an_undo_lists_what_goes_out_of_the_pillar() {
    let place = Place::new();
    place.ok(&["create", "chore", "a", "--yes"]);
    place.ok(&["update", "a", "--input", "two", "--no-apply"]);
    place.ok(&["create", "chore", "c", "--input", "three", "--no-apply"]);
    place.ok(&["apply", "--yes"]);
    let asked = place.git(&["rev-parse", "HEAD^{tree}"]);
    place.says("run_undo_of_what_was_recorded", &place.exits(4, &["undo"]));
    let document = place.json(&["undo"]);
    let entries = document["pillar"]["entries"].as_array().unwrap();
    let told = |name: &str| entries.iter().find(|entry| entry["name"] == name).unwrap();
    assert_eq!((&told("a")["becomes"], &told("c")["becomes"]), (&"changed".into(), &"gone".into()));
    assert_eq!(told("a")["fields"]["input"], serde_json::json!({"now": "two", "then": null}));
    assert_eq!(told("c")["fields"]["input"]["now"], "three");
    let undone = place.ok(&["undo", "--yes"]).stdout;
    assert!(!pillar(&place, "c"));
    let flat = undone.split_whitespace().collect::<Vec<_>>().join(" ");
    // On this machine git knows nobody: a commit of eos's own needs no identity.
    let (_, way) = flat.split_once("for what went out of the pillar, and apply it: eos ").unwrap();
    place.ok(&way.trim_end_matches('.').split(' ').chain(["--yes"]).collect::<Vec<_>>());
    assert_eq!(place.git(&["rev-parse", "HEAD^{tree}"]), asked);
    place.is_settled();
    assert!(place.ok(&["show", "a"]).stdout.contains("two") && pillar(&place, "c"));
}

/// What stays of a name that is taken back is found again, and by nothing that it does not belong to. What has no data is
/// in nobody's way.
#[test]
fn data_that_an_undo_leaves_is_guarded_as_after_a_delete() {
    tool("salt");
    let place = Place::new();
    place.add_kind("vat", VAT);
    let (data, stuck) = (place.outside("data"), place.outside("stuck"));
    for (host, address) in [("h5", "127.0.0.5"), ("h6", "127.0.0.6")] {
        let words = ["--connection", "masterless", "--data-folder", text(&data), "--yes"];
        place.ok(&[&["create", "host", host, "--address", address], &words[..]].concat());
    }
    let elsewhere = ["create", "vat", "--host", "h6", "--dry-run"];
    // Nothing was ever in it.
    std::fs::write(&stuck, "").unwrap();
    place.exits(1, &["create", "vat", "--host", "h5", "--stuck-by", text(&stuck), "--yes"]);
    place.ok(&["update", "vat", "--host", "h6", "--dry-run"]);
    place.ok(&["delete", "vat", "--yes", "--on-failure", "stop"]);
    place.ok(&elsewhere);
    std::fs::remove_file(&stuck).unwrap();

    place.ok(&["create", "vat", "tub", "--host", "h5", "--yes"]);
    let entry = place.git(&["show", "HEAD:pillar/infrastructure/production/tub.sls"]);
    let folder = entry.lines().find_map(|line| line.trim().strip_prefix("path: ")).unwrap();
    std::fs::write(format!("{folder}/wine"), "red").unwrap();
    let undone = place.ok(&["undo", "--yes"]).stdout;
    assert!(undone.contains("stays, with its data"), "{undone}");
    let refused = place.exits(4, &["create", "vat", "tub", "--host", "h6", "--dry-run"]).stderr;
    assert!(refused.contains("E0414") && refused.contains("kept on host h5"), "{refused}");
    place.ok(&["create", "vat", "tub", "--yes"]);
    assert!(place.ok(&["show", "tub"]).stdout.contains("h5"));
}

/// What an undo took out of the pillar comes back by the command that it names, and finds its data.
#[test]
fn the_way_back_from_an_undo_is_one_of_eos() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    place.ok(&["create", "ledger", "--yes"]);
    let undone = place.ok(&["undo", "--yes"]).stdout;
    let flat = undone.split_whitespace().collect::<Vec<_>>().join(" ");
    let offered = flat.split("and apply it: ").nth(1).expect(&undone).trim_end_matches('.');
    assert!(!place.is_asked_for("ledger"));
    let words: Vec<&str> = offered.split(' ').skip(1).chain(["--yes"]).collect();
    place.ok(&words);
    assert!(place.is_asked_for("ledger") && place.is_asked_for("chore"));
    place.is_settled();
    assert_eq!(place.json(&["status"])["kept"], serde_json::json!({}), "its data was taken up again");
}
