//! The plan of forty units, as a person, a pull request and a program read it; a plan that is kept; and what one costs.

use crate::picture;
use crate::place::Place;
use crate::support::{Run, tool};

/// Kinds of a small company. What they are made of is tofu's own, so that forty of them are quick.
const KINDS: &[(&str, &str)] = &[
    (
        "database",
        r#"#!yaml
format: 1
kind: database
summary: Database
proof: validates
settings:
  version: {type: string, default: "16", help: Which release of it}
cloud:
  resources:
    terraform_data:
      volume: {input: "@{env}/@{name}"}
      server: {triggers_replace: ["@{setting.version}"], input: "${terraform_data.volume.id}"}
  data_classes: {terraform_data.volume: database}
offers:
  database:
    help: A place for rows
    outputs: {address: "${terraform_data.server.id}"}
"#,
    ),
    (
        "website",
        r#"#!yaml
format: 1
kind: website
summary: Website
proof: validates
settings:
  release: {type: string, default: "1.0", help: Which release of it}
needs:
  database: {offer: database, create: database, help: where its rows are}
cloud:
  resources:
    terraform_data:
      server: {input: "@{setting.release} @{need.database.address}"}
"#,
    ),
    (
        "worker",
        r#"#!yaml
format: 1
kind: worker
summary: Worker
proof: validates
settings:
  release: {type: string, default: "1.0", help: Which release of it}
cloud:
  resources:
    terraform_data:
      process: {input: "@{setting.release}"}
"#,
    ),
];

const HOSTS: [&str; 5] = ["db1", "db2", "web1", "web2", "batch1"];

fn file(place: &Place, name: &str) -> std::path::PathBuf {
    place.path(&format!("pillar/infrastructure/production/{name}.sls"))
}

/// One component on one host; `more` is its settings and needs.
fn write(place: &Place, kind: &str, name: &str, host: &str, more: &str) {
    let text =
        format!("#!yaml\neos:\n  components:\n    {name}:\n      kind: {kind}\n      host: {host}\n{more}");
    std::fs::write(file(place, name), text).unwrap();
}

fn website(place: &Place, name: &str, host: &str, database: &str) {
    write(place, "website", name, host, &format!("      needs: {{database: {database}}}\n"));
}

fn commit(place: &Place) {
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "by hand"]);
}

/// Forty units on five hosts. A release: what nobody uses goes, once with its data; the database of the shop is
/// replaced, workers are changed, a stock with two websites and probes of each host are new; the rest stays.
fn forty() -> Place {
    let place = Place::new();
    for (kind, component) in KINDS {
        place.add_kind(kind, component);
    }
    for (number, host) in HOSTS.iter().enumerate() {
        let address = format!("192.0.2.{}", number + 1);
        place.ok(&["create", "host", host, "--address", &address, "--no-apply"]);
    }
    for (name, host) in [("orders", "db1"), ("users", "db2"), ("sessions", "db2"), ("audit", "db1")] {
        write(&place, "database", name, host, "");
    }
    website(&place, "shop", "web1", "orders");
    website(&place, "accounts", "web2", "users");
    website(&place, "blog", "web2", "users");
    for name in ["mailer", "thumbnails", "reports", "exports", "search", "importer", "invoices", "backup"] {
        write(&place, "worker", name, "batch1", "");
    }
    commit(&place);
    place.ok(&["apply", "--yes"]);
    for gone in ["sessions", "audit", "blog"] {
        std::fs::remove_file(file(&place, gone)).unwrap();
    }
    write(&place, "database", "orders", "db1", "      settings: {version: \"17\"}\n");
    for name in ["mailer", "thumbnails", "reports"] {
        write(&place, "worker", name, "batch1", "      settings: {release: \"1.1\"}\n");
    }
    write(&place, "database", "stock", "db2", "");
    website(&place, "warehouse", "web1", "stock");
    website(&place, "stocktaking", "web2", "stock");
    write(&place, "worker", "forecast", "batch1", "");
    for host in &HOSTS[..4] {
        for what in ["disk", "memory", "load", "clock", "certs"] {
            write(&place, "worker", &format!("{what}-{host}"), host, "");
        }
    }
    write(&place, "worker", "labels", "batch1", "");
    commit(&place);
    place
}

#[test]
fn forty_units_fit_a_screen_and_a_kept_plan_does_what_it_showed() {
    let place = forty();
    let words = ["plan", "--destroy-data", "sessions"];
    let plan = place.exits(2, &[&words[..], &["--out", "monday.plan"]].concat());
    assert!(plan.stdout.lines().count() <= 45, "it fits a screen");
    place.says("run_plan_of_forty", &plan);
    picture::shows(&plan.stdout);
    place.snapshot_wide(
        "run_plan_of_forty_markdown",
        &place.exits(2, &[&words[..], &["--markdown"]].concat()).stdout,
    );
    let document = place.json(&words);
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
    // Said before anybody is asked.
    place.says("run_plan_used_twice", &place.exits(4, &["apply", "monday.plan"]));
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
