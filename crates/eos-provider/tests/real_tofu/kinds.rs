//! Jobs of every kind: with and without a deployment to wait for.

use serde_json::{Value as Json, json};

use crate::unit::{Bench, SLEEP, Unit, service};

fn kind(unit: &Unit, kind: &str, change: impl FnOnce(&mut Json)) -> Json {
    let mut job = service(&unit.id, SLEEP);
    job["Type"] = json!(kind);
    if kind != "service" {
        job.as_object_mut().unwrap().remove("Update");
        job["TaskGroups"][0].as_object_mut().unwrap().remove("ReschedulePolicy");
    }
    change(&mut job);
    job
}

pub fn without_deployments(bench: &Bench) {
    let unit = bench.unit(&service("kinds", SLEEP));
    let now: [Json; 5] = [
        kind(&unit, "system", |_| {}),
        kind(&unit, "service", |job| job["Update"]["MaxParallel"] = json!(0)),
        kind(&unit, "service", |job| job["TaskGroups"][0]["Count"] = json!(0)),
        kind(&unit, "batch", |job| {
            job["Periodic"] = json!({"Enabled": true, "Spec": "0 0 1 1 *", "SpecType": "cron"});
        }),
        kind(&unit, "batch", |job| job["ParameterizedJob"] = json!({"Payload": "optional"})),
    ];
    for job in &now {
        unit.write(job, json!({}));
        unit.apply();
        unit.plan_is_empty();
        unit.destroy();
        unit.nothing_is_left();
    }

    let dying = kind(&unit, "system", |job| {
        job["TaskGroups"][0]["Tasks"][0]["Config"]["args"][1] = json!("echo no disk; exit 2");
    });
    unit.write(&dying, json!({}));
    unit.apply_fails().says("E0802").says("an allocation failed").says("Exit Code: 2").says("> no disk");
    unit.destroy();
    unit.nothing_is_left();
}
