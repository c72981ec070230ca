//! The running children of one run, so that an interrupt reaches each of them exactly once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long one that looks may take to let go of the state's lock.
const LETTING_GO: Duration = Duration::from_secs(10);

/// Shared by all sessions of a run. After [`Children::interrupt`] no further child starts; what a run still has to read
/// then (a state, an output) needs a session with children of its own.
#[derive(Debug, Clone, Default)]
pub struct Children {
    registry: Arc<Mutex<Registry>>,
}

#[derive(Debug, Default)]
struct Registry {
    interrupted: bool,
    silent: Option<SilentServer>,
    running: Vec<Weak<Control>>,
}

/// A server that tofu waits for and that does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilentServer {
    pub kind: ServerKind,
    pub address: String,
    /// How long it was listened for.
    pub waited: std::time::Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    Backend,
    Nomad,
}

/// The only way a signal is sent to a child of ours: it knows whether the pid is still the child's.
#[derive(Debug)]
pub(crate) struct Control {
    pid: Pid,
    /// It may be ended at any time, since it changes nothing.
    only_looks: bool,
    state: Mutex<ControlState>,
}

#[derive(Debug, Default)]
struct ControlState {
    interrupted: bool,
    /// It was ended for this server's silence.
    silent: Option<SilentServer>,
    /// Once the child is waited for, its pid may belong to somebody else.
    reaped: bool,
}

impl Children {
    pub fn new() -> Children {
        Children::default()
    }

    /// One SIGINT to every running child that has not had one; later starts fail with `Interrupted`.
    pub fn interrupt(&self) {
        let mut registry = lock(&self.registry);
        registry.interrupted = true;
        for control in registry.running.iter().filter_map(Weak::upgrade) {
            control.interrupt();
        }
    }

    pub fn is_interrupted(&self) -> bool {
        lock(&self.registry).interrupted
    }

    /// Tofu waits for a server that does not answer without a bound of its own: ends whoever only looks, and lets no other
    /// begin to look. An interrupt comes first, since a plan holds the state's lock and lets go of it only if it is asked; it
    /// does not reach one that waits for the backend, which is killed a while later. One that applies is left alone.
    pub fn give_up_on(&self, server: SilentServer) {
        let mut registry = lock(&self.registry);
        registry.silent = Some(server.clone());
        let running = registry.running.iter().filter_map(Weak::upgrade);
        let looking: Vec<Arc<Control>> = running.filter(|control| control.only_looks).collect();
        drop(registry);
        for control in &looking {
            control.give_up_on(&server);
        }
        let end = Instant::now() + LETTING_GO;
        while Instant::now() < end && !looking.iter().all(|control| control.is_over()) {
            std::thread::sleep(Duration::from_millis(50));
        }
        for control in &looking {
            control.kill();
        }
    }

    /// The server that was given up on answers again.
    pub fn hear_from(&self, kind: ServerKind) {
        let mut registry = lock(&self.registry);
        if registry.silent.as_ref().is_some_and(|silent| silent.kind == kind) {
            registry.silent = None;
        }
    }

    pub fn silent(&self) -> Option<SilentServer> {
        lock(&self.registry).silent.clone()
    }

    /// Starts a child while holding the registry, so that no interrupt falls between start and registration.
    /// None when the run is interrupted already.
    pub(crate) fn start<T>(
        &self,
        only_looks: bool,
        spawn: impl FnOnce() -> std::io::Result<(T, Pid)>,
    ) -> std::io::Result<Option<(T, Arc<Control>)>> {
        let mut registry = lock(&self.registry);
        if registry.interrupted {
            return Ok(None);
        }
        let (child, pid) = spawn()?;
        let control = Arc::new(Control { pid, only_looks, state: Mutex::default() });
        registry.running.retain(|other| other.strong_count() > 0);
        registry.running.push(Arc::downgrade(&control));
        Ok(Some((child, control)))
    }
}

