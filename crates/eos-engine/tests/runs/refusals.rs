//! What is refused, and what stops in time: nothing half-done, a code, and a way on.

use eos_store::lease::{EmbeddedLeases, Leases as _};
use serde_json::json;

use crate::driver::{Command, Job, records_of};
use crate::estate::{Estate, outcome};
use crate::spec::{Spec, UP};

/// A unit that takes as long as the file `hold` is in the estate, and says that it began.
fn held(name: &str) -> Spec {
    let command =
        format!("touch {UP}/began; while test -e {UP}/hold; do sleep 0.05; done; echo {name} >> {UP}/log");
    Spec::new(name, "v1").resource("lazy", json!({"provisioner": [{"local-exec": {"command": command}}]}))
}

pub fn wait_for(estate: &Estate, file: &str) {
    let begun = std::time::Instant::now();
    while !estate.path(file).exists() {
        assert!(begun.elapsed().as_secs() < 60, "{file} never came");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_second_run_is_refused_with_the_owner_or_waits() {
    let Some(estate) = Estate::new("a_second_run") else { return };
    estate.write(&held("a"));
    std::fs::write(estate.path("hold"), "").unwrap();
    let first = estate.start(&estate.job(Command::Apply));
    wait_for(&estate, "began");
    let second = estate.beside(estate.job(Command::Apply));
    assert_eq!(second.json["refused"][0]["code"], "E0915", "{:#}", second.json);
    let message = second.json["refused"][0]["message"].as_str().unwrap();
    assert!(message.contains("kim@") && message.contains(&format!("pid {}", first.pid())), "{message}");
    std::fs::remove_file(estate.path("hold")).unwrap();
    // One that waits finds everything done.
    let third = estate.beside(Job { lease_wait: 60, ..estate.job(Command::Plan) });
    assert_eq!(third.json["empty"], true, "{:#}", third.json);
    assert_eq!(outcome(&first.wait().accepted()).0, "done");
}

#[test]
fn a_lost_lease_interrupts_tofu_once_and_stops_the_run() {
    let Some(estate) = Estate::new("a_lost_lease") else { return };
    estate.write(&held("a"));
    estate.write(&Spec::new("b", "v1").takes("upstream", "a", "id"));
    std::fs::write(estate.path("hold"), "").unwrap();
    let run = estate.start(&estate.job(Command::Apply));
    wait_for(&estate, "began");
    let leases = EmbeddedLeases::new(estate.path(".eos/state/leases").as_std_path());
    leases.break_lease("test/a", "laptop lost", "robin").unwrap();
    let answer = run.wait().accepted();
    let (end, states) = outcome(&answer);
    assert_eq!((end.as_str(), states["b"].as_str()), ("stopped", "planned"), "{answer:#}");
    let problems = answer["report"]["problems"].to_string();
    assert!(problems.contains("E0916") && problems.contains("laptop lost"), "{problems}");
    std::fs::remove_file(estate.path("hold")).unwrap();
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "done");
    assert!(estate.wired());
}

/// Whoever finds another's record and has no lease any more is told of the lease.
#[test]
fn a_lease_lost_while_a_unit_is_recorded_is_what_is_told() {
    let Some(estate) = Estate::new("lease_lost_at_record") else { return };
    estate.write(&Spec::new("a", "v1"));
    let answer = estate.run(&Job { lease_lost_at_record: true, ..estate.job(Command::Apply) }).accepted();
    let problems = answer["report"]["problems"].to_string();
    assert!(problems.contains("E0916") && !problems.contains("E0920"), "{answer:#}");
    assert_eq!(outcome(&estate.ok(Command::Resume)).0, "done");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1"], "nothing twice");
}

/// What was applied and has no state any more would be made a second time, or forgotten.
#[test]
fn a_state_that_is_gone_is_not_a_new_unit() {
    let Some(estate) = Estate::new("state_gone") else { return };
    estate.write(&Spec::new("a", "v1"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    estate.clear_log();
    std::fs::remove_file(estate.path(".eos/state/tofu/shop/test/a.tfstate")).unwrap();
    for command in [Command::Plan, Command::Apply, Command::Drift, Command::Destroy] {
        assert_eq!(estate.run(&estate.job(command)).refused(), ["E0906"], "{command:?}");
    }
    assert!(estate.log().is_empty(), "nothing was made");
    let anew = Job { new_state: ["a".parse().unwrap()].into(), ..estate.job(Command::Apply) };
    assert_eq!(outcome(&estate.run(&anew).accepted()).0, "done");
    assert_eq!(estate.log(), ["a.one v1", "a.two v1"]);
    // A state that says that there is nothing is one.
    let emptied = serde_json::json!({"version": 4, "serial": 9, "lineage": estate.state("a")["lineage"], "outputs": {}, "resources": []});
    std::fs::write(estate.path(".eos/state/tofu/shop/test/a.tfstate"), emptied.to_string()).unwrap();
    assert_eq!(estate.ok(Command::Plan)["changes"].as_array().map(Vec::len), Some(2));
}

/// Two clones that change different units have different leases: the environment's record decides between them.
#[test]
fn a_run_that_is_overtaken_in_the_last_moment_has_not_begun() {
    let Some(estate) = Estate::new("overtaken") else { return };
    estate.write(&Spec::new("a", "v1"));
    let answer = estate.run(&Job { overtaken: true, ..estate.job(Command::Apply) });
    assert_eq!(answer.refused(), ["E0905"]);
    assert!(estate.log().is_empty(), "nothing was applied");
    let records = eos_store::FolderRecords::open(estate.path(".eos/state/records").as_std_path()).unwrap();
    let applied = eos_engine::Applied::new(&records);
    let env = "test".parse().unwrap();
    assert_eq!(applied.environment(&env).unwrap().unwrap().commit, "theirs", "their record stands");
    assert!(applied.units(&env).unwrap().is_empty(), "nothing says that a run is at work");
    drop(records);
    let layout = eos_engine::Layout::new(estate.root.clone());
    assert!(eos_engine::runs::unfinished(&layout, &env).unwrap().is_none(), "nothing is left to resume");
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done", "once it has pulled");
}

/// What a unit below an unapplied one wants to do must be what was shown.
#[test]
fn more_than_was_agreed_stops_the_run_before_the_unit() {
    let Some(estate) = Estate::new("more_than_agreed") else { return };
    let trigger =
        |spec: Spec| spec.resource("mark", json!({"input": "x", "triggers_replace": ["${var.upstream}"]}));
    estate.write(&Spec::new("a", "v1"));
    estate.write(&trigger(Spec::new("b", "v1").takes("upstream", "a", "id")));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    estate.clear_log();
    // `a` is replaced and gets a new id; `b` could only be foreseen with the old one, and would be replaced in part.
    estate.write(&Spec::new("a", "v2"));
    let answer = estate.ok(Command::Apply);
    let (end, states) = outcome(&answer);
    assert_eq!((end.as_str(), states["a"].as_str(), states["b"].as_str()), ("stopped", "done", "planned"));
    let problems = answer["report"]["problems"].to_string();
    assert!(problems.contains("E0909") && problems.contains("replace terraform_data.mark"), "{problems}");
    // Planned again it is shown, and done.
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    assert!(estate.wired());
    assert_eq!(estate.log(), ["a.one v2", "a.two v2"]);
}

#[test]
fn a_state_that_changed_since_the_plan_is_refused() {
    let Some(estate) = Estate::new("a_state_that_changed") else { return };
    estate.write(&Spec::new("a", "v1"));
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    estate.write(&Spec::new("a", "v2"));
    estate.ok(Command::PlanOut);
    let path = estate.path(".eos/state/tofu/shop/test/a.tfstate");
    let mut state = estate.state("a");
    state["serial"] = json!(state["serial"].as_u64().unwrap() + 7);
    std::fs::write(&path, state.to_string()).unwrap();
    let answer = estate.ok(Command::ApplyFile);
    assert_eq!(outcome(&answer).0, "failed");
    assert!(answer["report"]["problems"].to_string().contains("E0907"), "{answer:#}");
    assert_eq!(estate.world()["a"]["terraform_data.one"]["input"], "v1", "nothing was done");
}

#[test]
fn a_damaged_archive_is_told_and_a_sensitive_output_is_not_handed_on() {
    let Some(estate) = Estate::new("a_damaged_archive") else { return };
    let mut secret = Spec::new("a", "v1");
    secret.main["output"]["token"] = json!({"value": "hunter2", "sensitive": true});
    estate.write(&secret);
    assert_eq!(outcome(&estate.ok(Command::Apply)).0, "done");
    let published = std::fs::read_to_string(estate.path(".eos/state/outputs/test/a.json")).unwrap();
    assert!(published.contains("version") && !published.contains("hunter2"));
    estate.write(&Spec::new("b", "v1").takes("token", "a", "token"));
    assert_eq!(estate.run(&estate.job(Command::Plan)).refused(), ["E0921"]);
    estate.remove("b");
    estate.remove("a");
    let folder = estate.path(".eos/state/archive/test/a");
    let entry = folder.read_dir_utf8().unwrap().next().unwrap().unwrap();
    let text = std::fs::read_to_string(entry.path()).unwrap();
    std::fs::write(entry.path(), text.replace("terraform_data", "terraform_dada")).unwrap();
    assert_eq!(estate.run(&estate.job(Command::Apply)).refused(), ["E0919"]);
    assert!(estate.world().contains_key("a"));
}

/// On a file system with no room for the journal, in a mount namespace of its own that ends with the test.
#[test]
fn a_full_disk_at_the_journal_stops_before_anything_is_begun() {
    let Some(estate) = Estate::new("a_full_disk") else { return };
    estate.write(&Spec::new("a", "v1"));
    estate.write(&Spec::new("b", "v1").takes("upstream", "a", "id"));
    let runs = estate.path(".eos/state/runs");
    std::fs::create_dir_all(&runs).unwrap();
    let Some(answer) = estate.in_small_room(&runs, "16k", &[estate.job(Command::Apply)]) else { return };
    assert_eq!(answer[0]["refused"][0]["code"], "E0904", "{:#}", answer[0]);
    assert!(answer[0]["refused"][0]["message"].as_str().unwrap().contains("No space left"));
    assert!(estate.world().is_empty());

    // Room for a few records only: it stops after what it could write down, and goes on when there is room.
    let other = Estate::new("a_full_disk").unwrap();
    for unit in ["a", "b"] {
        let spec = Spec::new(unit, "v1");
        other.write(&if unit == "b" { spec.takes("upstream", "a", "id") } else { spec });
    }
    other.ok(Command::Apply);
    let begun = serde_json::to_vec(&records_of(&other.root)[0][0]).unwrap().len();
    let line = "x".repeat((64 << 10) - begun - 600);
    let apply = Job { line: line.clone(), ..estate.job(Command::Apply) };
    let jobs = [apply, estate.job(Command::Resume)];
    let answers = estate.in_small_room(&runs, "68k", &jobs).unwrap();
    let (end, states) = outcome(&answers[0]);
    assert_eq!(end, "stopped", "{:#}", answers[0]["report"]["problems"]);
    assert!(states.values().any(|state| state != "done"));
    assert!(answers[0]["report"]["problems"].to_string().contains("E0904"));
    assert_eq!(outcome(&answers[1]).0, "done", "{:#}", answers[1]);
    assert!(estate.wired());
    assert_eq!(estate.log(), ["a.one v1", "a.two v1", "b.one v1", "b.two v1"]);
}

/// The disk is full when tofu wants to write its state, and has room again later.
#[test]
fn a_full_disk_at_the_state_is_no_dead_end() {
    for (command, end) in [(Command::Resume, "done"), (Command::Undo, "undone")] {
        let Some(estate) = Estate::new("a_full_disk_at_the_state") else { return };
        let fill =
            format!("test -e {UP}/once || {{ touch {UP}/once; cat /dev/zero > {UP}/.eos/fill || true; }}");
        let lazy =
            json!({"depends_on": ["terraform_data.two"], "provisioner": [{"local-exec": {"command": fill}}]});
        estate.write(&Spec::new("a", "v1").resource("lazy", lazy));
        let room = estate.path(".eos");
        std::fs::create_dir(&room).unwrap();
        let looked_after = Job { looked_after: true, commit: "c2".into(), ..estate.job(command) };
        let jobs = [estate.job(Command::Apply), estate.job(Command::Resume), looked_after];
        let Some(answers) = estate.in_small_room(&room, "1m", &jobs) else { return };
        for stuck in &answers[..2] {
            assert_eq!(outcome(stuck).0, "stuck", "{stuck:#}");
            let reasons = stuck["report"]["units"]["a"]["reasons"].to_string();
            for address in ["terraform_data.one", "terraform_data.two", "terraform_data.lazy"] {
                assert!(reasons.contains(address), "{reasons}");
            }
        }
        assert_eq!(outcome(&answers[2]).0, end, "{:#}", answers[2]);
    }
}
