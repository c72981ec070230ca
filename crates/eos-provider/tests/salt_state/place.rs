//! A folder with an estate, a unit and the provider in a mirror; tofu is run in it as a person would.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::Read as _;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use eos_secrets::{Identity, Recipients, Secret};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value as Json, json};

pub struct Place {
    folder: tempfile::TempDir,
    tofu: PathBuf,
    pub salt: PathBuf,
    identity: Identity,
    side_socket: Option<PathBuf>,
    /// salt-api; nobody listens there unless a test says who.
    pub api: String,
}

pub struct Ended {
    pub code: i32,
    /// Without colours and with its boxes' edges taken away, so that lines can be looked for.
    pub text: String,
}

/// A tofu at work, ended with the test.
pub struct Running {
    child: Option<Child>,
    output: PathBuf,
}

fn tool(name: &str, test: &str) -> Option<PathBuf> {
    test_tools::tool(name, test).map(Into::into)
}

impl Place {
    pub fn new(test: &str) -> Option<Place> {
        Place::with("tofu", test)
    }

    /// With tofu or terraform.
    pub fn with(executor: &str, test: &str) -> Option<Place> {
        let (tofu, salt) = (tool(executor, test)?, tool("salt", test)?);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let architecture = if cfg!(target_arch = "aarch64") { "linux_arm64" } else { "linux_amd64" };
        let mirror = path.join("mirror/eos.local/eos/eos/0.1.0").join(architecture);
        for name in ["unit", "made", "home", "temp"] {
            std::fs::create_dir_all(path.join(name)).unwrap();
        }
        std::fs::create_dir_all(&mirror).unwrap();
        std::os::unix::fs::symlink(
            std::env::current_exe().unwrap(),
            mirror.join("terraform-provider-eos_v0.1.0"),
        )
        .unwrap();
        let identity = Identity::create(Utf8Path::from_path(&path.join("home/identity")).unwrap()).unwrap();
        let place =
            Place { folder, tofu, salt, identity, side_socket: None, api: "http://127.0.0.1:1".to_owned() };
        let mirror = place.path().join("mirror");
        place.write(
            "tofurc",
            &format!(
                "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
                mirror.display()
            ),
        );
        place.write("estate/pillar/top.sls", "#!yaml\nbase:\n  '*':\n    - ignore_missing: True\n    - hosts.*\n  'environment:production':\n    - match: grain\n    - ignore_missing: True\n    - infrastructure.production.*\n");
        place.write("estate/pillar/hosts/local.sls", "#!yaml\neos:\n  hosts:\n    local: {environment: production, address: 127.0.0.1, connection: masterless}\n");
        Some(place)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn made(&self, name: &str) -> PathBuf {
        self.path().join("made").join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.made(name)).unwrap()
    }

    pub fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// A state that makes a file.
    pub fn file(&self, id: &str, content: &str) -> String {
        format!(
            "{id}:\n  file.managed:\n    - name: {}\n    - contents: '{content}'\n",
            self.made(id).display()
        )
    }

    /// A unit with one resource, and what is given over what every test has.
    pub fn unit(&self, given: Json) {
        let mut resource = json!({"name": "production/web/host", "target": "local", "via": "masterless"});
        for (name, value) in given.as_object().unwrap() {
            // tofu would read `${` of a given text as its own; only references to files are meant to be.
            resource[name] = value.clone();
        }
        let unit = json!({
            "terraform": {"required_providers": {"eos": {"source": "eos.local/eos/eos", "version": "0.1.0"}}},
            "resource": {"eos_salt_state": {"host": resource}},
        });
        self.write("unit/main.tf.json", &unit.to_string());
        if !self.path().join("unit/.terraform").exists() {
            self.succeed(&["init", "-input=false"]);
        }
    }

