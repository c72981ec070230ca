//! Interrupts and kills, with real processes.

use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value as Json, json};

use crate::unit::{Bench, Run, SLEEP, Unit, service};

/// A service that takes a while to be called healthy.
fn slow(id: &str) -> Json {
    let mut job = service(id, SLEEP);
    job["Update"]["MinHealthyTime"] = json!(6_000_000_000_u64);
    job
}

/// tofu apply in a process group of its own, and the pid of its provider, as soon as the job is registered.
fn begin(unit: &Unit) -> (Child, i32) {
    let mut command = unit.command(&["apply", "-auto-approve"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
    unit.bench.agent.until("the job is registered", || unit.job().is_object());
    let provider = provider_of(child.id()).expect("tofu has a provider");
    (child, provider)
}

fn provider_of(tofu: u32) -> Option<i32> {
    let parent = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids: Vec<i32> = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.into_iter().find(|pid| parent(pid) == Some(tofu))
}

fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn ends(pid: i32) {
    let start = Instant::now();
    while is_alive(pid) {
        assert!(start.elapsed() < Duration::from_secs(60), "the provider does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What Ctrl-C in a terminal does: every process of the group gets it.
pub fn sigint_to_the_group(bench: &Bench) {
    let unit = bench.unit(&slow("interrupted"));
    let (child, provider) = begin(&unit);
    kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, 1, "{}", run.text);
    run.says("E0806: interrupted").says("waiting for job interrupted").does_not_say("Two interrupts");
    run.does_not_say("plugin process exited").does_not_say("did not respond");
    assert_eq!(unit.state()["attributes"]["in_sync"], false, "the state has it");
    ends(provider);
    assert_eq!(unit.job()["Stop"], false);

    // What goes on then waits for what is under way, and registers nothing twice.
    unit.ok(&["untaint", "eos_nomad_job.job"]);
    unit.apply();
    assert_eq!(unit.versions(), 1);
    assert_eq!(unit.state()["attributes"]["in_sync"], true);
    unit.plan_is_empty();
    unit.destroy();
    unit.nothing_is_left();
}

pub fn killed_provider(bench: &Bench) {
    let unit = bench.unit(&slow("orphaned"));
    let (child, provider) = begin(&unit);
    kill_process(Pid::from_raw(provider).unwrap(), Signal::KILL).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, 1, "{}", run.text);
    assert!(unit.state().is_null(), "tofu has heard of nothing");
    unit.apply();
    assert_eq!(unit.versions(), 1, "adopted, not registered again");
    unit.plan_is_empty();
    unit.destroy();
    // A killed process cannot clean up after itself; those that came after it have.
    unit.nothing_is_left();
}

pub fn killed_tofu(bench: &Bench) {
    let unit = bench.unit(&slow("headless"));
    let (mut child, provider) = begin(&unit);
    child.kill().unwrap();
    child.wait().unwrap();
    ends(provider);
    // Its folder is gone with it.
    let left = std::fs::read_dir(unit.path().join("tmp")).unwrap().flatten();
    let left: Vec<_> = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("eos-")).collect();
    assert!(left.is_empty(), "{left:?}");
    let _ = std::fs::remove_file(unit.path().join(".terraform.tfstate.lock.info"));
    unit.apply();
    assert_eq!(unit.versions(), 1);
    unit.destroy();
}
