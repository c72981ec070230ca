//! Jobs that end.

use serde_json::{Value as Json, json};

use crate::unit::{Bench, service};

fn batch(id: &str, script: &str) -> Json {
    let mut job = service(id, script);
    job["Type"] = json!("batch");
    job.as_object_mut().unwrap().remove("Update");
    job
}

pub fn complete(bench: &Bench) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("done");
    let job = batch("batch", &format!("sleep 4; echo x >> {}", file.display()));
    let unit = bench.unit(&job);
    unit.write(&job, json!({"wait": "complete"}));
    unit.apply();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\n", "apply has waited for the end");
    unit.plan_is_empty();
    // Nomad forgets ended jobs by and by; they are not run again for that.
    bench.agent.delete("/v1/job/batch?purge=true");
    unit.plan_is_empty();
    unit.destroy();
    unit.nothing_is_left();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\n", "it ran once");
}

pub fn failed(bench: &Bench) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let job = batch("batch-failing", &format!("test -e {} || {{ echo no data; exit 9; }}", file.display()));
    let unit = bench.unit(&job);
    unit.write(&job, json!({"wait": "complete"}));
    let run = unit.apply_fails();
    run.says("E0802: job batch-failing did not complete").says("Exit Code: 9").says("> no data");
    unit.ok(&["untaint", "eos_nomad_job.job"]);
    std::fs::write(&file, "").unwrap();
    unit.plan_has_changes();
    unit.apply();
    unit.plan_is_empty();
    unit.destroy();
    unit.nothing_is_left();
}
