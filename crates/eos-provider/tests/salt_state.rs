//! `eos_salt_state` with the real tofu and the real, masterless Salt. States touch files below the test's own folder alone.
//!
//! This program is two things: the runner of the scenarios, and, when tofu starts it, the provider itself. Words on the
//! command line select.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "../../eos-salt/tests/support/master.rs"]
mod master;
#[path = "salt_state/place.rs"]
mod place;

use std::process::{Command, ExitCode};

use eos_salt::Installation;
use master::Master;
use place::{Place, wait_for};
use serde_json::json;
use test_tools::{Scenario, run_scenarios};

/// Each has a folder and a Salt of its own.
const SCENARIOS: &[Scenario<()>] = &[
    ("a_minion_through_its_master", a_minion_through_its_master),
    ("create_drift_update_destroy", create_drift_update_destroy),
    ("a_failing_state_is_the_error_and_is_tried_again", a_failing_state_is_the_error_and_is_tried_again),
    ("an_operation_is_done_once_for_each_value", an_operation_is_done_once_for_each_value),
    (
        "an_operation_that_was_interrupted_at_its_end_is_done",
        an_operation_that_was_interrupted_at_its_end_is_done,
    ),
    (
        "an_operation_whose_end_nobody_saw_waits_for_a_person",
        an_operation_whose_end_nobody_saw_waits_for_a_person,
    ),
    (
        "without_on_destroy_nothing_is_undone_and_that_is_said",
        without_on_destroy_nothing_is_undone_and_that_is_said,
    ),
    ("only_declared_machines_and_known_ways", only_declared_machines_and_known_ways),
    ("a_secret_of_the_pillar_is_nowhere_to_be_seen", a_secret_of_the_pillar_is_nowhere_to_be_seen),
    ("terraform_can_do_it_too", terraform_can_do_it_too),
    ("an_interrupt_ends_between_two_states", an_interrupt_ends_between_two_states),
];
const SIDE_BY_SIDE: usize = 3;
/// Where the daemons of `master` find programs.
const SEARCH_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

fn main() -> ExitCode {
    let variable = |name: &str| std::env::var(name).ok();
    if eos_provider::is_plugin(variable) {
        let settings = eos_provider::Settings::from_environment(variable);
        return match eos_provider::serve(settings, &mut std::io::stdout()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    run_scenarios(SCENARIOS, SIDE_BY_SIDE, || Some(()))
}

fn create_drift_update_destroy(_: &()) {
    let Some(place) = Place::new("salt_state::create_drift_update_destroy") else { return };
    place.write(
        "unit/host.sls",
        &format!("#!yaml\n{}{}", place.file("motd", "one"), place.file("issue", "same")),
    );
    place.write(
        "unit/undo.sls",
        &format!("#!yaml\ngone:\n  file.absent:\n    - name: {}\n", place.made("motd").display()),
    );
    place.unit(json!({"sls": "${file(\"${path.module}/host.sls\")}", "on_destroy": "${file(\"${path.module}/undo.sls\")}"}));

    // Planned with Salt's own preview as a warning; nothing is touched.
    let plan = place.tofu(&["plan", "-detailed-exitcode"]);
    assert_eq!(plan.code, 2, "{}", plan.text);
    assert!(plan.text.contains("production/web/host on local: 2 states would change"), "{}", plan.text);
    assert!(
        plan.text.contains(&format!("~ file.managed {} (motd)", place.made("motd").display())),
        "{}",
        plan.text
    );
    assert!(!place.made("motd").exists());

    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("motd"), "one\n");
    assert_eq!(place.tofu(&["plan", "-detailed-exitcode"]).code, 0);

    // Drift is found, shown and reverted.
    std::fs::write(place.made("motd"), "by hand\n").unwrap();
    let plan = place.tofu(&["plan", "-detailed-exitcode"]);
    assert_eq!(plan.code, 2, "{}", plan.text);
    assert!(
        plan.text.contains("in_sync") && plan.text.contains("-by hand") && plan.text.contains("+one"),
        "{}",
        plan.text
    );
    assert!(!plan.text.contains("(issue)"), "only what differs: {}", plan.text);
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("motd"), "one\n");
    assert_eq!(place.tofu(&["plan", "-detailed-exitcode"]).code, 0);

    // Updated in place.
    place.write("unit/host.sls", &format!("#!yaml\n{}", place.file("motd", "two")));
    let plan = place.tofu(&["plan", "-detailed-exitcode"]);
    assert!(plan.code == 2 && plan.text.contains("0 to add, 1 to change, 0 to destroy"), "{}", plan.text);
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("motd"), "two\n");

    // What undoes the states is run; what it does not name stays.
    place.succeed(&["destroy", "-auto-approve"]);
    assert!(!place.made("motd").exists() && place.made("issue").exists());
    assert_eq!(place.succeed(&["state", "list"]), "");
    place.leaves_nothing();
}

