//! One unit fails; three ways to go on. The report says what the tools say.

use serde_json::Value as Json;

use crate::place::{Place, text, until};

/// Everything healthy, then a change is recorded under which `bad` cannot be made. `late` waits for `slow`, which is
/// still at work when `bad` fails.
fn about_to_fail() -> Place {
    let place = Place::new();
    let (log, broken) = (place.outside("log"), place.outside("broken"));
    let (log, broken) = (text(&log), text(&broken));
    for args in [
        &["create", "lamp", "dark", "--log", log, "--no-apply"][..],
        &["create", "desk", "slow", "--log", log, "--no-apply"],
        &["create", "lamp", "late", "--desk", "slow", "--log", log, "--no-apply"],
        &["update", "desk", "--log", log, "--broken-by", broken, "--no-apply"],
        &["apply", "--yes"],
        &["update", "desk", "--color", "red", "--no-apply"],
        &["update", "slow", "--color", "red", "--seconds", "8", "--no-apply"],
    ] {
        place.ok(args);
    }
    std::fs::write(broken, "").unwrap();
    std::fs::remove_file(log).unwrap();
    place
}

fn states(place: &Place) -> Vec<(String, String)> {
    let status = place.json(&["status"]);
    let runs = status["runs"].as_array().unwrap();
    let state = |(name, unit): (&String, &Json)| (name.clone(), unit["state"].as_str().unwrap().to_owned());
    runs.iter().flat_map(|run| run["units"].as_object().unwrap().iter().map(state)).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect()
}

#[test]
fn stop_begins_nothing_more_and_resume_goes_on_once_the_cause_is_gone() {
    let place = about_to_fail();
    place.says("run_failed_stop", &place.exits(1, &["apply", "--yes"]));
    assert_eq!(
        states(&place),
        pairs(&[("dark", "planned"), ("desk", "failed"), ("late", "planned"), ("slow", "done")])
    );
    place.says("run_failed_status", &place.ok(&["status"]));
    place.says("run_failed_plan", &place.exits(2, &["plan"]));
    // As long as the cause is there, resuming fails the same way.
    let again = place.exits(1, &["resume"]);
    assert!(again.stderr.contains("local-exec"), "{}", again.stderr);
    std::fs::remove_file(place.outside("broken")).unwrap();
    let before = place.lines("log").len();
    place.says("run_failed_resume", &place.ok(&["resume"]));
    assert_eq!(place.lines("log")[before..].iter().filter(|line| line.starts_with("slow")).count(), 0);
    place.is_settled();
    assert_eq!(place.ok(&["resume"]).stdout, "Nothing to resume: no run of production is unfinished.\n");
}

/// Another run takes the place of the one in which a unit failed; why it failed is still to be read.
#[test]
fn a_reason_stays_until_the_unit_is_applied_well() {
    let place = about_to_fail();
    place.exits(1, &["apply", "--yes"]);
    place.ok(&["apply", "--only", "late", "--yes"]);
    assert_eq!(states(&place), pairs(&[]), "no run is unfinished");
    place.says("run_failed_earlier_status", &place.ok(&["status"]));
    let failures = place.json(&["status"])["failures"].clone();
    assert_eq!(failures[0]["unit"], "desk");
    assert!(failures[0]["reasons"][0].as_str().unwrap().contains("local-exec"), "{failures}");
    // One that was cut off before it got there has nothing to say of it either.
    place.stopped_after("2", &["apply", "--yes"]);
    let status = place.ok(&["status"]).stdout;
    assert!(status.contains("was cut off: eos apply --yes") && status.contains("local-exec"), "{status}");
    let doctor = place.run(&["doctor"]);
    let told = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    assert!(told.contains("in production was cut off: eos apply --yes try: eos resume"), "{}", doctor.stdout);
    std::fs::remove_file(place.outside("broken")).unwrap();
    place.ok(&["resume"]);
    let status = place.ok(&["status"]).stdout;
    assert!(!status.contains("failed") && !status.contains("local-exec"), "{status}");
    assert_eq!(place.json(&["status"])["failures"], serde_json::json!([]));
    assert!(!place.run(&["doctor"]).stdout.contains("cut off"));
}

