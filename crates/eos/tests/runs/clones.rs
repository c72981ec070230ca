//! Several machines and one estate: leases and what was applied in NATS, state at an http backend.

use rustix::process::Signal;

use crate::half_way::being_made;
use crate::place::{Begun, Place, text, until};
use crate::servers::{self, StateServer};
use crate::support::Run;

pub struct Shared {
    pub nats: test_tools::NatsServer,
    state: StateServer,
    pub first: Place,
}

impl Shared {
    /// With a desk and its lamp applied.
    pub fn new() -> Shared {
        let (nats, state) = (servers::nats(), StateServer::start());
        let first = Place::with_settings(|settings| {
            let http = format!("kind = \"http\"\naddress = \"{}\"", state.address());
            let settings = settings.replace("kind = \"local\"", &http);
            format!("{settings}\n[nats]\nurl = \"{}\"\nlease_seconds = 4\n", nats.url())
        });
        let log = first.outside("log");
        first.ok(&["create", "lamp", "--no-apply"]);
        first.ok(&["update", "desk", "--log", text(&log), "--no-apply"]);
        first.ok(&["apply", "--yes"]);
        Shared { nats, state, first }
    }

    /// What an operator of another machine has.
    fn second(&self) -> Place {
        self.first.cloned("second")
    }

    /// A run of the first that makes a red desk, which takes so many seconds, and the tofu that is at it; the second knows
    /// what is asked for.
    fn making_it_red(&self, second: &Place, seconds: &str) -> (Begun, i32) {
        let update = ["update", "desk", "--color", "red", "--seconds", seconds, "--no-apply"];
        self.first.ok(&update);
        second.git(&["pull", "-q"]);
        being_made(&self.first, &["apply", "--yes"])
    }
}

#[test]
fn one_waits_outside_while_the_other_is_at_work() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    second.is_settled();
    assert!(second.ok(&["status"]).stdout.contains("applied"));
    first.ok(&["update", "desk", "--seconds", "12", "--color", "red", "--no-apply"]);
    second.git(&["pull", "-q"]);
    let run = first.begin(&["apply", "--yes"]);
    until("desk is held", || second.json(&["locks"])["locks"].as_array().unwrap().len() == 2);
    let held = second.json(&["locks"]);
    assert_eq!(held["locks"][0]["key"], "production/desk");
    assert_eq!(held["locks"][0]["owner"]["command"], "eos apply --yes");
    let locks = second.ok(&["locks"]);
    let words: Vec<&str> = locks.stdout.split_whitespace().collect();
    second.snapshot("run_locks", &words.join(" ").replace("production/lamp", "\nproduction/lamp"));
    until("tofu is at work", || second.run(&["plan"]).code == 4);
    let head = second.head();
    second.says("run_held_by_another", &second.exits(4, &["apply", "--yes"]));
    second.says("run_held_by_another_tofu", &second.exits(4, &["tofu", "desk", "--", "state", "list"]));
    assert_eq!(second.head(), head, "refused, so nothing was recorded");
    let run = run.end();
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(second.ok(&["locks"]).stdout, "Nobody is at work.\n");
    second.is_settled();
    assert_eq!(first.lines("log").len(), 2, "{:?}", first.lines("log"));
}

#[test]
fn both_at_once_and_one_is_refused() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    first.ok(&["update", "desk", "--seconds", "3", "--color", "red", "--no-apply"]);
    second.git(&["pull", "-q"]);
    let runs = [first.begin(&["apply", "--yes"]), second.begin(&["apply", "--yes"])];
    let mut codes: Vec<(i32, String)> = runs
        .into_iter()
        .map(|run| {
            let run = run.end();
            (run.code, run.stdout + &run.stderr)
        })
        .collect();
    codes.sort();
    assert_eq!(codes[0].0, 0, "{codes:?}");
    // Refused by the lease, by tofu's own lock, or too late and with nothing left to do.
    let other = &codes[1];
    assert!(other.0 == 4 || other.1.contains("nothing to do"), "{codes:?}");
    first.is_settled();
    second.is_settled();
    assert_eq!(first.lines("log").iter().filter(|line| *line == "desk red").count(), 1);
}

#[test]
fn a_plan_that_somebody_makes_at_the_same_moment_is_waited_for() {
    let shared = Shared::new();
    let first = &shared.first;
    let moment = std::time::Duration::from_secs(2);
    let plan = shared.state.planned_elsewhere(moment);
    first.is_settled();
    plan.join().unwrap();
    first.ok(&["update", "desk", "--color", "red", "--no-apply"]);
    first.exits(2, &["plan", "--out", "red.plan"]);
    let plan = shared.state.planned_elsewhere(moment);
    first.ok(&["apply", "red.plan", "--yes"]);
    plan.join().unwrap();
    first.is_settled();
}

