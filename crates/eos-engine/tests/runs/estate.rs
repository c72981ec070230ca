//! An estate of its own for each test: units as the compiler writes them, and what the real tofu says of it afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use eos_engine::OnFailure;
use eos_tofu::Encryption;
use serde_json::{Value as Json, json};

use crate::driver::{Command, Job, Kill, VARIABLE};
use crate::spec::Spec;

/// Where tofu gets the key of an estate from that is encrypted.
const KEY_PROGRAM: &str = "state-key";

pub fn encryption(root: &Utf8Path) -> Option<Encryption> {
    let program = root.join(KEY_PROGRAM);
    program.exists().then(|| Encryption::by_command(program, []))
}

pub struct Estate {
    _folder: tempfile::TempDir,
    pub root: Utf8PathBuf,
    pub tofu: Utf8PathBuf,
}

/// What a driver process gave.
#[derive(Debug)]
pub struct Answer {
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub json: Json,
}

/// A tool as `make test` installs it; without it the test is skipped where people see it.
pub fn tofu(test: &str) -> Option<Utf8PathBuf> {
    test_tools::tool("tofu", test)
}

impl Estate {
    pub fn new(test: &str) -> Option<Estate> {
        let tofu = tofu(test)?;
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(root.join("build")).unwrap();
        Some(Estate { _folder: folder, root, tofu })
    }

    /// Whose state and plans tofu encrypts, as it does for people.
    pub fn encrypted(test: &str) -> Option<Estate> {
        let estate = Estate::new(test)?;
        let request = json!({"external_data": {"key": "estate-1"}}).to_string();
        let answer = eos_tofu::state_key_response(&[7; 32], request.as_bytes()).unwrap();
        let program = estate.root.join(KEY_PROGRAM);
        std::fs::write(&program, format!("#!/bin/sh\necho '{}'\ncat >/dev/null\n", answer.as_str())).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        Some(estate)
    }

    /// The same estate once more, elsewhere: nothing in it names its own place.
    pub fn copy(&self) -> Estate {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        let status = std::process::Command::new("cp")
            .args(["-a", self.root.join(".").as_str(), root.as_str()])
            .status()
            .unwrap();
        assert!(status.success());
        Estate { _folder: folder, root, tofu: self.tofu.clone() }
    }

    pub fn write(&self, spec: &Spec) {
        let folder = self.root.join("build/test").join(&spec.name);
        std::fs::create_dir_all(&folder).unwrap();
        let inputs: BTreeMap<&String, Json> = spec
            .inputs
            .iter()
            .map(|(variable, (unit, output))| (variable, json!({"unit": unit, "output": output})))
            .collect();
        let manifest = json!({
            "format": 1,
            "unit": format!("test/{}", spec.name),
            "kind": "thing",
            "host": "local",
            "needs": spec.needs,
            "inputs": inputs,
            "volumes": [],
        });
        for (file, content) in [
            ("main.tf.json", &spec.main),
            ("manifest.json", &manifest),
            ("inputs.auto.tfvars.json", &json!({})),
        ] {
            std::fs::write(folder.join(file), format!("{content:#}\n")).unwrap();
        }
    }

    pub fn remove(&self, unit: &str) {
        std::fs::remove_dir_all(self.root.join("build/test").join(unit)).unwrap();
    }

    pub fn job(&self, command: Command) -> Job {
        Job {
            root: self.root.clone(),
            tofu: self.tofu.clone(),
            command,
            commit: "c1".into(),
            on_failure: OnFailure::Stop,
            only: None,
            no_refresh: false,
            destroy_data: BTreeSet::new(),
            new_state: BTreeSet::new(),
            looked_after: false,
            kill: None,
            unhealthy: BTreeSet::new(),
            stopped_looking: false,
            unheard: false,
            lease_wait: 0,
            http: None,
            overtaken: false,
            lease_lost_at_record: false,
            line: "eos test".into(),
            answer: "answer.json".into(),
        }
    }

