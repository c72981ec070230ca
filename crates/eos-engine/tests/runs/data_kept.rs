//! Data is always preserved: kept when its unit goes, taken back when it comes again, destroyed only when named.

use serde_json::{Value as Json, json};

use crate::driver::{Command, Job};
use crate::estate::{Estate, outcome, set};
use crate::spec::Spec;

fn database(version: &str, size: u32) -> Spec {
    let mut store = json!({"input": version, "lifecycle": {"prevent_destroy": true}});
    if size != 10 {
        store["triggers_replace"] = json!([size]);
    }
    Spec::new("db", version).resource("store", store)
}

fn id(estate: &Estate, name: &str) -> Option<String> {
    let state = estate.state("db");
    let resource = state["resources"].as_array()?.iter().find(|resource| resource["name"] == name)?.clone();
    resource["instances"][0]["attributes"]["id"].as_str().map(str::to_owned)
}

fn kept(estate: &Estate) -> Vec<Json> {
    let folder = estate.path(".eos/state/records");
    let records = eos_store::FolderRecords::open(folder.as_std_path()).unwrap();
    let kept = eos_engine::Applied::new(&records).kept(&"test".parse().unwrap()).unwrap();
    kept.values().flat_map(|kept| &kept.objects).map(|object| json!(object)).collect()
}

