//! State behind http: locks that outlive their tofu, and a server that is gone when the state is to be written.

use eos_engine::record::{Record, Step};
use eos_tofu::Backend;
use serde_json::json;

use crate::driver::{Command, Job, Kill, When, records_of};
use crate::estate::{Estate, outcome};
use crate::http_server::HttpServer;
use crate::spec::{Spec, UP};

fn unit() -> Spec {
    let command =
        format!("touch {UP}/began; while test -e {UP}/hold; do sleep 0.05; done; echo lazy >> {UP}/log");
    let body =
        json!({"depends_on": ["terraform_data.two"], "provisioner": [{"local-exec": {"command": command}}]});
    let mut spec = Spec::new("a", "v1").resource("lazy", body);
    spec.main["terraform"] = json!({"backend": {"http": {}}});
    spec
}

fn job(estate: &Estate, server: &HttpServer, command: Command) -> Job {
    let Backend::Http { address, .. } = server.backend("x") else { panic!("an http backend") };
    Job { http: Some(address.trim_end_matches("/x").to_owned()), ..estate.job(command) }
}

#[test]
fn a_lock_of_a_killed_run_is_taken_away_and_nobody_elses() {
    let Some(estate) = Estate::encrypted("a_lock_of_a_killed_run") else { return };
    let server = HttpServer::start();
    estate.write(&unit());
    std::fs::write(estate.path("hold"), "").unwrap();
    let when = When::Provision("a".into(), "terraform_data.lazy".into());
    let kill = Some(Kill { when, eos: true, tofu: true, interrupt: false });
    let answer = estate.run(&Job { kill, ..job(&estate, &server, Command::Apply) });
    assert_eq!(answer.signal, Some(9));
    let lock = server.kept.lock().unwrap().locks["/state/a"].clone();
    let lock: serde_json::Value = serde_json::from_slice(&lock).unwrap();
    std::fs::remove_file(estate.path("hold")).unwrap();
    let resume = Job { looked_after: true, ..job(&estate, &server, Command::Resume) };
    let answer = estate.run(&resume).accepted();
    assert_eq!(outcome(&answer).0, "done", "{answer:#}");
    assert!(server.kept.lock().unwrap().locks.is_empty());
    let journal = records_of(&estate.root).pop().unwrap();
    let left = journal.iter().find_map(|record| match record {
        Record::Unit { step: Step::LockLeft { lock }, .. } => Some(lock.as_str()),
        _ => None,
    });
    assert_eq!(left, lock["ID"].as_str(), "the journal has the lock's id");

    // Somebody else's lock is left alone, also by a resume.
    let mut theirs = lock.clone();
    theirs["Created"] = json!("2020-01-01T00:00:00Z");
    theirs["ID"] = json!("11111111-2222-3333-4444-555555555555");
    let lock_it = || {
        server.kept.lock().unwrap().locks.insert("/state/a".into(), theirs.to_string().into_bytes());
    };
    lock_it();
    assert_eq!(estate.run(&job(&estate, &server, Command::Plan)).refused(), ["E0917"]);
    server.kept.lock().unwrap().locks.clear();
    estate.write(&Spec {
        main: {
            let mut main = unit().main;
            main["output"]["more"] = json!({"value": 1});
            main
        },
        ..unit()
    });
    let kill = Some(Kill { when: When::Record(3), eos: true, tofu: true, interrupt: false });
    let answer = estate.run(&Job { kill, ..job(&estate, &server, Command::Apply) });
    assert_eq!(answer.signal, Some(9));
    server.kept.lock().unwrap().locks.clear();
    lock_it();
    let answer = estate.run(&job(&estate, &server, Command::Resume)).accepted();
    assert_ne!(outcome(&answer).0, "done");
    assert!(answer["report"]["problems"].to_string().contains("E0917"), "{answer:#}");
    assert_eq!(server.kept.lock().unwrap().locks.len(), 1);
}

#[test]
fn a_state_that_could_not_be_written_is_written_by_resume() {
    let Some(estate) = Estate::encrypted("a_state_that_could_not_be_written") else { return };
    let mut server = HttpServer::start();
    estate.write(&unit());
    std::fs::write(estate.path("hold"), "").unwrap();
    let run = estate.start(&job(&estate, &server, Command::Apply));
    crate::refusals::wait_for(&estate, "began");
    server.stop();
    std::fs::remove_file(estate.path("hold")).unwrap();
    let answer = run.wait().accepted();
    assert_eq!(outcome(&answer).0, "stuck", "{answer:#}");
    assert!(answer["report"]["units"]["a"]["reasons"].to_string().contains("could not be written"));
    // Without the state nothing can be planned: refused before tofu is asked.
    server.restart();
    assert_eq!(estate.run(&job(&estate, &server, Command::Plan)).refused(), ["E0902"]);
    let answer = estate.run(&job(&estate, &server, Command::Resume)).accepted();
    assert_eq!(outcome(&answer).0, "done", "{answer:#}");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1", "lazy"], "nothing twice");
    assert_eq!(estate.run(&job(&estate, &server, Command::Plan)).accepted()["empty"], true);
}
