//! A real Nomad agent on loopback, with ports and a data directory of its own; what it runs ends with it.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

pub struct Agent {
    program: PathBuf,
    process: Mutex<Child>,
    folder: tempfile::TempDir,
    pub address: String,
    http: ureq::Agent,
    token: Mutex<Option<String>>,
}

/// A tool as `make test` installs it; without it the test is skipped where people see it.
pub fn tool(name: &str, test: &str) -> Option<PathBuf> {
    let home = std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{home}/.cache"));
    let path = std::env::var("PATH").unwrap_or_default();
    let settings = eos_deps::Settings {
        cache: format!("{cache}/eos").into(),
        search_path: path.split(':').map(Into::into).collect(),
        ..eos_deps::Settings::default()
    };
    let found = eos_deps::Tools::new(settings).ok().and_then(|tools| tools.find(name).ok().flatten());
    if found.is_none() {
        // Not eprintln: the test harness would swallow it for a test that passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {name} is not there; eos tools install {name}");
    }
    found.map(|found| found.path.into_std_path_buf())
}

/// Variables of this machine that would lead a tool away from loopback, or end it.
pub const UNWANTED: &[&str] =
    &["AWS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"];

impl Agent {
    /// A server and a node `n1` that runs tasks by raw_exec. `more` is added to the configuration.
    pub fn start(program: &Path, more: Json, client: impl FnOnce(&Path) -> ureq::tls::TlsConfig) -> Agent {
        let folder = tempfile::tempdir().unwrap();
        let [http, rpc, serf] = free_ports();
        let mut config = json!({
            "name": "n1",
            "data_dir": folder.path().join("data"),
            "bind_addr": "127.0.0.1",
            "ports": {"http": http, "rpc": rpc, "serf": serf},
            "advertise": {"http": "127.0.0.1", "rpc": "127.0.0.1", "serf": "127.0.0.1"},
            "server": {"enabled": true, "bootstrap_expect": 1},
            "client": {
                "enabled": true, "network_interface": "lo", "reserved": {"reserved_ports": ""},
                "options": {
                    "fingerprint.denylist": "env_aws,env_gce,env_azure,env_digitalocean",
                    "driver.denylist": "docker,exec,java,qemu"
                }
            },
            "plugin": [{"raw_exec": [{"config": [{"enabled": true}]}]}],
            "disable_update_check": true,
            "log_level": "WARN",
        });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        std::fs::write(folder.path().join("agent.json"), config.to_string()).unwrap();
        let scheme = if config["tls"].is_object() { "https" } else { "http" };
        let settings = ureq::Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .tls_config(client(folder.path()))
            .timeout_global(Some(Duration::from_secs(60)));
        let agent = Agent {
            program: program.to_owned(),
            process: Mutex::new(spawn(program, folder.path())),
            folder,
            address: format!("{scheme}://127.0.0.1:{http}"),
            http: settings.build().into(),
            token: Mutex::new(None),
        };
        agent.until("a leader is there", || {
            agent
                .try_get("/v1/status/leader")
                .is_some_and(|leader| leader.as_str().is_some_and(|text| !text.is_empty()))
        });
        agent
    }

    /// Without TLS and without tokens.
    pub fn plain(program: &Path) -> Agent {
        let agent = Agent::start(program, json!({}), |_| ureq::tls::TlsConfig::default());
        agent.until_ready();
        agent
    }

    pub fn until_ready(&self) {
        self.until("the node is ready", || {
            self.get("/v1/nodes")
                .as_array()
                .is_some_and(|nodes| nodes.iter().any(|node| node["Status"] == "ready"))
        });
    }

    pub fn use_token(&self, token: &str) {
        *self.token.lock().unwrap() = Some(token.to_owned());
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// SIGKILL; [`Agent::revive`] starts it again on the same data.
    pub fn kill(&self) {
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    pub fn revive(&self) {
        *self.process.lock().unwrap() = spawn(&self.program, self.folder.path());
    }

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

    fn try_get(&self, path: &str) -> Option<Json> {
        self.request("GET", path, None).ok()
    }

    pub fn get(&self, path: &str) -> Json {
        self.try_get(path).unwrap_or(Json::Null)
    }

    pub fn put(&self, path: &str, body: &Json) -> Json {
        self.request("PUT", path, Some(body)).unwrap_or_else(|said| panic!("PUT {path}: {said}"))
    }

    pub fn delete(&self, path: &str) {
        let _ = self.request("DELETE", path, None);
    }

    /// Two minutes are for a machine that is busy with other tests.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "waited in vain until {what}\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn log(&self) -> String {
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

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop_everything();
        let process = self.process.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
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

/// Ports that were free a moment ago, each another.
pub fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let held: [TcpListener; COUNT] = std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    std::array::from_fn(|at| held[at].local_addr().unwrap().port())
}
