//! Nothing happens without a yes: asked at a terminal, refused without one.

use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

use crate::place::Place;
use crate::support::{Run, in_terminal};

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

/// A person decides by warnings as well as by the plan: they come before the question, once.
#[test]
fn warnings_come_before_the_question() {
    let place = Place::new();
    place.add_kind("safe", include_str!("catalog/safe/component.yaml"));
    place.exits(1, &["create", "safe", "shut", "--combination", "hunter1", "--yes"]);
    let asks = ["create", "safe", "--combination", "hunter2"];
    let said = |text: &str| {
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not said: {text}"));
        // Given on the command line, and a run that is not over.
        for warning in ["warning[E0504]", "warning[E0902]"] {
            assert!(at("Plan for production") < at(warning), "{text}");
            assert!(at(warning) < at("Do this? [y/N]"), "{text}");
            assert_eq!(text.matches(warning).count(), 1, "{text}");
        }
    };
    if let Some(run) = at_a_terminal(&place, &asks, "n\n") {
        said(&run.stdout);
    }
    // Where nobody is asked, whoever reads the document decides by it.
    let codes = |args: &[&str]| -> Vec<String> {
        let refused = place.exits(4, &[args, &["--json"]].concat());
        let document: serde_json::Value = serde_json::from_str(&refused.stdout).unwrap();
        let found = document["diagnostics"].as_array().unwrap().iter();
        found.map(|one| one["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(codes(&asks), ["E0504", "E0902", "E0108"]);
    // The same beside a plan that was kept.
    place.ok(&["create", "chore", "--no-apply"]);
    place.exits(2, &["plan", "--only", "chore", "--out", "monday.plan"]);
    assert_eq!(codes(&["apply", "monday.plan"]), ["E0902", "E0108"]);
}

/// A plan shows what is applied; what is only recorded goes with it and is named.
#[test]
fn what_was_only_recorded_is_not_destroyed_without_a_yes() {
    let place = Place::new();
    place.ok(&["create", "desk", "--no-apply"]);
    let head = place.head();
    let refused = place.exits(4, &["destroy", "production"]);
    assert!(refused.stderr.contains("E0108"), "{}", refused.stderr);
    assert_eq!(place.head(), head);
    let deleted = place.ok(&["delete", "desk"]);
    let said = format!("{}{}", deleted.stdout, deleted.stderr);
    assert!(said.contains("desk was never applied; it goes from the pillar"), "{said}");
    let destroyed = place.ok(&["destroy", "production", "--yes"]);
    let said = format!("{}{}", destroyed.stdout, destroyed.stderr);
    assert!(said.contains("Never applied, and gone from the pillar: "), "{said}");
    assert_ne!(place.head(), head);
}

/// Ctrl-C at the question is a no, and so is one that comes before it: a later yes counts for nothing.
#[test]
fn ctrl_c_at_the_question_is_a_no() {
    let place = Place::new();
    let head = place.head();
    let Some(mut terminal) = terminal(&place, &["create", "desk"]) else { return };
    let seen = ctrl_c_at(&mut terminal, "Do this? [y/N]");
    assert_eq!(terminal.wait().unwrap().code(), Some(4), "{seen}");
    assert!(seen.contains("Nothing was changed.") && !seen.contains("tofu finishes"), "{seen}");
    assert_nothing(&place, &head);
}

/// Ctrl-C while something is applied: the screen says what is so, and no bar is left on it.
#[test]
fn ctrl_c_leaves_on_the_screen_what_is_so() {
    let place = Place::new();
    place.ok(&["create", "ledger", "--yes"]);
    let Some(mut terminal) = terminal(&place, &["create", "desk", "--seconds", "60", "--yes"]) else {
        return;
    };
    let seen = ctrl_c_at(&mut terminal, "desk: creating terraform_data.top");
    assert_eq!(terminal.wait().unwrap().code(), Some(1), "{seen}");
    assert!(seen.contains(" 0 of 1, 1 stopped"), "{seen}");
    assert!(!seen.contains(&"█".repeat(30)), "a full bar: {seen}");
    let left = screen(&seen);
    assert_eq!(left.matches("Stopping: nothing more is begun").count(), 1, "{left}");
    assert!(left.contains("Stopped: 0 of 1 unit done"), "{left}");
    assert!(!left.contains(['█', '░']) && !left.contains("desk: creating terraform_data.top"), "{left}");
}

/// Presses Ctrl-C once something is said; all that is said from its start to its end.
fn ctrl_c_at(terminal: &mut Child, what: &str) -> String {
    let mut said = terminal.stdout.take().unwrap();
    let mut keys = terminal.stdin.take().unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(what) {
        let mut some = [0; 256];
        let count = said.read(&mut some).unwrap();
        assert!(count > 0, "it ended before {what:?}: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&some[..count]);
    }
    keys.write_all(b"\x03").unwrap();
    said.read_to_end(&mut seen).unwrap();
    String::from_utf8_lossy(&seen).into_owned()
}

/// What is on a screen after all that was written to it: lines, cursor up, and the rest taken away.
fn screen(written: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    let mut row = 0;
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        if let Some(code) = rest.strip_prefix("\u{1b}[") {
            let end = code.find(|c: char| c.is_ascii_alphabetic()).unwrap();
            match &code[end..=end] {
                "A" => row -= code[..end].parse::<usize>().unwrap(),
                "J" => {
                    lines.truncate(row);
                    lines.push(String::new());
                }
                _ => {}
            }
            rest = &code[end + 1..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\r' => {}
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(String::new());
                }
            }
            c => lines[row].push(c),
        }
    }
    lines.join("\n")
}

#[track_caller]
fn assert_nothing(place: &Place, head: &str) {
    assert_eq!(place.head(), head, "something was recorded");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert!(!place.has_state(), "tofu was let at something");
    assert!(!place.path(".eos/state/runs").exists(), "a run was begun");
    assert_eq!(place.json(&["status"])["units"], serde_json::json!([]));
}

/// Types `keys` at a terminal that eos runs in.
fn at_a_terminal(place: &Place, args: &[&str], keys: &str) -> Option<Run> {
    let mut child = terminal(place, args)?;
    // The terminal keeps the line until eos asks for one.
    child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    Some(Run::from(child.wait_with_output().unwrap()))
}

/// eos in a terminal.
fn terminal(place: &Place, args: &[&str]) -> Option<Child> {
    let mut command = in_terminal(&place.command(args))?;
    Some(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}