#[test]
fn a_clone_that_is_behind_is_refused_until_it_pulls() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    first.ok(&["update", "desk", "--color", "red", "--yes"]);
    let head = second.head();
    second.says("run_stale_clone", &second.exits(4, &["create", "chore", "--yes"]));
    for args in [
        &["plan"][..],
        &["apply", "--yes"],
        &["destroy", "production", "--yes"],
        &["rollback", "HEAD~1", "--yes"],
    ] {
        assert!(second.exits(4, args).stderr.contains("pull first"), "{args:?}");
    }
    // By hand neither; whoever only looks may.
    for words in [&["apply", "-auto-approve"][..], &["state", "rm", "terraform_data.top"], &["refresh"]] {
        let refused = second.exits(4, &[&["tofu", "desk", "--"], words].concat());
        assert!(refused.stderr.contains("pull first"), "{words:?}: {}", refused.stderr);
    }
    second.ok(&["tofu", "desk", "--", "state", "list"]);
    for words in [&["drift"][..], &["drift", "revert", "--yes"]] {
        assert!(second.exits(4, words).stderr.contains("pull first"), "{words:?}");
    }
    first.is_settled();
    assert_eq!(second.head(), head);
    second.ok(&["sync"]);
    second.is_settled();
    second.ok(&["create", "chore", "--yes"]);
    // It has no remote to sync with.
    let refused = in_one_line(&first.exits(4, &["plan"]));
    assert!(refused.contains("git merge <that commit> (where git does not know it: git fetch"), "{refused}");
    // What another clone applied can be looked at and taken away from here.
    first.git(&["pull", "-q", text(&second.path("."))]);
    assert!(first.ok(&["drift"]).stdout.contains("Nothing in production differs"));
    first.ok(&["delete", "chore", "--yes"]);
    assert!(!first.ok(&["status"]).stdout.contains("chore"));
}

#[test]
fn a_run_that_another_clone_has_overtaken_is_left_behind() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    // This very file is there, and no desk can be made meanwhile.
    let broken = text(&first.path("eos.toml")).to_owned();
    first.ok(&["update", "desk", "--color", "blue", "--broken-by", &broken, "--no-apply"]);
    first.exits(1, &["apply", "--yes"]);
    second.git(&["pull", "-q"]);
    second.ok(&["update", "desk", "--color", "red", "--broken-by", "/nowhere", "--yes"]);
    let head = first.head();
    for words in [&["undo", "--yes"][..], &["resume"]] {
        let refused = first.exits(4, words);
        assert!(refused.stderr.contains("E0905"), "{}", refused.stderr);
    }
    assert_eq!(first.head(), head, "refused, so nothing was recorded");
    second.is_settled();
    first.git(&["pull", "-q", text(&second.path("."))]);
    first.is_settled();
    assert!(first.ok(&["resume"]).stdout.contains("Nothing to resume"));
}

#[test]
fn a_holder_that_was_frozen_stops_and_the_other_has_taken_over() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    first.ok(&["update", "desk", "--seconds", "8", "--color", "red", "--no-apply"]);
    second.git(&["pull", "-q"]);
    let run = first.begin(&["apply", "--yes"]);
    until("the lease is held", || {
        second.json(&["locks"])["locks"].as_array().is_some_and(|held| !held.is_empty())
    });
    // The desk takes eight seconds to make: two seconds after the lease tofu is at it.
    std::thread::sleep(std::time::Duration::from_secs(2));
    run.signal(Signal::STOP);
    // Its tofu goes on alone; nobody renews the lease.
    until("the lease has run out", || {
        let held = second.json(&["locks"]);
        held["locks"].as_array().unwrap().iter().all(|lock| lock["stale"] == true)
    });
    until("the other one can apply", || second.run(&["apply", "--yes"]).code == 0);
    second.is_settled();
    run.signal(Signal::CONT);
    let run = run.end();
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("E0916"), "{}", run.stderr);
    second.is_settled();
    assert_eq!(
        first.lines("log").iter().filter(|line| *line == "desk red").count(),
        1,
        "{:?}",
        first.lines("log")
    );
}

