//! What is offered to be typed about runs is typed, and works.

use crate::place::{Place, text};

/// The hint of a refused command.
#[track_caller]
fn offered(place: &Place, code: i32, args: &[&str]) -> String {
    let run = place.exits(code, &[args, &["--json"]].concat());
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    document["diagnostics"][0]["fix"].as_str().unwrap().to_owned()
}

/// The run that a report names.
fn run_in(said: &str) -> String {
    let (_, rest) = said.split_once("(run ").unwrap();
    rest.split_once(')').unwrap().0.to_owned()
}

#[test]
fn a_run_that_is_over_is_not_offered() {
    let place = Place::new();
    let broken = place.outside("broken");
    let over = run_in(&place.ok(&["create", "desk", "--broken-by", text(&broken), "--yes"]).stdout);
    for named in [over.as_str(), "20200101-000000-0000", "monday"] {
        assert_eq!(
            offered(&place, 3, &["resume", named]),
            "no run is unfinished; eos plan shows what there is to do"
        );
    }
    place.ok(&["plan"]);
    std::fs::write(&broken, "").unwrap();
    let open = run_in(&place.exits(1, &["update", "desk", "--color", "red", "--yes"]).stdout);
    std::fs::remove_file(&broken).unwrap();
    for named in [over.as_str(), "20200101-000000-0000", "monday"] {
        let hint = offered(&place, 3, &["resume", named]);
        assert_eq!(hint, format!("eos resume {open} goes on with the run that is not over"));
    }
    place.ok(&["resume", &open]);
    place.ok(&["undo", "--yes"]);
    // The last one was taken back: there is nothing to undo, and its name is no way to.
    let again = place.ok(&["undo", "--yes"]).stdout;
    assert!(again.contains(&format!("{open}, was taken back already")), "{again}");
    let hint = offered(&place, 3, &["undo", &open, "--yes"]);
    assert_eq!(hint, "eos history shows the commits, eos rollback <commit> goes back to one of them");
    let history = place.json(&["history"]);
    place.ok(&["rollback", history["changes"][1]["commit"].as_str().unwrap(), "--yes"]);
}

/// A need may have needs of its own.
#[test]
fn only_with_everything_that_it_needs() {
    let place = Place::new();
    place.ok(&["create", "lamp", "--no-apply"]);
    let hint = offered(&place, 4, &["apply", "--only", "lamp", "--yes"]);
    let (flags, _) = hint.split_once(", or without").unwrap();
    let words: Vec<&str> = ["apply", "--yes"].into_iter().chain(flags.split(' ')).collect();
    place.ok(&words);
    place.is_settled();
}