/// A real master, its api and a minion: the same life as on this machine.
fn a_minion_through_its_master(_: &()) {
    let Some(mut place) = Place::new("salt_state::a_minion_through_its_master") else { return };
    let mut master = Master::start(&Installation::at(&place.salt).unwrap(), place.path());
    place.api = master.address();
    place.write("token", r#"{"username": "ci", "password": "right", "eauth": "file"}"#);
    let undo = format!("#!yaml\ngone:\n  file.absent:\n    - name: {}\n", place.made("motd").display());
    let unit = |content: &str| {
        let sls = format!("#!yaml\n{}", place.file("motd", content));
        json!({"sls": sls, "on_destroy": undo, "target": "m1", "via": "minion"})
    };
    place.unit(unit("one"));
    // Not known yet as long as the minion has not found its master.
    wait_for("the minion", || {
        let plan = place.tofu(&["plan", "-detailed-exitcode"]);
        assert_eq!(plan.code, 2, "{}", plan.text);
        plan.text.contains("1 state would change")
    });
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("motd"), "one\n");
    assert_eq!(place.tofu(&["plan", "-detailed-exitcode"]).code, 0);
    std::fs::write(place.made("motd"), "by hand\n").unwrap();
    let plan = place.tofu(&["plan", "-detailed-exitcode"]);
    assert!(
        plan.code == 2 && !plan.text.contains("by hand"),
        "a minion's files are not shown: {}",
        plan.text
    );
    place.unit(unit("two"));
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("motd"), "two\n");
    // What is there and cannot be asked is an error, and nothing is forgotten by a destroy.
    master.kill_minion();
    for command in
        [&["plan"][..], &["destroy", "-auto-approve"], &["destroy", "-auto-approve", "-refresh=false"]]
    {
        let silent = place.tofu(command);
        assert!(silent.code == 1 && silent.text.contains("minion m1 did not return"), "{}", silent.text);
    }
    master.start_minion();
    wait_for("the minion", || place.tofu(&["destroy", "-auto-approve"]).code == 0);
    assert!(!place.made("motd").exists());
}

fn terraform_can_do_it_too(_: &()) {
    let Some(place) = Place::with("terraform", "salt_state::terraform_can_do_it_too") else { return };
    place.unit(json!({"sls": format!("#!yaml\n{}", place.file("motd", "one"))}));
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.tofu(&["plan", "-detailed-exitcode"]).code, 0);
    std::fs::write(place.made("motd"), "by hand\n").unwrap();
    assert_eq!(place.tofu(&["plan", "-detailed-exitcode"]).code, 2);
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("motd"), "one\n");
    place.succeed(&["destroy", "-auto-approve"]);
}

