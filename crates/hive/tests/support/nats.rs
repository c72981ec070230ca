//! A real NATS server for a test; killed when dropped.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Server {
    program: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    process: Option<Child>,
}

impl Server {
    /// None, said aloud, where there is no nats-server.
    pub fn start(test: &str) -> Option<Server> {
        let program = super::tool("nats-server", test)?;
        let mut server = Server { program, folder: tempfile::tempdir().unwrap(), port: 0, process: None };
        server.start_again();
        Some(server)
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
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
        let log = self.folder.path().join("log");
        let mut process = Command::new(&self.program)
            .args(["-a", "127.0.0.1", "-p", &port, "-js", "-sd"])
            .arg(self.folder.path().join("data"))
            .arg("--ports_file_dir")
            .arg(&ports)
            .arg("-l")
            .arg(&log)
            .env_clear()
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let file = ports.join(format!("nats-server_{}.ports", process.id()));
        let started = Instant::now();
        loop {
            // Written once the server listens.
            let found = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some(port) = found.split(['"', ':']).find_map(|word| word.parse::<u16>().ok()) {
                self.port = port;
                break;
            }
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            let ended = process.try_wait().unwrap().is_some();
            if ended || started.elapsed() > Duration::from_secs(30) {
                let _ = process.kill();
                panic!("nats-server does not start: {}", said());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.process = Some(process);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
