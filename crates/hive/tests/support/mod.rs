//! Real gateways and real clients for tests. Each test has its own data directory and port.

#![allow(dead_code, clippy::unwrap_used)]

pub mod client;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A gateway process; killed when dropped.
pub struct Gateway {
    pub data: PathBuf,
    pub endpoint: String,
    process: Child,
}

impl Gateway {
    pub fn start(data: &Path, arguments: &[&str]) -> Gateway {
        Self::launch(data, arguments, Stdio::null())
    }

    /// With what it says on standard error in a file.
    pub fn start_with_log(data: &Path, arguments: &[&str], log: &Path) -> Gateway {
        Self::launch(data, arguments, std::fs::File::create(log).unwrap().into())
    }

    fn launch(data: &Path, arguments: &[&str], log: Stdio) -> Gateway {
        let mut process = Command::new(env!("CARGO_BIN_EXE_hive"))
            .stderr(log)
            .arg("--data")
            .arg(data)
            // Tests of all kinds share a gateway; what EC2's quotas mean is tested by itself.
            .args(["--port", "0", "--limit", "all=none"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("records only"), "the notice is missing: {line:?}");
        let endpoint = line.split(' ').next().unwrap().to_owned();
        Gateway { data: data.to_owned(), endpoint, process }
    }

    pub fn port(&self) -> u16 {
        self.endpoint.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// SIGKILL: no chance to write anything more.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// A child with exactly what `eos hive env` says, and nothing of the machine's own AWS or CA settings.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let of_others = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
        for name in of_others.iter().chain(hive::environment::IN_THE_WAY) {
            command.env_remove(name);
        }
        command.envs(hive::environment::variables(&self.data).unwrap());
        command.env("HIVE_DATA", &self.data);
        command
    }

    pub fn leftovers(&self) -> Vec<hive::control::Leftover> {
        hive::control::leftovers(&self.data).unwrap()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A tool as `make test` installs it; without it the test is skipped where people see it.
pub fn tool(name: &str, test: &str) -> Option<PathBuf> {
    test_tools::tool(name, test).map(Into::into)
}

/// Python with boto3 and the aws CLI.
pub fn python(test: &str) -> Option<PathBuf> {
    tool("aws", test).map(|aws| aws.with_file_name("python"))
}

/// Runs a child to its end and shows its output if it failed.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{} {:?} ended with {}\n{text}\n{}",
        // Not the command itself: its environment holds keys.
        command.get_program().display(),
        command.get_args().collect::<Vec<_>>(),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}
