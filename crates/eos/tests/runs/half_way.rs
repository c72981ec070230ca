//! What a person can do while a run goes on, and with one that stopped in the middle.

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Begun, Place, until};
use crate::refused::child_of;

/// A desk whose making takes a while, and the tofu that makes it.
pub fn being_made(place: &Place, words: &[&str]) -> (Begun, i32) {
    let run = place.begin(words);
    let tofu = until_made(&run);
    (run, tofu)
}

fn until_made(run: &Begun) -> i32 {
    let mut tofu = 0;
    until("tofu makes the desk", || {
        tofu = child_of(run.pid().as_raw_nonzero().get(), "tofu").unwrap_or(0);
        tofu != 0 && child_of(tofu, "sh").is_some()
    });
    tofu
}

/// The same where several are made at once.
fn being_made_as(place: &Place, unit: &str, words: &[&str]) -> (Begun, i32) {
    let run = place.begin(words);
    let mut tofu = 0;
    until("tofu makes it", || {
        let child = &place.json(&["status"])["runs"][0]["units"][unit]["child"]["pid"];
        tofu = child.as_i64().unwrap_or_default() as i32;
        tofu != 0 && child_of(tofu, "sh").is_some()
    });
    (run, tofu)
}

/// Nothing is recorded of an undo that cannot begin.
#[test]
fn a_run_that_goes_on_is_not_taken_back() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let (run, _) = being_made(&place, &["update", "desk", "--color", "red", "--seconds", "5", "--yes"]);
    let head = place.head();
    place.says("run_undo_of_a_run_that_goes_on", &place.exits(4, &["undo", "--yes"]));
    assert_eq!(place.head(), head);
    assert_eq!(run.end().code, 0);
    place.is_settled();
    assert!(place.ok(&["show", "desk"]).stdout.contains("red"));
}

/// Ctrl-C is nobody's failure: what was being made is called stopped, with what to type.
#[test]
fn what_was_only_stopped_is_not_called_failed() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let (run, _) = being_made(&place, &["update", "desk", "--color", "red", "--seconds", "5", "--yes"]);
    run.signal(Signal::INT);
    let run = run.end();
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(!run.stdout.contains("failed"), "{}", run.stdout);
    place.says("run_stopped", &run);
    let status = place.ok(&["status"]);
    assert!(!status.stdout.contains("failed"), "{}", status.stdout);
    place.says("run_stopped_status", &status);
    assert_eq!(place.json(&["status"])["runs"][0]["units"]["desk"]["state"], "stopped");
    place.ok(&["resume"]);
    place.is_settled();
}

/// A terminal that is closed says stop: no tofu goes on that nobody knows of any more.
#[test]
fn a_closed_terminal_stops_a_run_in_order() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let eos = place.command(&["update", "desk", "--color", "red", "--seconds", "5", "--yes"]);
    // The tests themselves may have been begun with nohup.
    let run = place.begin_command(under(&["env", "--default-signal=HUP"], &eos));
    let tofu = until_made(&run);
    run.signal(Signal::HUP);
    let run = run.end();
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(!std::path::Path::new(&format!("/proc/{tofu}")).exists(), "tofu goes on alone");
    assert_eq!(place.json(&["status"])["runs"][0]["units"]["desk"]["state"], "stopped");
    place.ok(&["resume"]);
    place.is_settled();
}

/// Whoever types nohup before it wants it to go on.
#[test]
fn a_closed_terminal_does_not_stop_what_was_begun_with_nohup() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let eos = place.command(&["update", "desk", "--color", "red", "--seconds", "5", "--yes"]);
    let run = place.begin_command(under(&["nohup"], &eos));
    until_made(&run);
    run.signal(Signal::HUP);
    let run = run.end();
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    place.is_settled();
}

/// A command as another one starts it.
fn under(program: &[&str], command: &Command) -> Command {
    let mut under = Command::new(program[0]);
    under.args(&program[1..]).arg(command.get_program()).args(command.get_args());
    under.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => under.env(name, value),
            None => under.env_remove(name),
        };
    }
    under
}

/// Whoever repeats a create that was cut off is told of the run before anything else.
#[test]
fn a_create_that_is_repeated_names_the_run_that_is_not_over() {
    let place = Place::new();
    place.stopped_after("3", &["create", "desk", "--yes"]);
    place.says("run_create_repeated", &place.exits(3, &["create", "desk", "--yes"]));
    // Nor does anybody take half of it for all of it.
    place.says("run_eject_half_way", &place.ok(&["eject", "../plain"]));
    place.ok(&["resume"]);
    place.is_settled();
    let taken = place.exits(3, &["create", "desk", "--yes"]).stderr;
    assert!(taken.contains("E0408") && !taken.contains("resume"), "{taken}");
}

