//! Jobs that do not get healthy.

use serde_json::json;

use crate::unit::{Bench, SLEEP, doomed, service};

pub fn says_why(bench: &Bench) {
    let flag = tempfile::tempdir().unwrap();
    let file = flag.path().join("go");
    let script = format!(
        "test -e {} && exec sleep 1000; echo first words; echo cannot open the database >&2; exit 3",
        file.display()
    );
    let mut job = service("failing", &script);
    // There is no older version to go back to.
    job["Update"]["AutoRevert"] = json!(true);
    doomed(&mut job);
    let unit = bench.unit(&job);
    let run = unit.apply_fails();
    run.says("E0802: job failing did not become healthy");
    run.says("allocation ").says("Terminated: Exit Code: 3").says("> cannot open the database");
    run.does_not_say("> first words");
    assert_eq!(unit.state()["status"], "tainted");

    // The run that goes on untaints it; the job is as the spec says, and yet it does not run.
    unit.ok(&["untaint", "eos_nomad_job.job"]);
    unit.plan_has_changes().says("its last deployment failed");
    std::fs::write(&file, "").unwrap();
    unit.apply();
    assert_eq!(unit.job()["Status"], "running");
    assert_eq!(unit.versions(), 2);
    unit.plan_is_empty();
    // The mark of the second attempt stays until something else changes; it is no difference.
    unit.apply();
    assert_eq!(unit.versions(), 2);
    unit.destroy();
    unit.nothing_is_left();
}

pub fn auto_revert(bench: &Bench) {
    let mut good = service("reverted", SLEEP);
    good["Update"]["AutoRevert"] = json!(true);
    let unit = bench.unit(&good);
    unit.apply();
    let spec = unit.state()["attributes"]["spec"].clone();

    let mut bad = good.clone();
    bad["TaskGroups"][0]["Tasks"][0]["Config"]["args"][1] = json!("echo out of luck >&2; exit 4");
    doomed(&mut bad);
    unit.write(&bad, json!({}));
    let run = unit.apply_fails();
    run.says("E0802").says("rolling back to job version 0").says("> out of luck");
    run.says("went back to the older spec as version 2, which is healthy");
    assert_eq!(unit.state()["attributes"]["spec"], spec, "the old spec is kept");
    assert_eq!(unit.state()["attributes"]["in_sync"], true);
    assert_eq!(unit.state()["attributes"]["modify_index"], unit.job()["JobModifyIndex"]);
    assert_eq!(unit.job()["Status"], "running");

    // The change is still wanted, and the old one is still in place.
    unit.plan_has_changes().does_not_say("was changed by somebody else");
    unit.write(&good, json!({}));
    unit.plan_is_empty();
    unit.destroy();
    unit.nothing_is_left();
}
