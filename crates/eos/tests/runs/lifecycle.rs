//! From nothing to nothing: create, change, roll back, destroy. Data is never touched by any of it.

use rustix::process::Signal;

use crate::place::{Place, text, until};
use crate::servers::StateServer;
use crate::support::{Run, tool};

#[test]
fn an_estate_lives_and_ends() {
    let place = Place::new();
    let created = place.ok(&["create", "desk", "--yes"]);
    place.says("run_create", &created);
    place.snapshot("run_create_progress", &created.stderr);
    place.is_settled();
    let first = place.ids("ledger");
    let book = first["terraform_data.book"].clone();
    assert_eq!(place.ok(&["tofu", "desk", "--", "state", "list"]).stdout, "terraform_data.top\n");
    let tofu = place.run(&["tofu", "desk", "--json", "--", "state", "list"]);
    let tofu: serde_json::Value = serde_json::from_str(&tofu.stdout).expect("one document");
    assert_eq!(tofu["result"]["stdout"], "terraform_data.top\n");
    assert_eq!(place.ok(&["locks"]).stdout, "Nobody is at work.\n");
    place.says("run_status", &place.ok(&["status"]));
    let line = "build/production/desk/main.tf.json:14";
    place.says("run_why", &place.ok(&["why", line]));

    // Recorded is not applied.
    place.ok(&["update", "desk", "--color", "red", "--no-apply"]);
    place.says("run_plan_of_a_change", &place.exits(2, &["plan"]));
    place.says("run_status_of_a_change", &place.ok(&["status"]));
    let why = place.ok(&["why", line]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(why.contains("as it compiled then"), "{why}");
    // Keeping data is the default, and who asks for it is not refused; nor is tofu's way to write --no-refresh.
    place.says("run_apply", &place.ok(&["apply", "--preserve-data", "--refresh=false", "--yes"]));
    place.is_settled();
    place.says("run_apply_of_nothing", &place.ok(&["apply"]));

    place.ok(&["update", "ledger", "--size", "big", "--yes"]);
    place.says("run_delete_what_has_data", &{
        place.ok(&["delete", "desk", "--yes"]);
        place.ok(&["delete", "ledger", "--yes"])
    });
    let head = place.head();
    let back = place.ok(&["rollback", "HEAD~2", "--dry-run"]).stdout;
    assert!(
        back.contains("+    ledger:") && back.contains("+++ b/build/production/ledger/main.tf.json"),
        "{back}"
    );
    assert_eq!(place.head(), head);
    place.says("run_rollback", &place.ok(&["rollback", "HEAD~2", "--yes"]));
    let after = place.ids("ledger");
    assert_eq!(after["terraform_data.book"], book, "the very same book");
    assert_ne!(after["terraform_data.shelf"], first["terraform_data.shelf"], "the shelf is a new one");
    assert_eq!(place.json(&["status"])["kept"], serde_json::json!({}), "taken over, so no longer listed");
    place.is_settled();

    let gone = place.ok(&["destroy", "production", "--dry-run"]).stdout;
    assert!(gone.contains("build/production/ledger/main.tf.json would be removed"), "{gone}");
    place.is_settled();
    place.says("run_destroy", &place.ok(&["destroy", "production", "--yes"]));
    place.says("run_status_of_kept_data", &place.ok(&["status"]));
    place.says(
        "run_destroy_data_out_of_reach",
        &place.exits(3, &["destroy", "production", "--destroy-data", "ledger", "--yes"]),
    );
    place.says("run_create_takes_over", &place.ok(&["create", "ledger", "--yes"]));
    assert_eq!(place.ids("ledger")["terraform_data.book"], book);
    place
        .says("run_destroy_data", &place.ok(&["destroy", "production", "--destroy-data", "ledger", "--yes"]));
    let status = place.json(&["status"]);
    assert_eq!((&status["kept"], &status["units"]), (&serde_json::json!({}), &serde_json::json!([])));
    // What was kept can go without its name coming back.
    place.ok(&["create", "ledger", "--yes"]);
    place.says("run_purge_what_is_there", &place.exits(3, &["purge", "ledger", "--yes"]));
    place.ok(&["destroy", "production", "--yes"]);
    place.says("run_purge_no_terminal", &place.exits(4, &["purge", "ledger"]));
    place.says("run_purge", &place.ok(&["purge", "ledger", "--yes"]));
    let status = place.json(&["status"]);
    assert_eq!((&status["kept"], &status["units"]), (&serde_json::json!({}), &serde_json::json!([])));
    place.says("run_purge_of_nothing", &place.exits(3, &["purge", "ledger", "--yes"]));
    place.ok(&["create", "ledger", "--no-apply"]);
    assert_eq!(place.ok(&["tofu", "ledger", "--", "state", "list"]).stdout, "", "tofu knows of nothing");
}

#[test]
fn a_watcher_looks_again_and_is_the_only_one() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    let looks = place.ok(&["drift", "watch", "--every", "1s", "--times", "2"]).stdout;
    assert!(looks.ends_with("production: nothing differs\n"), "{looks}");
    assert_eq!(looks.lines().count(), 1, "said once, since nothing has changed: {looks}");
    let looks = place.ok(&["drift", "watch", "--every", "1s", "--times", "2", "--json"]).stdout;
    let documents: Vec<serde_json::Value> =
        looks.lines().take(2).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(documents.iter().all(|look| look["drifted"] == false), "{looks}");
    let watcher = place.begin(&["drift", "watch"]);
    until("it watches", || place.json(&["locks"])["locks"].as_array().is_some_and(|held| !held.is_empty()));
    let second = place.exits(4, &["drift", "watch", "--times", "1"]);
    assert!(second.stderr.contains("eos drift watch"), "who watches is told: {}", second.stderr);
    place.ok(&["update", "chore", "--input", "two", "--yes"]);
    watcher.signal(Signal::INT);
    let watcher = watcher.end();
    assert_eq!(watcher.code, 0, "{}{}", watcher.stdout, watcher.stderr);
}

