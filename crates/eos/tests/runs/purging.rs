//! What was kept of names that are gone is destroyed for good, and nothing else is.

use crate::place::Place;
use crate::taking_back::pillar;

/// Where data is kept is as it is now, whatever the pillar said of it then.
#[test]
fn a_rollback_offers_no_data_that_is_gone() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    let keep = |name: &str| {
        let path = place.path(&format!("pillar/infrastructure/production/{name}.sls"));
        let chore = std::fs::read_to_string(path.with_file_name("chore.sls")).unwrap();
        let (head, _) = chore.split_once("eos:\n").unwrap();
        std::fs::write(path, format!("{head}eos:\n  kept:\n    {name}:\n      kind: redis\n")).unwrap();
        place.git(&["add", "-A"]);
        place.git(&["commit", "-qm", "as a delete records it"]);
        place.head()
    };
    let before = place.head();
    let box_kept = keep("box");
    keep("chest");
    place.ok(&["purge", "box", "--yes"]);
    assert!(!pillar(&place, "box"));
    for commit in [&box_kept, &before] {
        place.ok(&["rollback", commit, "--yes"]);
        assert_eq!((pillar(&place, "box"), pillar(&place, "chest")), (false, true), "back to {commit}");
    }
}

/// A purge is two runs; whoever is cut off in one of them or between asks again.
#[test]
fn a_purge_that_was_cut_off_is_finished_by_asking_again() {
    let base = Place::new();
    base.ok(&["create", "ledger", "--yes"]);
    base.ok(&["delete", "ledger", "--yes"]);
    // The number is that of a record in either run's journal; the first run stops first where both have it.
    for after in ["1", "3", "5", "6"] {
        let place = base.copy(&format!("after-{after}"));
        place.stopped_after(after, &["purge", "ledger", "--yes"]);
        let again = place.run(&["purge", "ledger", "--yes"]);
        assert_eq!(again.code, 0, "after {after}: {}{}", again.stdout, again.stderr);
        assert!(!again.stderr.contains("applying"), "after {after}: {}", again.stderr);
        let status = place.json(&["status"]);
        assert_eq!(status["kept"], serde_json::json!({}), "after {after}: {status}");
        assert_eq!(status["units"], serde_json::json!([]), "after {after}: {status}");
        assert_eq!(status["runs"], serde_json::json!([]), "after {after}: {status}");
        let gone = place.exits(3, &["purge", "ledger", "--yes"]).stderr;
        assert!(gone.contains("keeps no data of ledger"), "{gone}");
    }
}

/// What is to be removed and runs still is no remains: no plan has shown what would end with its data.
#[test]
fn what_still_runs_is_not_purged() {
    let place = Place::new();
    place.ok(&["create", "ledger", "--yes"]);
    place.ok(&["delete", "ledger", "--no-apply"]);
    let before = place.json(&["status"])["units"].clone();
    place.says("run_purge_of_what_runs", &place.exits(4, &["purge", "ledger", "--yes"]));
    assert_eq!(place.json(&["status"])["units"], before);
    // Either way on that is told leads on.
    let at_once = place.copy("at-once");
    at_once.ok(&["apply", "--destroy-data", "ledger", "--yes"]);
    place.ok(&["apply", "--yes"]);
    assert!(place.json(&["status"])["kept"].get("ledger").is_some());
    place.ok(&["purge", "ledger", "--yes"]);
    for place in [place, at_once] {
        let status = place.json(&["status"]);
        assert_eq!((&status["kept"], &status["units"]), (&serde_json::json!({}), &serde_json::json!([])));
    }
}

/// Each name whose data was kept is told how to be rid of.
#[test]
fn every_kept_name_can_be_purged_as_told() {
    let place = Place::new();
    place.ok(&["create", "ledger", "--yes"]);
    place.ok(&["create", "ledger", "second", "--yes"]);
    place.ok(&["destroy", "production", "--yes"]);
    let said = place.ok(&["status"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("eos purge ledger or eos purge second destroys it for good"), "{said}");
}

/// The same of a unit that lives on without something that had data: both are under one name.
#[test]
fn what_still_runs_beside_its_kept_data_is_not_purged() {
    let place = Place::with_gold_in_a_chest_that_asks_for_none();
    place.ok(&["apply", "--yes"]);
    place.ok(&["delete", "chest", "--no-apply"]);
    let refused = place.exits(4, &["purge", "chest", "--yes"]).stderr;
    assert!(refused.contains("chest still runs in production"), "{refused}");
    assert_eq!(place.ok(&["tofu", "chest", "--", "state", "list"]).stdout, "terraform_data.lid\n");
    place.ok(&["apply", "--yes"]);
    place.ok(&["purge", "chest", "--yes"]);
    assert_eq!(place.json(&["status"])["kept"], serde_json::json!({}));
}

/// Asked for again, a name has its data neither in tofu's hands nor out of the pillar's: each way on that is told leads on.
#[test]
fn kept_data_of_a_name_that_is_asked_for_again_has_a_way_out() {
    let place = Place::new();
    place.ok(&["create", "ledger", "--yes"]);
    place.ok(&["undo", "--yes"]);
    place.ok(&["create", "ledger", "--no-apply"]);
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let way = "eos delete ledger, then eos purge ledger";
    let status = flat(place.ok(&["status"]).stdout);
    let told = format!("eos apply takes the data of ledger up again; {way} destroys it for good.");
    assert!(status.contains(&told), "{status}");
    let purge = flat(place.exits(3, &["purge", "ledger", "--yes"]).stderr);
    assert!(purge.contains(&format!("eos apply takes it up again; {way} destroys it for good")), "{purge}");
    let delete = place.exits(3, &["delete", "ledger", "--destroy-data", "ledger", "--yes"]).stderr;
    assert!(flat(delete.clone()).contains(&format!("without --destroy-data: {way}")), "{delete}");

    let applied = place.copy("applied");
    applied.ok(&["apply", "--yes"]);
    applied.is_settled();
    place.ok(&["delete", "ledger", "--yes"]);
    place.ok(&["purge", "ledger", "--yes"]);
    for place in [place, applied] {
        assert_eq!(place.json(&["status"])["kept"], serde_json::json!({}));
    }
}