/// A tofu that outlived its eos has the unit's folder to itself, by hand as well.
#[test]
fn a_tofu_that_goes_on_alone_is_not_worked_beside() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let (run, tofu) = being_made(&place, &["update", "desk", "--color", "red", "--seconds", "12", "--yes"]);
    run.signal(Signal::KILL);
    run.end();
    for words in [&["plan"][..], &["tofu", "desk", "--", "state", "list"]] {
        let refused = place.exits(4, words);
        assert!(refused.stderr.contains(&format!("by tofu (pid {tofu})")), "{words:?}: {}", refused.stderr);
    }
    place.ok(&["resume"]);
    place.is_settled();
}

/// The way on that is told of a stuck run is one that leads on.
#[test]
fn a_stuck_run_says_what_helps() {
    let place = Place::new();
    place.ok(&["create", "ledger", "--yes"]);
    let (run, tofu) = being_made(&place, &["create", "desk", "--seconds", "5", "--yes"]);
    kill_process(Pid::from_raw(tofu).unwrap(), Signal::KILL).unwrap();
    assert_eq!(run.end().code, 5);
    let status = place.ok(&["status"]).stdout;
    let told = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("terraform_data.top was being created when tofu was killed"), "{status}");
    assert!(
        told.contains("look after what is listed, then eos resume --looked-after goes on with it"),
        "{status}"
    );
    assert!(told.contains("eos undo --looked-after takes it back"), "{status}");
    // Nobody is sent to an apply that is refused.
    place.says("run_stuck_plan", &place.exits(2, &["plan"]));
    place.exits(4, &["apply", "--yes"]);
    place.exits(5, &["resume"]);
    place.ok(&["resume", "--looked-after"]);
    place.is_settled();
}

/// A change that would be refused is not recorded first: what is told to be typed then would be refused as well. That holds
/// for any unit of the run, not only for the one that it was at.
#[test]
fn a_change_that_would_be_refused_is_not_recorded() {
    let place = Place::new();
    let broken = place.outside("broken");
    std::fs::write(&broken, "").unwrap();
    place.ok(&["create", "ledger", "--yes"]);
    place.ok(&["create", "desk", "second", "--ledger", "ledger", "--no-apply"]);
    place.ok(&["update", "second", "--broken-by", broken.to_str().unwrap(), "--no-apply"]);
    place.ok(&["create", "desk", "--ledger", "ledger", "--seconds", "60", "--no-apply"]);
    let (run, tofu) = being_made_as(&place, "desk", &["apply", "--yes"]);
    until("the other one has failed", || {
        place.json(&["status"])["runs"][0]["units"]["second"]["state"] == "failed"
    });
    run.signal(Signal::KILL);
    run.end();
    kill_process(Pid::from_raw(tofu).unwrap(), Signal::KILL).unwrap();
    std::fs::remove_file(&broken).unwrap();
    let head = place.head();
    for words in [
        &["update", "desk", "--color", "blue", "--yes"][..],
        &["update", "second", "--color", "blue", "--yes"],
        &["apply", "--only", "second", "--yes"],
        &["destroy", "production", "--yes"],
    ] {
        let refused = place.exits(4, words);
        assert!(refused.stderr.contains("error[E0902]"), "{words:?}: {}", refused.stderr);
        assert_eq!(place.head(), head, "{words:?}");
    }
    // Recorded on purpose: nobody is sent to a rollback, which would be refused.
    place.ok(&["update", "desk", "--color", "blue", "--no-apply"]);
    let status = place.ok(&["status"]).stdout;
    assert!(status.contains("eos resume") && !status.contains("rollback"), "{status}");
    place.exits(5, &["resume"]);
}

/// A plan that was kept is applied as it is: what would choose another is refused, not passed over.
#[test]
fn nothing_is_chosen_of_a_kept_plan() {
    let place = Place::new();
    place.ok(&["create", "chore", "--no-apply"]);
    place.exits(2, &["plan", "--out", "monday.plan"]);
    for more in [
        &["--only", "chore"][..],
        &["--destroy-data", "chore"],
        &["--new-state", "chore"],
        &["--no-refresh"],
        &["--env", "staging"],
    ] {
        let refused = place.exits(3, &[&["apply", "monday.plan", "--yes"][..], more].concat());
        assert!(
            refused.stderr.contains("error[E0107]") && refused.stderr.contains(more[0]),
            "{}",
            refused.stderr
        );
        assert!(!place.has_state(), "{more:?}");
    }
    place.ok(&["apply", "monday.plan", "--env", "production", "--preserve-data", "--yes"]);
    place.is_settled();
}

