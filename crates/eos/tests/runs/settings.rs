//! What was changed in the pillar is on the plan's line, with what it was and what it becomes, whichever commit the unit was
//! applied from; of a secret it says that it changes.

use crate::place::Place;
use crate::support::Run;

const SHELF: &str = r##"#!yaml
format: 1
kind: shelf
summary: Shelf
proof: validates
settings:
  boards: {type: int, default: 3, help: How many it has}
  wood: {type: string, default: oak, help: What it is made of}
  label: {type: string, default: "", help: What is written on it}
  colors: {type: list, default: [red], help: What it is painted with}
  combination: {type: secret, help: What opens it}
  door_token: {type: string, default: none, help: Who may open it}
cloud:
  resources:
    terraform_data:
      it: {input: "@{setting.boards} @{setting.wood} @{setting.label} @{setting.colors} @{setting.door_token}"}
"##;

fn shelf() -> Place {
    let place = Place::new();
    place.add_kind("shelf", SHELF);
    place.ok(&["create", "shelf", "--wood", "ash", "--combination", "canary-one", "--yes"]);
    place
}

/// What a plan's row says of the shelf, columns and lines joined.
fn note(run: &Run) -> String {
    let mut rows = run.stdout.lines().skip_while(|line| !line.starts_with("~ change"));
    let first = rows.next().unwrap_or_else(|| panic!("{}{}", run.stdout, run.stderr));
    let below = rows.take_while(|line| line.starts_with("   "));
    let words: Vec<&str> =
        first.split_whitespace().skip(5).chain(below.flat_map(str::split_whitespace)).collect();
    words.join(" ")
}

#[test]
fn a_plan_says_which_settings_change_from_what_to_what() {
    let place = shelf();
    // Two commits that nobody applied: the plan is about both.
    place.ok(&["update", "shelf", "--boards", "4", "--no-apply"]);
    place.ok(&["update", "shelf", "--wood", "elm", "--no-apply"]);
    let plan = place.exits(2, &["plan"]);
    assert_eq!(note(&plan), "wood ash → elm, boards 3 → 4");
    let markdown = place.exits(2, &["plan", "--markdown"]).stdout;
    assert!(markdown.contains("| wood ash → elm, boards 3 → 4 |"), "{markdown}");
    let settings = &place.json(&["plan"])["units"]["shelf"]["settings"];
    let expected = serde_json::json!([
        {"name": "wood", "before": "ash", "after": "elm"}, {"name": "boards", "before": 3, "after": 4}
    ]);
    assert_eq!(*settings, expected);
    // A kept plan shows it as well.
    place.exits(2, &["plan", "--out", "kept.plan"]);
    let applied = place.ok(&["apply", "kept.plan", "--yes"]);
    assert_eq!(note(&applied), "wood ash → elm, boards 3 → 4");

    // The plan of an update is about what is not recorded yet, and back to a default too.
    let update =
        place.ok(&["update", "shelf", "--unset", "boards", "--colors", "red", "--colors", "blue", "--yes"]);
    assert_eq!(note(&update), "colors +blue, boards 4 → 3");
    let back = place.ok(&["rollback", "HEAD~1", "--yes"]);
    assert_eq!(note(&back), "boards 3 → 4, colors -blue");
}

#[test]
fn no_secret_is_in_the_words_and_many_are_counted() {
    let place = shelf();
    let long = "x".repeat(99);
    let run = place.ok(&[
        "update",
        "shelf",
        "--door-token",
        "canary-two",
        "--label",
        &long,
        "--boards",
        "5",
        "--wood",
        "elm",
        "--combination",
        "canary-three",
        "--yes",
    ]);
    let note = note(&run);
    assert!(note.contains(" and 3 more"), "{note}");
    let all = place.json(&["rollback", "HEAD~1", "--yes"]);
    let document = all["plan"]["units"]["shelf"]["settings"].to_string();
    for name in ["door_token", "combination"] {
        assert!(document.contains(name), "{document}");
    }
    assert!(!document.contains("canary"), "{document}");
    let run = place.ok(&["update", "shelf", "--door-token", "canary-four", "--label", "", "--yes"]);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    for said in [&run.stdout, &run.stderr] {
        assert!(!said.contains("canary"), "{said}");
    }
}
