//! What the scenarios share: the agent, the mirror with this very program as the provider, and units to run tofu in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};

use test_tools::Nomad;

pub struct Bench {
    pub agent: Nomad,
    pub tofu: PathBuf,
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new(agent: Nomad, tofu: PathBuf) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("mirror/eos.local/eos/eos/0.1.0/linux_amd64");
        std::fs::create_dir_all(&place).unwrap();
        let program = std::env::current_exe().unwrap();
        std::os::unix::fs::symlink(program, place.join("terraform-provider-eos_v0.1.0")).unwrap();
        let config = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n    include = [\"eos.local/*/*\"]\n  }}\n}}\n",
            folder.path().join("mirror")
        );
        std::fs::write(folder.path().join("tofurc"), config).unwrap();
        Bench { agent, tofu, folder }
    }

    pub fn tofurc(&self) -> PathBuf {
        self.folder.path().join("tofurc")
    }

    /// A unit with one job, initialised.
    pub fn unit(&self, job: &Json) -> Unit<'_> {
        self.unit_with(&self.tofu, job)
    }

    pub fn unit_with(&self, program: &Path, job: &Json) -> Unit<'_> {
        let unit = Unit {
            bench: self,
            program: program.to_owned(),
            folder: tempfile::tempdir().unwrap(),
            id: job["ID"].as_str().unwrap().to_owned(),
            environment: vec![("NOMAD_ADDR".to_owned(), self.agent.address().to_owned())],
        };
        std::fs::create_dir(unit.path().join("tmp")).unwrap();
        unit.write(job, json!({}));
        unit.ok(&["init"]);
        unit
    }
}

pub struct Unit<'a> {
    pub bench: &'a Bench,
    pub program: PathBuf,
    folder: tempfile::TempDir,
    pub id: String,
    pub environment: Vec<(String, String)>,
}

/// What a run of tofu gave.
pub struct Run {
    pub code: i32,
    pub text: String,
}

impl Unit<'_> {
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the unit anew: the job in a file of its own, as the compiler does it, and further attributes.
    pub fn write(&self, job: &Json, more: Json) {
        let mut attributes = json!({
            "name": format!("test/{}/job", self.id),
            "spec": "${file(\"${path.module}/job.nomad.json\")}",
            "purge_on_destroy": true,
        });
        attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let main = json!({
            "terraform": {"required_providers": {"eos": {"source": "eos.local/eos/eos", "version": "0.1.0"}}},
            "resource": {"eos_nomad_job": {"job": attributes}},
        });
        std::fs::write(self.path().join("main.tf.json"), main.to_string()).unwrap();
        std::fs::write(self.path().join("job.nomad.json"), json!({"Job": job}).to_string()).unwrap();
    }

    pub fn set(&mut self, variable: &str, value: impl Into<String>) {
        self.environment.push((variable.to_owned(), value.into()));
    }

    /// tofu with nothing of this machine's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("-no-color").current_dir(self.path()).env_clear().stdin(Stdio::null());
        command
            .env("HOME", self.path())
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", self.path().join("tmp"))
            .env("TF_CLI_CONFIG_FILE", self.bench.tofurc())
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("CHECKPOINT_DISABLE", "1")
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::from(self.command(arguments).output().unwrap())
    }

    pub fn ok(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{} {arguments:?}\n{}", self.id, run.text);
        run
    }

    pub fn apply(&self) -> Run {
        self.ok(&["apply", "-auto-approve"])
    }

    pub fn apply_fails(&self) -> Run {
        let run = self.run(&["apply", "-auto-approve"]);
        assert_eq!(run.code, 1, "{}\n{}", self.id, run.text);
        run
    }

    /// Nothing to do.
    pub fn plan_is_empty(&self) {
        let run = self.run(&["plan", "-detailed-exitcode"]);
        assert_eq!(run.code, 0, "{}\n{}", self.id, run.text);
    }

    pub fn plan_has_changes(&self) -> Run {
        let run = self.run(&["plan", "-detailed-exitcode"]);
        assert_eq!(run.code, 2, "{}\n{}", self.id, run.text);
        run
    }

    pub fn destroy(&self) -> Run {
        self.ok(&["destroy", "-auto-approve"])
    }

    /// The instance of the job in the state file; null when there is none.
    pub fn state(&self) -> Json {
        let text = std::fs::read_to_string(self.path().join("terraform.tfstate")).unwrap_or_default();
        let state: Json = serde_json::from_str(&text).unwrap_or_default();
        state["resources"][0]["instances"][0].clone()
    }

    pub fn lose_state(&self) {
        for file in ["terraform.tfstate", "terraform.tfstate.backup"] {
            let _ = std::fs::remove_file(self.path().join(file));
        }
    }

    /// The job as Nomad has it.
    pub fn job(&self) -> Json {
        self.bench.agent.get(&format!("/v1/job/{}", self.id))
    }

    /// How many versions of the job Nomad has seen.
    pub fn versions(&self) -> usize {
        let answer = self.bench.agent.get(&format!("/v1/job/{}/versions", self.id));
        answer["Versions"].as_array().map_or(0, Vec::len)
    }

    /// No job, no task, no variable.
    pub fn nothing_is_left(&self) {
        assert_eq!(self.job(), Json::Null, "{} is still there", self.id);
        assert!(self.state().is_null());
        let variables = self.bench.agent.get(&format!("/v1/vars?prefix=nomad/jobs/{}", self.id));
        assert_eq!(variables, json!([]), "{}", self.id);
        assert_eq!(tasks(&self.id), Vec::<String>::new(), "{}", self.id);
        let left: Vec<_> = std::fs::read_dir(self.path().join("tmp")).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The processes of a job, as the machine knows them.
pub fn tasks(job: &str) -> Vec<String> {
    let mark = format!("NOMAD_JOB_ID={job}");
    let of_job = |process: &std::path::PathBuf| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes.filter(of_job).map(|process| process.display().to_string()).collect()
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Run { code: output.status.code().unwrap_or(-1), text }
    }
}

