//! A job that cannot start: the error has what Nomad saw and what the program said.

use std::net::TcpListener;

use crate::shop::{Shop, has};

/// Somebody else has the port.
#[test]
fn a_port_in_use_is_told_with_the_programs_own_words() {
    let shop = Shop::new();
    let (words, port) = shop.redis("squeezed", &["--yes"]);
    let held = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let run = shop.begin(&words);
    let job = "production-squeezed";
    give_up_on(&shop, job);
    let (code, said) = run.end();
    assert_eq!(code, Some(1), "{said}");
    has(&said, job);
    // Told before it was tried, and what came of it.
    let taken = format!("port {port} of this machine is taken by ");
    has(&said.replace("\n  ", " "), &taken);
    has(&said, &format!("(process {})", std::process::id()));
    has(&said, "Address already in use");
    has(&said, "eos resume");
    drop(held);
    let status = shop.ok(&["status"]).stdout;
    has(&status, "did not become healthy");
    // At each start the program says it again; a person reads it once.
    assert_eq!(status.matches("Address already in use").count(), 1, "{status}");
    // The port is free now: what failed is tried once more, on purpose.
    shop.ok(&["resume"]);
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    // Its own job has the port now, and is no stranger to it.
    let update = shop.exits(4, &["update", "squeezed", "--max-memory", "32M"]);
    assert!(!update.stderr.contains("is taken by"), "{}", update.stderr);
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of(job, port);
}

/// Nomad gives a job five minutes; somebody who has seen enough ends its deployment.
pub fn give_up_on(shop: &Shop, job: &str) {
    let allocations = || shop.nomad.get(&format!("/v1/job/{job}/allocations"));
    shop.nomad.until("the program was started again", || {
        allocations()[0]["TaskStates"]["server"]["Restarts"].as_u64().unwrap_or(0) > 0
    });
    let deployment =
        shop.nomad.get(&format!("/v1/job/{job}/deployments"))[0]["ID"].as_str().unwrap().to_owned();
    assert!(shop.nomad_says(&["deployment", "fail", "-detach", &deployment]).status.success());
}

/// Two new jobs, one of which cannot start; each way to go on ends in what Nomad has. Jobs that are changed, and what
/// waits for them, are in `unhealthy.rs`.
#[test]
fn a_new_job_that_fails_under_each_policy() {
    std::thread::scope(|scope| {
        for policy in ["stop", "undo", "continue-independent"] {
            scope.spawn(move || fails_under(policy));
        }
    });
}

fn fails_under(policy: &str) {
    let shop = Shop::new();
    let [well, ill] = ["well", "ill"].map(|name| format!("{name}-{}", &policy[..4]));
    let [well_port, ill_port] = [&well, &ill].map(|name| {
        let (words, port) = shop.redis(name, &["--no-apply"]);
        shop.ok(&std::iter::once("create").chain(words.iter().map(String::as_str)).collect::<Vec<_>>());
        port
    });
    let held = TcpListener::bind(("127.0.0.1", ill_port)).unwrap();
    let run = shop.begin(&["apply", "--yes", "--on-failure", policy]);
    let [well_job, ill_job] = [&well, &ill].map(|name| format!("production-{name}"));
    give_up_on(&shop, &ill_job);
    let (code, said) = run.end();
    assert_eq!(code, Some(1), "{policy}: {said}");
    has(&said, "Address already in use");
    drop(held);
    if policy == "undo" {
        has(&said, "Taken back: 2 units");
        shop.nothing_is_left_of(&well_job, well_port);
        shop.nothing_is_left_of(&ill_job, ill_port);
        return;
    }
    has(&said, "1 of 2 units done");
    assert_eq!(shop.job(&well_job)["Status"], "running", "{policy}");
    has(&shop.ok(&["status"]).stdout, &format!("{ill}: failed"));
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of(&well_job, well_port);
    shop.nothing_is_left_of(&ill_job, ill_port);
}