/// Whoever has to look at what is to be removed can.
#[test]
fn a_unit_that_is_not_asked_for_any_more_can_be_looked_at() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["delete", "desk", "--no-apply"]);
    assert_eq!(place.ok(&["tofu", "desk", "--", "state", "list"]).stdout, "terraform_data.top\n");
}

/// Its outputs are all that its state has: that they go changes nothing of it.
#[test]
fn a_unit_that_goes_with_nothing_in_its_state_is_not_called_changed() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["tofu", "desk", "--", "state", "rm", "terraform_data.top"]);
    place.ok(&["delete", "desk", "--no-apply"]);
    let plan = place.exits(2, &["plan"]).stdout;
    assert!(plan.contains("1 unit to destroy") && !plan.contains("change"), "{plan}");
    assert!(plan.contains("nothing of it is left to destroy"), "{plan}");
    place.ok(&["apply", "--yes"]);
    place.is_settled();
}

/// A plan that somebody has suspended, say: who waits for it is told for what.
#[test]
fn a_plan_that_goes_on_elsewhere_is_waited_for_aloud() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let lock = place.path(".eos/cache/tofu/production/desk/eos/desk.lock");
    let lock = std::fs::File::options().append(true).open(lock).unwrap();
    lock.lock().unwrap();
    lock.set_len(0).unwrap();
    std::io::Write::write_all(&mut &lock, b"4711").unwrap();
    let run = place.begin(&["plan"]);
    std::thread::sleep(std::time::Duration::from_secs(5));
    drop(lock);
    let run = run.end();
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let told = "desk: waiting for another eos that plans it here (process 4711)";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

/// It keeps the folder of its unit as long as it is suspended, whoever took its lease.
#[test]
fn a_suspended_run_whose_lease_was_taken_is_not_waited_for_for_ever() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let (run, _) = being_made(&place, &["update", "desk", "--color", "red", "--seconds", "2", "--yes"]);
    run.signal(Signal::STOP);
    place.ok(&["unlock", "desk", "--because", "it hangs"]);
    let refused = place.exits(4, &["apply", "--yes"]);
    let told = refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let pid = run.pid().as_raw_nonzero().get();
    let held = format!("the folder of desk is held by process {pid} (`eos update desk --color red");
    assert!(told.contains("E0915") && told.contains(&held) && told.contains(" s now"), "{told}");
    assert!(told.contains(&format!("kill -CONT {pid}")), "{told}");
    run.signal(Signal::CONT);
    assert_eq!(run.end().code, 1);
    place.ok(&["resume"]);
    place.is_settled();
}

/// Paths of sockets are short: a long folder for temporary files is passed over, as for the provider's.
#[test]
fn a_long_folder_for_temporary_files_is_no_obstacle() {
    let place = Place::new();
    let long = place.outside(&"long".repeat(30));
    std::fs::create_dir(&long).unwrap();
    place.ok(&["create", "desk", "--no-apply"]);
    let planned = place.command(&["apply", "--yes"]).env("TMPDIR", &long).output().unwrap();
    assert!(planned.status.success(), "{}", String::from_utf8_lossy(&planned.stderr));
}

/// What another run left half-done is not applied, and eos apply is refused for it.
#[test]
fn an_undo_beside_a_run_that_was_cut_off_says_who_goes_on_with_it() {
    let place = Place::new();
    let run = place.json(&["create", "chore", "a", "--yes"])["report"]["run"].as_str().unwrap().to_owned();
    place.stopped_after("3", &["create", "chore", "b", "--yes"]);
    place.ok(&["create", "chore", "c", "--no-apply"]);
    let undone = place.ok(&["undo", &run, "--yes"]).stdout;
    let flat = undone.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("Recorded apart from the run and not applied: c."), "{undone}");
    let (_, told) = flat.split_once("Left half-done by run ").expect(&undone);
    let (half, told) = told.split_once(": b. ").expect(&undone);
    let offered = told.split_once(" goes on with it.").expect(&undone).0;
    assert_eq!(offered, format!("eos resume {half}"));
    place.ok(&["resume", half]);
    place.is_not_touched("b");
}
