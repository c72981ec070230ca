//! A state that another tofu has locked, and a plan that another apply has overtaken.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use eos_tofu::{PlanOptions, Session, TofuError};
use serde_json::json;

use crate::support::{Estate, apply, plan, slow, wait_for_line, with_each_tool};

/// A bare tofu that applies in its own process group until the test is over.
pub struct Holder(Child);

impl Holder {
    pub fn start(session: &Session) -> Holder {
        let mut command = Command::new(session.tofu.binary());
        command
            .args(["apply", "-no-color"])
            .arg(session.folder.plan_file())
            .current_dir(session.folder.dir());
        command.env_clear().envs(session.environment.iter()).stdin(Stdio::null());
        Holder(command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

#[test]
fn a_state_locked_by_another_tofu_names_its_holder() {
    with_each_tool("lock", |estate: Estate| {
        let pid_file = estate.path("pid");
        let session = estate.unit("web", slow(&pid_file));
        plan(&session);
        let holder = Holder::start(&session);
        wait_for_line(&pid_file);
        let out = estate.path("other-plan");
        let by_plan = session.plan(&PlanOptions { out, ..Default::default() }, &mut |_| ()).unwrap_err();
        let by_apply = session.apply(&session.folder.plan_file(), &mut |_| ()).unwrap_err();
        let by_text = session.untaint("terraform_data.first").unwrap_err();
        let mut ids = Vec::new();
        for error in [by_plan, by_apply, by_text] {
            match &error {
                TofuError::StateLocked { lock, .. } => {
                    assert_eq!(lock.operation, "OperationTypeApply");
                    assert!(lock.who.contains('@') && lock.created.starts_with("20"), "{lock:?}");
                    assert_eq!(
                        lock.path,
                        ".eos/state/tofu/shop/production/web.tfstate".to_owned().into_root(&estate)
                    );
                    ids.push(lock.id.clone());
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(ids[0].len() > 10 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        drop(holder);
        assert!(plan(&session).changes, "a local lock ends with its holder");
    });
}

trait IntoRoot {
    fn into_root(self, estate: &Estate) -> String;
}

impl IntoRoot for String {
    fn into_root(self, estate: &Estate) -> String {
        estate.root().join(self).into_string()
    }
}

#[test]
fn a_plan_that_was_overtaken_is_stale_and_does_nothing() {
    with_each_tool("stale plan", |estate: Estate| {
        let session = estate.unit("web", json!({"resource": {"terraform_data": {"a": {"input": "x"}}}}));
        plan(&session);
        let old = estate.path("old-plan");
        session.plan(&PlanOptions { out: old.clone(), ..Default::default() }, &mut |_| ()).unwrap();
        apply(&session);
        let before = session.state().unwrap();
        let error = session.apply(&old, &mut |_| ()).unwrap_err();
        assert!(matches!(error, TofuError::PlanStale { .. }), "{error:?}");
        assert_eq!(session.state().unwrap(), before);

        // A plan for a state of another history.
        std::fs::remove_file(estate.root().join(".eos/state/tofu/shop/production/web.tfstate")).unwrap();
        plan(&session);
        apply(&session);
        let error = session.apply(&old, &mut |_| ()).unwrap_err();
        assert!(matches!(error, TofuError::PlanStale { .. }), "{error:?}");
    });
}