fn a_failing_state_is_the_error_and_is_tried_again(_: &()) {
    let Some(place) = Place::new("salt_state::a_failing_state_is_the_error_and_is_tried_again") else {
        return;
    };
    let gate = place.made("gate");
    let sls = format!(
        "#!yaml\n{}checked:\n  cmd.run:\n    - name: 'test -e {1} || {{ echo the gate is shut >&2; exit 7; }}'\n    - unless: 'test -e {1}'\n{2}    - require:\n        - cmd: checked\n",
        place.file("first", "x"),
        gate.display(),
        place.file("last", "x"),
    );
    place.unit(json!({"sls": sls}));
    let run = place.tofu(&["apply", "-auto-approve"]);
    assert_eq!(run.code, 1);
    for words in
        ["E0808: cmd.run test -e", "(checked) failed on local", "the gate is shut", "it ended with 7"]
    {
        assert!(run.text.contains(words), "{words}: {}", run.text);
    }
    assert!(!run.text.contains("requisite"), "what waited is not told: {}", run.text);
    assert!(place.made("first").exists() && !place.made("last").exists());
    // What was begun is not forgotten.
    assert_eq!(place.succeed(&["state", "list"]).trim(), "eos_salt_state.host");
    place.succeed(&["untaint", "eos_salt_state.host"]);
    std::fs::write(&gate, "").unwrap();
    place.succeed(&["apply", "-auto-approve"]);
    assert!(place.made("last").exists());
    assert_eq!(place.tofu(&["plan", "-detailed-exitcode"]).code, 0);

    // A text that is no sls fails the plan, before anything is touched.
    place.unit(json!({"sls": "#!yaml\nmotd: 5\n"}));
    let plan = place.tofu(&["plan"]);
    assert!(plan.code == 1 && plan.text.contains("E0810") && plan.text.contains("motd"), "{}", plan.text);
    place.leaves_nothing();
}

fn an_operation_is_done_once_for_each_value(_: &()) {
    let Some(place) = Place::new("salt_state::an_operation_is_done_once_for_each_value") else { return };
    let count = place.made("count");
    let sls = |words: &str| {
        format!("#!yaml\nonce:\n  cmd.run:\n    - name: 'echo {words} >> {}'\n", count.display())
    };
    place.unit(json!({"sls": sls("first"), "trigger": "20260101-1"}));
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("count"), "first\n");
    // A command would always change something; an operation that was done never drifts, nor when its text is new.
    assert_eq!(place.tofu(&["plan", "-detailed-exitcode"]).code, 0);
    std::fs::remove_file(&count).unwrap();
    place.unit(json!({"sls": sls("other words"), "trigger": "20260101-1"}));
    place.succeed(&["apply", "-auto-approve"]);
    assert!(!count.exists(), "not repeated");
    place.unit(json!({"sls": sls("second"), "trigger": "20260102-1"}));
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("count"), "second\n");
    let destroyed = place.succeed(&["destroy", "-auto-approve"]);
    assert!(!destroyed.contains("nothing was undone"), "{destroyed}");
    assert_eq!(place.read("count"), "second\n");
}

/// Says that it has begun, waits until it may go on, and leaves a line each time it is done.
fn slow_operation(place: &Place) -> serde_json::Value {
    let sls = format!(
        "#!yaml\nonce:\n  cmd.run:\n    - name: 'touch {0}; while ! test -e {1}; do sleep 0.1; done; echo done >> {2}'\n",
        place.made("begun").display(),
        place.made("go-on").display(),
        place.made("count").display(),
    );
    json!({"sls": sls, "trigger": "20260101-1"})
}

/// Ctrl-C while the last state is at work: it is finished, and so is the operation.
fn an_operation_that_was_interrupted_at_its_end_is_done(_: &()) {
    let Some(place) = Place::new("salt_state::an_operation_that_was_interrupted_at_its_end_is_done") else {
        return;
    };
    place.unit(slow_operation(&place));
    let apply = place.start(&["apply", "-auto-approve"]);
    wait_for("the operation", || place.made("begun").exists());
    apply.interrupt();
    wait_for("the wish to end", || place.pause_files() > 0);
    std::fs::write(place.made("go-on"), "").unwrap();
    apply.wait();
    assert_eq!(place.read("count"), "done\n");
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("count"), "done\n", "not a second time");
    assert_eq!(place.tofu(&["plan", "-detailed-exitcode"]).code, 0);
    place.leaves_nothing();
}

