//! Where Nomad puts a job: what it says beforehand is on the screen, and a run does not wait for what cannot come.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::shop::{Shop, has};

fn words<'w>(first: &[&'w str], rest: &'w [String]) -> Vec<&'w str> {
    first.iter().copied().chain(rest.iter().map(String::as_str)).collect()
}

/// Nomad knows at once that no node may take it, and so does whoever reads the plan; the run fails long before the
/// ten minutes of Nomad's own deadline.
#[test]
fn a_job_that_no_node_may_take_is_told_and_not_waited_for() {
    let shop = Shop::new();
    shop.ok(&["update", "host", "local", "--nomad-node", "nosuchnode", "--no-apply"]);
    let (redis, port) = shop.redis("nowhere", &[]);
    shop.ok(&words(&["create"], &[redis, vec!["--no-apply".to_owned()]].concat()));
    let plan = shop.exits(2, &["plan"]).stdout;
    let flat = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&flat, "warning nowhere: as things are, Nomad has no place for it: group server cannot be placed");
    has(&flat, "excluded by ${node.unique.name} = nosuchnode");
    has(&shop.exits(2, &["plan", "--markdown"]).stdout, "Nomad has no place for it");
    let document: serde_json::Value =
        serde_json::from_str(&shop.exits(2, &["plan", "--json"]).stdout).unwrap();
    assert_eq!(document["result"]["units"]["nowhere"]["unplaced"].as_array().unwrap().len(), 1);

    let begun = Instant::now();
    let failed = shop.exits(1, &["apply", "--yes"]);
    assert!(begun.elapsed() < Duration::from_secs(180), "it took {:?}", begun.elapsed());
    let said = failed.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&said, "0 of 1 placed, 0 healthy; group server cannot be placed");
    has(&said, "job production-nowhere did not become healthy");
    has(&said, "no node there is may take it");
    assert!(said.contains("error[E0802]") && !said.contains("E0912"), "one code is enough: {said}");
    // With a node that there is the same run goes on.
    shop.ok(&["update", "host", "local", "--nomad-node", "n1", "--no-apply"]);
    shop.ok(&["apply", "--yes"]);
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of("production-nowhere", port);
}

/// Whether Nomad can be reached is a question of now, not of when the plan was kept.
#[test]
fn a_plan_that_was_kept_while_nomad_was_away_is_applied_when_it_is_back() {
    let mut shop = Shop::new();
    let (redis, port) = shop.redis("late", &["--no-apply"]);
    shop.ok(&words(&["create"], &redis));
    let kept = shop.sandbox.path().join("late.plan");
    let kept = kept.to_str().unwrap();
    shop.variables.push(("NOMAD_ADDR".into(), "http://127.0.0.1:1".into()));
    shop.exits(2, &["plan", "--out", kept]);
    has(
        &shop.exits(2, &["plan", "--markdown"]).stdout,
        "cannot be reached: what it makes of late is known when",
    );
    has(&shop.exits(1, &["apply", kept, "--yes"]).stderr, "E0924");
    shop.variables.clear();
    shop.ok(&["apply", kept, "--yes"]);
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of("production-late", port);
}

/// The namespace is the estate's: a shell's variable neither moves a job nor makes a second one of it.
#[test]
fn jobs_are_in_the_namespace_of_the_estate() {
    let mut shop = Shop::new();
    let made = shop.nomad_says(&["namespace", "apply", "stores"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let settings = shop.sandbox.read("eos.toml");
    shop.sandbox.write("eos.toml", settings.replace("[nomad]\n", "[nomad]\nnamespace = \"stores\"\n"));
    shop.sandbox.commit_by_hand();
    let (redis, port) = shop.redis("spaced", &["--yes"]);
    shop.ok(&words(&["create"], &redis));
    assert_eq!(shop.job("production-spaced"), json!(null), "none in the usual one");
    let there = shop.nomad.get("/v1/job/production-spaced?namespace=stores");
    assert_eq!(there["Status"], "running");
    shop.variables.push(("NOMAD_NAMESPACE".into(), "default".into()));
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    has(&shop.ok(&["drift"]).stdout, "Nothing in production differs");
    shop.variables.clear();
    // By hand into the same namespace, and taken over from there.
    let (old, old_port) = shop.redis("taken", &["--yes"]);
    let mut job = there.clone();
    (job["ID"], job["Name"], job["Meta"]) = (json!("old-spaced"), json!("old-spaced"), json!({}));
    let text = serde_json::to_string(&json!({ "Job": job })).unwrap();
    let text = text.replace(&port.to_string(), &old_port.to_string());
    let file = shop.sandbox.path().join("old.json");
    std::fs::write(&file, text).unwrap();
    shop.nomad_says(&["job", "run", "-json", "-detach", file.to_str().unwrap()]);
    shop.ok(&words(&["adopt", "nomad-job/stores/old-spaced"], &old));
    let taken = shop.nomad.get("/v1/job/old-spaced?namespace=stores");
    assert_eq!(taken["Meta"]["eos.unit"], shop.mark("taken"));
    assert_eq!(shop.job("old-spaced"), json!(null));
    shop.ok(&["destroy", "production", "--yes"]);
    for job in ["production-spaced", "old-spaced"] {
        assert_eq!(shop.nomad.get(&format!("/v1/job/{job}?namespace=stores")), json!(null));
    }
}
