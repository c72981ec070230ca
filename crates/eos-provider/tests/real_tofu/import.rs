//! Jobs that ran before eos knew them.

use serde_json::json;

use crate::unit::{Bench, SLEEP, service};

pub fn by_id(bench: &Bench) {
    let agent = &bench.agent;
    // In the usual namespace, without a mark: an import says that it is meant.
    let mut job = service("imported", SLEEP);
    job["Meta"] = json!({"team": "search"});
    agent.put("/v1/jobs", &json!({"Job": job})).unwrap();
    let unit = bench.unit(&service("imported", SLEEP));
    unit.ok(&["import", "eos_nomad_job.job", "imported"]);
    let run = unit.plan_has_changes();
    run.says("will be updated in-place").says("Meta[eos.unit]").says("Meta[team]");
    unit.apply();
    assert_eq!(unit.job()["Meta"], json!({"eos.unit": "test/imported"}));
    unit.plan_is_empty();
    unit.destroy();
    unit.nothing_is_left();

    // In a namespace of its own, already as the spec says: nothing is registered.
    // The answer to this one is empty.
    let _ = agent.request("PUT", "/v1/namespace", Some(&json!({"Name": "apps"})));
    let mut job = service("spaced", SLEEP);
    job["Namespace"] = json!("apps");
    agent.put("/v1/jobs?namespace=apps", &json!({"Job": job})).unwrap();
    agent.until("it is deployed", || {
        agent.get("/v1/job/spaced/deployments?namespace=apps")[0]["Status"] == "successful"
    });
    let unit = bench.unit(&job);
    unit.write(&service("spaced", SLEEP), json!({"namespace": "apps"}));
    unit.ok(&["import", "eos_nomad_job.job", "apps/spaced"]);
    unit.plan_has_changes().does_not_say("Nomad's plan");
    unit.apply();
    let versions = agent.get("/v1/job/spaced/versions?namespace=apps");
    assert_eq!(versions["Versions"].as_array().unwrap().len(), 1);
    unit.plan_is_empty();
    unit.destroy();
    assert!(agent.get("/v1/job/spaced?namespace=apps").is_null());
    let run = unit.run(&["import", "eos_nomad_job.job", "apps/spaced"]);
    assert_eq!(run.code, 1);
    run.says("there is no job apps/spaced");
}