impl Run {
    #[track_caller]
    pub fn says(&self, words: &str) -> &Run {
        assert!(self.text.contains(words), "expected {words:?} in\n{}", self.text);
        self
    }

    #[track_caller]
    pub fn does_not_say(&self, words: &str) -> &Run {
        assert!(!self.text.contains(words), "unexpected {words:?} in\n{}", self.text);
        self
    }
}

/// A service with one task that runs a shell script; quick to be called healthy, quick to be given up.
pub fn service(id: &str, script: &str) -> Json {
    json!({
        "ID": id, "Name": id, "Type": "service", "Datacenters": ["*"],
        "Meta": {"eos.unit": format!("test/{id}")},
        "Update": {
            "MaxParallel": 1, "MinHealthyTime": 100_000_000, "HealthyDeadline": 20_000_000_000_u64,
            "ProgressDeadline": 30_000_000_000_u64, "HealthCheck": "task_states",
        },
        "TaskGroups": [{
            "Name": "main", "Count": 1,
            "RestartPolicy": {"Attempts": 0, "Mode": "fail", "Interval": 5_000_000_000_u64, "Delay": 1_000_000},
            "ReschedulePolicy": {"Attempts": 0, "Unlimited": false},
            "Tasks": [{
                "Name": "main", "Driver": "raw_exec",
                "Config": {"command": "/bin/sh", "args": ["-c", script]},
                "KillTimeout": 1_000_000_000_u64,
                "Resources": {"CPU": 10, "MemoryMB": 16},
            }],
        }],
    })
}

/// Long enough alive that a task which dies at once cannot be called healthy, and given up soon.
pub fn doomed(job: &mut Json) {
    job["Update"]["MinHealthyTime"] = json!(2_000_000_000_u64);
    job["Update"]["HealthyDeadline"] = json!(4_000_000_000_u64);
    job["Update"]["ProgressDeadline"] = json!(6_000_000_000_u64);
}

pub const SLEEP: &str = "echo started; exec sleep 1000";
