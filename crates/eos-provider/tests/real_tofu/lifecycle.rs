//! From create to destroy.

use std::path::Path;

use serde_json::json;

use crate::unit::{Bench, SLEEP, Unit, service, tasks};
use test_tools::tool;

pub fn with_tofu(bench: &Bench) {
    let unit = bench.unit(&service("life", SLEEP));
    let run = unit.run(&["plan"]);
    run.says("Nomad's plan of job life").says("group main: 1 to start");
    whole_life(unit);
}

pub fn with_terraform(bench: &Bench) {
    let Some(terraform) = tool("terraform", "terraform_can_do_it_too") else { return };
    whole_life(bench.unit_with(Path::new(&terraform), &service("life-terraform", SLEEP)));
}

fn whole_life(unit: Unit) {
    unit.apply();
    let job = unit.job();
    assert_eq!(job["Status"], "running");
    assert_eq!(tasks(&unit.id).len(), 1);
    assert_eq!(unit.state()["attributes"]["in_sync"], true);
    assert_eq!(unit.state()["attributes"]["modify_index"], job["JobModifyIndex"]);
    unit.plan_is_empty();
    assert_eq!(unit.versions(), 1, "nothing is registered twice");

    let mut changed = service(&unit.id, SLEEP);
    changed["TaskGroups"][0]["Tasks"][0]["Env"] = json!({"COLOUR": "blue"});
    unit.write(&changed, json!({}));
    let run = unit.plan_has_changes();
    run.says("Env[COLOUR]: \"blue\"").says("will be updated in-place").says("1 to replace");
    unit.apply();
    assert_eq!(unit.job()["TaskGroups"][0]["Tasks"][0]["Env"]["COLOUR"], "blue");
    assert_eq!(unit.versions(), 2);
    unit.plan_is_empty();

    // What Nomad does not hear of changes the state alone.
    unit.write(&changed, json!({"data_classes": ["database"], "wait": "healthy"}));
    unit.plan_has_changes().does_not_say("Nomad's plan");
    unit.apply();
    assert_eq!(unit.versions(), 2);

    // Another id is another job.
    let mut renamed = changed.clone();
    renamed["ID"] = json!(format!("{}-renamed", unit.id));
    unit.write(&renamed, json!({}));
    unit.plan_has_changes().says("must be replaced");
    unit.write(&changed, json!({}));
    unit.apply();

    unit.destroy();
    unit.nothing_is_left();
}

pub fn large(bench: &Bench) {
    let mut job = service("large", SLEEP);
    // In chunks: Nomad's own limit is on a single template, not on a job.
    let chunk = "0123456789abcdef".repeat(64 << 10);
    let templates: Vec<_> = (0..6)
        .map(|at| json!({"EmbeddedTmpl": chunk, "DestPath": format!("local/{at}"), "ChangeMode": "noop"}))
        .collect();
    job["TaskGroups"][0]["Tasks"][0]["Templates"] = json!(templates);
    assert!(job.to_string().len() > 5 << 20);
    let unit = bench.unit(&job);
    unit.apply();
    unit.plan_is_empty();
    unit.destroy();
    unit.nothing_is_left();
}

pub fn cannot_be_placed(bench: &Bench) {
    let mut job = service("homeless", SLEEP);
    job["Constraints"] = json!([{"LTarget": "${node.unique.name}", "RTarget": "elsewhere", "Operand": "="}]);
    job["Update"]["HealthyDeadline"] = json!(1_000_000_000);
    job["Update"]["ProgressDeadline"] = json!(2_000_000_000);
    let unit = bench.unit(&job);
    let run = unit.plan_has_changes();
    run.says("group main cannot be placed").says("elsewhere");
    // Nomad itself would wait for ever.
    let run = unit.apply_fails();
    run.says("E0802")
        .says("nothing has moved for 12 seconds")
        .says("1 node excluded by ${node.unique.name} = elsewhere");
    unit.destroy();
    unit.nothing_is_left();
}

/// A part of the spec that is known only when something else was made.
pub fn not_known_yet(bench: &Bench) {
    let unit = bench.unit(&service("unknown", SLEEP));
    let mut job = service("unknown", SLEEP);
    job["Meta"]["token"] = json!("${terraform_data.first.id}");
    let spec = format!(
        "${{jsonencode({})}}",
        json!({"Job": job}).to_string().replace("\"${terraform_data.first.id}\"", "terraform_data.first.id")
    );
    let main = std::fs::read_to_string(unit.path().join("main.tf.json")).unwrap();
    let mut main: serde_json::Value = serde_json::from_str(&main).unwrap();
    main["resource"]["eos_nomad_job"]["job"]["spec"] = json!(spec);
    main["resource"]["terraform_data"] = json!({"first": {"input": "x"}});
    std::fs::write(unit.path().join("main.tf.json"), main.to_string()).unwrap();
    unit.plan_has_changes().says("(known after apply)").does_not_say("Nomad's plan");
    unit.apply();
    assert!(unit.job()["Meta"]["token"].as_str().unwrap().len() > 10);
    unit.plan_is_empty();
    unit.destroy();
    unit.nothing_is_left();
}

pub fn mistakes(bench: &Bench) {
    let unit = bench.unit(&service("mistakes", SLEEP));
    std::fs::write(unit.path().join("job.nomad.json"), "{\"Job\": {\"Name\": \"x\"}}").unwrap();
    let run = unit.run(&["plan"]);
    assert_eq!(run.code, 1);
    run.says("E0805").says("Job.ID is missing").says("nomad job validate");
    unit.write(&service("mistakes", SLEEP), json!({"wait": "complete"}));
    unit.run(&["validate"]).says("E0805: a service job is never complete");
    unit.nothing_is_left();
}
