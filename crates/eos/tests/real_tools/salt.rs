//! Real Salt, asked over a pipe; ended with the test.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

pub struct Salt {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
    asked: usize,
}

impl Salt {
    /// `salt_call` is the tool; its Python is beside it.
    pub fn start(salt_call: &Path) -> Salt {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_tools/salt_oracle.py");
        let mut command = Command::new(salt_call.with_file_name("python3"));
        let folder = tempfile::tempdir().unwrap();
        let errors = std::fs::File::create(folder.path().join("errors")).unwrap();
        let mut process = command
            .arg("-B")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .unwrap();
        let (requests, answers) =
            (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Salt { process, requests, answers, folder, asked: 0 }
    }

    fn ask(&mut self, mut request: Json) -> Json {
        self.asked += 1;
        let folder = self.folder.path().join(self.asked.to_string());
        std::fs::create_dir(&folder).unwrap();
        request["folder"] = json!(folder);
        writeln!(self.requests, "{request}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let errors = || std::fs::read_to_string(self.folder.path().join("errors")).unwrap_or_default();
        let answer: Json =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("Salt gave no answer: {}", errors()));
        assert!(answer.get("error").is_none(), "{answer}\n{}", errors());
        answer
    }

    /// What `pillar.items` gives a minion whose grain `environment` is `environment`.
    pub fn pillar(&mut self, pillar: &Path, environment: &str) -> Json {
        self.ask(json!({"ask": "pillar", "pillar": pillar, "environment": environment}))["pillar"].take()
    }

    /// For each file what `state.show_sls` gives, and what is wrong with it: `[{high, wrong}]`.
    pub fn states(&mut self, files: &[impl AsRef<Path>]) -> Vec<Json> {
        let files: Vec<&Path> = files.iter().map(AsRef::as_ref).collect();
        let answer = self.ask(json!({"ask": "states", "files": files}));
        answer["states"].as_array().unwrap().clone()
    }

    /// Applies the files on this machine, and gives each state with its result.
    pub fn apply(&mut self, files: &[impl AsRef<Path>]) -> Vec<(String, Json)> {
        let files: Vec<&Path> = files.iter().map(AsRef::as_ref).collect();
        let mut answer = self.ask(json!({"ask": "apply", "files": files}));
        let applied = answer["applied"].as_array_mut().unwrap().iter_mut().map(Json::take);
        applied.flat_map(|one| one.as_object().unwrap_or_else(|| panic!("{one}")).clone()).collect()
    }
}

impl Drop for Salt {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
