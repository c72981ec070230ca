//! State behind http: locks that outlive their tofu, and a server that is gone when the state is to be written.

use eos_engine::record::{Record, Step};
use eos_tofu::Backend;
use serde_json::json;

use crate::driver::{Command, Job, Kill, When, records_of};
use crate::estate::{Estate, outcome};
use crate::http_server::HttpServer;
use crate::spec::{Spec, UP};

fn unit() -> Spec {
    unit_that_also("true")
}

/// A unit whose making runs one more command before anything else.
fn unit_that_also(command: &str) -> Spec {
    let command = format!(
        "{command}; touch {UP}/began; while test -e {UP}/hold; do sleep 0.05; done; echo lazy >> {UP}/log"
    );
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

/// Once the backend has it, it tells also of what could not be made: whoever goes on then is not asked to look for that.
#[test]
fn a_state_that_was_written_later_tells_all() {
    let Some(estate) = Estate::encrypted("a_state_written_later") else { return };
    let mut server = HttpServer::start();
    estate.write(&unit().breakable());
    std::fs::write(estate.path("broken"), "").unwrap();
    assert_eq!(outcome(&cut_off_from_its_state(&estate, &mut server)).0, "stuck");
    std::fs::remove_file(estate.path("broken")).unwrap();
    // Cut off when it has handed the state over and is about to apply.
    let applying = records_of(&estate.root)[0].len() as u32 + 1;
    let kill = Some(Kill { when: When::Record(applying), eos: true, tofu: true, interrupt: false });
    let answer = estate.run(&Job { kill, ..job(&estate, &server, Command::Resume) });
    assert_eq!(answer.signal, Some(9));
    assert!(!estate.path(".eos/state/unsaved/test/a.tfstate").exists());
    let answer = estate.run(&job(&estate, &server, Command::Resume)).accepted();
    assert_eq!(outcome(&answer).0, "done", "{answer:#}");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1", "lazy"], "nothing twice");
}

/// An apply whose state its server does not take. The server is there again, without the lock.
fn cut_off_from_its_state(estate: &Estate, server: &mut HttpServer) -> serde_json::Value {
    std::fs::write(estate.path("hold"), "").unwrap();
    let run = estate.start(&job(estate, server, Command::Apply));
    crate::refusals::wait_for(estate, "began");
    server.stop();
    std::fs::remove_file(estate.path("hold")).unwrap();
    let answer = run.wait().accepted();
    server.restart();
    server.kept.lock().unwrap().locks.clear();
    answer
}

fn looked_after(estate: &Estate, server: &HttpServer, command: Command) -> serde_json::Value {
    let job = Job { looked_after: true, commit: "c2".into(), ..job(estate, server, command) };
    estate.run(&job).accepted()
}

/// Nothing tells of what was made: not the backend, and no file. A person is needed, whatever is typed.
#[test]
fn a_state_that_could_be_written_nowhere_is_no_clean_failure() {
    let Some(estate) = Estate::encrypted("a_state_written_nowhere") else { return };
    let mut server = HttpServer::start();
    estate.write(&unit_that_also("ln -s /nowhere/at/all errored.tfstate"));
    let answer = cut_off_from_its_state(&estate, &mut server);
    assert_eq!(outcome(&answer).0, "stuck", "{answer:#}");
    let reasons = answer["report"]["units"]["a"]["reasons"].to_string();
    for address in ["terraform_data.one", "terraform_data.two", "terraform_data.lazy"] {
        assert!(reasons.contains(&format!("{address} was created (id ")), "{reasons}");
    }
    assert!(reasons.contains("Failed to save state"), "{reasons}");
    assert!(!estate.attempt("a").over, "other clones are told");
    assert_eq!(estate.run(&job(&estate, &server, Command::Apply)).refused(), ["E0902"]);
    let answer = estate.run(&job(&estate, &server, Command::Resume)).accepted();
    assert_eq!(outcome(&answer).0, "stuck", "{answer:#}");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1", "lazy"], "nothing twice");
    let answer = looked_after(&estate, &server, Command::Resume);
    assert_eq!(outcome(&answer).0, "done", "{answer:#}");
}

/// Where nothing was created nothing can be there twice: the next plan finds what was done.
#[test]
fn a_state_that_was_written_nowhere_hides_no_destroy() {
    let Some(estate) = Estate::encrypted("a_destroy_written_nowhere") else { return };
    let mut server = HttpServer::start();
    let counted = |count: u8| {
        let mut unit = unit_that_also("ln -s /nowhere/at/all errored.tfstate");
        let lazy = &mut unit.main["resource"]["terraform_data"]["lazy"];
        lazy["count"] = json!(count);
        lazy["provisioner"][0]["local-exec"]["when"] = json!("destroy");
        unit
    };
    estate.write(&counted(1));
    let answer = estate.run(&job(&estate, &server, Command::Apply)).accepted();
    assert_eq!(outcome(&answer).0, "done", "{answer:#}");
    estate.write(&counted(0));
    let answer = cut_off_from_its_state(&estate, &mut server);
    assert_eq!(outcome(&answer).0, "failed", "{answer:#}");
    let problem = &answer["report"]["problems"][0];
    assert_eq!(problem["code"], "E0912", "{answer:#}");
    assert!(problem["why"].as_str().unwrap().contains("is not in its state"), "{answer:#}");
    let answer = estate.run(&job(&estate, &server, Command::Resume)).accepted();
    assert_eq!(outcome(&answer).0, "done", "{answer:#}");
    assert_eq!(estate.run(&job(&estate, &server, Command::Plan)).accepted()["empty"], true);
}

/// The run it belongs to is gone, and nobody is sent to a resume that knows of none.
#[test]
fn a_state_that_no_run_would_write_is_named() {
    let Some(estate) = Estate::new("a_state_of_no_run") else { return };
    let mut server = HttpServer::start();
    estate.write(&unit());
    cut_off_from_its_state(&estate, &mut server);
    let plan = || estate.run(&job(&estate, &server, Command::Plan)).json["refused"][0].clone();
    assert_eq!(plan()["fix"], "eos resume writes it once the backend answers");
    crate::kills::overtaken(&estate);
    let file = ".eos/state/unsaved/test/a.tfstate";
    let fix = plan()["fix"].as_str().unwrap().to_owned();
    assert!(fix.contains("no run is left") && fix.contains(&format!("move {file} away")), "{fix}");
    std::fs::remove_file(estate.path(file)).unwrap();
    assert_eq!(estate.run(&job(&estate, &server, Command::Apply)).refused(), ["E0914"]);
}

/// What tofu left in place of a state is nothing that a backend would take: of a full disk it is an empty file.
#[test]
fn a_state_that_was_left_empty_or_cut_off_is_no_dead_end() {
    for (command, end) in [(Command::Resume, "done"), (Command::Undo, "undone")] {
        for size in [0, 40] {
            let Some(estate) = Estate::encrypted("a_state_left_empty") else { return };
            let mut server = HttpServer::start();
            estate.write(&unit());
            let answer = cut_off_from_its_state(&estate, &mut server);
            assert_eq!(outcome(&answer).0, "stuck", "{answer:#}");
            let unsaved = estate.path(".eos/state/unsaved/test/a.tfstate");
            std::fs::OpenOptions::new().write(true).open(&unsaved).unwrap().set_len(size).unwrap();
            let answer = estate.run(&job(&estate, &server, Command::Resume)).accepted();
            assert_eq!(outcome(&answer).0, "stuck", "{answer:#}");
            let reasons = answer["report"]["units"]["a"]["reasons"].to_string();
            assert!(reasons.contains("terraform_data.lazy was created (id "), "{reasons}");
            let answer = looked_after(&estate, &server, command);
            assert_eq!(outcome(&answer).0, end, "{answer:#}");
            // It is not lost, and stands in nobody's way.
            assert!(!unsaved.exists() && estate.path(".eos/state/unsaved/test/a.tfstate.1").exists());
            assert_eq!(estate.run(&job(&estate, &server, Command::Plan)).accepted()["empty"], end == "done");
        }
    }
}

/// Somebody has written another state since. What a person has not seen yet is not put aside.
#[test]
fn a_state_that_the_backend_refuses_is_named_and_then_put_aside() {
    let Some(estate) = Estate::new("a_state_refused") else { return };
    let mut server = HttpServer::start();
    estate.write(&unit());
    let answer = cut_off_from_its_state(&estate, &mut server);
    assert_eq!(outcome(&answer).0, "stuck", "{answer:#}");
    let one = json!({"schema_version": 0, "attributes": {"id": "theirs",
        "input": {"value": "v1", "type": "string"}, "output": {"value": "v1", "type": "string"},
        "triggers_replace": {"value": ["v1"], "type": ["tuple", ["string"]]}}});
    let theirs = json!({"version": 4, "terraform_version": "1.12.0", "serial": 9,
        "lineage": "d3b07384-d9a0-4c9b-8f4e-000000000000", "outputs": {},
        "resources": [{"mode": "managed", "type": "terraform_data", "name": "one",
            "provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": [one]}]});
    server.kept.lock().unwrap().states.insert("/state/a".into(), theirs.to_string().into_bytes());
    let answer = looked_after(&estate, &server, Command::Resume);
    assert_eq!(outcome(&answer).0, "stuck", "{answer:#}");
    let reasons = answer["report"]["units"]["a"]["reasons"].to_string();
    assert!(reasons.contains(".eos/state/unsaved/test/a.tfstate"), "{reasons}");
    assert!(reasons.contains("terraform_data.lazy was created (id "), "{reasons}");
    let answer = looked_after(&estate, &server, Command::Resume);
    assert_eq!(outcome(&answer).0, "done", "{answer:#}");
    assert!(estate.path(".eos/state/unsaved/test/a.tfstate.1").exists());
}