impl Control {
    pub fn interrupt(&self) {
        let mut state = lock(&self.state);
        if !state.interrupted && !state.reaped {
            state.interrupted = true;
            // It may have ended by itself: then it is a zombie, and the signal does nothing.
            let _ = kill_process(self.pid, Signal::INT);
        }
    }

    fn give_up_on(&self, server: &SilentServer) {
        lock(&self.state).silent = Some(server.clone());
        self.interrupt();
    }

    pub fn silent(&self) -> Option<SilentServer> {
        lock(&self.state).silent.clone()
    }

    fn is_over(&self) -> bool {
        lock(&self.state).reaped
    }

    fn kill(&self) {
        if !lock(&self.state).reaped {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }

    pub fn is_interrupted(&self) -> bool {
        lock(&self.state).interrupted
    }

    /// Runs the wait that frees the pid; no signal is sent during or after it.
    pub fn reap<T>(&self, wait: impl FnOnce() -> T) -> T {
        let mut state = lock(&self.state);
        let result = wait();
        state.reaped = true;
        result
    }
}

/// A panic elsewhere must not keep an interrupt from its child.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    /// One that only looks, once it is ready.
    fn looking(children: &Children, script: &str) -> (std::process::Child, Arc<Control>) {
        let started = children.start(true, || {
            let child = Command::new("env")
                .args(["--default-signal=INT", "bash", "-c", script])
                .stdout(Stdio::piped())
                .spawn()?;
            let pid = Pid::from_raw(child.id() as i32).unwrap();
            Ok((child, pid))
        });
        let (mut child, control) = started.unwrap().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
        (child, control)
    }

    #[test]
    fn one_that_looks_at_a_silent_server_may_let_go_before_it_is_killed() {
        use std::os::unix::process::ExitStatusExt as _;
        let children = Children::new();
        let polite = "trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done";
        let deaf = "trap '' INT; echo ready; while :; do sleep 0.05; done";
        let (mut polite, polite_control) = looking(&children, polite);
        let (mut deaf, deaf_control) = looking(&children, deaf);
        let server = SilentServer {
            kind: ServerKind::Nomad,
            address: "http://127.0.0.1:4646".to_owned(),
            waited: Duration::from_secs(10),
        };
        children.give_up_on(server.clone());
        assert_eq!(polite_control.reap(|| polite.wait()).unwrap().code(), Some(7));
        assert_eq!(deaf_control.reap(|| deaf.wait()).unwrap().signal(), Some(9));
        assert_eq!((polite_control.silent(), children.silent()), (Some(server.clone()), Some(server)));
        assert!(!children.is_interrupted());
    }

    #[test]
    fn a_child_gets_one_interrupt_however_often_it_is_asked_for() {
        let children = Children::new();
        // Bash runs a trap between commands only, so it reads in short turns: one that ended without a line is above 128,
        // the end of input is 1.
        let script =
            "trap 'echo got' INT; echo ready; while :; do read -t 0.05 _; [ $? = 1 ] && exit 0; done";
        let (mut child, control) = children
            .start(false, || {
                // A shell cannot trap what was ignored when it started, as it is in whatever runs in the background.
                let child = Command::new("env")
                    .args(["--default-signal=INT", "bash", "-c", script])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()?;
                let pid = Pid::from_raw(child.id() as i32).unwrap();
                Ok((child, pid))
            })
            .unwrap()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut ready = [0; 6];
        stdout.read_exact(&mut ready).unwrap();
        children.interrupt();
        children.interrupt();
        control.interrupt();
        let mut got = [0; 4];
        stdout.read_exact(&mut got).unwrap();
        drop(child.stdin.take());
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!((&got, rest.as_str()), (b"got\n", ""));
        control.reap(|| child.wait().unwrap());
        control.interrupt();
        assert!(children.is_interrupted());
        let started = children.start(false, || -> std::io::Result<((), Pid)> { panic!("must not start") });
        assert!(started.unwrap().is_none());
    }
}
