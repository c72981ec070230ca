//! What eos refuses or cannot do: it says so, says what to do, and leaves nothing half-done.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::place::{Place, text, until};
use crate::support::{self, Run};

#[test]
fn a_build_folder_edited_by_hand_counts_for_nothing() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    let file = place.path("build/production/chore/main.tf.json");
    let compiled = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, compiled.replace("\"one\"", "\"two\"")).unwrap();
    place.says("run_edited_build", &place.ok(&["plan"]));
    let applied = place.ok(&["apply", "--yes"]);
    assert!(applied.stderr.contains("was changed by hand"), "{}", applied.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), compiled);
    assert_eq!(place.ok(&["plan"]).stderr, "");
}

#[test]
fn what_is_fixed_is_so_once_it_is_applied() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["create", "lamp", "--no-apply"]);
    place.ok(&["update", "lamp", "--wall", "south", "--no-apply"]);
    place.ok(&["apply", "--yes"]);
    let late = place.exits(4, &["update", "lamp", "--wall", "west", "--no-apply"]);
    assert!(late.stderr.contains("E0414"), "{}", late.stderr);
}

#[test]
fn a_state_locked_by_another_tofu() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["update", "desk", "--seconds", "20", "--no-apply"]);
    // Its pipes stay open: that tofu goes on writing.
    let run = place.begin(&["tofu", "desk", "--", "apply", "-auto-approve", "-replace=terraform_data.top"]);
    let mut tofu = 0;
    until("tofu makes the desk", || {
        tofu = child_of(run.pid().as_raw_nonzero().get(), "tofu").unwrap_or(0);
        tofu != 0 && child_of(tofu, "sh").is_some()
    });
    // eos and its lease are gone; that tofu is anybody's.
    run.signal(Signal::KILL);
    let locked = place.exits(4, &["plan"]);
    until("that tofu is over", || !std::path::Path::new(&format!("/proc/{tofu}")).exists());
    place.ok(&["apply", "--yes"]);
    place.is_settled();
    let hidden = locked.stderr.replace(&user_and_machine(&locked.stderr), "[WHO]");
    place.says("run_state_locked", &Run { stderr: hidden, ..locked });
}

/// A process that another one started, by its name.
pub fn child_of(parent: i32, name: &str) -> Option<i32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).find(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let (head, rest) = stat.rsplit_once(") ").unwrap_or_default();
        head.ends_with(&format!("({name}")) && rest.split(' ').nth(1) == Some(&parent.to_string())
    })
}

/// Who tofu says holds its lock: `root@machine`.
fn user_and_machine(text: &str) -> String {
    text.split_whitespace()
        .find(|word| word.contains('@'))
        .unwrap_or_default()
        .trim_end_matches(',')
        .to_owned()
}

#[test]
fn a_plan_that_is_not_what_there_is_now() {
    let place = Place::new();
    place.ok(&["create", "chore", "--no-apply"]);
    place.exits(2, &["plan", "--out", "old.plan"]);
    place.ok(&["update", "chore", "--input", "two", "--no-apply"]);
    place.says("run_plan_older_than_the_pillar", &place.exits(4, &["apply", "old.plan", "--yes"]));
    std::fs::write(place.path("letter.txt"), "Dear all,\n").unwrap();
    place.says("run_plan_that_is_none", &place.exits(4, &["apply", "letter.txt", "--yes"]));
    place.says("run_plan_that_is_not_there", &place.exits(3, &["apply", "tuesday.plan", "--yes"]));
    let newer =
        std::fs::read_to_string(place.path("old.plan")).unwrap().replace("\"format\": 3", "\"format\": 9");
    std::fs::write(place.path("newer.plan"), newer).unwrap();
    place.says("run_plan_of_a_newer_eos", &place.exits(3, &["apply", "newer.plan", "--yes"]));
    assert!(!place.has_state(), "nothing was applied");
}

/// What is shown is what is done: tofu's own plan inside is sealed together with the list beside it.
#[test]
fn a_kept_plan_that_was_edited() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["update", "desk", "--color", "red", "--no-apply"]);
    place.exits(2, &["plan", "--out", "kept.plan"]);
    let kept = std::fs::read_to_string(place.path("kept.plan")).unwrap();
    assert!(kept.contains("\"replace\""), "{kept}");
    let seal = kept.lines().find(|line| line.contains("\"seal\"")).unwrap();
    for edited in [kept.replace("\"replace\"", "\"update\""), kept.replace(seal, "")] {
        std::fs::write(place.path("edited.plan"), edited).unwrap();
        place.says("run_plan_edited", &place.exits(4, &["apply", "edited.plan", "--yes"]));
    }
    place.ok(&["apply", "kept.plan", "--yes"]);
    place.is_settled();
}

