//! A job that was healthy for tofu and is ill when eos looks at it: what its program wrote is told, its secret is not.

use std::os::unix::fs::PermissionsExt as _;

use crate::processes;
use crate::secrets_stay::said;
use crate::shop::{Shop, ask_redis, has};

const PASSWORD: &str = "planted-password-9e3b70";
/// What the run is, who took it up; applying, tofu's process, verifying.
const VERIFYING: &str = "4";

#[test]
fn a_job_that_falls_ill_while_verified_tells_why_and_no_secret() {
    let mut shop = Shop::new();
    let (mut words, port) = shop.redis("patient", &["--password", "-", "--yes"]);
    let ill = shop.sandbox.path().join("ill");
    // Once it is ill it prints its configuration, password and all, and gives up.
    let binary = words.iter().position(|word| word == "--binary").unwrap() + 1;
    let script = format!(
        "#!/bin/sh\nif [ -e '{}' ]; then cat \"$1\" >&2; exit 1; fi\nexec '{}' \"$@\"\n",
        ill.display(),
        words[binary]
    );
    let wrapper = shop.sandbox.path().join("patient.sh");
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    words[binary] = wrapper.to_str().unwrap().to_owned();

    words.push("--no-apply".to_owned());
    words.retain(|word| word != "--yes");
    let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
    shop.ok_given(PASSWORD, &words);
    shop.variables.push(("EOS_TEST_STOP_AFTER".into(), VERIFYING.into()));
    let mut run = shop.begin(&["apply", "--yes"]);
    shop.variables.clear();
    run.until_it_stops();
    std::fs::write(&ill, "").unwrap();
    ask_redis(port, PASSWORD, &["SHUTDOWN NOSAVE"]);
    let job = "production-patient";
    let allocation = || shop.nomad.get(&format!("/v1/job/{job}/allocations"))[0].clone();
    let id = allocation()["ID"].as_str().unwrap().to_owned();
    shop.nomad.until("it was started again in vain, and its check fails", || {
        let restarts = allocation()["TaskStates"]["server"]["Restarts"].as_u64().unwrap_or(0);
        let checks = shop.nomad.get(&format!("/v1/client/allocation/{id}/checks"));
        restarts > 1 && checks.to_string().contains("\"failure\"")
    });

    // Ctrl-C while it is looked at: nothing is known against it yet.
    processes::go_on(run.child.id());
    run.until_it_says("patient: looking whether it works");
    processes::interrupt_group(run.child.id());
    let (code, told) = run.end();
    assert_eq!(code, Some(1), "{told}");
    has(&told, "E0922");
    assert!(!told.contains("E0913"), "{told}");
    has(&shop.ok(&["status"]).stdout, "was stopped: eos apply");

    // Whoever waits is told what the program wrote, but for its secret; and so is who asks later.
    let resumed = shop.exits(1, &["resume", "--json"]);
    let status = shop.ok(&["status"]);
    has(&resumed.stdout, "E0913");
    for text in [said(&resumed), said(&status)] {
        has(&text, "allocations run");
        has(&text, "requirepass");
        has(&text, "•••");
        assert!(!text.contains(PASSWORD), "{text}");
    }

    std::fs::remove_file(&ill).unwrap();
    // It waits for minutes before it tries again; another one in its place does not.
    assert!(shop.nomad_says(&["alloc", "stop", "-detach", &id]).status.success());
    shop.nomad.until("it runs again", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    shop.ok(&["resume"]);
    has(&shop.ok(&["plan"]).stdout, "nothing to do");
    assert_eq!(shop.versions(job), 1, "registered once");
    shop.ok(&["destroy", "production", "--yes"]);
    shop.nothing_is_left_of(job, port);
}
