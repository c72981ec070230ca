//! Asks an executable for its version: in a process group of its own, with a time limit, reading no more than needed.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use camino::Utf8Path;

use crate::table::ReadVersion;
use crate::version::Version;

/// A cold Python start on a busy machine takes seconds; a tool that hangs is no use.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// From the end of its output to the end of the process.
const EXIT_GRACE: Duration = Duration::from_secs(10);
const OUTPUT_LIMIT: u64 = 64 * 1024;

/// What the executable says it is, or why that could not be read, as a sentence about it.
pub(crate) fn version(executable: &Utf8Path, read: &ReadVersion) -> Result<Version, String> {
    let mut child =
        start(executable, read).map_err(|error| format!("{executable} cannot be run: {error}"))?;
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut output = Vec::new();
            let read = stdout.take(OUTPUT_LIMIT).read_to_end(&mut output);
            // The receiver is gone when the time is over.
            let _ = sender.send(read.map(|_| output));
        });
    }
    let output = receiver.recv_timeout(TIME_LIMIT);
    let grace = if output.is_ok() { EXIT_GRACE } else { Duration::ZERO };
    let status = end(&mut child, grace).map_err(|error| format!("{executable}: {error}"))?;
    let Ok(Ok(output)) = output else {
        return Err(format!("{executable} did not tell its version within {} s", TIME_LIMIT.as_secs()));
    };
    let text = String::from_utf8_lossy(&output);
    match extract(&text, &read.text) {
        Some(version) => Ok(version),
        None if !status.success() => {
            Err(format!("{executable} ended with {status} when asked for its version"))
        }
        None => {
            let line: String = text.lines().next().unwrap_or_default().chars().take(60).collect();
            Err(format!("{executable} prints `{line}` when asked for its version"))
        }
    }
}

fn start(executable: &Utf8Path, read: &ReadVersion) -> std::io::Result<Child> {
    let mut tries = 0;
    loop {
        let started = Command::new(executable)
            .args(&read.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // HashiCorp's tools ask a server for news when asked for their version.
            .env("CHECKPOINT_DISABLE", "1")
            .current_dir("/")
            .process_group(0)
            .spawn();
        match started {
            // Another thread's child may for an instant hold the descriptor with which we wrote this file.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy && tries < 100 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            other => return other,
        }
    }
}

/// Waits for the process; after `grace` its whole group is ended.
fn end(child: &mut Child, grace: Duration) -> std::io::Result<ExitStatus> {
    let deadline = Instant::now() + grace;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    // Not waited for yet, so the number still means this group.
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    child.wait()
}

/// The version where `pattern` says it stands.
fn extract(output: &str, pattern: &str) -> Option<Version> {
    let (before, after) = pattern.split_once("{version}")?;
    output.match_indices(before).find_map(|(index, _)| {
        let rest = &output[index + before.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '+'));
        let (version, rest) = rest.split_at(end.unwrap_or(rest.len()));
        if rest.starts_with(after) { version.trim_end_matches('.').parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_real_tools_print() {
        for (output, pattern, version) in [
            ("OpenTofu v1.12.6\non linux_amd64\n", "OpenTofu v{version}", "1.12.6"),
            ("Nomad v1.10.5\nBuildDate 2025-09-09T14:36:45Z\n", "Nomad v{version}", "1.10.5"),
            ("nats-server: v2.15.1\n", "nats-server: v{version}", "2.15.1"),
            ("salt-call 3008.3 (Argon)\n", "salt-call {version}", "3008.3"),
            ("aws-cli/1.46.2 Python/3.11.7 Linux/6\n", "aws-cli/{version}", "1.46.2"),
        ] {
            assert_eq!(extract(output, pattern), version.parse().ok(), "{output}");
        }
        assert_eq!(extract("hello\n", "OpenTofu v{version}"), None);
        assert_eq!(extract("OpenTofu vnext\n", "OpenTofu v{version}"), None);
    }
}