/// Somebody else's tofu was faster: the plan that was agreed to is not what would be done.
#[test]
fn a_saved_plan_whose_state_moved_on() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    place.ok(&["update", "chore", "--input", "two", "--no-apply"]);
    place.exits(2, &["plan", "--out", "saved.plan"]);
    place.ok(&["tofu", "chore", "--", "apply", "-auto-approve"]);
    place.says("run_saved_plan_stale", &place.exits(4, &["apply", "saved.plan", "--yes"]));
    place.ok(&["apply", "--yes"]);
    place.is_settled();
}

#[test]
fn a_damaged_journal() {
    let place = Place::new();
    let broken = place.outside("broken");
    std::fs::write(&broken, "").unwrap();
    place.exits(1, &["create", "desk", "--broken-by", text(&broken), "--yes"]);
    let runs = place.path(".eos/state/runs");
    let is_journal = |path: &std::path::PathBuf| path.extension().is_some_and(|kind| kind == "journal");
    let mut journals = std::fs::read_dir(&runs).unwrap().flatten().map(|entry| entry.path());
    let journal = journals.find(is_journal).unwrap();
    let mut bytes = std::fs::read(&journal).unwrap();
    // In the first record; the file is longer than what it says, since its room was made beforehand.
    bytes[100] ^= 1;
    std::fs::write(&journal, bytes).unwrap();
    place.says("run_damaged_journal", &place.exits(1, &["status"]));
    let refused = place.exits(1, &["apply", "--yes"]);
    assert!(refused.stderr.contains("E0904"), "{}", refused.stderr);
    // What the message says helps.
    std::fs::rename(&journal, place.outside("damaged")).unwrap();
    std::fs::remove_file(&broken).unwrap();
    place.ok(&["apply", "--yes"]);
    place.is_settled();
}

#[test]
fn names_that_mean_nothing() {
    let place = Place::new();
    place.ok(&["create", "desk", "--no-apply"]);
    place.says("run_only_with_an_unapplied_need", &place.exits(4, &["apply", "--only", "desk", "--yes"]));
    place.says("run_only_unknown", &place.exits(3, &["plan", "--only", "dsek"]));
    place.says("run_unknown_revision", &place.exits(3, &["rollback", "yesterday", "--yes"]));
    place.says("run_unknown_environment", &place.exits(3, &["destroy", "prodcution", "--yes"]));
    place.says("run_unknown_run", &place.exits(3, &["resume", "monday"]));
    place.says("run_unknown_unit_for_tofu", &place.exits(3, &["tofu", "dsek", "--", "state", "list"]));
    place.says("run_unknown_data", &place.exits(3, &["apply", "--destroy-data", "dsek", "--yes"]));
    place.says("run_drift_of_nothing", &place.exits(3, &["drift", "accept", "desk"]));
    place.says("run_nothing_to_undo", &place.ok(&["undo"]));
    assert_eq!(place.json(&["status"])["units"].as_array().unwrap().len(), 2);
    assert!(!place.has_state(), "nothing was applied");
}

#[test]
fn a_clone_without_the_state() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let clone = place.cloned("laptop");
    let head = clone.head();
    clone.says("run_clone_without_state", &clone.exits(4, &["plan"]));
    for args in
        [&["apply", "--yes"][..], &["undo", "--yes"], &["drift"], &["tofu", "desk", "--", "state", "list"]]
    {
        assert!(clone.exits(4, args).stderr.contains("E0906"), "{args:?}");
    }
    clone.says("run_status_without_state", &clone.exits(4, &["status"]));
    assert_eq!(clone.head(), head);
}

#[test]
fn undo_after_later_changes() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    place.ok(&["update", "chore", "--input", "two", "--yes"]);
    place.ok(&["update", "chore", "--input", "three", "--no-apply"]);
    let head = place.head();
    place.says("run_undo_after_changes", &place.exits(4, &["undo", "--yes"]));
    assert_eq!(place.head(), head);
    place.ok(&["apply", "--yes"]);
    // The last run alone goes back.
    place.ok(&["undo", "--yes"]);
    place.is_settled();
    assert!(place.ok(&["show", "chore"]).stdout.contains("two"));
}

