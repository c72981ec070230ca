//! Starting a child and waiting for it. It has a process group of its own, so that a Ctrl-C of the terminal does not reach
//! it twice, and an environment that is nothing but what it was given.

use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::children::Control;
use crate::{ChildIdentity, Children, Exit};

/// How often a log is looked at while its child runs.
const TICK: Duration = Duration::from_millis(25);

/// Waits for one line and then becomes the program it was given; ends instead when whoever holds the other end is gone.
const GATE: &str = r#"read -r go && exec "$@" </dev/null"#;

pub(crate) struct Running {
    child: Child,
    control: Arc<Control>,
    identity: ChildIdentity,
}

impl Running {
    /// None when the run is interrupted already. What only looks may be ended at any time.
    pub fn start(
        mut command: Command,
        only_looks: bool,
        children: &Children,
    ) -> std::io::Result<Option<Running>> {
        command.process_group(0);
        let started = children.start(only_looks, || {
            let child = command.spawn()?;
            let pid = Pid::from_child(&child);
            Ok((child, pid))
        })?;
        let Some((child, control)) = started else { return Ok(None) };
        let identity = ChildIdentity::of(child.id() as i32)?;
        Ok(Some(Running { child, control, identity }))
    }

    /// The command behind a gate: it starts when [`Running::open_gate`] says so, and never if this process dies first.
    pub fn gated(command: &Command) -> Command {
        let mut gated = Command::new("/bin/sh");
        gated.arg("-c").arg(GATE).arg("sh").arg(command.get_program()).args(command.get_args());
        gated.env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                gated.env(name, value);
            }
        }
        if let Some(folder) = command.get_current_dir() {
            gated.current_dir(folder);
        }
        gated.stdin(Stdio::piped());
        gated
    }

    pub fn open_gate(&mut self) -> std::io::Result<()> {
        let Some(mut gate) = self.child.stdin.take() else { return Ok(()) };
        if self.control.is_interrupted() {
            return Ok(());
        }
        match gate.write_all(b"go\n") {
            // Interrupted in this very moment: waiting for it tells.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    pub fn identity(&self) -> ChildIdentity {
        self.identity
    }

    pub fn control(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }

    pub fn interrupt(&self) {
        self.control.interrupt();
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the end and calls `tick` meanwhile. Says also whether our interrupt was sent.
    /// What is left of the group of a child that was killed is ended too.
    pub fn wait(mut self, tick: &mut dyn FnMut()) -> std::io::Result<(Exit, bool)> {
        let pid = Pid::from_child(&self.child);
        let (ended, wait) = channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // Leaves the zombie in place: its pid stays ours until `reap` has closed the way for signals.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
                let _ = ended.send(());
            });
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(TICK) {
                tick();
            }
        });
        let status = self.control.reap(|| self.child.wait())?;
        let exit = match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => Exit::Code(-1),
        };
        if let Exit::Signal(_) = exit {
            self.identity.end_remnants();
        }
        Ok((exit, self.control.is_interrupted()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(file: &std::path::Path) -> Command {
        let mut command = Command::new("/usr/bin/touch");
        command.arg(file).env_clear();
        command
    }

    #[test]
    fn behind_a_gate_nothing_runs_before_it_opens() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made");
        let mut running =
            Running::start(Running::gated(&touch(&file)), false, &Children::new()).unwrap().unwrap();
        let before = running.identity();
        std::thread::sleep(Duration::from_millis(50));
        assert!(!file.exists());
        running.open_gate().unwrap();
        assert_eq!(before, running.identity());
        assert_eq!(running.wait(&mut || ()).unwrap(), (Exit::Code(0), false));
        assert!(file.exists());
    }

    #[test]
    fn a_gate_whose_owner_is_gone_never_opens() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made");
        let mut running =
            Running::start(Running::gated(&touch(&file)), false, &Children::new()).unwrap().unwrap();
        drop(running.child().stdin.take());
        assert_eq!(running.wait(&mut || ()).unwrap().0, Exit::Code(1));
        assert!(!file.exists());
    }

    #[test]
    fn an_interrupt_before_the_gate_opens_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made");
        let mut running =
            Running::start(Running::gated(&touch(&file)), false, &Children::new()).unwrap().unwrap();
        running.interrupt();
        running.open_gate().unwrap();
        let (exit, interrupted) = running.wait(&mut || ()).unwrap();
        assert!(interrupted && exit != Exit::Code(0), "{exit}");
        assert!(!file.exists());
    }

    #[test]
    fn a_signal_is_told_apart_from_a_code() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "kill -9 $$"]);
        let running = Running::start(command, false, &Children::new()).unwrap().unwrap();
        assert_eq!(running.wait(&mut || ()).unwrap(), (Exit::Signal(9), false));
    }
}