#[test]
fn what_failed_is_undone_when_a_person_asks() {
    let place = about_to_fail();
    let tops = (place.ids("slow"), place.ids("late"));
    place.exits(1, &["apply", "--yes"]);
    std::fs::remove_file(place.outside("broken")).unwrap();
    place.says("run_undo_no_terminal", &place.exits(4, &["undo"]));
    place.says("run_undo", &place.ok(&["undo", "--yes"]));
    assert!(place.last_message().starts_with("undo run "), "{}", place.last_message());
    assert!(!pillar(&place, "desk").contains("red") && !pillar(&place, "slow").contains("red"));
    place.is_settled();
    assert_ne!(place.ids("slow"), tops.0, "made again, as it was before");
    let over = place.exits(3, &["undo", &run_of(&place), "--yes"]);
    place.says("run_undo_again", &over);
}

#[test]
fn undo_takes_everything_back_and_the_pillar_with_it() {
    let place = about_to_fail();
    // The way back needs desks to be possible again: the cause goes while slow is still being made.
    let broken = place.outside("broken");
    let run = place.begin(&["apply", "--yes", "--on-failure", "undo"]);
    until("desk was tried", || place.lines("log").iter().any(|line| line == "desk red"));
    std::thread::sleep(std::time::Duration::from_secs(2));
    std::fs::remove_file(broken).unwrap();
    let run = run.end();
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    place.says("run_failed_undo", &run);
    assert!(place.last_message().starts_with("undo run "), "{}", place.last_message());
    assert!(!pillar(&place, "desk").contains("red") && !pillar(&place, "slow").contains("red"));
    place.is_settled();
    place.ok(&["compile", "--check"]);
    assert_eq!(states(&place), pairs(&[]));
}

#[test]
fn continue_independent_does_what_does_not_wait_for_the_failed_one() {
    let place = about_to_fail();
    place.says(
        "run_failed_continue",
        &place.exits(1, &["apply", "--yes", "--on-failure", "continue-independent"]),
    );
    assert_eq!(
        states(&place),
        pairs(&[("dark", "planned"), ("desk", "failed"), ("late", "done"), ("slow", "done")])
    );
    std::fs::remove_file(place.outside("broken")).unwrap();
    place.ok(&["resume"]);
    place.is_settled();
}

/// Programs say why at the very end, after much else.
#[test]
fn status_has_the_last_words_of_a_long_reason() {
    const CHATTY: &str = r##"#!yaml
format: 1
kind: chatty
summary: Chatty, that cannot keep it short
proof: validates
settings:
  lines: {type: string, default: "30", help: How much it says before it fails}
cloud:
  resources:
    terraform_data:
      it:
        provisioner:
          local-exec:
            command: "seq -f 'ts=2026-11-16T07:03:01Z level=info msg=\"line %g of many that say nothing of importance to anybody\"' @{setting.lines}; echo bind, 'address in use'; false"
"##;
    let place = Place::new();
    place.add_kind("chatty", CHATTY);
    for (lines, left_out) in [("30", false), ("300", true)] {
        place.exits(1, &["create", "chatty", "--lines", lines, "--yes"]);
        let status = place.ok(&["status"]).stdout;
        assert!(status.contains("bind, address in use"), "{status}");
        assert!(status.contains("Error running command"), "{status}");
        assert_eq!(status.contains("more lines: eos status --json"), left_out, "{status}");
        assert!(status.lines().count() < 120 && status.lines().all(|line| line.chars().count() <= 100));
        place.ok(&["undo", "--yes"]);
    }
}

/// What could not be known when the plan was agreed to turns out to be more than was shown.
#[test]
fn a_run_stops_before_it_does_more_than_was_shown() {
    let place = Place::new();
    place.ok(&["create", "shade", "--yes"]);
    place.ok(&["update", "desk", "--color", "red", "--no-apply"]);
    place.says("run_more_than_shown", &place.exits(1, &["apply", "--yes"]));
    assert_eq!(states(&place), pairs(&[("desk", "done"), ("shade", "planned")]));
    place.says("run_more_than_shown_status", &place.ok(&["status"]));
    place.says("run_more_than_shown_plan", &place.exits(2, &["plan"]));
    place.ok(&["apply", "--yes"]);
    place.is_settled();
}