/// Where somebody changed what the run is about, `eos undo` would take that back too, and refuses; so nobody is sent there.
#[test]
fn status_offers_only_what_is_not_refused() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    let broken = place.outside("broken");
    std::fs::write(&broken, "").unwrap();
    place.exits(1, &["create", "desk", "--broken-by", text(&broken), "--yes"]);
    // Something else was changed: that stays, and is in nobody's way.
    place.ok(&["update", "chore", "--input", "two", "--no-apply"]);
    let offered = place.ok(&["status"]).stdout;
    assert!(offered.contains("eos undo takes it back"), "{offered}");
    place.ok(&["update", "desk", "--color", "red", "--no-apply"]);
    place.says("run_status_after_changes", &place.ok(&["status"]));
    place.exits(4, &["undo", "--yes"]);
    let status = place.ok(&["status"]).stdout;
    let words: Vec<&str> = status.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "rollback").unwrap();
    place.ok(&["rollback", words[at + 1], "--yes"]);
    assert!(!place.ok(&["status"]).stdout.contains("failed"), "it is gone, and its reason with it");
    // A pipeline plans in one step and applies in the next, whatever there is to do.
    let nothing = place.ok(&["plan", "--out", "nothing.plan"]).stdout;
    assert!(nothing.contains("Kept in nothing.plan; eos apply nothing.plan does nothing."), "{nothing}");
    let (head, runs) = (place.head(), place.json(&["status"])["runs"].clone());
    place.says("run_plan_of_nothing_applied", &place.ok(&["apply", "nothing.plan"]));
    assert_eq!((place.head(), place.json(&["status"])["runs"].clone()), (head, runs));
}

fn without_room_for_a_journal(place: &Place, words: &str) -> Option<Run> {
    support::without_room_for_a_journal(&place.command(&[]), &place.path(".eos/state/runs"), words)
}

/// A journal that cannot be written: the run does not begin.
#[test]
fn a_full_disk_at_the_journal() {
    let place = Place::new();
    place.ok(&["create", "chore", "--yes"]);
    place.ok(&["update", "chore", "--input", "two", "--no-apply"]);
    let Some(run) = without_room_for_a_journal(&place, "apply --yes") else { return };
    place.says("run_full_disk_at_the_journal", &run);
    place.exits(2, &["plan"]);
    place.ok(&["apply", "--yes"]);
    place.is_settled();
}

/// By then the change is recorded: that is said, with the secret that was made and with what is to be typed instead.
#[test]
fn a_full_disk_at_the_journal_of_what_is_recorded_already() {
    let place = Place::new();
    place.add_kind("diary", DIARY);
    place.ok(&["create", "chore", "--yes"]);
    let Some(run) = without_room_for_a_journal(&place, "create diary --yes") else { return };
    let made = run.stdout.split("diary/key  ").nth(1).unwrap_or_default().trim_end();
    assert_eq!(made.len(), 12, "{}", run.stdout);
    let told = Run { stdout: run.stdout.replace(made, "[SECRET]"), ..run };
    place.says("run_full_disk_at_the_journal_of_what_is_recorded", &told);
    assert!(place.git(&["log", "-1", "--format=%s"]).contains("create diary"));
    place.ok(&["apply", "--yes"]);
    place.is_settled();
    assert_eq!(place.ok(&["secret", "show", "diary/key"]).stdout.trim_end(), made);

    let Some(run) = without_room_for_a_journal(&place, "create diary second --yes --json") else { return };
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let result = &document["result"];
    assert_eq!((&document["ok"], &result["applied"]), (&false.into(), &false.into()), "{document:#}");
    assert!(
        result["commit"].is_string() && result["secrets"].as_object().unwrap().len() == 1,
        "{document:#}"
    );
}

const DIARY: &str = r#"#!yaml
format: 1
kind: diary
summary: Diary with a key
proof: validates
settings:
  key: {type: secret, generate: 12, help: What opens it}
cloud:
  resources:
    terraform_data:
      page: {input: "@{name}"}
"#;