    pub fn start(&self, job: &Job) -> Driver {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["driver::drive", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env_clear()
            .env(VARIABLE, serde_json::to_string(job).unwrap())
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        Driver { child: Some(child), answer: self.root.join(&job.answer) }
    }

    pub fn run(&self, job: &Job) -> Answer {
        let _ = std::fs::remove_file(self.root.join(&job.answer));
        self.start(job).wait()
    }

    /// Runs a command that must not be refused and gives its answer.
    pub fn ok(&self, command: Command) -> Json {
        self.run(&self.job(command)).accepted()
    }

    /// Runs a second driver beside one that is at work.
    pub fn beside(&self, job: Job) -> Answer {
        self.run(&Job { answer: "answer-beside.json".into(), ..job })
    }

    /// Runs jobs with a small file system mounted over a folder, which gets room before the last one. None, and said so,
    /// where that is not allowed.
    pub fn in_small_room(&self, folder: &Utf8Path, size: &str, jobs: &[Job]) -> Option<Vec<Json>> {
        let mut script = format!("set -e; mount -t tmpfs -o size={size} tmpfs {folder} || exit 77;");
        for number in 0..jobs.len() {
            if number > 0 {
                script += &format!(" mount -o remount,size=4m {folder};");
            }
            script += &format!(
                " {VARIABLE}=\"$JOB_{number}\" {} driver::drive --exact --ignored --test-threads=1 >/dev/null; mv {root}/answer.json {root}/answer-{number}.json;",
                std::env::current_exe().unwrap().display(),
                root = self.root,
            );
        }
        let mut command = std::process::Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", &script])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        for (number, job) in jobs.iter().enumerate() {
            command.env(format!("JOB_{number}"), serde_json::to_string(job).unwrap());
        }
        let output = command.output();
        let allowed = output.as_ref().is_ok_and(|output| output.status.code() != Some(77));
        let done = output.as_ref().is_ok_and(|output| output.status.success());
        if !allowed || (!done && !self.root.join("answer-0.json").exists()) {
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED a full disk: no file system can be mounted here: {output:?}"
            );
            return None;
        }
        assert!(done, "{output:?}");
        Some(
            (0..jobs.len())
                .map(|number| read_json(&self.root.join(format!("answer-{number}.json"))))
                .collect(),
        )
    }

    pub fn killed(&self, command: Command, kill: Kill) -> Answer {
        self.run(&Job { kill: Some(kill), ..self.job(command) })
    }

    /// The lines that resources wrote when they were made, sorted.
    pub fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.root.join("log")).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// What the store says of a run that began to change a unit.
    pub fn attempt(&self, unit: &str) -> eos_engine::applied::Attempt {
        let layout = eos_engine::Layout::new(self.root.clone());
        let records = eos_store::FolderRecords::open(layout.state().join("records").as_std_path()).unwrap();
        let units = eos_engine::Applied::new(&records).units(&"test".parse().unwrap()).unwrap();
        units[unit].attempt.clone().unwrap()
    }

    pub fn clear_log(&self) {
        let _ = std::fs::remove_file(self.root.join("log"));
    }

    /// The state file of a unit as tofu wrote it.
    pub fn state(&self, unit: &str) -> Json {
        let path = self.root.join(format!(".eos/state/tofu/shop/test/{unit}.tfstate"));
        // A tofu that was killed before it wrote its first state leaves an empty file: it locks that.
        match std::fs::read(path) {
            Ok(bytes) if !bytes.is_empty() => {
                let state: Json = serde_json::from_slice(&bytes).unwrap();
                if state.get("encrypted_data").is_some() { self.decrypted(bytes) } else { state }
            }
            _ => Json::Null,
        }
    }

    /// As tofu tells it; each state is asked for once.
    fn decrypted(&self, bytes: Vec<u8>) -> Json {
        static KNOWN: Mutex<BTreeMap<Vec<u8>, Json>> = Mutex::new(BTreeMap::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = known().get(&bytes) {
            return state.clone();
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("terraform.tfstate"), &bytes).unwrap();
        let output = std::process::Command::new(&self.tofu)
            .args(["state", "pull"])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("TF_ENCRYPTION", encryption(&self.root).unwrap().to_json())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let state: Json = serde_json::from_slice(&output.stdout).unwrap();
        known().insert(bytes, state.clone());
        state
    }

    /// What there is, by unit: addresses with their inputs and whether they are tainted. Ids are random.
    pub fn world(&self) -> BTreeMap<String, BTreeMap<String, Json>> {
        let folder = self.root.join(".eos/state/tofu/shop/test");
        let mut world = BTreeMap::new();
        let Ok(entries) = folder.read_dir_utf8() else { return world };
        for entry in entries.map(Result::unwrap) {
            let Some(unit) = entry.file_name().strip_suffix(".tfstate") else { continue };
            let state = self.state(unit);
            let mut resources = BTreeMap::new();
            for resource in state["resources"].as_array().into_iter().flatten() {
                for instance in resource["instances"].as_array().unwrap() {
                    let address = format!(
                        "{}.{}",
                        resource["type"].as_str().unwrap(),
                        resource["name"].as_str().unwrap()
                    );
                    let input = match address.contains("from_") {
                        // The value is another unit's id.
                        true => json!(instance["attributes"]["input"]["value"].is_string()),
                        false => instance["attributes"]["input"]["value"].clone(),
                    };
                    resources.insert(address, json!({"input": input, "status": instance["status"]}));
                }
            }
            if !resources.is_empty() {
                world.insert(unit.to_owned(), resources);
            }
        }
        world
    }

    /// Every input is what the unit it comes from gives now.
    pub fn wired(&self) -> bool {
        let units = crate::driver::compiled(&self.root, &"test".parse().unwrap());
        units.units.iter().all(|(name, unit)| {
            unit.manifest.inputs.iter().all(|(variable, source)| {
                let gives = &self.state(source.unit.as_str())["outputs"][&source.output]["value"];
                let state = self.state(name.as_str());
                let resources = state["resources"].as_array().cloned().unwrap_or_default();
                let made = resources.iter().find(|r| r["name"] == format!("from_{variable}"));
                made.is_some_and(|made| made["instances"][0]["attributes"]["input"]["value"] == *gives)
            })
        })
    }

    pub fn path(&self, name: &str) -> Utf8PathBuf {
        self.root.join(name)
    }
}

