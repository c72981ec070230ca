//! State behind http: kept there, locked there, and what happens when nobody answers.

use eos_tofu::{Flavor, Output, PlanOptions, Session, TofuError};
use serde_json::json;

use crate::http_server::{HttpServer, PASSWORD};
use crate::locks::Holder;
use crate::support::{
    Estate, apply, is_slow_started, plan, plan_and_apply, plan_with, slow, wait_for_line, with_each_tool,
    with_tofu,
};

#[test]
fn a_unit_lives_behind_http_and_its_password_is_in_no_file() {
    with_each_tool("http backend", |estate: Estate| {
        let server = HttpServer::start();
        let backend = server.backend("web");
        let main = json!({"resource": {"terraform_data": {"a": {"input": "x"}}}});
        let session = estate.unit_on("web", main, &backend);
        assert!(session.state().unwrap().is_empty());
        plan_and_apply(&session);
        assert!(!plan(&session).changes);
        assert_eq!(session.state_list().unwrap(), ["terraform_data.a"]);
        {
            let kept = server.kept.lock().unwrap();
            assert_eq!(kept.states.keys().collect::<Vec<_>>(), ["/state/web"]);
            assert_eq!((kept.locks.len(), kept.strangers), (0, 0));
        }
        assert_eq!(estate.files_with(PASSWORD), Vec::<String>::new());
        assert!(!format!("{backend:?} {session:?}").contains(PASSWORD));
        plan_with(&session, PlanOptions { destroy: true, ..Default::default() });
        apply(&session);
        assert!(session.state().unwrap().is_empty());
    });
}

/// A workspace is another state beside the one that eos knows, and no backend but the local one has any.
#[test]
fn a_workspace_that_somebody_chose_changes_nothing() {
    with_each_tool("workspace", |estate: Estate| {
        let server = HttpServer::start();
        for (name, backend) in [("near", estate.local("near")), ("far", server.backend("far"))] {
            let main = |input: &str| {
                json!({"resource": {"terraform_data": {"a": {"input": input}}},
                       "output": {"a": {"value": "${terraform_data.a.output}"}}})
            };
            let choose = |session: &Session| {
                std::fs::create_dir_all(session.folder.data_dir()).unwrap();
                std::fs::write(session.folder.data_dir().join("environment"), "other").unwrap();
            };
            choose(&estate.filled(name, main("one"), &backend));
            let session = estate.unit_on(name, main("one"), &backend);
            plan_and_apply(&session);
            choose(&session);
            assert!(!plan(&session).changes, "{name}");
            let id = session.state().unwrap().instances().next().unwrap().id.clone().unwrap();
            session.state_rm(&["terraform_data.a".into()]).unwrap();
            session.import("terraform_data.a", &id).unwrap();
            assert_eq!(session.state_list().unwrap(), ["terraform_data.a"], "{name}");
            let session = estate.unit_on(name, main("two"), &backend);
            choose(&session);
            plan_and_apply(&session);
            assert_eq!(session.outputs().unwrap()["a"], Output::Plain("two".into()), "{name}");
            assert_eq!(session.state().unwrap().instances().next().unwrap().id, Some(id), "{name}");
        }
    });
}

#[test]
fn a_lock_behind_http_outlives_its_holder_until_it_is_broken() {
    with_each_tool("http lock", |estate: Estate| {
        let server = HttpServer::start();
        let pid_file = estate.path("pid");
        let session = estate.unit_on("web", slow(&pid_file), &server.backend("web"));
        plan(&session);
        let holder = Holder::start(&session);
        wait_for_line(&pid_file);
        drop(holder);
        let held: serde_json::Value = {
            let kept = server.kept.lock().unwrap();
            serde_json::from_slice(&kept.locks["/state/web"]).unwrap()
        };
        let out = estate.path("other-plan");
        let error = session.plan(&PlanOptions { out, ..Default::default() }, &mut |_| ()).unwrap_err();
        let TofuError::StateLocked { lock, .. } = &error else { panic!("{error:?}") };
        assert_eq!(lock.id, held["ID"].as_str().unwrap());
        match estate.tofu.flavor() {
            Flavor::Tofu => assert_eq!(lock.who, held["Who"].as_str().unwrap()),
            // It prints its own request; who holds the lock is not told.
            Flavor::Terraform => assert_eq!(lock.who, "unknown"),
        }
        session.force_unlock(&lock.id).unwrap();
        assert!(plan(&session).changes);
    });
}

#[test]
fn a_backend_that_does_not_answer_is_told_apart() {
    with_each_tool("backend down", |estate: Estate| {
        let mut server = HttpServer::start();
        let backend = server.backend("web");
        let main = json!({"resource": {"terraform_data": {"a": {"input": "x"}}}});
        let session = estate.unit_on("web", main.clone(), &backend);
        plan_and_apply(&session);
        server.stop();
        let out = estate.path("plan");
        let errors = [
            session.plan(&PlanOptions { out, ..Default::default() }, &mut |_| ()).unwrap_err(),
            session.state_rm(&["terraform_data.a".into()]).unwrap_err(),
            session.outputs().unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, TofuError::BackendDown { .. }), "{error:?}");
        }
        server.restart();
        assert!(!plan(&session).changes);
    });
}

#[test]
fn a_state_that_could_not_be_saved_is_kept_and_pushed_later() {
    with_each_tool("unsaved state", |estate: Estate| unsaved(&estate));
}

#[test]
fn an_encrypted_state_that_could_not_be_saved_is_pushed_later_too() {
    with_tofu("unsaved encrypted state", |mut estate: Estate| {
        estate.encrypt([3; 32]);
        unsaved(&estate);
        assert_eq!(estate.files_with("marker-of-the-state"), [".eos/cache/work/production/web/main.tf.json"]);
    });
}

fn unsaved(estate: &Estate) {
    let mut server = HttpServer::start();
    let backend = server.backend("web");
    let (started, go) = (estate.path("started"), estate.path("go"));
    let command = format!("echo $$ > {started}; until [ -e {go} ]; do sleep 0.05; done");
    let main = json!({"resource": {"terraform_data": {
        "slow": {"input": "marker-of-the-state", "provisioner": [{"local-exec": {"command": command}}]}}}});
    let session = estate.unit_on("web", main.clone(), &backend);
    plan(&session);
    let applying = session.start_apply(&session.folder.plan_file(), &mut |_| Ok(())).unwrap();
    let identity = applying.identity();
    let error = applying
        .wait(&mut |event| {
            if is_slow_started(&event) {
                wait_for_line(&started);
                server.stop();
                std::fs::write(&go, "").unwrap();
            }
        })
        .unwrap_err();
    let TofuError::StateNotSaved { file: Some(file), .. } = &error else { panic!("{error:?}") };
    assert!(file.exists());
    std::fs::remove_dir_all(estate.root().join(".eos/cache/work")).unwrap();
    server.restart();
    server.kept.lock().unwrap().locks.clear();
    // Filling the folder again must not lose the only record there is.
    let session = estate.unit_on("web", main, &backend);
    assert!(session.state().unwrap().is_empty());
    assert!(!session.past_apply(identity).unwrap().unwrap().saved_its_state());
    assert!(session.push_unsaved_state().unwrap());
    assert!(session.past_apply(identity).unwrap().unwrap().saved_its_state());
    assert_eq!(session.state_list().unwrap(), ["terraform_data.slow"]);
    assert_eq!(session.folder.unsaved_state(), None);
    assert!(!session.push_unsaved_state().unwrap());
    assert!(!plan(&session).changes);
}