/// How the network is reached is for tofu's init alone, which gets providers; no unit's provider hears of it.
#[test]
fn a_proxy_is_for_getting_providers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        use std::io::{BufRead as _, BufReader};
        let mut line = String::new();
        BufReader::new(listener.accept().unwrap().0).read_line(&mut line).unwrap();
        line
    });
    let place = Place::new();
    place.add_kind("far", FAR);
    place.add_kind("near", &NEAR.replace("FILE", text(&place.outside("variables"))));
    let run = |proxy: &str, words: &[&str]| {
        let certificates = text(&place.outside("certificates")).to_owned();
        let variables = [("HTTPS_PROXY", proxy), ("https_proxy", proxy), ("SSL_CERT_DIR", &certificates)];
        Run::from(place.command(words).envs(variables).output().unwrap())
    };
    let done = run(&proxy, &["create", "near", "--yes"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let variables = std::fs::read_to_string(place.outside("variables")).unwrap();
    assert!(variables.contains("TF_DATA_DIR="), "{variables}");
    for name in ["PROXY", "proxy", "SSL_CERT"] {
        assert!(!variables.contains(name), "{variables}");
    }
    // A password in its address would be one more place for a secret.
    assert_eq!(run(&proxy.replace("//", "//kim:sesame@"), &["create", "far", "--no-apply"]).code, 0);
    run(&proxy.replace("//", "//kim:sesame@"), &["plan"]);
    assert!(!asked.is_finished());
    assert_eq!(run(&proxy, &["plan"]).code, 1);
    until("the proxy is asked", || asked.is_finished());
    assert_eq!(asked.join().unwrap().trim_end(), "CONNECT registry.invalid:443 HTTP/1.1");
}

const FAR: &str = r#"#!yaml
format: 1
kind: far
summary: What a provider from far away makes
proof: validates
cloud:
  providers:
    nothing: {source: registry.invalid/nobody/nothing, version: "1.0.0"}
  resources:
    nothing_here:
      it: {}
"#;

const NEAR: &str = r#"#!yaml
format: 1
kind: near
summary: Writes down what it is given
proof: validates
cloud:
  resources:
    terraform_data:
      it:
        provisioner:
          local-exec:
            command: "env > FILE"
"#;

/// What has no host of its own, or several, is for the machine that was declared all the same.
#[test]
fn states_are_for_the_machine_that_was_declared() {
    let place = Place::new();
    place.ok(&["create", "host", "local", "--no-apply"]);
    let clone = place.cloned("elsewhere");
    // Only planned: were it not refused, an apply would configure the machine that the tests run on.
    for words in [&["create", "user", "john.doe"][..], &["convert", "filesystem", "/data", "btrfs"]] {
        clone.ok(&[words, &["--no-apply"]].concat());
        let refused = clone.exits(4, &["plan"]);
        assert!(refused.stderr.contains("E0809"), "{words:?}: {}", refused.stderr);
        clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
}

/// In which namespace a job is belongs to the estate: a shell's variable would make it a second time.
#[test]
fn the_namespace_is_the_estates() {
    let place = Place::new();
    place.ok(&["create", "host", "local", "--no-apply"]);
    place.ok(&["create", "memcached", "--runtime", "host", "--no-apply"]);
    let plan = |place: &Place| {
        let mut command = place.command(&["plan"]);
        Run::from(
            command
                .envs([("NOMAD_NAMESPACE", "apps"), ("NOMAD_ADDR", "http://127.0.0.1:1")])
                .output()
                .unwrap(),
        )
    };
    place.says("run_namespace_of_a_shell", &plan(&place));
    let settings = std::fs::read_to_string(place.path("eos.toml")).unwrap();
    std::fs::write(place.path("eos.toml"), format!("{settings}\n[nomad]\nnamespace = \"stores\"\n")).unwrap();
    place.git(&["commit", "-qam", "say where the jobs are"]);
    place.ok(&["compile"]);
    let job =
        std::fs::read_to_string(place.path("build/production/memcached/jobs/memcached.nomad.json")).unwrap();
    assert!(job.contains("\"Namespace\": \"stores\""), "{job}");
    assert_eq!(plan(&place).code, 2, "said in eos.toml, it is what counts");
    let refused = place.exits(3, &["adopt", "nomad-job/apps/old", "memcached", "old"]);
    place.says("run_adopt_from_another_namespace", &refused);
}

/// A name that is taken is offered again as another one, and not as something to create.
#[test]
fn a_job_adopted_under_a_name_that_is_taken() {
    let place = Place::new();
    place.ok(&["create", "desk", "--no-apply"]);
    place.says("run_adopt_under_a_taken_name", &place.exits(3, &["adopt", "nomad-job/old", "desk"]));
}

/// Nobody has anything to give an estate that is shared with nobody.
#[test]
fn a_run_that_a_later_one_has_overtaken() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    place.ok(&["update", "desk", "--color", "red", "--yes"]);
    place.ok(&["update", "desk", "--color", "blue", "--yes"]);
    let runs = place.path(".eos/state/runs/finished");
    let mut runs: Vec<_> =
        std::fs::read_dir(runs).unwrap().map(|run| run.unwrap().file_name().into_string().unwrap()).collect();
    runs.sort();
    let run = runs[1].split('.').next().unwrap();
    let refused = place.exits(4, &["undo", run, "--yes"]).stderr;
    assert!(refused.contains("E0905") && refused.contains("try: eos plan shows"), "{refused}");
    let applied = place.head();
    place.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let refused = place.exits(4, &["plan"]).stderr;
    assert!(
        refused.contains(&applied[..10]) && refused.contains("try: git merge <that commit>"),
        "{refused}"
    );
    place.git(&["merge", "-q", &applied[..10]]);
    place.is_settled();
    place.git(&["remote", "add", "origin", "../elsewhere"]);
    let refused = place.exits(4, &["undo", run, "--yes"]).stderr;
    assert!(refused.contains("try: eos sync, then eos plan shows"), "{refused}");
}

/// What is offered to be typed again asks for the secret; the stars that stand for it are none.
#[test]
fn stars_are_no_secret() {
    let place = Place::new();
    place.add_kind("safe", include_str!("catalog/safe/component.yaml"));
    let refused = place.exits(4, &["create", "safe", "--combination", "hunter2"]);
    assert!(refused.stderr.contains("try: eos create safe --combination - --yes"), "{}", refused.stderr);
    let refused = place.exits(3, &["create", "safe", "--combination", "***", "--yes"]);
    assert!(refused.stderr.contains("stands for a secret"), "{}", refused.stderr);
}

/// A remedy is one that works: another desk is offered where there is one.
#[test]
fn what_others_need_is_not_deleted() {
    let place = Place::new();
    place.ok(&["create", "lamp", "--no-apply"]);
    let refused = place.exits(4, &["delete", "desk", "--yes"]).stderr;
    assert!(refused.contains("desk is needed by lamp") && !refused.contains("another"), "{refused}");
    place.ok(&["create", "desk", "spare", "--no-apply"]);
    let refused = place.exits(4, &["delete", "desk", "--yes"]).stderr;
    assert!(refused.contains("to keep them: eos update lamp --desk spare && eos delete desk"), "{refused}");
}

/// A unit's state is in the workspace default: in another one everything would look new.
#[test]
fn no_workspace_is_chosen_by_hand() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let workspace = |words: &[&str]| place.exits(4, &[&["tofu", "desk", "--", "workspace"], words].concat());
    place.says("run_tofu_workspace", &workspace(&["new", "other"]));
    for words in [&["select", "-or-create", "other"][..], &["delete", "other"]] {
        let refused = workspace(words).stderr;
        assert!(refused.contains("E0906"), "{words:?}: {refused}");
    }
    // One that was chosen all the same changes nothing.
    std::fs::write(place.path(".eos/cache/tofu/production/desk/environment"), "other").unwrap();
    assert_eq!(place.ok(&["tofu", "desk", "--", "workspace", "show"]).stdout, "default\n");
    place.ok(&["update", "desk", "--color", "red", "--yes"]);
    place.ok(&["drift"]);
    place.is_settled();
}