/// A driver process; whatever happens, it and its tofu do not outlive the test.
pub struct Driver {
    child: Option<Child>,
    answer: Utf8PathBuf,
}

impl Driver {
    pub fn wait(mut self) -> Answer {
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        let json =
            std::fs::read(&self.answer).map_or(Json::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
        if output.status.signal().is_none() && json.is_null() {
            panic!("the driver failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Answer { signal: output.status.signal(), json }
    }

    pub fn pid(&self) -> i32 {
        self.child.as_ref().unwrap().id() as i32
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Estate {
    /// Ends a tofu that outlived its driver, by the pid the journals name.
    fn drop(&mut self) {
        let layout = eos_engine::Layout::new(self.root.clone());
        let Ok((runs, _)) = eos_engine::runs::open(&layout) else { return };
        for child in runs.iter().flat_map(|known| known.run.units.values()).filter_map(|unit| unit.child) {
            if child.still_running() {
                let pid = rustix::process::Pid::from_raw(child.pid).unwrap();
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            child.end_remnants();
        }
    }
}

impl Answer {
    pub fn accepted(self) -> Json {
        assert!(self.signal.is_none(), "killed by {:?}", self.signal);
        assert!(self.json.get("refused").is_none(), "refused: {:#}", self.json["refused"]);
        self.json
    }

    /// The codes of what was refused.
    pub fn refused(self) -> Vec<String> {
        let refused =
            self.json["refused"].as_array().unwrap_or_else(|| panic!("not refused: {:#}", self.json));
        refused.iter().map(|problem| problem["code"].as_str().unwrap().to_owned()).collect()
    }
}

/// `outcome` of a report, and the state of each unit.
pub fn outcome(answer: &Json) -> (String, BTreeMap<String, String>) {
    let report = &answer["report"];
    let units = report["units"].as_object().unwrap_or_else(|| panic!("no report: {answer:#}"));
    let states =
        units.iter().map(|(name, unit)| (name.clone(), unit["state"].as_str().unwrap().to_owned())).collect();
    (report["outcome"].as_str().unwrap().to_owned(), states)
}

pub fn set(names: &[&str]) -> BTreeSet<eos_model::Name> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

pub fn read_json(path: &Utf8Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