/// What could not be looked at is not said to be as it was.
#[test]
fn a_watcher_that_cannot_look_says_so() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    let state = place.path(".eos/state/tofu/shop/production/chore.tfstate");
    std::fs::write(&state, "not a state").unwrap();
    place.says("run_watch_cannot_look", &place.exits(1, &["drift", "watch", "--times", "1"]));
    let looks = place.exits(1, &["drift", "watch", "--times", "1", "--json"]).stdout;
    let mut documents = serde_json::Deserializer::from_str(&looks).into_iter::<serde_json::Value>();
    let (look, end) = (documents.next().unwrap().unwrap(), documents.next().unwrap().unwrap());
    assert!(look["drifted"].is_null() && end["result"]["drifted"].is_null(), "{looks}");
    assert_eq!(end["ok"], false, "{looks}");
}

#[test]
fn going_back_in_one_environment_leaves_the_others_alone() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    place.ok(&["create", "chore", "--env", "staging", "--yes"]);
    place.ok(&["update", "chore", "--input", "two", "--yes"]);
    place.ok(&["undo", "--yes"]);
    let staging = || place.path("pillar/infrastructure/staging/chore.sls").exists();
    assert!(staging(), "undo took back what was asked for elsewhere");
    place.ok(&["update", "chore", "--input", "three", "--yes"]);
    place.ok(&["rollback", "HEAD~3", "--yes"]);
    assert!(staging(), "rollback took back what was asked for elsewhere");
    place.is_settled();
    assert_eq!(place.run(&["plan", "--env", "staging"]).code, 0);
}

#[test]
fn terraform_carries_out_the_same() {
    tool("terraform");
    let place = Place::with_settings(|text| text.replace("executor = \"tofu\"", "executor = \"terraform\""));
    place.ok(&["create", "desk", "--yes"]);
    place.is_settled();
    let book = place.ids("ledger")["terraform_data.book"].clone();
    place.ok(&["update", "desk", "--color", "red", "--no-apply"]);
    place.exits(2, &["plan"]);
    place.ok(&["apply", "--yes"]);
    place.ok(&["undo", "--yes"]);
    place.is_settled();
    place.ok(&["destroy", "production", "--yes"]);
    place.ok(&["rollback", "HEAD~1", "--yes"]);
    assert_eq!(place.ids("ledger")["terraform_data.book"], book);
    place.ok(&["destroy", "production", "--destroy-data", "ledger", "--yes"]);
    assert_eq!(place.json(&["status"])["kept"], serde_json::json!({}));
}