/// By hand nobody holds data back that is no longer asked for; eos lets go of it and keeps it.
#[test]
fn an_apply_by_hand_that_would_destroy_data() {
    let place = Place::with_gold_in_a_chest_that_asks_for_none();
    let refused = place.exits(4, &["tofu", "chest", "--", "apply", "-auto-approve"]).stderr;
    assert!(refused.contains("E0910") && refused.contains("terraform_data.gold"), "{refused}");
    let list = ["tofu", "chest", "--", "state", "list"];
    assert_eq!(place.ok(&list).stdout, "terraform_data.gold\nterraform_data.lid\n");
    // What is offered works, and keeps it.
    place.ok(&["apply", "--only", "chest", "--yes"]);
    assert_eq!(place.ok(&list).stdout, "terraform_data.lid\n");
    assert!(place.ok(&["status"]).stdout.contains("chest"));
    place.ok(&["tofu", "chest", "--", "apply", "-auto-approve"]);
}

/// Told once and in eos's words, not by tofu for each unit.
#[test]
fn nobody_plans_without_the_key_of_the_states() {
    let place = Place::new();
    place.ok(&["create", "desk", "--yes"]);
    let identity = place.outside("home/.config/eos/identity.txt");
    let elsewhere = place.outside("identity.txt");
    std::fs::rename(&identity, &elsewhere).unwrap();
    let refused = place.exits(3, &["plan"]).stderr;
    assert_eq!(refused.matches("error[").count(), 1, "{refused}");
    assert!(!refused.contains("E0911"), "{refused}");
    std::fs::rename(&elsewhere, &identity).unwrap();
    place.is_settled();
}