#[test]
fn a_lease_is_taken_from_somebody_who_will_not_come_back() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    first.ok(&["update", "desk", "--seconds", "10", "--color", "red", "--no-apply"]);
    second.git(&["pull", "-q"]);
    second.says("run_unlock_nobody", &second.ok(&["unlock", "desk", "--because", "laptop lost"]));
    second.says("run_unlock_mistyped", &second.exits(3, &["unlock", "dekk", "--because", "laptop lost"]));
    let run = first.begin(&["apply", "--yes"]);
    until("desk is held", || second.json(&["locks"])["locks"].as_array().unwrap().len() == 2);
    second.says("run_unlock", &second.ok(&["unlock", "desk", "--because", "laptop lost"]));
    let run = run.end();
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("laptop lost"), "{}", run.stderr);
    let locks = second.ok(&["locks"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(locks.contains("production/desk was taken from kim") && locks.contains("laptop lost"), "{locks}");
    first.ok(&["resume"]);
    first.is_settled();
}

#[test]
fn what_one_clone_applied_another_can_look_at_and_take_away() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    second.ok(&["compile"]);
    let why = second.ok(&["why", "build/production/desk/main.tf.json"]).stdout;
    assert!(why.contains("live   terraform_data.top") && why.contains("as it compiles now"), "{why}");
    second.ok(&["drift"]);
    let published =
        |place: &Place| std::fs::read(place.path(".eos/state/outputs/production/desk.json")).unwrap();
    second.is_settled();
    assert_eq!(published(&second), published(first));
    let gone = second.ok(&["delete", "lamp", "--yes"]);
    assert!(gone.stdout.contains("lamp"), "{}", gone.stdout);
    second.ok(&["undo", "--yes"]);
    second.is_settled();
    second.ok(&["destroy", "production", "--yes"]);
    first.git(&["pull", "-q", text(&second.path("."))]);
    first.is_settled();
}

/// The bytes by which tofu takes the data back are those of a commit that another clone applied.
#[test]
fn what_one_clone_kept_another_can_purge() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    first.ok(&["create", "ledger", "second", "--yes"]);
    first.ok(&["delete", "second", "--yes"]);
    first.ok(&["create", "chore", "--yes"]);
    second.git(&["pull", "-q"]);
    second.ok(&["purge", "second", "--yes"]);
    assert_eq!(second.json(&["status"])["kept"], serde_json::json!({}));
}

#[test]
fn what_a_lost_clone_may_have_made_is_not_made_twice() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    first.ok(&["create", "desk", "other", "--ledger", "ledger", "--no-apply"]);
    second.git(&["pull", "-q"]);
    // Killed when it has said that tofu begins with the only unit there is to do.
    first.stopped_after("3", &["apply", "--yes"]);
    second.ok(&["unlock", "other", "--because", "laptop lost"]);
    assert_eq!(second.json(&["locks"])["broken"][0]["because"], "laptop lost");
    second.says("run_status_of_a_lost_clone", &second.ok(&["status"]));
    let warned = in_one_line(&second.ok(&["eject", "../plain"]));
    assert!(
        warned.contains("of another clone has begun to change production/other and is not over"),
        "{warned}"
    );
    second.says("run_lost_clone", &second.exits(5, &["apply", "--yes"]));
    second.ok(&["apply", "--yes", "--looked-after"]);
    second.is_settled();
}

/// Nor left behind: what nobody but a person can look for is told before anything is recorded.
#[test]
fn what_a_lost_clone_may_have_made_is_not_left_behind() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    first.ok(&["create", "desk", "other", "--ledger", "ledger", "--no-apply"]);
    second.git(&["pull", "-q"]);
    first.stopped_after("3", &["apply", "--yes"]);
    second.ok(&["unlock", "other", "--because", "laptop lost"]);
    let head = second.head();
    for words in [&["delete", "other", "--yes"][..], &["destroy", "production", "--yes"]] {
        let refused = in_one_line(&second.exits(5, words));
        assert!(refused.contains("left other half-done: terraform_data.top may exist"), "{refused}");
        assert!(refused.contains("would leave it behind"), "{refused}");
    }
    assert_eq!(second.head(), head, "refused, so nothing was recorded");
    second.ok(&["delete", "other", "--yes", "--looked-after"]);
    second.is_settled();
}

/// A unit below a replaced one is planned once that is there; what its state has already is none of what may exist.
#[test]
fn what_stands_on_something_replaced_is_not_called_unrecorded() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    let (run, tofu) = shared.making_it_red(&second, "2");
    run.signal(Signal::KILL);
    run.end();
    rustix::process::kill_process(rustix::process::Pid::from_raw(tofu).unwrap(), Signal::KILL).unwrap();
    until("the desk is made", || first.lines("log").contains(&"desk red".to_owned()));
    for unit in ["desk", "lamp"] {
        second.ok(&["unlock", unit, "--because", "laptop lost"]);
    }
    break_lock(&shared, &second);
    let refused = in_one_line(&second.exits(5, &["apply", "--yes"]));
    assert!(!refused.contains("lamp"), "{refused}");
    // One that goes may have a second one beside that of its state.
    let refused = in_one_line(&second.exits(5, &["destroy", "production", "--yes"]));
    assert!(refused.contains("left desk half-done: terraform_data.top may exist"), "{refused}");
    assert!(!refused.contains("lamp"), "{refused}");
}

