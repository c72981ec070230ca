//! Kills without warning: of tofu, of whoever started it, and of a provider's program.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use eos_tofu::{Action, ChildIdentity, Flavor, TofuError};
use serde_json::json;

use crate::support::{Estate, driver, is_slow_started, plan, slow, wait_for_line, with_each_tool, with_tofu};

/// Ends a process of the test however the test ends.
struct Kill(Child);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

fn identity_of(pid: &str) -> ChildIdentity {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start_time = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap();
    ChildIdentity { pid: pid.parse().unwrap(), start_time: start_time.parse().unwrap(), boot: None }
}

#[test]
fn a_killed_tofu_is_told_apart_and_leaves_nothing_running() {
    with_each_tool("kill of tofu", |estate: Estate| {
        let pid_file = estate.path("pid");
        let session = estate.unit("web", slow(&pid_file));
        plan(&session);
        let applying = session.start_apply(&session.folder.plan_file(), &mut |_| Ok(())).unwrap();
        let identity = applying.identity();
        let mut sleeper = None;
        let error = applying
            .wait(&mut |event| {
                if is_slow_started(&event) {
                    sleeper = Some(identity_of(&wait_for_line(&pid_file)));
                    kill(identity.pid);
                }
            })
            .unwrap_err();
        assert!(matches!(error, TofuError::Killed { signal: 9, .. }), "{error:?}");
        assert!(!sleeper.unwrap().still_running(), "what tofu had started is gone with it");
        // Terraform had written its state, tofu had not: then the log is the only record of what was made.
        let past = session.past_apply(identity).unwrap().unwrap();
        let made: Vec<_> = past.completed().collect();
        let [("terraform_data.first", Action::Create, Some(id))] = made[..] else { panic!("{made:?}") };
        if session.state_list().unwrap().is_empty() {
            assert_eq!(estate.tofu.flavor(), Flavor::Tofu);
            session.import("terraform_data.first", id).unwrap();
        }
        let kept = session.state().unwrap();
        let first = kept.instances().find(|instance| instance.address == "terraform_data.first").unwrap();
        assert_eq!(first.id.as_deref(), Some(id));
        assert!(plan(&session).changes);
    });
}

fn start_driver(estate: &Estate, plan: &str, until: &str) -> (Kill, ChildIdentity) {
    let mut child = Command::new(driver())
        .args(["apply", estate.root().as_str(), estate.tofu.binary().as_str(), plan, until])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Kill(child), serde_json::from_str(&line).unwrap())
}

#[test]
fn tofu_goes_on_when_whoever_started_it_is_killed_and_its_end_is_known_later() {
    with_each_tool("kill of the driver", |estate: Estate| {
        let (started, go) = (estate.path("started"), estate.path("go"));
        let command = format!("echo $$ > {started}; until [ -e {go} ]; do sleep 0.05; echo still here; done");
        let session = estate.unit(
            "web",
            json!({"resource": {"terraform_data": {
                "slow": {"provisioner": [{"local-exec": {"command": command}}]},
                "after": {"input": "${terraform_data.slow.id}"}}}}),
        );
        plan(&session);
        let (mut starter, identity) = start_driver(&estate, session.folder.plan_file().as_str(), "wait");
        wait_for_line(&started);
        starter.0.kill().unwrap();
        starter.0.wait().unwrap();
        assert!(identity.still_running(), "tofu must outlive it, though nobody reads what it writes");
        assert!(session.past_apply(identity).unwrap().unwrap().applied.is_none());
        std::fs::write(&go, "").unwrap();
        assert!(identity.wait_until_gone(&mut || true));
        let past = session.past_apply(identity).unwrap().unwrap();
        assert_eq!(past.applied.unwrap().counts.add, 2);
        assert!(past.errors.is_empty());
        assert!(!plan(&session).changes);
    });
}

#[test]
fn killed_before_the_announcement_is_through_tofu_never_starts() {
    with_each_tool("kill in the announcement", |estate: Estate| {
        let session = estate.unit("web", json!({"resource": {"terraform_data": {"a": {"input": "x"}}}}));
        plan(&session);
        let (mut starter, identity) = start_driver(&estate, session.folder.plan_file().as_str(), "announce");
        assert!(identity.still_running());
        starter.0.kill().unwrap();
        starter.0.wait().unwrap();
        assert!(identity.wait_until_gone(&mut || true));
        assert!(session.state().unwrap().is_empty());
        assert_eq!(session.past_apply(identity).unwrap().unwrap().events, []);
        // The same when the announcement itself fails.
        let full = |_| Err(std::io::Error::other("the disk is full"));
        let error = session.start_apply(&session.folder.plan_file(), &mut { full }).err().unwrap();
        assert!(
            matches!(error, TofuError::Io { .. }) && error.to_string().contains("disk is full"),
            "{error}"
        );
        assert!(session.state().unwrap().is_empty());
    });
}

/// A full disk cuts a log off; and an apply that cannot be announced leaves the one before it to be asked about.
#[test]
fn what_a_log_does_not_tell_to_its_end_is_not_taken_for_all() {
    with_tofu("a log cut off", |estate: Estate| {
        let session = estate.unit("web", json!({"resource": {"terraform_data": {"a": {"input": "x"}}}}));
        plan(&session);
        let applying = session.start_apply(&session.folder.plan_file(), &mut |_| Ok(())).unwrap();
        let identity = applying.identity();
        applying.wait(&mut |_| ()).unwrap();
        let past = || session.past_apply(identity).unwrap().unwrap();
        assert!(past().came_to_its_end() && past().saved_its_state() && !past().cut_off);
        let full = |_| Err(std::io::Error::other("the disk is full"));
        assert!(session.start_apply(&session.folder.plan_file(), &mut { full }).is_err());
        assert!(past().saved_its_state());
        let log = format!("eos/apply-{}-{}.log", identity.pid, identity.start_time);
        let log = session.folder.data_dir().join(log);
        let told = std::fs::read_to_string(&log).unwrap();
        std::fs::write(&log, &told[..told.find("apply_start").unwrap()]).unwrap();
        assert!(past().cut_off && !past().saved_its_state() && !past().came_to_its_end());
        // There was room again for what came last.
        std::fs::write(&log, format!("{}{told}", &told[..told.len() - 9])).unwrap();
        assert!(past().cut_off && !past().saved_its_state());
    });
}
