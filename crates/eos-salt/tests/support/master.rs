//! A real master with salt-api and one minion, on loopback ports of their own, ended with the test.
#![allow(dead_code, clippy::unwrap_used)]

use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use eos_salt::{ApiSettings, Credentials, Installation, SaltApi};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use test_tools::free_ports;

use super::SEARCH_PATH;

pub struct Master {
    folder: PathBuf,
    installation: Installation,
    ports: [u16; 3],
    minion: Option<Daemon>,
    _api: Daemon,
    _master: Daemon,
}

/// A process and all it has started.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.0);
        // Nothing of theirs is kept; asked nicely a master takes ten seconds.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.0.wait();
    }
}

impl Master {
    /// Master and api answer; the minion `m1` returns.
    pub fn start(installation: &Installation, folder: &Path) -> Master {
        let ports = free_ports();
        let users = folder.join("users");
        let line = |user: &str, password: &str| {
            let sum: String = Sha256::digest(password).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{user}:{sum}\n")
        };
        std::fs::write(&users, line("ci", "right") + &line("looker", "right")).unwrap();
        configure(
            folder,
            "master",
            json!({
                "root_dir": folder.join("master-root"), "user": "root", "interface": "127.0.0.1",
                "publish_port": ports[0], "ret_port": ports[1], "auto_accept": true, "worker_threads": 3, "timeout": 3, "gather_job_timeout": 3,
                "netapi_enable_clients": ["local", "local_async", "runner"],
                "external_auth": {"file": {"^filename": users, "^hashtype": "sha256", "ci": [".*", "@jobs"], "looker": ["test.ping", "@jobs"]}},
                "rest_cherrypy": {"host": "127.0.0.1", "port": ports[2], "disable_ssl": true},
                "pillar_roots": {"base": [folder.join("master-pillar")]},
            }),
        );
        configure(
            folder,
            "minion",
            json!({
                "id": "m1", "root_dir": folder.join("minion-root"), "master": "127.0.0.1",
                "publish_port": ports[0], "master_port": ports[1], "acceptance_wait_time": 1,
            }),
        );
        let pillar = folder.join("master-pillar");
        std::fs::create_dir(&pillar).unwrap();
        std::fs::write(pillar.join("top.sls"), "base: {'m1': [own]}\n").unwrap();
        std::fs::write(pillar.join("own.sls"), "own: of-the-master\nword: of-the-master\n").unwrap();
        let start = |program: &str, config: &str| start(installation, folder, program, config);
        let master = start("salt-master", "master");
        wait_for("the master", || TcpStream::connect(("127.0.0.1", ports[1])).is_ok());
        let api = start("salt-api", "master");
        let minion = start("salt-minion", "minion");
        wait_for("salt-api", || TcpStream::connect(("127.0.0.1", ports[2])).is_ok());
        let (folder, installation) = (folder.to_owned(), installation.clone());
        Master { folder, installation, ports, minion: Some(minion), _api: api, _master: master }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[2])
    }

    pub fn api_as(&self, user: &str, password: &str) -> SaltApi {
        let login = json!({"username": user, "password": password, "eauth": "file"}).to_string();
        let credentials = Credentials::parse(&login).unwrap();
        SaltApi::new(ApiSettings { address: self.address(), credentials, authority: None }).unwrap()
    }

    pub fn api(&self) -> SaltApi {
        self.api_as("ci", "right")
    }

    /// Every token the master has given out is void.
    pub fn forget_tokens(&self) {
        let tokens = self.folder.join("master-root/var/cache/salt/master/tokens");
        let mut forgotten = 0;
        for entry in std::fs::read_dir(tokens).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap()
            } else {
                std::fs::remove_file(path).unwrap()
            }
            forgotten += 1;
        }
        assert!(forgotten > 0);
    }

    pub fn kill_minion(&mut self) {
        if let Some(minion) = self.minion.take() {
            let _ = kill_process_group(Pid::from_child(&minion.0), Signal::KILL);
        }
    }

    pub fn start_minion(&mut self) {
        self.minion = Some(start(&self.installation, &self.folder, "salt-minion", "minion"));
    }
}

fn configure(folder: &Path, name: &str, settings: Json) {
    std::fs::create_dir(folder.join(name)).unwrap();
    std::fs::write(folder.join(name).join(name), settings.to_string()).unwrap();
}

fn start(installation: &Installation, folder: &Path, program: &str, config: &str) -> Daemon {
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(format!("{program}.log")))
        .unwrap();
    let child = Command::new(installation.salt_call.with_file_name(program))
        .arg("--config-dir")
        .arg(folder.join(config))
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .process_group(0)
        .spawn()
        .unwrap();
    Daemon(child)
}

pub fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    wait_until(what, || if there() { Ok(()) } else { Err("not there") });
}

/// Waits for something to succeed, and says what it said last.
pub fn wait_until<T, E: std::fmt::Display>(what: &str, mut there: impl FnMut() -> Result<T, E>) -> T {
    let begin = Instant::now();
    loop {
        match there() {
            Ok(value) => return value,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(120), "{what}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
