//! A real Nomad agent on loopback, with ports and a data directory of its own; what it runs ends with it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use ureq::tls::TlsConfig;

use crate::free_ports;

/// Variables of a machine that would lead a tool away from loopback, or end it: with a bundle of authorities in its
/// environment the agent asks a cloud that is not there.
pub const UNWANTED: &[&str] =
    &["AWS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"];

pub struct Nomad {
    program: PathBuf,
    process: Mutex<Child>,
    folder: tempfile::TempDir,
    address: String,
    http: ureq::Agent,
    token: Mutex<Option<String>>,
}

impl Nomad {
    /// A server alone: it accepts jobs and never runs one.
    pub fn server(program: &Path) -> Nomad {
        Nomad::start(program, json!({}), TlsConfig::default())
    }

    /// A server that also runs what it is given, as the node `name`, by raw_exec.
    pub fn runner(program: &Path, name: &str) -> Nomad {
        let nomad = Nomad::start(program, runs_as(name), TlsConfig::default());
        nomad.until_ready();
        nomad
    }

    /// With this added to its configuration; `tls` is how the test itself looks at it.
    pub fn start(program: &Path, more: Json, tls: TlsConfig) -> Nomad {
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
        std::fs::write(folder.path().join("agent.json"), config.to_string()).unwrap();
        let scheme = if config["tls"].is_object() { "https" } else { "http" };
        let settings = ureq::Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .tls_config(tls)
            .timeout_global(Some(Duration::from_secs(60)));
        let nomad = Nomad {
            program: program.to_owned(),
            process: Mutex::new(spawn(program, folder.path())),
            folder,
            address: format!("{scheme}://127.0.0.1:{http}"),
            http: settings.build().into(),
            token: Mutex::default(),
        };
        nomad.until("a leader is there", || {
            nomad.get("/v1/status/leader").as_str().is_some_and(|text| !text.is_empty())
        });
        nomad
    }

    pub fn until_ready(&self) {
        let ready = |nodes: &Vec<Json>| nodes.iter().any(|node| node["Status"] == "ready");
        self.until("the node is ready", || self.get("/v1/nodes").as_array().is_some_and(ready));
    }

    pub fn use_token(&self, token: &str) {
        *self.token.lock().unwrap() = Some(token.to_owned());
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// SIGKILL; [`Nomad::revive`] starts it again on the same data.
    pub fn kill(&self) {
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    pub fn revive(&self) {
        *self.process.lock().unwrap() = spawn(&self.program, self.folder.path());
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

    /// An answer that is no JSON is the error.
    pub fn request(&self, method: &str, path: &str, body: Option<&Json>) -> Result<Json, String> {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.address));
        if let Some(token) = self.token.lock().unwrap().as_deref() {
            request = request.header("X-Nomad-Token", token);
        }
        let mut answer = match body {
            Some(body) => self.http.run(request.body(body.to_string()).unwrap()),
            None => self.http.run(request.body(()).unwrap()),
        }
        .map_err(|error| error.to_string())?;
        let text =
            answer.body_mut().with_config().limit(100 << 20).read_to_string().map_err(|e| e.to_string())?;
        serde_json::from_str(&text).map_err(|_| text)
    }

    /// Null where there is no answer.
    pub fn get(&self, path: &str) -> Json {
        self.request("GET", path, None).unwrap_or(Json::Null)
    }

    pub fn put(&self, path: &str, body: &Json) -> Result<Json, String> {
        self.request("PUT", path, Some(body))
    }

    pub fn delete(&self, path: &str) {
        let _ = self.request("DELETE", path, None);
    }

    pub fn purge(&self, job: &str) {
        self.delete(&format!("/v1/job/{job}?purge=true"));
    }

    /// Waits for something to become true; two minutes are for a machine that is busy with other tests.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let start = Instant::now();
        while !holds() {
            let late = start.elapsed() > Duration::from_secs(120);
            assert!(!late, "waited in vain until {what}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// raw_exec's processes outlive their agent: it has to end them before it is ended itself.
    fn stop_everything(&self) {
        let jobs = self.get("/v1/jobs?namespace=*");
        for job in jobs.as_array().into_iter().flatten() {
            let (id, namespace) = (job["ID"].as_str().unwrap_or(""), job["Namespace"].as_str().unwrap_or(""));
            self.delete(&format!("/v1/job/{id}?namespace={namespace}"));
        }
        let ended = |one: &Json| matches!(one["ClientStatus"].as_str(), Some("complete" | "failed" | "lost"));
        let start = Instant::now();
        while !self.get("/v1/allocations?namespace=*").as_array().is_none_or(|all| all.iter().all(ended))
            && start.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// What makes a server one that also runs tasks, as this node.
pub fn runs_as(name: &str) -> Json {
    json!({
        "name": name,
        "client": {
            "enabled": true, "network_interface": "lo", "reserved": {"reserved_ports": ""},
            "options": {
                "fingerprint.denylist": "env_aws,env_gce,env_azure,env_digitalocean",
                "driver.denylist": "docker,exec,java,qemu"
            }
        },
        "plugin": [{"raw_exec": [{"config": [{"enabled": true}]}]}],
    })
}

fn spawn(program: &Path, folder: &Path) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
    let mut command = Command::new(program);
    UNWANTED.iter().for_each(|variable| {
        command.env_remove(variable);
    });
    command
        .args(["agent", "-config"])
        .arg(folder.join("agent.json"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}

impl Drop for Nomad {
    fn drop(&mut self) {
        self.stop_everything();
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
        // A task that was being started when the agent was killed is known to nobody else.
        while !end_processes_in(self.folder.path()).is_empty() {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Secrets of tasks lie in memory, on filesystems that outlive the agent too.
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let places = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        for place in places.filter(|place| Path::new(place).starts_with(self.folder.path())) {
            let _ = Command::new("umount").arg(place).status();
        }
    }
}

/// Kills every process that runs in the folder or has something open in it, and gives their ids.
fn end_processes_in(folder: &Path) -> Vec<i32> {
    let inside = |link: PathBuf| std::fs::read_link(link).is_ok_and(|target| target.starts_with(folder));
    let of_folder = |pid: &i32| {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        inside(process.join("cwd")) || files.map(|file| file.path()).any(inside)
    };
    let names = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let found: Vec<i32> = pids.filter(|pid| *pid as u32 != std::process::id()).filter(of_folder).collect();
    for pid in found.iter().filter_map(|pid| rustix::process::Pid::from_raw(*pid)) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    found
}