/// One of several with data is data too.
#[test]
fn fewer_of_what_holds_data_is_refused_until_it_is_named() {
    let place = Place::new();
    place.ok(&["create", "books", "--yes"]);
    let head = place.head();
    let refused = place.exits(4, &["update", "books", "--many", "1", "--yes"]).stderr;
    assert!(refused.contains("E0910") && refused.contains("terraform_data.book[1]"), "{refused}");
    assert_eq!(place.head(), head, "nothing was recorded");
    place.is_settled();
    let done = place.ok(&["update", "books", "--many", "1", "--destroy-data", "books", "--yes"]).stdout;
    assert!(done.contains("Data that is lost: books"), "{done}");
    let left = place.ok(&["tofu", "books", "--", "state", "list"]).stdout;
    assert_eq!(left.trim(), "terraform_data.book[0]");
}

/// What a run made is not made again by the next one, whether it was recorded with the run or before it.
#[test]
fn what_was_recorded_before_the_run_is_taken_back_with_it() {
    let place = Place::new();
    place.ok(&["create", "chore", "--no-apply"]);
    place.ok(&["apply", "--yes"]);
    place.ok(&["undo", "--yes"]);
    place.is_settled();
    assert_eq!(place.json(&["status"])["units"], serde_json::json!([]));
    place.ok(&["create", "chore", "--yes"]);
    place.ok(&["create", "shade", "--yes"]);
    let undone = place.ok(&["undo", "--yes"]).stdout;
    assert!(!undone.contains("Recorded apart"), "{undone}");
    place.is_settled();
}

#[test]
fn what_was_destroyed_is_not_said_to_be_back() {
    let place = Place::new();
    place.ok(&["create", "lamp", "--yes"]);
    place.ok(&["destroy", "production", "--destroy-data", "ledger", "--yes"]);
    let said = place.ok(&["undo", "--yes"]);
    let told = format!("{}{}", said.stdout, said.stderr);
    assert!(told.contains("its data was destroyed and does not come back"), "{told}");
    // The book is another one: desk and lamp were brought up to it, needs first.
    place.is_settled();
}

/// What is applied and no longer asked for has a state: with its module tofu alone can take it away.
#[test]
fn an_ejected_estate_has_what_is_to_be_removed() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let compiled = std::fs::read(place.path("build/production/desk/main.tf.json")).unwrap();
    place.ok(&["delete", "desk", "--no-apply"]);
    place.ok(&["create", "chore", "--no-apply"]);
    let said = place.ok(&["eject", "../plain"]).stdout;
    assert!(said.contains("2 units with state, 1 more that was never applied,"), "{said}");
    let desk = place.outside("plain/build/production/desk");
    assert_eq!(std::fs::read(desk.join("main.tf.json")).unwrap(), compiled);
    let inputs: serde_json::Value =
        serde_json::from_slice(&std::fs::read(desk.join("inputs.auto.tfvars.json")).unwrap()).unwrap();
    assert!(inputs.as_object().is_some_and(|inputs| !inputs.is_empty()), "{inputs}");
}

