//! What somebody changes by hand.

use serde_json::json;

use crate::unit::{Bench, SLEEP, service};

pub fn by_hand(bench: &Bench) {
    let unit = bench.unit(&service("drift", SLEEP));
    unit.apply();
    let agent = &bench.agent;

    // Scaled.
    agent.put("/v1/job/drift/scale", &json!({"Count": 2, "Target": {"Group": "main"}})).unwrap();
    let run = unit.plan_has_changes();
    run.says("in_sync").says("false -> true").says("Count: \"2\" -> \"1\"");
    unit.apply();
    assert_eq!(unit.job()["TaskGroups"][0]["Count"], 1);
    unit.plan_is_empty();

    // Edited.
    let mut edited = service("drift", SLEEP);
    edited["Priority"] = json!(70);
    edited["TaskGroups"][0]["Tasks"][0]["Env"] = json!({"DB_PASSWORD": "hunter2", "COLOUR": "red"});
    agent.put("/v1/jobs", &json!({"Job": edited})).unwrap();
    let run = unit.plan_has_changes();
    run.says("Priority: \"70\" -> \"50\"").says("Env[COLOUR]").does_not_say("hunter2");
    unit.apply();
    assert_eq!(unit.job()["Priority"], 50);
    unit.plan_is_empty();

    // Stopped.
    agent.delete("/v1/job/drift");
    unit.plan_has_changes().says("job drift is stopped and starts again");
    unit.apply();
    assert_eq!((&unit.job()["Status"], &unit.job()["Stop"]), (&json!("running"), &json!(false)));
    unit.plan_is_empty();

    // Removed.
    agent.delete("/v1/job/drift?purge=true");
    unit.plan_has_changes().says("will be created");
    unit.apply();
    assert_eq!(unit.job()["Status"], "running");

    // A stopped job is still ours to remove.
    agent.delete("/v1/job/drift");
    unit.destroy();
    unit.nothing_is_left();
}
