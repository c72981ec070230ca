//! Nothing happens without a yes: asked at a terminal, refused without one.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::place::Place;
use crate::support::Run;

#[test]
fn without_a_terminal_nobody_is_asked_and_nothing_is_left() {
    let place = Place::new();
    let head = place.head();
    place.says("run_no_terminal", &place.exits(4, &["create", "desk"]));
    let document = place.run(&["create", "desk", "--json"]);
    assert_eq!(document.code, 4);
    assert!(document.stdout.contains("\"E0108\""), "{}", document.stdout);
    assert_nothing(&place, &head);
}

#[test]
fn no_at_the_terminal_leaves_nothing_and_yes_does_it() {
    let place = Place::new();
    let head = place.head();
    let Some(said) = at_a_terminal(&place, &["create", "desk"], "n\n") else { return };
    assert_eq!(said.code, 4, "{}", said.stdout);
    assert!(said.stdout.contains("Do this? [y/N]"), "{}", said.stdout);
    assert!(said.stdout.contains("Nothing was changed."), "{}", said.stdout);
    assert_nothing(&place, &head);
    let said = at_a_terminal(&place, &["create", "desk"], "y\n").unwrap();
    assert_eq!(said.code, 0, "{}", said.stdout);
    assert!(said.stdout.contains("Done: 2 units"), "{}", said.stdout);
    place.is_settled();
    // The same question before something is taken back.
    let head = place.head();
    let said = at_a_terminal(&place, &["undo"], "\n").unwrap();
    assert_eq!(said.code, 4, "{}", said.stdout);
    assert!(said.stdout.contains("Take it back? [y/N]"), "{}", said.stdout);
    assert_eq!(place.head(), head);
    place.is_settled();
}

#[track_caller]
fn assert_nothing(place: &Place, head: &str) {
    assert_eq!(place.head(), head, "something was recorded");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert!(!place.has_state(), "tofu was let at something");
    assert!(!place.path(".eos/state/runs").exists(), "a run was begun");
    assert_eq!(place.json(&["status"])["units"], serde_json::json!([]));
}

/// Types `keys` at a terminal that eos runs in; util-linux's `script` makes one.
fn at_a_terminal(place: &Place, args: &[&str], keys: &str) -> Option<Run> {
    if !std::path::Path::new("/usr/bin/script").exists() {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: /usr/bin/script is not there, so there is no terminal to type at"
        );
        return None;
    }
    let plain = place.command(args);
    let line = format!("{} {}", plain.get_program().to_str().unwrap(), args.join(" "));
    let mut command = Command::new("/usr/bin/script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(plain.get_current_dir().unwrap()).env_clear();
    command.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?)))).env("TERM", "dumb");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The terminal keeps the line until eos asks for one.
    child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    Some(Run::from(child.wait_with_output().unwrap()))
}
