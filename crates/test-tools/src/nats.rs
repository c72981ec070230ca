//! A real NATS server on loopback, with a folder and a port of its own; killed when dropped.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct NatsSettings {
    /// Every write is on disk before it is answered; else a machine's crash may take back some.
    pub synced: bool,
    /// More of its configuration.
    pub more: String,
}

pub struct NatsServer {
    program: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    settings: NatsSettings,
    process: Option<Child>,
}

impl NatsServer {
    /// None, said aloud, where there is no nats-server.
    pub fn start(test: &str) -> Option<NatsServer> {
        NatsServer::start_with(test, NatsSettings::default())
    }

    pub fn start_with(test: &str, settings: NatsSettings) -> Option<NatsServer> {
        let program = crate::tool("nats-server", test)?.into();
        let folder = tempfile::tempdir().unwrap();
        let mut server = NatsServer { program, folder, port: 0, settings, process: None };
        server.start_again();
        Some(server)
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// The streams that this server has on its own disk.
    pub fn streams(&self) -> Vec<String> {
        let folder = self.folder.path().join("data/jetstream/$G/streams");
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
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
        let folder = self.folder.path();
        let ports = folder.join("ports");
        let _ = std::fs::remove_dir_all(&ports);
        std::fs::create_dir(&ports).unwrap();
        let port = if self.port == 0 { "-1".to_owned() } else { self.port.to_string() };
        let sync = if self.settings.synced { ", sync_interval: always" } else { "" };
        let config =
            format!("jetstream {{ store_dir: {:?}{sync} }}\n{}\n", folder.join("data"), self.settings.more);
        std::fs::write(folder.join("config"), config).unwrap();
        let process = Command::new(&self.program)
            .args(["-a", "127.0.0.1", "-p", &port, "-c"])
            .arg(folder.join("config"))
            .arg("--ports_file_dir")
            .arg(&ports)
            .arg("-l")
            .arg(folder.join("log"))
            .env_clear()
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let file = ports.join(format!("nats-server_{}.ports", process.id()));
        self.process = Some(process);
        let started = Instant::now();
        loop {
            // Written once the server listens.
            let found = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some(port) = found.split(['"', ':']).find_map(|word| word.parse().ok()) {
                self.port = port;
                return;
            }
            let ended = self.process.as_mut().is_none_or(|process| process.try_wait().unwrap().is_some());
            let late = started.elapsed() > Duration::from_secs(30);
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(!ended && !late, "nats-server does not start: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn restart(&mut self) {
        self.kill();
        self.start_again();
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
