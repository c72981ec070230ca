//! An estate with kinds of its own, eos as a user runs it there, and what it says held against snapshots.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::support::{Run, Sandbox, tool};

const KINDS: &[(&str, &str)] = &[
    ("books", include_str!("catalog/books/component.yaml")),
    ("chore", include_str!("catalog/chore/component.yaml")),
    ("desk", include_str!("catalog/desk/component.yaml")),
    ("lamp", include_str!("catalog/lamp/component.yaml")),
    ("ledger", include_str!("catalog/ledger/component.yaml")),
    ("shade", include_str!("catalog/shade/component.yaml")),
];

/// A file on a host, which its undoing state takes away.
pub const NOTE: &str = r#"#!yaml
format: 1
kind: note
summary: A note for whoever signs in
proof: validates
settings:
  path: {type: string, default: /nowhere, fixed: true, pattern: "/[A-Za-z0-9._/-]+", help: Where it lies}
states:
  note:
    file.managed: [{name: "@{setting.path}"}, {contents: "open from nine to five"}]
undo_states:
  note:
    file.absent: [{name: "@{setting.path}"}]
"#;

const CHEST: &str = r#"#!yaml
format: 1
kind: chest
summary: Chest with something in it
proof: validates
cloud:
  resources:
    terraform_data:
      gold: {input: "@{name}"}
      lid: {input: shut}
  data_classes: {terraform_data.gold: database}
"#;

