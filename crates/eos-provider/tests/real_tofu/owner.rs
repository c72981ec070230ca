//! Whose job is it?

use serde_json::json;

use crate::unit::{Bench, SLEEP, service};

pub fn lost_state(bench: &Bench) {
    // It takes a moment to end, too: destroy waits for that.
    let mut job = service("adopted", "trap 'sleep 2; exit 0' INT; while :; do sleep 0.1; done");
    job["TaskGroups"][0]["Tasks"][0]["KillTimeout"] = json!(10_000_000_000_u64);
    let unit = bench.unit(&job);
    unit.apply();
    let before = unit.job();
    unit.lose_state();
    unit.apply();
    assert_eq!(unit.job()["JobModifyIndex"], before["JobModifyIndex"], "nothing was registered again");
    assert_eq!(unit.versions(), 1);
    assert_eq!(unit.state()["attributes"]["modify_index"], before["JobModifyIndex"]);
    unit.plan_is_empty();
    unit.destroy();
    unit.nothing_is_left();
}

pub fn foreign(bench: &Bench) {
    let agent = &bench.agent;
    let mut job = service("foreign", SLEEP);
    for meta in [json!({}), json!({"eos.unit": "other/foreign"})] {
        job["Meta"] = meta;
        agent.put("/v1/jobs", &json!({"Job": job})).unwrap();
        let before = agent.get("/v1/job/foreign");
        let unit = bench.unit(&service("foreign", SLEEP));
        let run = unit.run(&["plan"]);
        assert_eq!(run.code, 1);
        run.says("E0803").says("nomad-job/foreign");
        unit.apply_fails().says("E0803");
        assert_eq!(agent.get("/v1/job/foreign")["JobModifyIndex"], before["JobModifyIndex"]);
        assert!(unit.state().is_null());
    }

    // One that somebody put in the place of ours is not removed either.
    agent.delete("/v1/job/foreign?purge=true");
    let unit = bench.unit(&service("foreign", SLEEP));
    unit.apply();
    agent.put("/v1/jobs", &json!({"Job": job})).unwrap();
    let run = unit.run(&["destroy", "-auto-approve"]);
    assert_eq!(run.code, 1);
    run.says("E0803").says("it belongs to other/foreign");
    assert_eq!(agent.get("/v1/job/foreign")["Stop"], false);
    assert!(unit.state().is_object(), "what was not removed is not forgotten");
    agent.delete("/v1/job/foreign?purge=true");
}

/// Somebody registers a change between plan and apply.
pub fn overtaken(bench: &Bench) {
    let unit = bench.unit(&service("overtaken", SLEEP));
    unit.apply();
    let mut wanted = service("overtaken", SLEEP);
    wanted["Priority"] = json!(60);
    unit.write(&wanted, json!({}));
    unit.ok(&["plan", "-out=plan"]);
    let mut other = service("overtaken", SLEEP);
    other["Priority"] = json!(70);
    bench.agent.put("/v1/jobs", &json!({"Job": other})).unwrap();
    let run = unit.run(&["apply", "plan"]);
    assert_eq!(run.code, 1, "{}", run.text);
    run.says("E0804").says("was changed after it was planned");
    assert_eq!(unit.job()["Priority"], 70, "nothing was overwritten");
    assert_eq!(unit.state()["attributes"]["in_sync"], true, "the state is as it was");
    // Planned again, it is seen.
    unit.plan_has_changes().says("Priority: \"70\" -> \"60\"");
    unit.apply();
    assert_eq!(unit.job()["Priority"], 60);
    unit.destroy();
    unit.nothing_is_left();
}