/// Neither the certificate by which Nomad is known nor the state is looked for in the estate that was left.
#[test]
fn an_ejected_estate_has_its_certificate_and_finds_its_state_at_the_backend() {
    let state = StateServer::start();
    let place = Place::with_settings(|settings| {
        let http = format!("kind = \"http\"\naddress = \"{}\"", state.address());
        let settings = settings.replace("kind = \"local\"", &http);
        format!("{settings}\n[nomad]\naddress = \"https://192.0.2.1:4646\"\nca = \"certs/nomad.pem\"\n")
    });
    std::fs::create_dir(place.path("certs")).unwrap();
    std::fs::write(place.path("certs/nomad.pem"), "the certificate\n").unwrap();
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "how Nomad is known"]);
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["eject", "../plain"]);
    std::fs::rename(place.path(""), place.outside("gone")).unwrap();
    // The folder is nobody's but its owner's, who may keep it elsewhere.
    let plain = place.outside("kept 'for' good");
    std::fs::rename(place.outside("plain"), &plain).unwrap();
    let shell = |line: &str| {
        let script = format!(". ./env.sh && {line}");
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &script]).current_dir(&plain).env_clear().env("PATH", "/usr/bin:/bin");
        Run::from(command.env("HOME", place.outside("nobody")).output().unwrap())
    };
    let certificate = shell("cat \"$NOMAD_CACERT\"");
    assert_eq!(certificate.stdout, "the certificate\n", "{}", certificate.stderr);
    let said = std::fs::read_to_string(plain.join("env.sh")).unwrap();
    assert!(!said.contains(text(&place.path(""))), "nothing of the old estate: {said}");
    let elsewhere = shell("cd build && . ../env.sh");
    assert!(elsewhere.code != 0 && elsewhere.stderr.contains("go to the folder"), "{}", elsewhere.stderr);
    let tofu = tool("tofu");
    let planned = shell(&format!(
        "cd build/production/desk && '{0}' init -input=false && '{0}' plan -input=false -detailed-exitcode",
        tofu.display()
    ));
    assert_eq!(planned.code, 0, "{}{}", planned.stdout, planned.stderr);
    assert!(planned.stdout.contains("No changes"), "{}", planned.stdout);
}

/// The key is in it in clear: where the folder is must not matter to whoever commits everything next.
#[test]
fn an_ejected_folder_inside_the_estate_stays_out_of_git() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["eject", "./plain"]);
    let key = std::fs::metadata(place.path("plain/state-key.json")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    assert_eq!(place.git(&["status", "--porcelain", "--untracked-files=all"]), "");
    assert_eq!(place.git(&["add", "-A", "-n"]), "");
    place.is_settled();
    place.ok(&["update", "desk", "--color", "red", "--yes"]);
    assert_eq!(place.git(&["ls-files", "plain"]), "");
}

/// A provisioner of a destruction is not run, and a person is told in time.
#[test]
fn last_words_are_told_and_not_said() {
    const VASE: &str = r#"#!yaml
format: 1
kind: vase
summary: Vase, with something to do before it goes
proof: validates
settings:
  log: {type: string, default: /dev/null, help: A file that gets a line when it goes}
cloud:
  resources:
    terraform_data:
      glass:
        input: "@{setting.log}"
        provisioner:
          local-exec: {when: destroy, command: "echo gone >> ${self.input}"}
"#;
    let place = Place::new();
    place.add_kind("vase", VASE);
    let log = place.outside("last-words");
    let created = place.ok(&["create", "vase", "--log", text(&log), "--yes"]);
    assert!(!created.stdout.contains("is not run"), "{}", created.stdout);
    place.ok(&["delete", "vase", "--no-apply"]);
    place.says("run_last_words", &place.exits(2, &["plan"]));
    place.snapshot_wide("run_last_words_markdown", &place.exits(2, &["plan", "--markdown"]).stdout);
    place.ok(&["apply", "--yes"]);
    assert!(!log.exists());
}

/// What `eos drift` saw is known to `eos status`, until it is brought back or decided upon.
#[test]
fn status_knows_of_drift_that_was_seen() {
    let place = Place::new();
    place.ok(&["create", "ledger", "--yes"]);
    let drift = |place: &Place| place.json(&["status"])["drift"].clone();
    place.ok(&["tofu", "ledger", "--", "state", "rm", "terraform_data.shelf"]);
    assert_eq!(drift(&place), serde_json::json!({}), "nobody has looked");
    place.exits(2, &["drift"]);
    assert_eq!(drift(&place)["ledger"]["addresses"], serde_json::json!(["terraform_data.shelf"]));
    place.says("run_status_with_drift", &place.ok(&["status"]));
    // Of one unit alone, which is what is then brought back.
    place.ok(&["create", "desk", "--yes"]);
    assert!(place.ok(&["drift", "desk"]).stdout.contains("Nothing of desk in production differs"));
    let found = place.exits(2, &["drift", "ledger"]).stdout;
    assert!(found.contains("Next: eos drift revert ledger brings it back"), "{found}");
    assert!(place.exits(3, &["drift", "leger"]).stderr.contains("did you mean ledger?"));
    assert!(place.exits(3, &["drift", "revrt"]).stderr.contains("did you mean eos drift revert?"));
    assert!(place.exits(3, &["drift", "ledger", "revert"]).stderr.contains("try: eos drift revert ledger"));
    let ignored = place.copy("ignored");
    ignored.ok(&["drift", "ignore", "ledger", "--because", "until monday"]);
    assert_eq!(drift(&ignored), serde_json::json!({}));
    place.ok(&["drift", "revert", "--yes"]);
    assert_eq!(drift(&place), serde_json::json!({}));
}