fn in_one_line(run: &Run) -> String {
    run.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lock that a tofu of another clone left behind is broken as it is told.
fn break_lock(shared: &Shared, place: &Place) {
    let told = in_one_line(&place.exits(4, &["plan"]));
    let id = shared.state.lock().1["ID"].as_str().unwrap().to_owned();
    assert!(told.contains(&format!("force-unlock {id}")), "{told}");
    place.ok(&["tofu", "desk", "--", "force-unlock", "-force", &id]);
}

#[test]
fn what_a_lost_clone_was_replacing_is_not_made_twice() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    let (run, tofu) = shared.making_it_red(&second, "2");
    run.signal(Signal::KILL);
    run.end();
    rustix::process::kill_process(rustix::process::Pid::from_raw(tofu).unwrap(), Signal::KILL).unwrap();
    // What it had started goes on: the desk is made, and tofu does not know of it.
    until("the desk is made", || first.lines("log").contains(&"desk red".to_owned()));
    second.ok(&["unlock", "desk", "--because", "laptop lost"]);
    second.ok(&["unlock", "lamp", "--because", "laptop lost"]);
    break_lock(&shared, &second);
    let refused = in_one_line(&second.exits(5, &["apply", "--yes"]));
    assert!(refused.contains("left desk half-done: terraform_data.top may exist"), "{refused}");
    assert_eq!(first.lines("log").iter().filter(|line| *line == "desk red").count(), 1);
    second.ok(&["apply", "--yes", "--looked-after"]);
    second.is_settled();
}

/// The one that was taken for lost comes back.
#[test]
fn what_another_clone_took_away_is_not_gone_on_with() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    first.ok(&["create", "chore", "other", "--no-apply"]);
    second.git(&["pull", "-q"]);
    first.stopped_after("3", &["apply", "--yes"]);
    second.ok(&["unlock", "other", "--because", "laptop lost"]);
    second.ok(&["delete", "other", "--yes"]);
    let refused = in_one_line(&first.exits(4, &["resume"]));
    assert!(refused.contains("other was changed by a later run"), "{refused}");
    first.git(&["pull", "-q", text(&second.path("."))]);
    first.is_settled();
}

/// A lamp whose bulb can be lost while the rest of it stays known.
const STANDARD: &str = r#"format: 1
kind: standard
summary: Standard lamp, of two parts
proof: validates
settings:
  color: {type: string, default: brown, help: What the shade looks like}
cloud:
  resources:
    terraform_data:
      foot: {input: "@{name}"}
      shade: {triggers_replace: ["@{setting.color}"], provisioner: {local-exec: {command: "true"}}}
"#;

#[test]
fn what_a_lost_clone_may_have_made_is_not_brought_back_unseen() {
    let shared = Shared::new();
    let first = &shared.first;
    first.add_kind("standard", STANDARD);
    first.ok(&["create", "standard", "--yes"]);
    first.ok(&["update", "standard", "--color", "red", "--no-apply"]);
    let second = shared.second();
    first.stopped_after("3", &["apply", "--yes"]);
    second.ok(&["unlock", "standard", "--because", "laptop lost"]);
    second.ok(&["tofu", "standard", "--", "state", "rm", "terraform_data.shade"]);
    let revert = ["drift", "revert", "standard", "--yes"];
    let refused = in_one_line(&second.exits(5, &revert));
    assert!(refused.contains("left standard half-done: terraform_data.shade may exist"), "{refused}");
    second.ok(&[&revert[..], &["--looked-after"]].concat());
    second.ok(&["apply", "--yes"]);
    second.is_settled();
}

