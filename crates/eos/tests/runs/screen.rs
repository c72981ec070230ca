//! The plan of forty units, as a person, a pull request and a program read it; and a plan that is kept.

use crate::place::Place;

fn entry(kind: &str, name: &str, more: &str) -> String {
    format!("#!yaml\neos:\n  components:\n    {name}:\n      kind: {kind}\n{more}")
}

fn write(place: &Place, name: &str, text: &str) {
    std::fs::write(place.path(&format!("pillar/infrastructure/production/{name}.sls")), text).unwrap();
}

fn commit(place: &Place) {
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "by hand"]);
}

/// Forty units: some go, some are replaced, changed or new, some wait for others, most stay.
fn forty() -> Place {
    let place = Place::new();
    place.ok(&["create", "lamp", "--no-apply"]);
    write(&place, "archive", &entry("ledger", "archive", ""));
    for number in 1..=8 {
        write(&place, &format!("errand-{number}"), &entry("chore", &format!("errand-{number}"), ""));
    }
    commit(&place);
    place.ok(&["apply", "--yes"]);
    let file = |name: &str| place.path(&format!("pillar/infrastructure/production/{name}.sls"));
    for gone in ["errand-1", "archive"] {
        std::fs::remove_file(file(gone)).unwrap();
    }
    write(&place, "errand-2", &entry("chore", "errand-2", "      settings: {input: two}\n"));
    write(
        &place,
        "desk",
        &entry("desk", "desk", "      settings: {color: red}\n      needs: {ledger: ledger}\n"),
    );
    for number in 11..=30 {
        let name = format!("errand-of-monday-{number}");
        write(&place, &name, &entry("chore", &name, ""));
    }
    for number in 1..=4 {
        let (desk, lamp) = (format!("room-{number}-desk"), format!("room-{number}-lamp"));
        write(&place, &desk, &entry("desk", &desk, "      needs: {ledger: ledger}\n"));
        write(&place, &lamp, &entry("lamp", &lamp, &format!("      needs: {{desk: {desk}}}\n")));
    }
    commit(&place);
    place
}

#[test]
fn forty_units_fit_a_screen_and_a_kept_plan_does_what_it_showed() {
    let place = forty();
    let plan = place.exits(2, &["plan", "--out", "monday.plan"]);
    place.says("run_plan_of_forty", &plan);
    place.snapshot_wide("run_plan_of_forty_markdown", &place.exits(2, &["plan", "--markdown"]).stdout);
    let document = place.json(&["plan"]);
    let units = document["units"].as_object().unwrap();
    assert_eq!(units.len(), 40, "{:?}", units.keys());
    assert_eq!(document["changes"], true);
    let secret = |text: &str| text.contains("tfplan");
    assert!(!secret(&document.to_string()), "saved plans are not shown");

    let applied = place.ok(&["apply", "monday.plan", "--yes"]);
    let screen = |text: &str| {
        let from = text.find("ACTION").unwrap();
        text[from..from + text[from..].find("\n\n").unwrap()].to_owned()
    };
    assert_eq!(screen(&plan.stdout), screen(&applied.stdout), "the same plan");
    place.is_settled();
    place.says("run_plan_used_twice", &place.exits(4, &["apply", "monday.plan", "--yes"]));
}
