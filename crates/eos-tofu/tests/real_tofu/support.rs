//! An estate of its own for each test, and the real tools.

use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::UnitId;
use eos_tofu::{
    Action, Applied, Backend, ChildEnvironment, Children, Encryption, Event, Installation,
    InstallationSettings, Places, PlanOptions, Planned, Session, Tofu, TofuError, UnitFiles, WorkFolder,
};
use serde_json::{Value, json};

pub struct Estate {
    folder: tempfile::TempDir,
    pub places: Places,
    pub tofu: Tofu,
    pub settings: InstallationSettings,
    pub encryption: Option<Encryption>,
    /// For every session's environment.
    pub variables: Vec<(String, String)>,
}

pub use test_tools::tool;

/// Runs a test with tofu and with terraform.
pub fn with_each_tool(test: &str, body: fn(Estate)) {
    with_tofu(test, body);
    if let Some(estate) = Estate::new("terraform", test) {
        body(estate);
    }
}

pub fn with_tofu(test: &str, body: fn(Estate)) {
    if let Some(estate) = Estate::new("tofu", test) {
        body(estate);
    }
}

pub fn unit(name: &str) -> UnitId {
    UnitId { env: "production".parse().unwrap(), name: name.parse().unwrap() }
}

impl Estate {
    pub fn new(tool_name: &str, test: &str) -> Option<Estate> {
        let binary = tool(tool_name, test)?;
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        let settings =
            InstallationSettings { search_path: "/usr/bin:/bin".into(), ..InstallationSettings::default() };
        let tofu = Tofu::detect(&binary).unwrap();
        let variables = Vec::new();
        Some(Estate { folder, places: Places::new(root), tofu, settings, encryption: None, variables })
    }

    pub fn root(&self) -> &Utf8Path {
        self.places.root()
    }

    /// A folder of the test's own outside of `.eos`.
    pub fn path(&self, name: &str) -> Utf8PathBuf {
        self.root().join(name)
    }

    /// With a random key that tofu asks this crate's driver for.
    pub fn encrypt(&mut self, key: [u8; 32]) {
        let file = self.path("key");
        std::fs::write(&file, key).unwrap();
        self.encryption =
            Some(Encryption::by_command(driver(), ["state-key".to_owned(), file.into_string()]));
    }

    pub fn local(&self, name: &str) -> Backend {
        Backend::Local { path: self.places.local_state("shop", &unit(name)) }
    }

    /// The unit filled and initialised on the local backend.
    pub fn unit(&self, name: &str, main: Value) -> Session {
        self.try_unit(name, main, &self.local(name)).unwrap()
    }

    pub fn unit_on(&self, name: &str, main: Value, backend: &Backend) -> Session {
        self.try_unit(name, main, backend).unwrap()
    }

    pub fn try_unit(&self, name: &str, main: Value, backend: &Backend) -> Result<Session, TofuError> {
        let session = self.filled(name, main, backend);
        session.init(&self.installation(), backend)?;
        Ok(session)
    }

    pub fn installation(&self) -> Installation {
        Installation::write(&self.places, &self.settings).unwrap()
    }

    /// Filled, and not initialised yet.
    pub fn filled(&self, name: &str, mut main: Value, backend: &Backend) -> Session {
        let kind = match backend {
            Backend::Local { .. } => "local",
            Backend::Http { .. } => "http",
        };
        main["terraform"]["backend"] = json!({ kind: {} });
        let mut files = UnitFiles::new();
        files.insert("main.tf.json".into(), serde_json::to_vec_pretty(&main).unwrap());
        files.insert("inputs.auto.tfvars.json".into(), b"{}".to_vec());
        self.filled_with(name, &files, backend)
    }

    pub fn filled_with(&self, name: &str, files: &UnitFiles, backend: &Backend) -> Session {
        let folder = WorkFolder::fill(&self.places, &unit(name), files).unwrap();
        let mut environment = ChildEnvironment::new(
            self.tofu.flavor(),
            &folder,
            &self.installation(),
            backend,
            self.encryption.as_ref(),
        );
        for (name, value) in &self.variables {
            environment.set(name, value);
        }
        Session { tofu: self.tofu.clone(), folder, environment, children: Children::new() }
    }

    /// Every file of the estate that holds these bytes, links not followed.
    pub fn files_with(&self, needle: &str) -> Vec<String> {
        fn walk(folder: &std::path::Path, needle: &[u8], found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    walk(&entry.path(), needle, found);
                } else if kind.is_file() {
                    let bytes = std::fs::read(entry.path()).unwrap();
                    if bytes.windows(needle.len()).any(|window| window == needle) {
                        found.push(entry.path());
                    }
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), needle.as_bytes(), &mut found);
        found.iter().map(|path| path.strip_prefix(self.root()).unwrap().display().to_string()).collect()
    }
}

/// The example that `cargo test` builds beside the tests.
pub fn driver() -> Utf8PathBuf {
    let own = std::env::current_exe().unwrap();
    let built = own.parent().unwrap().parent().unwrap().join("examples/driver");
    assert!(built.exists(), "{} is missing: cargo build -p eos-tofu --examples", built.display());
    built.try_into().unwrap()
}

pub fn plan(session: &Session) -> Planned {
    plan_with(session, PlanOptions::default())
}

pub fn plan_with(session: &Session, options: PlanOptions) -> Planned {
    let out = session.folder.plan_file();
    session.plan(&PlanOptions { out, ..options }, &mut |_| ()).unwrap()
}

pub fn apply(session: &Session) -> Applied {
    session.apply(&session.folder.plan_file(), &mut |_| ()).unwrap()
}

pub fn plan_and_apply(session: &Session) -> Applied {
    assert!(plan(session).changes);
    apply(session)
}

/// One resource whose creation lasts until its process is ended; it writes its pid to a file first.
pub fn slow(pid_file: &Utf8Path) -> Value {
    let command = format!("echo $$ > {pid_file}; exec sleep 600");
    json!({"resource": {"terraform_data": {
        "first": {"input": "done"},
        "slow": {"input": "${terraform_data.first.output}", "provisioner": [{"local-exec": {"command": command}}]},
        "never": {"input": "${terraform_data.slow.output}"},
    }}})
}

pub fn is_slow_started(event: &Event) -> bool {
    matches!(event, Event::ProvisionStart { address, .. } if address == "terraform_data.slow")
}

/// Waits until a file has a line; the test's own timeout is the harness's.
pub fn wait_for_line(path: &Utf8Path) -> String {
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => std::thread::sleep(std::time::Duration::from_millis(20)),
        }
    }
}

/// A command of tofu that must succeed, without its words in the test's output.
pub fn quietly(session: &Session, arguments: &[&str]) {
    let mut command = std::process::Command::new(session.tofu.binary());
    command.args(arguments).current_dir(session.folder.dir()).env_clear().envs(session.environment.iter());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub fn actions(planned: &Planned) -> Vec<(&str, &Action)> {
    planned.planned.iter().map(|(address, action)| (address.as_str(), action)).collect()
}