fn pillar(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(&format!("pillar/infrastructure/production/{name}.sls"))).unwrap()
}

/// The run that was undone, by the commit that says so.
fn run_of(place: &Place) -> String {
    place.last_message().rsplit(' ').next().unwrap().to_owned()
}

/// What is recorded on the way back names the command again: its secrets are left out there as well.
#[test]
fn an_undo_keeps_the_secrets_of_its_command_to_itself() {
    let place = Place::new();
    place.add_kind("safe", include_str!("catalog/safe/component.yaml"));
    place.exits(1, &["create", "safe", "--combination", "hunter3", "--yes", "--on-failure", "undo"]);
    assert!(place.last_message().starts_with("undo run "), "{}", place.last_message());
    let told = place.git(&["log", "--format=%B"]) + &place.ok(&["history"]).stdout;
    assert!(told.contains("--combination ***"), "{told}");
    assert!(!told.contains("hunter3"), "{told}");
}

/// A create that is taken back leaves no secret behind, and both of its commits are told; where data was kept, what opens
/// it stays until that is purged.
#[test]
fn what_is_undone_or_deleted_takes_its_secret_along_unless_data_stays() {
    const CHEST: &str = r#"#!yaml
format: 1
kind: chest
summary: Chest with something in it, that cannot be closed
proof: validates
settings:
  combination: {type: secret, generate: 12, help: What opens it}
cloud:
  resources:
    terraform_data:
      gold: {input: "@{name}"}
      lid:
        depends_on: [terraform_data.gold]
        provisioner:
          local-exec:
            command: "false"
  data_classes: {terraform_data.gold: database}
"#;
    let place = Place::new();
    place.add_kind("safe", include_str!("catalog/safe/component.yaml"));
    place.add_kind("chest", CHEST);
    let create = ["create", "safe", "--combination", "hunter3", "--yes", "--on-failure", "undo"];
    let told = place.exits(1, &create).stdout;
    let commits = place.git(&["log", "-2", "--format=%H"]);
    for commit in commits.lines() {
        assert!(told.contains(&commit[..10]), "{commit} is not in {told}");
    }
    assert!(!place.path("secrets/production/safe").exists());
    let listed = place.ok(&["secret", "list"]).stdout;
    assert!(!listed.contains("safe"), "{listed}");

    place.exits(1, &["create", "chest", "--yes", "--on-failure", "undo"]);
    let purpose = || {
        let listed = place.json(&["secret", "list"]);
        listed["secrets"].as_array().unwrap().iter().map(|one| one["for"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(purpose(), ["kept data"], "{}", place.ok(&["status"]).stdout);
    place.ok(&["purge", "chest", "--yes"]);
    assert!(purpose().is_empty());

    // What is deleted keeps its data and what opens it, and one made again finds both.
    place.add_kind("coffer", &CHEST.replace("chest", "coffer").replace("\"false\"", "\"true\""));
    place.ok(&["create", "coffer", "--yes"]);
    let combination = || place.ok(&["secret", "show", "coffer/combination"]).stdout;
    let made = combination();
    place.ok(&["delete", "coffer", "--yes"]);
    assert_eq!(purpose(), ["kept data"], "{}", place.ok(&["status"]).stdout);
    assert!(place.ok(&["create", "coffer", "--yes"]).stdout.contains("take over"));
    assert_eq!(combination(), made);
    place.ok(&["delete", "coffer", "--destroy-data", "coffer", "--yes"]);
    assert!(purpose().is_empty());
    // What was never applied has no data that its secret could open.
    place.ok(&["create", "coffer", "--no-apply"]);
    place.ok(&["delete", "coffer", "--yes"]);
    assert!(purpose().is_empty());

    // One that an older eos left behind is told as such, and purged as it says.
    let left = place.path("secrets/production/ghost");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("key.v1.age"), "").unwrap();
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "by hand"]);
    assert_eq!(purpose(), ["nothing"]);
    let listed = place.ok(&["secret", "list"]).stdout;
    let (_, command) = listed.trim_end().split_once("goes with: eos ").unwrap();
    place.ok(&command.split(' ').collect::<Vec<_>>());
    assert!(purpose().is_empty());
}