/// kill -9 of tofu and its provider: what Salt is at goes on, nobody is there to record it, and it is not done again.
fn an_operation_whose_end_nobody_saw_waits_for_a_person(_: &()) {
    let Some(place) = Place::new("salt_state::an_operation_whose_end_nobody_saw_waits_for_a_person") else {
        return;
    };
    place.unit(slow_operation(&place));
    let apply = place.start(&["apply", "-auto-approve"]);
    wait_for("the operation", || place.made("begun").exists());
    drop(apply);
    // The next one waits for the Salt that is still at it, and then says that nobody knows.
    let next = place.start(&["apply", "-auto-approve", "-lock=false"]);
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(!place.made("count").exists(), "the first is still at it, and nothing runs beside it");
    std::fs::write(place.made("go-on"), "").unwrap();
    let ended = next.wait();
    assert!(ended.code == 1 && ended.text.contains("E0914"), "{}", ended.text);
    assert_eq!(place.read("count"), "done\n");
    // What to type stands there; typed, it is done.
    let mark = ended.text.split_whitespace().find(|word| word.ends_with(".done")).unwrap().to_owned();
    std::fs::write(mark, "").unwrap();
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.read("count"), "done\n", "not a second time");
    place.sweep();
}

fn without_on_destroy_nothing_is_undone_and_that_is_said(_: &()) {
    let Some(place) = Place::new("salt_state::without_on_destroy_nothing_is_undone_and_that_is_said") else {
        return;
    };
    place.unit(json!({"sls": format!("#!yaml\n{}", place.file("kept", "x"))}));
    place.succeed(&["apply", "-auto-approve"]);
    let destroyed = place.succeed(&["destroy", "-auto-approve"]);
    assert!(destroyed.contains("production/web/host: nothing was undone on local"), "{destroyed}");
    assert_eq!(place.read("kept"), "x\n");
}

fn only_declared_machines_and_known_ways(_: &()) {
    let Some(place) = Place::new("salt_state::only_declared_machines_and_known_ways") else { return };
    let sls = format!("#!yaml\n{}", place.file("never", "x"));
    place.unit(json!({"sls": sls, "target": "laptop"}));
    let plan = place.tofu(&["plan"]);
    assert!(plan.code == 1 && plan.text.contains("E0809: laptop is not declared"), "{}", plan.text);
    place.write("estate/pillar/hosts/laptop.sls", "#!yaml\neos:\n  hosts:\n    laptop: {environment: production, address: 192.0.2.9, connection: masterless}\n");
    let plan = place.tofu(&["plan"]);
    assert!(plan.code == 1 && plan.text.contains("laptop at 192.0.2.9 is another machine"), "{}", plan.text);
    place.unit(json!({"sls": sls, "via": "ssh", "pillar": "[]"}));
    let plan = place.tofu(&["plan"]);
    assert!(
        plan.text.contains("via is \"ssh\"") && plan.text.contains("the extra pillar is a list"),
        "{}",
        plan.text
    );

    // A minion behind a master that does not answer: not known yet when new, an error when it is to be applied.
    place.write("token", "0123456789abcdef");
    place.unit(json!({"sls": sls, "target": "web1", "via": "minion"}));
    let plan = place.tofu(&["plan", "-detailed-exitcode"]);
    assert!(
        plan.code == 2 && plan.text.contains("not known yet: salt-api at http://127.0.0.1:1"),
        "{}",
        plan.text
    );
    let apply = place.tofu(&["apply", "-auto-approve"]);
    assert!(
        apply.code == 1 && apply.text.contains("E0807") && apply.text.contains("cannot be reached"),
        "{}",
        apply.text
    );
    assert_eq!(place.succeed(&["state", "list"]), "", "nothing was begun");
    assert!(!place.made("never").exists());
}

