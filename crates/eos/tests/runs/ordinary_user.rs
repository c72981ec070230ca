//! eos as somebody who is not root: what Salt would fail over half-way is said before the question.

use std::process::Command;

use crate::place::{NOTE, Place, text};
use crate::support::{Run, tool};

/// The same command by user 1000. Files stay one's own: there is only another number for who one is.
fn as_somebody(command: &Command) -> Command {
    let mut other = Command::new("unshare");
    other.args(["--user", "--map-user=1000", "--map-group=1000"]);
    other.arg(command.get_program()).args(command.get_args());
    other.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    other.current_dir(command.get_current_dir().unwrap());
    other
}

fn can_be_somebody() -> bool {
    let tried = as_somebody(Command::new("true").current_dir("/")).output();
    tried.is_ok_and(|output| output.status.success())
}

#[test]
fn who_is_not_root_is_warned_before_salt_sets_up_this_machine() {
    tool("salt");
    if !can_be_somebody() {
        test_tools::skipped("an ordinary user's plan", "this system lets nobody have users of their own");
        return;
    }
    let place = Place::new();
    place.add_kind("note", NOTE);
    place.ok(&["create", "host", "h5", "--address", "127.0.0.5", "--connection", "masterless", "--yes"]);
    let note = place.outside("note");
    place.ok(&["create", "note", "--path", text(&note), "--no-apply"]);
    place.ok(&["create", "chore", "--no-apply"]);
    let somebodys = |args: &[&str]| Run::from(as_somebody(&place.command(args)).output().unwrap());

    let roots = place.exits(2, &["plan"]);
    assert!(!roots.stderr.contains("E0807") || !rustix::process::geteuid().is_root(), "{}", roots.stderr);
    let plan = somebodys(&["plan"]);
    assert_eq!(plan.code, 2, "{}{}", plan.stdout, plan.stderr);
    place.says("run_plan_of_an_ordinary_user", &plan);
    let document: serde_json::Value = serde_json::from_str(&somebodys(&["plan", "--json"]).stdout).unwrap();
    assert_eq!(document["diagnostics"][0]["code"], "E0807", "{document}");
    place.exits(2, &["plan", "--out", "kept.plan"]);
    let kept = somebodys(&["apply", "kept.plan"]);
    assert!(kept.code == 4 && kept.stderr.contains("E0807"), "{}{}", kept.stdout, kept.stderr);
    // Where Salt has nothing to do there is nothing to say.
    let without = somebodys(&["plan", "--only", "chore"]);
    assert!(without.code == 2 && !without.stderr.contains("root"), "{}", without.stderr);
    place.ok(&["apply", "--only", "note", "--yes"]);
    let settled = somebodys(&["plan"]);
    assert!(settled.code == 2 && !settled.stderr.contains("root"), "{}", settled.stderr);
    assert!(note.exists());
}
