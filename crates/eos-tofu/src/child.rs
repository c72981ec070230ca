//! A child process by its identity: pid, start time and boot, so that a pid used again is not mistaken for it.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::proc::{ProcessStat, members_of_group};

/// How often a process that is not our child is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// What remains of a group gets this long between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Which process it is; goes into the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildIdentity {
    pub pid: i32,
    /// Field 22 of `/proc/<pid>/stat`: clock ticks since boot.
    pub start_time: u64,
    /// Which boot those ticks count from: the beginning of the kernel's `boot_id`. Journals of before do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<u64>,
}

impl ChildIdentity {
    pub(crate) fn of(pid: i32) -> std::io::Result<ChildIdentity> {
        match ProcessStat::of(pid) {
            Some(stat) => Ok(ChildIdentity { pid, start_time: stat.start_time, boot: this_boot() }),
            None => Err(std::io::Error::other(format!("/proc/{pid}/stat cannot be read"))),
        }
    }

    /// Whether that very process still runs (a zombie does not).
    pub fn still_running(&self) -> bool {
        self.is_of_this_boot()
            && ProcessStat::of(self.pid).is_some_and(|stat| stat.start_time == self.start_time && stat.runs())
    }

    fn is_of_this_boot(&self) -> bool {
        self.boot.is_none() || self.boot == this_boot()
    }

    /// Waits until the process is gone. It need not be a child of ours: resume after a crash waits so.
    /// `keep_waiting` is asked a few times a second; false gives up and returns false.
    pub fn wait_until_gone(&self, keep_waiting: &mut dyn FnMut() -> bool) -> bool {
        while self.still_running() {
            if !keep_waiting() {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    /// One SIGINT to a process that an earlier run of eos left behind. The caller remembers that it did: a second one
    /// makes tofu leave at once.
    pub fn interrupt_left_behind(&self) {
        if self.still_running() {
            send(self.pid, Signal::INT);
        }
    }

    /// Ends what a dead tofu left of its process group: providers do not notice that it is gone. Does nothing while the
    /// process itself still runs.
    pub fn end_remnants(&self) {
        // After another boot, or where the pid was given to another process, the group is somebody else's.
        let is_ours = |stat: ProcessStat| stat.start_time == self.start_time;
        if self.still_running() || !self.is_of_this_boot() || !ProcessStat::of(self.pid).is_none_or(is_ours) {
            return;
        }
        let remnants =
            || members_of_group(self.pid).into_iter().filter(|(_, stat)| stat.start_time >= self.start_time);
        let until = Instant::now() + GRACE;
        let mut told = false;
        while remnants().next().is_some() {
            if !told {
                remnants().for_each(|(pid, _)| send(pid, Signal::TERM));
                told = true;
            } else if Instant::now() > until {
                remnants().for_each(|(pid, _)| send(pid, Signal::KILL));
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The first half of the kernel's random id of this boot.
fn this_boot() -> Option<u64> {
    let id = fs_err::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    u64::from_str_radix(&digits, 16).ok()
}

/// A process that is gone by now needs no signal.
fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    #[test]
    fn a_process_is_known_by_pid_and_start_time() {
        let mut child = std::process::Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let identity = ChildIdentity::of(child.id() as i32).unwrap();
        assert!(identity.still_running());
        let other = ChildIdentity { start_time: identity.start_time + 1, ..identity };
        assert!(!other.still_running(), "the same pid with another start time is another process");
        assert!(!identity.wait_until_gone(&mut || false));
        child.kill().unwrap();
        assert!(identity.wait_until_gone(&mut || true), "a zombie does not run");
        child.wait().unwrap();
        assert!(!identity.still_running());
    }

    #[test]
    fn remnants_of_a_group_are_ended_once_the_leader_is_gone() {
        let script = "trap '' TERM; sleep 601 & echo $!; wait";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .stdout(std::process::Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let identity = ChildIdentity::of(child.id() as i32).unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
            .unwrap();
        let remnant = ChildIdentity::of(line.trim().parse().unwrap()).unwrap();
        identity.end_remnants();
        assert!(remnant.still_running(), "the leader runs: nothing is ended");
        child.kill().unwrap();
        child.wait().unwrap();
        let before = ChildIdentity { boot: identity.boot.map(|boot| boot ^ 1), ..identity };
        assert!(before.boot.is_some());
        before.end_remnants();
        // A process that was killed takes a moment to go.
        let mut looks = 0..5;
        let is_gone = remnant.wait_until_gone(&mut || looks.next().is_some());
        assert!(!is_gone, "after another boot the group is somebody else's");
        identity.end_remnants();
        assert!(remnant.wait_until_gone(&mut || true));
    }
}