/// A state that could not be saved is nobody's to push once another clone has gone on: it stands in nobody's way.
#[test]
fn a_state_that_was_not_saved_is_put_aside_when_its_run_is_overtaken() {
    let shared = Shared::new();
    let (first, second) = (&shared.first, shared.second());
    let (run, _) = shared.making_it_red(&second, "3");
    shared.state.is_away(true);
    let run = run.end();
    assert_eq!(run.code, 5, "{}{}", run.stdout, run.stderr);
    shared.state.is_away(false);
    first.says("run_unsaved_state_plan", &first.exits(4, &["plan"]));
    break_lock(&shared, &second);
    let refused = in_one_line(&second.exits(5, &["apply", "--yes"]));
    assert!(refused.contains("left desk half-done: terraform_data.top may exist"), "{refused}");
    assert_eq!(first.lines("log").iter().filter(|line| *line == "desk red").count(), 1);
    second.ok(&["apply", "--yes", "--looked-after"]);
    second.is_settled();
    first.says("run_overtaken_with_a_state", &first.exits(4, &["resume"]));
    assert!(first.path(".eos/state/unsaved/production/desk.tfstate.1").exists());
    first.git(&["pull", "-q", text(&second.path("."))]);
    first.is_settled();
    first.ok(&["drift"]);
    first.ok(&["update", "desk", "--color", "blue", "--yes"]);
    assert!(first.ok(&["resume"]).stdout.contains("Nothing to resume"));
}

#[test]
fn leases_are_not_shared_when_state_is_not() {
    let place = Place::with_settings(|text| format!("{text}\n[nats]\nurl = \"nats://127.0.0.1:1\"\n"));
    place.says("run_nats_with_local_state", &place.exits(3, &["create", "chore", "--yes"]));
}

/// State at a backend, and no NATS: what was applied is known to one clone.
fn with_state_at(state: &StateServer) -> Place {
    identified_at(state, "none")
}

fn identified_at(state: &StateServer, id: &str) -> Place {
    Place::identified(id, |settings| {
        settings.replace("kind = \"local\"", &format!("kind = \"http\"\naddress = \"{}\"", state.address()))
    })
}

/// Nor do they share a state. One that was made before states had the estate's id in their place stays where it is.
#[test]
fn two_estates_of_one_name_share_no_state() {
    let state = StateServer::start();
    let estates = ["none", "0123456789", "9876543210"].map(|id| identified_at(&state, id));
    for place in &estates {
        place.ok(&["create", "chore", "--yes"]);
    }
    estates.iter().for_each(Place::is_settled);
    let keys = ["shop", "shop-0123456789", "shop-9876543210"].map(|key| format!("/{key}/production/chore"));
    assert_eq!(state.paths().into_iter().collect::<std::collections::BTreeSet<_>>(), keys.into());
}

#[test]
fn state_is_shared_and_what_was_applied_is_not() {
    let state = StateServer::start();
    let first = with_state_at(&state);
    first.ok(&["create", "desk", "--yes"]);
    let second = first.cloned("second");
    first.ok(&["update", "desk", "--color", "red", "--yes"]);
    let head = second.head();
    second.says("run_clone_without_nats", &second.exits(4, &["plan"]));
    for args in [
        &["update", "ledger", "--size", "big", "--yes"][..],
        &["delete", "desk", "--yes"],
        &["destroy", "production", "--yes"],
        &["status"],
    ] {
        assert!(second.exits(4, args).stderr.contains("E0906"), "{args:?}");
    }
    assert_eq!(second.head(), head);
    first.is_settled();
}

/// Only the lock of our own dead tofu is taken away: not one of another person whose machine has the same name and who
/// was as early, and not one that came after our tofu was gone.
#[test]
fn a_lock_of_somebody_else_stays() {
    let state = StateServer::start();
    let place = with_state_at(&state);
    place.ok(&["create", "ledger", "--yes"]);
    let (run, tofu) = being_made(&place, &["create", "desk", "--seconds", "3", "--yes"]);
    run.signal(Signal::KILL);
    rustix::process::kill_process(rustix::process::Pid::from_raw(tofu).unwrap(), Signal::KILL).unwrap();
    run.end();
    let (path, ours) = state.lock();
    let who = ours["Who"].as_str().unwrap();
    let other = format!("somebody-else@{}", who.rsplit('@').next().unwrap());
    let now = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.%NZ"]).output().unwrap();
    let later = serde_json::json!(String::from_utf8(now.stdout).unwrap().trim());
    for (who, created) in [(other.as_str(), &ours["Created"]), (who, &later)] {
        let mut theirs = ours.clone();
        theirs["ID"] = "11111111-2222-3333-4444-555555555555".into();
        (theirs["Who"], theirs["Created"]) = (who.into(), created.clone());
        state.put(&path, &theirs);
        let refused = place.run(&["resume", "--looked-after"]);
        assert_ne!(refused.code, 0, "{theirs}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains("E0917"), "{}", refused.stderr);
        assert!(refused.stderr.contains("force-unlock"), "{}", refused.stderr);
        assert_eq!(state.lock().1, theirs);
    }
    state.put(&path, &ours);
    place.ok(&["resume", "--looked-after"]);
    place.is_settled();
}