/// The secret reaches the file and nothing else: no plan, state, message or folder.
fn a_secret_of_the_pillar_is_nowhere_to_be_seen(_: &()) {
    let Some(mut place) = Place::new("salt_state::a_secret_of_the_pillar_is_nowhere_to_be_seen") else {
        return;
    };
    let heard = place.listen();
    for (version, value) in [(1, "hunter2-before"), (2, "hunter2-after")] {
        place.secret("password", version, value);
    }
    let sls = format!(
        "kept:\n  file.managed:\n    - name: {}\n    - contents_pillar: password\ntold:\n  cmd.run:\n    - name: 'echo {{{{ pillar.password }}}} {{{{ pillar.web.port }}}}; test -e {}'\n",
        place.made("kept").display(),
        place.made("allowed").display()
    );
    // The estate's own pillar is there as well.
    place.write("estate/pillar/infrastructure/production/web.sls", "#!yaml\nweb: {port: 8080}\n");
    let pillar = |version: u32| {
        json!({"password": format!("secret://production/web/password?v={version}")}).to_string()
    };
    let unit = |version: u32| json!({"sls": sls, "pillar": pillar(version)});
    place.unit(unit(1));
    place.succeed(&["plan", "-out=plan.bin"]);
    let failed = place.tofu(&["apply", "plan.bin"]);
    assert!(failed.code == 1 && failed.text.contains("••• 8080"), "{}", failed.text);
    assert_eq!(place.read("kept"), "hunter2-before\n");
    std::fs::write(place.made("allowed"), "").unwrap();
    place.succeed(&["untaint", "eos_salt_state.host"]);
    place.succeed(&["apply", "-auto-approve"]);
    // Rotated: the difference would show the value before.
    place.unit(unit(2));
    place.succeed(&["plan", "-out=plan.bin"]);
    place.succeed(&["apply", "plan.bin"]);
    assert_eq!(place.read("kept"), "hunter2-after\n");
    let messages = heard.lock().unwrap().clone();
    let previews: Vec<&String> = messages.iter().filter(|message| message.contains("\"preview\"")).collect();
    assert!(previews.len() >= 3 && previews[0].contains("\"name\":\"production/web/host\""), "{messages:?}");
    assert!(previews[0].contains("would_change") && previews[0].contains("•••"), "{}", previews[0]);
    assert!(!messages.join("").contains("hunter2"), "{messages:?}");
    place.leaves_nothing();
    std::fs::remove_file(place.made("kept")).unwrap();
    let found = Command::new("grep").args(["-rl", "hunter2"]).arg(place.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

/// Ctrl-C: the state that is being applied is finished, the next is not begun, what was done is recorded.
fn an_interrupt_ends_between_two_states(_: &()) {
    let Some(place) = Place::new("salt_state::an_interrupt_ends_between_two_states") else { return };
    let sls = format!(
        "#!yaml\nslow:\n  cmd.run:\n    - name: 'touch {0}; while ! test -e {1}; do sleep 0.1; done; touch {2}'\n    - unless: 'test -e {2}'\n{3}",
        place.made("begun").display(),
        place.made("go-on").display(),
        place.made("finished").display(),
        place.file("next", "x"),
    );
    place.unit(json!({"sls": sls}));
    let apply = place.start(&["apply", "-auto-approve"]);
    wait_for("the slow state", || place.made("begun").exists());
    apply.interrupt();
    // Salt may go on with the slow state only once it was told that it is the last.
    wait_for("the wish to end", || place.pause_files() > 0);
    std::fs::write(place.made("go-on"), "").unwrap();
    let ended = apply.wait();
    assert!(ended.code == 1 && ended.text.contains("E0922: production/web/host: stopped"), "{}", ended.text);
    assert!(place.made("finished").exists() && !place.made("next").exists());
    assert_eq!(place.succeed(&["state", "list"]).trim(), "eos_salt_state.host");
    place.succeed(&["untaint", "eos_salt_state.host"]);
    place.succeed(&["apply", "-auto-approve"]);
    assert!(place.made("next").exists());
    place.leaves_nothing();
}
