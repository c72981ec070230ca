//! A Nomad agent on loopback, with ports and a data directory of its own; ended with the test, and what it runs too.
#![allow(dead_code, clippy::unwrap_used)]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

pub struct Nomad {
    program: PathBuf,
    process: Child,
    folder: tempfile::TempDir,
    address: String,
    client: ureq::Agent,
    runs: bool,
}

impl Nomad {
    /// A server alone: it accepts jobs and never runs one.
    pub fn server(program: &Path) -> Nomad {
        Nomad::start(program, json!({}))
    }

    /// A server that also runs what it is given, as the node `name`, by raw_exec.
    pub fn runner(program: &Path, name: &str) -> Nomad {
        let client = json!({
            "name": name,
            "client": {"enabled": true, "network_interface": "lo", "reserved": {"reserved_ports": ""},
                       "options": {"fingerprint.denylist": "env_aws,env_gce,env_azure,env_digitalocean", "driver.denylist": "docker,exec,java,qemu"}},
            "plugin": [{"raw_exec": [{"config": [{"enabled": true}]}]}],
        });
        let mut nomad = Nomad::start(program, client);
        nomad.runs = true;
        nomad.until("the node is ready", || {
            nomad
                .get("/v1/nodes")
                .as_array()
                .is_some_and(|nodes| nodes.iter().any(|node| node["Status"] == "ready"))
        });
        nomad
    }

    fn start(program: &Path, more: Json) -> Nomad {
        let folder = tempfile::tempdir().unwrap();
        let [http, rpc, serf] = free_ports();
        let mut config = json!({
            "data_dir": folder.path().join("data"),
            "bind_addr": "127.0.0.1",
            "ports": {"http": http, "rpc": rpc, "serf": serf},
            "advertise": {"http": "127.0.0.1", "rpc": "127.0.0.1", "serf": "127.0.0.1"},
            "server": {"enabled": true, "bootstrap_expect": 1},
            "disable_update_check": true,
            "log_level": "WARN",
        });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let path = folder.path().join("agent.json");
        std::fs::write(&path, config.to_string()).unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(program);
        // With a bundle of authorities in the environment the agent asks a cloud that is not there, and ends.
        for variable in ["AWS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"] {
            command.env_remove(variable);
        }
        command
            .args(["agent", "-config"])
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let process = command.spawn().unwrap();
        let config = ureq::Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)));
        let nomad = Nomad {
            program: program.to_owned(),
            process,
            folder,
            address: format!("http://127.0.0.1:{http}"),
            client: config.build().into(),
            runs: false,
        };
        nomad.until("a leader is there", || {
            nomad
                .try_get("/v1/status/leader")
                .is_some_and(|leader| leader.as_str().is_some_and(|text| !text.is_empty()))
        });
        nomad
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `nomad job validate -json FILE`: what it says, and whether it is content.
    pub fn validate(&self, file: &Path) -> Result<String, String> {
        let output = Command::new(&self.program)
            .args(["job", "validate", "-json"])
            .arg(file)
            .env("NOMAD_ADDR", &self.address)
            .output()
            .unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() { Ok(said) } else { Err(said) }
    }

    fn try_get(&self, path: &str) -> Option<Json> {
        let mut answer = self.client.get(format!("{}{path}", self.address)).call().ok()?;
        serde_json::from_str(&answer.body_mut().read_to_string().ok()?).ok()
    }

    pub fn get(&self, path: &str) -> Json {
        self.try_get(path).unwrap_or(Json::Null)
    }

    /// PUTs a document; an answer that is no JSON is the error.
    pub fn put(&self, path: &str, document: &Json) -> Result<Json, String> {
        let mut answer = self
            .client
            .put(format!("{}{path}", self.address))
            .send(document.to_string())
            .map_err(|e| e.to_string())?;
        let text = answer.body_mut().read_to_string().map_err(|e| e.to_string())?;
        serde_json::from_str(&text).map_err(|_| text)
    }

    pub fn purge(&self, job: &str) {
        let _ = self.client.delete(format!("{}/v1/job/{job}?purge=true", self.address)).call();
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Waits for something to become true; two minutes are for a machine that is busy with other tests.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "waited in vain until {what}\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Nomad {
    fn drop(&mut self) {
        if self.runs {
            self.stop_everything();
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
        // Secrets of tasks lie in memory, on filesystems that outlive the agent too.
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        for place in mounts
            .lines()
            .filter_map(|line| line.split(' ').nth(1))
            .filter(|place| Path::new(place).starts_with(self.folder.path()))
        {
            let _ = Command::new("umount").arg(place).status();
        }
    }
}

impl Nomad {
    /// raw_exec's processes outlive their agent: it has to end them before it is ended itself.
    fn stop_everything(&self) {
        let jobs = self.get("/v1/jobs");
        for job in jobs.as_array().into_iter().flatten().filter_map(|job| job["ID"].as_str()) {
            let _ = self.client.delete(format!("{}/v1/job/{job}", self.address)).call();
        }
        let ended = |one: &Json| matches!(one["ClientStatus"].as_str(), Some("complete" | "failed" | "lost"));
        let start = Instant::now();
        while !self.get("/v1/allocations").as_array().is_some_and(|all| all.iter().all(ended))
            && start.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Ports that were free a moment ago, each another, and never the same twice: from where neither the system takes one for a
/// connection nor Nomad for a job that names none.
pub fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let next = || 10_000 + (std::process::id() * 97 + GIVEN.fetch_add(1, Ordering::Relaxed)) % 10_000;
    std::array::from_fn(|_| {
        let mut drawn = std::iter::repeat_with(|| next() as u16).take(10_000);
        drawn.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
    })
}
