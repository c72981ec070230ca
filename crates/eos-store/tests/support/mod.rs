//! A real NATS server for a test, and the test binary itself as another process.

#![allow(dead_code, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use eos_store::{Nats, NatsAccess};
use rustix::process::{Pid, Signal, kill_process};

#[derive(Default)]
pub struct Settings {
    /// Every write is on disk before it is answered; else a machine's crash may take back some.
    pub synced: bool,
    /// More of its configuration.
    pub more: String,
}

/// A server with a folder and a port of its own; killed when dropped.
pub struct Server {
    program: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    settings: Settings,
    process: Option<Child>,
}

impl Server {
    /// None, said aloud, where there is no nats-server.
    pub fn start(test: &str) -> Option<Server> {
        Server::start_with(test, Settings::default())
    }

    pub fn start_with(test: &str, settings: Settings) -> Option<Server> {
        let program = tool("nats-server", test)?;
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server { program, folder, port: 0, settings, process: None };
        server.start_again();
        Some(server)
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn connect(&self) -> Nats {
        Nats::connect(&self.url(), &NatsAccess::default()).unwrap()
    }

    /// SIGKILL: no chance to write anything more.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// On the same folder and, after the first time, the same port.
    pub fn start_again(&mut self) {
        let ports = self.folder.path().join("ports");
        let _ = std::fs::remove_dir_all(&ports);
        std::fs::create_dir(&ports).unwrap();
        let port = if self.port == 0 { "-1".to_owned() } else { self.port.to_string() };
        let config = self.folder.path().join("config");
        let sync = if self.settings.synced { ", sync_interval: always" } else { "" };
        let data = self.folder.path().join("data");
        std::fs::write(
            &config,
            format!("jetstream {{ store_dir: {data:?}{sync} }}\n{}\n", self.settings.more),
        )
        .unwrap();
        let mut process = Command::new(&self.program)
            .args(["-a", "127.0.0.1", "-p", &port, "-c"])
            .arg(&config)
            .arg("--ports_file_dir")
            .arg(&ports)
            .arg("-l")
            .arg(self.folder.path().join("log"))
            .env_clear()
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let file = ports.join(format!("nats-server_{}.ports", process.id()));
        let started = Instant::now();
        loop {
            // Written once the server listens.
            let found = std::fs::read_to_string(&file).unwrap_or_default();
            let port = found.split(['"', ':']).find_map(|word| word.parse::<u16>().ok());
            if let Some(port) = port {
                self.port = port;
                break;
            }
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(process.try_wait().unwrap().is_none(), "nats-server ended: {}", log());
            assert!(started.elapsed() < Duration::from_secs(30), "nats-server does not start: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
        self.process = Some(process);
    }

    pub fn restart(&mut self) {
        self.kill();
        self.start_again();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A tool as `make test` installs it; without it the test is skipped where people see it.
pub fn tool(name: &str, test: &str) -> Option<PathBuf> {
    let home = std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{home}/.cache"));
    let settings =
        eos_deps::Settings { cache: format!("{cache}/eos").into(), ..eos_deps::Settings::default() };
    let found = eos_deps::Tools::new(settings).ok().and_then(|tools| tools.find(name).ok().flatten());
    if found.is_none() {
        // Not eprintln: the test harness would swallow it for a test that passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {name} is not there; eos tools install {name}");
    }
    found.map(|found| found.path.into())
}

/// An ignored test of this binary in a process of its own, which talks by lines; killed when dropped.
pub struct Other {
    process: Child,
    lines: BufReader<ChildStdout>,
}

/// What an [`Other`] was started with; None when somebody runs the ignored test by hand.
pub fn told() -> Option<String> {
    std::env::var("EOS_STORE_TOLD").ok()
}

/// Tells the process that started this one.
pub fn say(line: &str) {
    // One write: the reader may kill us in the middle of two.
    let _ = std::io::stdout().write_all(format!("\nsaid {line}\n").as_bytes());
    let _ = std::io::stdout().flush();
}

impl Other {
    pub fn start(test: &str, told: &str) -> Other {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture", "--test-threads", "1"])
            .env("EOS_STORE_TOLD", told)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Other { process, lines }
    }

    /// The next thing said; None when the process has ended.
    pub fn hear(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(said) = line.strip_prefix("said ").and_then(|said| said.strip_suffix('\n')) {
                return Some(said.to_owned());
            }
        }
    }

    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.process.id().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for something that must come, however slow the machine.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn path_of(told: &str) -> &Path {
    Path::new(told)
}