const BOX: &str = r#"#!yaml
format: 1
kind: box
summary: Box, with something in it that must not be lost
proof: validates
settings:
  key: {type: secret, help: What opens it}
cloud:
  resources:
    terraform_data:
      inside: {input: "@{env}/@{name}"}
  data_classes: {terraform_data.inside: database}
"#;

#[test]
fn a_secret_that_opens_data_of_another_name_outlives_a_destroy() {
    let place = Place::new();
    place.add_kind("box", BOX);
    for name in ["main", "copy"] {
        place.ok(&["create", "box", name, "--no-apply"]);
    }
    let file = place.path("pillar/infrastructure/production/copy.sls");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("production/copy/key", "production/main/key")).unwrap();
    place.git(&["commit", "-qam", "one key for both"]);
    place.ok(&["apply", "--yes"]);
    let key = place.path("secrets/production/main/key.v1.age");
    let said = "the secret main/key stays: copy reads it";
    let destroy = ["destroy", "production", "--destroy-data", "main"];
    let dry = place.ok(&[&destroy[..], &["--dry-run"]].concat()).stdout;
    assert!(dry.contains(said), "{dry}");
    let both = place.ok(&[&destroy[..], &["--destroy-data", "copy", "--dry-run"]].concat()).stdout;
    assert!(!both.contains("stays") && both.contains("main/key.v1.age"), "{both}");
    let done = place.json(&[&destroy[..], &["--yes"]].concat());
    assert_eq!(done["notes"], serde_json::json!([said]));
    assert!(key.exists());
}

/// What the pillar no longer asks for may run on a host that goes; else nothing does.
#[test]
fn a_host_that_goes() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let gone = || {
        place.ok(&["create", "host", "web", "--address", "10.0.0.9"]);
        place.ok(&["delete", "host", "web", "--no-apply"]).stdout
    };
    let said = gone();
    assert!(said.contains("nothing runs there, so nothing is left to do"), "{said}");
    place.ok(&["delete", "desk", "--no-apply"]);
    let said = gone();
    assert!(said.contains("what runs goes on running until eos apply"), "{said}");
}

/// There are units, and none of them has anything to do with the change.
#[test]
fn what_was_only_recorded_goes_without_being_called_nothing() {
    let place = Place::new();
    place.ok(&["create", "chore", "a", "--no-apply"]);
    place.ok(&["create", "host", "web1", "--address", "10.0.0.7", "--no-apply"]);
    let said = "Only the pillar of production changes: there is nothing to apply.";
    for words in [&["update", "host", "web1", "--address", "10.0.0.8"][..], &["destroy", "production"]] {
        let told = place.ok(&[words, &["--yes"]].concat()).stdout;
        assert!(told.contains(said) && !told.contains("has no units"), "{words:?}: {told}");
    }
}

/// Somebody took it away with tofu: what is left to do is to forget it.
#[test]
fn a_name_of_which_nothing_is_left_is_told_to_go() {
    let place = Place::new();
    place.ok(&["create", "chore", "a", "--yes"]);
    place.ok(&["create", "chore", "b", "--yes"]);
    place.ok(&["tofu", "a", "--", "destroy", "-auto-approve"]);
    let told = place.ok(&["delete", "a", "--yes"]).stdout;
    assert!(told.contains("Nothing is there any more of a: it goes from eos's records."), "{told}");
    assert!(!told.contains("nothing to do for 2 units"), "{told}");
    place.is_settled();
}
