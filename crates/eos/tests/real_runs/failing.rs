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
    // Nomad gives a job five minutes; somebody who has seen enough ends its deployment.
    let allocations = || shop.nomad.get(&format!("/v1/job/{job}/allocations"));
    shop.nomad.until("the program was started again", || {
        allocations()[0]["TaskStates"]["server"]["Restarts"].as_u64().unwrap_or(0) > 0
    });
    let deployment =
        shop.nomad.get(&format!("/v1/job/{job}/deployments"))[0]["ID"].as_str().unwrap().to_owned();
    assert!(shop.nomad_says(&["deployment", "fail", "-detach", &deployment]).status.success());
    let (code, said) = run.end();
    assert_eq!(code, Some(1), "{said}");
    has(&said, job);
    has(&said, "Address already in use");
    has(&said, "eos resume");
    drop(held);
    let status = shop.ok(&["status"]).stdout;
    has(&status, "did not become healthy");
    // The port is free now: what failed is tried once more, on purpose.
    shop.ok(&["resume"]);
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of(job, port);
}
