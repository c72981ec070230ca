//! Ctrl-C, a provider that dies, and a Nomad that is not there: what is said, and that it can be gone on with.

use crate::processes;
use crate::shop::{Shop, has};
use test_tools::free_ports;

#[test]
fn an_apply_that_is_disturbed_says_so_and_goes_on() {
    let shop = Shop::new();
    let (words, port) = shop.redis("broken", &["--yes"]);
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let job = "production-broken";

    // Ctrl-C reaches the whole group that the terminal knows: eos and what it started without a group of its own.
    let mut run = shop.begin(&words);
    run.until_it_says("broken: applying");
    shop.nomad.until("the job is registered", || shop.versions(job) == 1);
    processes::interrupt_group(run.child.id());
    let (code, said) = run.end();
    assert_eq!(code, Some(1), "{said}");
    has(&said, "Stopping: nothing more is begun");
    let status = shop.ok(&["status"]).stdout;
    has(&status, "was stopped: eos create redis broken");
    has(&shop.ok(&["tofu", "broken", "--", "state", "list"]).stdout, "eos_salt_state.volumes");
    // Half-made is not a reason to make it anew: a plan finishes it in place, as resume does.
    has(&shop.ok(&["tofu", "broken", "--", "state", "pull"]).stdout, "\"status\":\"tainted\"");
    let plan = shop.run(&["plan"]);
    assert!(!plan.stdout.contains("replace"), "{}", plan.stdout);
    has(&plan.stderr, "is unfinished: eos create redis broken");
    // Nor is what holds data, whatever tofu thinks of it.
    shop.ok(&["tofu", "broken", "--", "taint", "eos_salt_state.volumes"]);
    let plan = shop.run(&["plan"]);
    assert!(!plan.stderr.contains("destroy"), "{}", plan.stderr);
    has(&plan.stderr, "is unfinished: eos create redis broken");
    shop.ok(&["resume"]);
    assert_eq!(shop.versions(job), 1, "registered once");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");

    let mut run = shop.begin(&["update", "broken", "--max-memory", "32M", "--yes"]);
    run.until_it_says("broken: applying");
    has(&run.said(), "max_memory 64M → 32M");
    shop.nomad.until("the new version is registered", || shop.versions(job) == 2);
    processes::provider(&shop.sandbox.estate()).expect("a provider is at work").kill();
    let (code, said) = run.end();
    assert_eq!(code, Some(1), "{said}");
    has(&said, "provider");
    has(&said, "eos resume");
    has(&shop.ok(&["status"]).stdout, "failed: eos update broken");
    shop.ok(&["resume"]);
    assert_eq!(shop.versions(job), 2, "registered once");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");

    nobody_at_nomads_address(&shop);
    has(&shop.ok(&["destroy", "production", "--yes"]).stderr, "broken: destroying");
    shop.nothing_is_left_of(job, port);
}

/// What is there cannot be judged without Nomad; what is new can be planned, and is not begun.
fn nobody_at_nomads_address(shop: &Shop) {
    let [nobody] = free_ports();
    let address = format!("http://127.0.0.1:{nobody}");
    let head = shop.sandbox.git(&["rev-parse", "HEAD"]);
    let run = |words: &[&str]| {
        let output = shop.command(words).env("NOMAD_ADDR", &address).output().unwrap();
        crate::support::Run::from(output)
    };
    has(&shop.ok(&["doctor"]).stdout, "answers: 1 node(s) take work");
    let doctor = run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    has(&doctor.stdout, &format!("Nomad at {address} cannot be reached"));
    let update = run(&["update", "broken", "--max-memory", "48M", "--yes"]);
    assert_eq!(update.code, 1, "{}{}", update.stdout, update.stderr);
    has(&update.stderr, &address);
    assert_eq!(shop.sandbox.git(&["rev-parse", "HEAD"]), head, "nothing was recorded");
    let (words, _) = shop.redis("unheard", &["--yes"]);
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    let create = run(&words);
    assert_eq!(create.code, 1, "{}{}", create.stdout, create.stderr);
    has(&create.stdout, "what it makes of unheard");
    has(&create.stderr, &address);
    has(&create.stderr, "E0924");
    assert_eq!(shop.sandbox.git(&["rev-parse", "HEAD"]), head, "nothing was recorded");
    assert!(!shop.data_folder("unheard").exists(), "nothing was begun");
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
}
