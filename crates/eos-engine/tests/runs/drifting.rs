//! Drift that somebody made by hand is found and reverted.

use serde_json::json;

use crate::driver::{Command, compiled};
use crate::estate::{Estate, outcome};
use crate::spec::Spec;

/// Changes what tofu will read as the real object.
fn meddle(estate: &Estate, unit: &str) {
    let path = estate.path(&format!(".eos/state/tofu/shop/test/{unit}.tfstate"));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"fine\"", "\"meddled\"")).unwrap();
}

#[test]
fn drift_is_found_ignored_and_reverted() {
    let Some(estate) = Estate::new("drift") else { return };
    estate.write(&Spec::new("a", "v1").resource("plain", json!({"input": "fine"})));
    estate.write(&Spec::new("b", "v1").takes("upstream", "a", "id"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert_eq!(estate.ok(Command::Drift)["units"], json!({}));

    meddle(&estate, "a");
    // Drift is measured against what was applied, not against what is compiled by now.
    estate.write(&Spec::new("b", "v2").takes("upstream", "a", "id"));
    let drift = estate.ok(Command::Drift);
    let found = &drift["units"]["a"];
    assert_eq!(drift["units"].as_object().unwrap().len(), 1, "{drift:#}");
    assert_eq!(found[0]["address"], "terraform_data.plain");
    assert_eq!(found[0]["fields"][0]["path"], "input");
    assert_eq!(found[0]["fields"][0]["before"], "meddled");

    // Somebody decides to live with it, and changes their mind.
    let env = "test".parse().unwrap();
    let id = compiled(&estate.root, &env).units["a"].id.clone();
    let records = eos_store::FolderRecords::open(estate.path(".eos/state/records").as_std_path()).unwrap();
    let store = eos_engine::Applied::new(&records);
    let rule = |path: Option<&str>| eos_engine::IgnoredDrift {
        address: "terraform_data.plain".into(),
        path: path.map(str::to_owned),
        seen: None,
        because: "until monday".into(),
        by: "kim".into(),
        at: 0,
    };
    store.ignore_drift(&id, vec![rule(None)]).unwrap();
    let drift = estate.ok(Command::Drift);
    assert_eq!(drift["units"], json!({}));
    assert_eq!(drift["ignored"]["a"][0]["address"], "terraform_data.plain");
    // What is ignored is the difference that was seen, and no other one.
    let change = serde_json::from_value(drift["ignored"]["a"][0].clone()).unwrap();
    let seen = eos_engine::drift::difference(&change, "");
    store.ignore_drift(&id, vec![eos_engine::IgnoredDrift { seen: Some(seen), ..rule(None) }]).unwrap();
    assert_eq!(estate.ok(Command::Drift)["units"], json!({}));
    let other = Some("another difference".to_owned());
    store.ignore_drift(&id, vec![eos_engine::IgnoredDrift { seen: other, ..rule(None) }]).unwrap();
    assert_eq!(estate.ok(Command::Drift)["units"]["a"][0]["address"], "terraform_data.plain");

    estate.clear_log();
    let answer = estate.ok(Command::Revert);
    assert_eq!(outcome(&answer).0, "done");
    assert_eq!(estate.world()["a"]["terraform_data.plain"]["input"], "fine");
    assert!(estate.log().is_empty(), "nothing else was touched");
    assert_eq!(estate.ok(Command::Drift)["units"], json!({}));
    assert!(store.ignored_drift(&id).unwrap().is_empty(), "there is nothing left to ignore");

    // What it was by hand nobody has written down: an undo says so, before and after.
    let plan = estate.ok(Command::PlanUndo);
    let (address, why) = ("terraform_data.plain", "changed by hand");
    let listed = |units: &serde_json::Value| {
        let stays = &units[0]["without_inverse"];
        stays[0][0] == address && stays[0][1].as_str().unwrap_or_default().contains(why)
    };
    assert!(listed(&plan["units"]), "{plan:#}");
    let undone = estate.ok(Command::Undo);
    assert_eq!(outcome(&undone).0, "undone");
    assert!(listed(&undone["report"]["stays"]), "{undone:#}");
}
