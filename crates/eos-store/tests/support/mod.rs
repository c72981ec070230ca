//! The test binary itself as another process.

#![allow(dead_code, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use eos_store::{Nats, NatsAccess};
use rustix::process::{Pid, Signal, kill_process};
use test_tools::NatsServer;

pub fn connect(server: &NatsServer) -> Nats {
    Nats::connect(&server.url(), &NatsAccess::default()).unwrap()
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
