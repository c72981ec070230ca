//! The plan of forty units, as a person, a pull request and a program read it; a plan that is kept; and what one costs.

use crate::picture;
use crate::place::Place;
use crate::support::{Run, tool};

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
    picture::shows(&plan.stdout);
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

/// At a cloud: what has a price, what has none, what depends on how much it is used, and what costs nothing.
const STAND: &str = r#"#!yaml
format: 1
kind: stand
summary: Stand at a cloud
proof: validates
cloud:
  providers:
    hcloud: {source: hetznercloud/hcloud, version: "~> 1.45"}
  resources:
    hcloud_load_balancer:
      front: {name: front, load_balancer_type: lb11, location: fsn1}
    hcloud_volume:
      shelf: {name: shelf, size: 40, location: fsn1}
    hcloud_network:
      floor: {name: floor, ip_range: 10.0.0.0/16}
    hcloud_floating_ip:
      sign: {type: ipv4, home_location: fsn1}
    terraform_data:
      note: {input: x}
"#;

const PRICES: &str = r#"format = 1
currency = "EUR"
as_of = "2026-11-01"

[resources.hcloud_load_balancer]
by = ["location", "load_balancer_type"]
monthly = { "fsn1/lb11" = 7.49 }

[resources.hcloud_volume]
per = "size"
monthly = 0.05
"#;

#[test]
fn a_plan_says_what_it_costs() {
    tool("terraform-provider-hcloud");
    let place = Place::new();
    place.add_kind("stand", STAND);
    place.ok(&["create", "stand", "--no-apply"]);
    let plan = |more: &[&str]| {
        let words = [&["plan"], more].concat();
        let token = "a-token-that-no-cloud-knows-and-that-is-64-characters-long-xxxxx";
        Run::from(place.command(&words).env("HCLOUD_TOKEN", token).output().unwrap())
    };
    place.says("run_plan_of_unknown_cost", &plan(&[]));
    std::fs::write(place.path("prices.toml"), PRICES).unwrap();
    place.says("run_plan_with_its_cost", &plan(&[]));
    place.snapshot_wide("run_plan_with_its_cost_markdown", &plan(&["--markdown"]).stdout);
    let document: serde_json::Value = serde_json::from_str(&plan(&["--json"]).stdout).unwrap();
    let cost = &document["result"]["cost"];
    assert_eq!(cost["monthly"], 9.49, "{cost}");
    assert_eq!(cost["currency"], "EUR", "{cost}");
    assert_eq!(cost["unknown"][0], "stand's hcloud_floating_ip.sign", "{cost}");
    assert!(!document.to_string().contains("billed"), "{document}");
    std::fs::write(place.path("prices.toml"), "format = 1\n[resources]\nhcloud_volume = { monthly = 3 }\n")
        .unwrap();
    place.says("run_plan_with_bad_prices", &plan(&[]));
}