/// An estate in a sandbox; copies and clones share the sandbox, which goes away with the last of them.
pub struct Place {
    sandbox: Arc<Sandbox>,
    estate: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        Place::with_settings(|text| text)
    }

    /// With an eos.toml of the test's own.
    pub fn with_settings(change: impl FnOnce(String) -> String) -> Place {
        Place::identified("none", change)
    }

    /// With an id as well, which estates of an older eos do not have.
    pub fn identified(id: &str, change: impl FnOnce(String) -> String) -> Place {
        tool("tofu");
        let sandbox = Sandbox::new();
        let init = sandbox.command(&["-C", ".", "init", "shop"]).env("EOS_ESTATE_ID", id).output();
        assert!(init.unwrap().status.success());
        for (kind, text) in KINDS {
            sandbox.write(&format!("catalog/{kind}/component.yaml"), text);
        }
        let settings = sandbox.read("eos.toml");
        sandbox.write("eos.toml", change(settings));
        sandbox.commit_by_hand();
        let estate = sandbox.estate();
        Place { sandbox: Arc::new(sandbox), estate }
    }

    /// A chest was applied with gold in it, which is data, and its kind has none any more.
    pub fn with_gold_in_a_chest_that_asks_for_none() -> Place {
        let place = Place::new();
        place.add_kind("chest", CHEST);
        place.ok(&["create", "chest", "--yes"]);
        let without = CHEST.replace("      gold: {input: \"@{name}\"}\n", "");
        place.add_kind("chest", &without.replace("  data_classes: {terraform_data.gold: database}\n", ""));
        place
    }

    /// A kind of the estate's own, committed.
    pub fn add_kind(&self, kind: &str, component: &str) {
        let folder = self.path(&format!("catalog/{kind}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("component.yaml"), component).unwrap();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "a kind of our own"]);
    }

    pub fn outside(&self, name: &str) -> PathBuf {
        self.sandbox.path().join(name)
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.estate.join(below)
    }

    /// The whole folder once more, state included.
    pub fn copy(&self, name: &str) -> Place {
        let estate = self.outside(name);
        let copied = Command::new("cp").arg("-a").arg(&self.estate).arg(&estate).status().unwrap();
        assert!(copied.success());
        Place { sandbox: Arc::clone(&self.sandbox), estate }
    }

    /// What git brings to another machine.
    pub fn cloned(&self, name: &str) -> Place {
        let estate = self.outside(name);
        self.git(&["clone", "-q", ".", estate.to_str().unwrap()]);
        Place { sandbox: Arc::clone(&self.sandbox), estate }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(args);
        let home = std::env::var("HOME").unwrap_or_default();
        let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{home}/.cache"));
        command
            .current_dir(&self.estate)
            .env_remove("EOS_APPLY")
            // Ages are those of real runs.
            .env_remove("EOS_TIME")
            .env("XDG_CACHE_HOME", cache)
            // A killed eos leaves its socket there; it goes with the sandbox.
            .env("TMPDIR", self.sandbox.path())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::from(self.command(args).output().unwrap())
    }

    #[track_caller]
    pub fn exits(&self, code: i32, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, code, "eos {args:?}\nstdout: {}\nstderr: {}", run.stdout, run.stderr);
        run
    }

    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> Run {
        self.exits(0, args)
    }

    /// Nothing is left to do.
    #[track_caller]
    pub fn is_settled(&self) {
        let run = self.run(&["plan"]);
        assert_eq!(run.code, 0, "there is something to do\n{}{}", run.stdout, run.stderr);
    }

    /// The pillar asks for it, which what it remembers of kept data does not.
    pub fn is_asked_for(&self, name: &str) -> bool {
        let listed = self.json(&["list"]);
        listed["components"].as_array().unwrap().iter().any(|entry| entry["name"] == name)
    }

    /// A unit is applied as it is asked for.
    #[track_caller]
    pub fn is_not_touched(&self, unit: &str) {
        let status = self.json(&["status"]);
        let units = status["units"].as_array().unwrap();
        assert!(units.iter().any(|row| row["unit"] == unit && row["state"] == "applied"), "{status}");
    }

    /// Killed when its journal has that many records.
    pub fn stopped_after(&self, records: &str, args: &[&str]) {
        let mut command = self.command(args);
        command.env("EOS_TEST_STOP_AFTER", records).stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().unwrap();
        let stat = format!("/proc/{}/stat", run.id());
        let is_stopped = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "));
        until("it has stopped", || is_stopped() || run.try_wait().unwrap().is_some());
        let _ = run.kill();
        run.wait().unwrap();
    }

    /// Started, not waited for. Killed when dropped.
    pub fn begin(&self, args: &[&str]) -> Begun {
        self.begin_command(self.command(args))
    }

    /// The same of a command that starts it.
    pub fn begin_command(&self, mut command: Command) -> Begun {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Begun(Some(command.spawn().unwrap()))
    }

    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Json {
        let run = self.run(&[args, &["--json"]].concat());
        let document: Json = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|e| panic!("eos {args:?}: {e}\n{}{}", run.stdout, run.stderr));
        document["result"].clone()
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Kim", "-c", "user.email=kim@example.org"])
            .args(args)
            .current_dir(&self.estate)
            .env("HOME", self.outside("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn last_message(&self) -> String {
        self.git(&["log", "-1", "--format=%s"])
    }

    /// The provider's ids in a unit's state, by address, as tofu itself tells them.
    #[track_caller]
    pub fn ids(&self, unit: &str) -> std::collections::BTreeMap<String, String> {
        let pulled = self.ok(&["tofu", unit, "--", "state", "pull"]);
        let state: Json = serde_json::from_str(&pulled.stdout).unwrap_or_default();
        let resources = state["resources"].as_array().cloned().unwrap_or_default();
        let id = |resource: &Json| {
            let address = format!("{}.{}", resource["type"].as_str()?, resource["name"].as_str()?);
            Some((address, resource["instances"][0]["attributes"]["id"].as_str()?.to_owned()))
        };
        resources.iter().filter_map(id).collect()
    }

    /// Whether tofu has written a state, of any unit.
    pub fn has_state(&self) -> bool {
        fn any(folder: &Path) -> bool {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).any(|path| path.is_file() || any(&path))
        }
        any(&self.path(".eos/state/tofu"))
    }

    /// Lines of a file outside the estate, which local-exec appends to.
    pub fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.outside(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What was said, against the snapshot of that name: the whole of stdout, and stderr from its first diagnostic on.
    pub fn says(&self, name: &str, run: &Run) {
        let at = run.stderr.find("error[").into_iter().chain(run.stderr.find("warning[")).min();
        let told = at.map_or("", |at| &run.stderr[at..]);
        self.snapshot(name, &format!("exit {}\n{}{told}", run.code, run.stdout));
    }

    /// A text against its snapshot, once every line of it fits a screen.
    pub fn snapshot(&self, name: &str, text: &str) {
        let text = text.replace(self.sandbox.path().to_str().unwrap(), "/tmp");
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{name}: {} columns: {line}", line.chars().count());
        }
        self.snapshot_wide(name, &text);
    }

    /// The same for a text that is not read on a screen.
    pub fn snapshot_wide(&self, name: &str, text: &str) {
        for line in text.lines() {
            assert!(!line.chars().any(char::is_control), "{name}: a control character: {line:?}");
        }
        let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.add_filter(r"\b\d{8}-\d{6}-[0-9a-f]{4}\b", "[RUN]");
        settings.add_filter(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "[UUID]");
        settings.add_filter(r"\b[0-9a-f]{40}\b", "[COMMIT]");
        settings.add_filter(r"\b[0-9a-f]{10}\b", "[SHORT]");
        settings.add_filter(r"\b\d+ (s|min)\b *", "[AGE] ");
        settings.add_filter(r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]");
        settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "[TIME]");
        settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d", "[TIME]");
        settings.add_filter(r"\bpid \d+", "pid [PID]");
        settings.add_filter(&format!(r"kim([@ ]){machine}\b"), "kim$1[MACHINE]");
        settings.bind(|| insta::assert_snapshot!(name, text));
    }
}

/// A running eos.
pub struct Begun(Option<Child>);

impl Begun {
    pub fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(self.0.as_ref().unwrap())
    }

    pub fn is_over(&mut self) -> bool {
        self.0.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let _ = rustix::process::kill_process(self.pid(), signal);
    }

    /// Waits for its end.
    pub fn end(mut self) -> Run {
        Run::from(self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until something is so, for as long as a slow machine may need.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !is_so() {
        assert!(started.elapsed() < std::time::Duration::from_secs(180), "waited too long until {what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
