//! The machine's processes, as /proc shows them.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

pub struct Process {
    pub pid: i32,
    pub parent: i32,
    /// Words separated by a blank.
    pub command: String,
    /// Variables separated by a line's end.
    pub environment: String,
    pub program: PathBuf,
}

impl Process {
    pub fn kill(&self) {
        let _ = kill_process(Pid::from_raw(self.pid).unwrap(), Signal::KILL);
    }
}

/// What Ctrl-C does to the group in front of a terminal.
pub fn interrupt_group(leader: u32) {
    kill_process_group(Pid::from_raw(leader as i32).unwrap(), Signal::INT).unwrap();
}

/// Lets a process go on that has stopped.
pub fn go_on(pid: u32) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::CONT).unwrap();
}

pub fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// Those that can be read. A zombie has neither words nor variables.
pub fn all() -> impl Iterator<Item = Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
}

/// A process may become another program between two reads; what is told is of one program.
fn read(pid: i32) -> Option<Process> {
    let folder = Path::new("/proc").join(pid.to_string());
    let text = |name: &str, between: &str| {
        let bytes = std::fs::read(folder.join(name)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', between))
    };
    let stat = text("stat", "")?;
    let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
    let program =
        || Some((std::fs::read_link(folder.join("exe")).unwrap_or_default(), text("cmdline", " ")?));
    let mut before = program()?;
    loop {
        let environment = text("environ", "\n")?;
        let after = program()?;
        if after == before {
            let (program, command) = after;
            return Some(Process { pid, parent, command, environment, program });
        }
        before = after;
    }
}

/// The tofu that applies in an estate, or is about to: until the journal has its number, a shell stands in for it.
pub fn applying(estate: &Path) -> Option<Process> {
    let tofu = |process: &Process| {
        ends_with(process, &["tofu", "terraform"]) || process.command.starts_with("/bin/sh -c read -r go")
    };
    of(estate).find(|process| tofu(process) && process.command.contains(" apply"))
}

/// The provider that it has started.
pub fn provider(estate: &Path) -> Option<Process> {
    let tofu = applying(estate)?;
    of(estate)
        .find(|process| process.parent == tofu.pid && process.command.contains("terraform-provider-eos"))
}

fn of(estate: &Path) -> impl Iterator<Item = Process> {
    let estate = estate.to_str().unwrap().to_owned();
    all().filter(move |process| process.environment.contains(&estate))
}

fn ends_with(process: &Process, names: &[&str]) -> bool {
    process.program.file_name().is_some_and(|name| names.iter().any(|one| name == *one))
}
