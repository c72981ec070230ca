//! The lock of a unit's folder: one eos fills it and lets tofu work in it at a time. Who has it is written in it, for whoever
//! waits.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::time::{Duration, Instant};

use eos_model::{Diagnostic, UnitId, codes};
use eos_store::lease::Owner;
use fs_err::{create_dir_all, read_to_string};

use crate::engine::Engine;
use crate::guard;
use crate::observer::Progress;
use crate::planner::stopped;
use crate::problems;

const LOOK: Duration = Duration::from_millis(50);
/// Most plans take no longer, and whoever waits need not be told.
const PATIENCE: Duration = Duration::from_secs(3);
/// So long for one that does not go on: whoever suspended it may be back at once.
const LONGEST: Duration = Duration::from_secs(30);

/// Who has a folder, as the lock's own text says it.
pub(crate) struct Holder {
    pub pid: String,
    pub command: String,
    /// In seconds, where it is known.
    pub age: Option<i64>,
}

impl Engine<'_> {
    /// Waits for another eos that plans the same unit here; for one that applies it only as long as for its lease.
    pub(crate) fn lock_folder(&self, unit: &UnitId) -> Result<File, Diagnostic> {
        let path = self.tools.places.data(unit).join("eos/desk.lock");
        let failed = |e: std::io::Error| {
            let shown = guard::shown(self.layout, &path);
            Diagnostic::error(codes::CANNOT_WRITE, format!("cannot lock {shown}: {e}"))
        };
        let open = || {
            create_dir_all(path.parent().unwrap_or(&path))?;
            File::options().create(true).append(true).open(&path)
        };
        let mut file = open().map_err(failed)?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let text = format!("{}\n{}\n{}", std::process::id(), self.now(), self.actor.command);
                    let told = file.set_len(0).and_then(|()| file.rewind());
                    told.and_then(|()| file.write_all(text.as_bytes())).map_err(failed)?;
                    return Ok(file);
                }
                Err(std::fs::TryLockError::Error(e)) => return Err(failed(e)),
                Err(std::fs::TryLockError::WouldBlock) if self.is_stopped() => {
                    return Err(stopped(&unit.name));
                }
                Err(std::fs::TryLockError::WouldBlock) => {}
            }
            let waited = began.elapsed();
            let key = unit.to_string();
            let holders = self.leases.list().map_err(|e| problems::lease(&e))?;
            let others = |owner: &Owner| owner.pid != std::process::id() || owner.host != self.actor.machine;
            let mut held = holders.into_iter().filter(|holder| holder.key == key && !holder.stale);
            if let Some(holder) = held.find(|holder| others(&holder.owner)) {
                if waited >= self.terms.wait {
                    return Err(problems::held(&holder));
                }
                self.observer.on(&Progress::WaitingForLease { holder: &holder });
            } else if waited >= PATIENCE {
                let holder = Holder::read(&read_to_string(&path).unwrap_or_default(), self.now());
                if waited >= LONGEST.max(self.terms.wait) && !goes_on(&holder.pid) {
                    return Err(problems::folder_held(&unit.name, &holder));
                }
                self.observer.on(&Progress::WaitingForPlan { unit: &unit.name, process: &holder.pid });
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Holder {
    /// An older eos wrote its process alone.
    fn read(text: &str, now: i64) -> Holder {
        let mut lines = text.lines();
        let pid = lines.next().unwrap_or_default().to_owned();
        let since: Option<i64> = lines.next().and_then(|line| line.parse().ok());
        let command = lines.next().unwrap_or_default().to_owned();
        Holder { pid, command, age: since.map(|since| (now - since).max(0)) }
    }
}

/// Whether a process is there and not suspended: a large unit's plan may take its time.
fn goes_on(pid: &str) -> bool {
    let stat = read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of its program stands in parentheses before its state, and may have some of its own.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !"TtZX".contains(state))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_suspended_process_does_not_go_on() {
        assert!(goes_on(&std::process::id().to_string()));
        assert!(!goes_on("no process"));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id().to_string();
        let signal =
            |name: &str| assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
        let until = |expected: bool| {
            let began = Instant::now();
            while goes_on(&pid) != expected && began.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(LOOK);
            }
            goes_on(&pid)
        };
        signal("-STOP");
        let suspended = !until(false);
        signal("-CONT");
        let again = until(true);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(suspended && again, "{suspended} {again}");
    }
}