    pub fn secret(&self, key: &str, version: u32, value: &str) {
        let mut recipients = Recipients::default();
        recipients.add(self.identity.public(), "the test").unwrap();
        let bytes = eos_secrets::encrypt(&Secret::new(value.to_owned()), &recipients).unwrap();
        let path = self.path().join(format!("estate/secrets/production/web/{key}.v{version}.age"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Hears what the provider says on the side.
    pub fn listen(&mut self) -> Arc<Mutex<Vec<String>>> {
        let path = self.path().join("side");
        let listener = UnixListener::bind(&path).unwrap();
        self.side_socket = Some(path);
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let messages = heard.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut message = String::new();
                let _ = stream.unwrap().read_to_string(&mut message);
                messages.lock().unwrap().push(message);
            }
        });
        heard
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let path = self.path();
        let mut command = Command::new(&self.tofu);
        command.args(arguments).current_dir(path.join("unit")).env_clear().stdin(Stdio::null());
        command
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", path.join("home"))
            .env("TMPDIR", path.join("temp"))
            .env("TF_CLI_CONFIG_FILE", path.join("tofurc"))
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_CLI_ARGS", "-no-color")
            .env("CHECKPOINT_DISABLE", "1")
            .env("EOS_ESTATE", path.join("estate"))
            .env("EOS_IDENTITY", path.join("home/identity"))
            .env("EOS_SALT", &self.salt)
            .env("EOS_SALT_API", &self.api)
            .env("EOS_SALT_TOKEN_FILE", path.join("token"));
        if let Some(socket) = &self.side_socket {
            command.env("EOS_PREVIEW", socket);
        }
        command
    }

    pub fn start(&self, arguments: &[&str]) -> Running {
        let output = self.path().join("output");
        let file = std::fs::File::create(&output).unwrap();
        let child = self
            .command(arguments)
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .process_group(0)
            .spawn()
            .unwrap();
        Running { child: Some(child), output }
    }

    pub fn tofu(&self, arguments: &[&str]) -> Ended {
        self.start(arguments).wait()
    }

    /// Runs and expects success.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let ended = self.tofu(arguments);
        assert_eq!(ended.code, 0, "tofu {arguments:?}\n{}", ended.text);
        ended.text
    }

    /// Wishes to end that Salt has been told.
    pub fn pause_files(&self) -> usize {
        let found = Command::new("find")
            .arg(self.path().join("temp"))
            .args(["-path", "*/state_pause/*", "-type", "f"])
            .output()
            .unwrap();
        String::from_utf8_lossy(&found.stdout).lines().count()
    }

    /// Takes away what a killed provider left, as eos does before its next run.
    pub fn sweep(&self) {
        let temp = self.path().join("temp");
        let _ = std::fs::remove_dir_all(&temp);
        std::fs::create_dir(&temp).unwrap();
    }

    /// Salt goes a moment after the provider, and takes its folder along.
    pub fn leaves_nothing(&self) {
        let left = || -> Vec<String> {
            let entries = std::fs::read_dir(self.path().join("temp")).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        wait_for("the end of Salt", || left().is_empty());
    }
}

impl Drop for Place {
    /// The folder can only go once nobody writes into it.
    fn drop(&mut self) {
        let begin = Instant::now();
        let temp = self.path().join("temp");
        while begin.elapsed() < Duration::from_secs(30)
            && std::fs::read_dir(&temp).is_ok_and(|mut entries| entries.next().is_some())
        {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Running {
    /// As a person's Ctrl-C reaches tofu when eos passes it on: tofu alone.
    pub fn interrupt(&self) {
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), Signal::INT).unwrap();
    }

    pub fn wait(mut self) -> Ended {
        let status = self.child.as_mut().unwrap().wait().unwrap();
        self.child = None;
        let text = std::fs::read_to_string(&self.output).unwrap();
        let text = text.replace(['│', '╷', '╵'], "");
        // tofu breaks lines to fit a terminal of 78 columns.
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        Ended { code: status.code().unwrap_or(-1), text: lines.join("\n") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            let _ = child.wait();
        }
    }
}

pub fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !there() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{what} did not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}
