//! A Nomad that is not there.

use serde_json::json;

use crate::unit::{Bench, SLEEP, service};
use test_tools::free_ports;

pub fn at_plan_and_apply(bench: &Bench) {
    let [nobody] = free_ports();
    let nowhere = format!("http://127.0.0.1:{nobody}");
    let mut unit = bench.unit(&service("unreachable", SLEEP));
    unit.set("NOMAD_ADDR", &nowhere);
    // A new job is planned, with a warning.
    unit.plan_has_changes().says("E0801: job unreachable: not known yet").says("cannot be reached");
    let run = unit.apply_fails();
    run.says(&format!("E0801: Nomad at {nowhere} cannot be reached")).says("NOMAD_ADDR=<address>");
    assert!(unit.state().is_null(), "nothing was made");

    unit.environment.retain(|(name, value)| name != "NOMAD_ADDR" || *value != nowhere);
    unit.apply();

    // One that is there cannot be judged, changed or forgotten.
    unit.set("NOMAD_ADDR", &nowhere);
    let mut changed = service("unreachable", SLEEP);
    changed["Priority"] = json!(60);
    unit.write(&changed, json!({}));
    for arguments in
        [&["plan"][..], &["plan", "-refresh=false"], &["destroy", "-auto-approve", "-refresh=false"]]
    {
        let run = unit.run(arguments);
        assert_eq!(run.code, 1, "{arguments:?}: {}", run.text);
        run.says("E0801: Nomad at");
    }
    assert!(unit.state().is_object());
    unit.environment.retain(|(name, value)| name != "NOMAD_ADDR" || *value != nowhere);
    unit.destroy();
    unit.nothing_is_left();
}