#[test]
fn a_unit_that_goes_leaves_its_data_and_takes_it_back() {
    let Some(estate) = Estate::new("leaves_its_data") else { return };
    estate.write(&database("v1", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let before = id(&estate, "store").unwrap();

    // No longer compiled: an orphan, destroyed from its archived bytes, its data kept.
    estate.remove("db");
    let plan = estate.ok(Command::Plan);
    let line =
        |address: &str| plan["changes"].as_array().unwrap().iter().find(|c| c["address"] == address).unwrap();
    assert_eq!(line("terraform_data.store")["kind"], "forget");
    assert_eq!(line("terraform_data.store")["data"]["fate"], "kept");
    assert_eq!(line("terraform_data.one")["kind"], "destroy");
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert!(estate.world().is_empty());
    let listed = kept(&estate);
    assert_eq!((listed.len(), listed[0]["id"].as_str()), (1, Some(before.as_str())), "{listed:?}");

    // Back again: the same object.
    estate.write(&database("v2", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert_eq!(id(&estate, "store"), Some(before));
    assert!(kept(&estate).is_empty());
    assert_eq!(estate.ok(Command::Plan)["empty"], true);
}

#[test]
fn data_is_neither_replaced_nor_destroyed_unless_named() {
    let Some(estate) = Estate::new("unless_named") else { return };
    estate.write(&database("v1", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let before = id(&estate, "store").unwrap();
    estate.write(&database("v1", 20));
    assert_eq!(estate.run(&estate.job(Command::Apply)).refused(), ["E0910"]);
    assert_eq!(id(&estate, "store").as_ref(), Some(&before));

    // Taken out of the unit: it stays in the world.
    estate.write(&Spec::new("db", "v1"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert_eq!(id(&estate, "store"), None);
    assert_eq!(kept(&estate).len(), 1);
    estate.write(&database("v1", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert_eq!(id(&estate, "store").as_ref(), Some(&before));

    // Named, it may be replaced, and destroyed.
    estate.write(&database("v1", 20));
    let named = |command| Job { destroy_data: set(&["db"]), ..estate.job(command) };
    assert_eq!(outcome(&estate.run(&named(Command::Apply)).accepted()).0, "done");
    assert_ne!(id(&estate, "store").as_ref(), Some(&before));
    assert_eq!(outcome(&estate.run(&named(Command::Destroy)).accepted()).0, "done");
    assert!(estate.world().is_empty());
    assert!(kept(&estate).is_empty(), "nothing was kept: {:?}", kept(&estate));
}

#[test]
fn undoing_what_is_new_keeps_its_data_and_a_rollback_adopts_it() {
    let Some(estate) = Estate::new("a_rollback_adopts_it") else { return };
    estate.write(&Spec::new("web", "v1"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    estate.write(&database("v2", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let before = id(&estate, "store").unwrap();
    estate.write(&database("v3", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    // Three revisions back and forth again: the same object, never destroyed.
    estate.remove("db");
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    estate.write(&database("v3", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert_eq!(id(&estate, "store").as_ref(), Some(&before));
    // Undoing that last run takes the unit away once more. Its data stays; that eos kept it before makes it nobody else's.
    let plan = estate.ok(Command::PlanUndo);
    assert!(plan["units"][0]["keeps"].to_string().contains("store"), "{plan:#}");
    assert!(!plan.to_string().contains("before eos"), "{plan:#}");
    assert_eq!(outcome(&estate.ok(Command::Undo)).0, "undone");
    assert_eq!(kept(&estate)[0]["id"], before);
    assert!(!estate.world().contains_key("db"));
}

/// Without its archived bytes nobody knows what of a unit holds data: whatever would go may be it.
#[test]
fn what_goes_is_held_back_when_nobody_can_tell_whether_it_is_data() {
    let Some(estate) = Estate::new("nobody_can_tell") else { return };
    estate.write(&database("v1", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let before = id(&estate, "store").unwrap();
    std::fs::remove_dir_all(estate.path(".eos/state/archive")).unwrap();
    estate.write(&Spec::new("db", "v1"));
    assert_eq!(estate.run(&estate.job(Command::Apply)).refused(), ["E0910"]);
    assert_eq!(id(&estate, "store"), Some(before), "it is still in tofu's care");
    // What is asked for and changes in place needs no bytes of before.
    estate.write(&database("v2", 10));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
}

/// What another clone began to make and failed at has bytes that are not in this one's archive; it goes with the unit, too.
#[test]
fn what_goes_is_held_back_where_a_run_failed_on_its_way_to_other_bytes() {
    let Some(estate) = Estate::new("failed_on_its_way") else { return };
    let archive = estate.path(".eos/state/archive/test/db");
    let archived =
        || -> Vec<_> { archive.read_dir_utf8().unwrap().map(|e| e.unwrap().into_path()).collect() };
    estate.write(&Spec::new("db", "v1"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let applied = archived();
    estate.write(&database("v1", 10).breakable());
    std::fs::write(estate.path("broken"), "").unwrap();
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "failed");
    let before = id(&estate, "store").unwrap();
    let begun: Vec<_> = archived().into_iter().filter(|path| !applied.contains(path)).collect();
    let elsewhere = estate.path("elsewhere");
    std::fs::rename(&begun[0], &elsewhere).unwrap();

    estate.remove("db");
    // Nobody can tell it from what broke: either may be data.
    assert_eq!(estate.run(&estate.job(Command::Apply)).refused(), ["E0910", "E0910"]);
    assert_eq!(id(&estate, "store").as_ref(), Some(&before), "it is still in tofu's care");
    // With the bytes it is known for data, and kept.
    std::fs::rename(&elsewhere, &begun[0]).unwrap();
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert_eq!(kept(&estate)[0]["id"], before);
}

/// A module in tofu's own language is not read: that it protects something is all that is known of it.
#[test]
fn a_module_that_protects_something_does_not_go_with_it() {
    let Some(estate) = Estate::new("protects_something") else { return };
    let module = estate.path("build/modules/disk-0a");
    std::fs::create_dir_all(&module).unwrap();
    let text = "resource \"terraform_data\" \"disk\" {\n  input = 1\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n";
    std::fs::write(module.join("main.tf"), text).unwrap();
    let mut spec = Spec::new("db", "v1");
    spec.main["module"] = json!({"disk": {"source": "../../modules/disk-0a"}});
    estate.write(&spec);
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let before = id(&estate, "disk");
    assert!(before.is_some());
    estate.write(&Spec::new("db", "v1"));
    assert_eq!(estate.run(&estate.job(Command::Apply)).refused(), ["E0910"]);
    assert_eq!(id(&estate, "disk"), before);
    let named = Job { destroy_data: set(&["db"]), ..estate.job(Command::Apply) };
    assert_eq!(outcome(&estate.run(&named).accepted()).0, "done");
    assert_eq!(id(&estate, "disk"), None);
}
