//! Ctrl-C in a run: the first one asks every tofu to stop and keep its state; a second changes nothing, since a tofu
//! that is asked twice gives up at once and may forget what it made. While a question is open it is the answer: no.
//! A terminal that is closed says the same; tofu is in a group of its own and would go on alone.

use std::sync::atomic::{AtomicBool, Ordering};

use eos_tofu::Children;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::screen;

/// A person is being asked.
static ASKING: AtomicBool = AtomicBool::new(false);
/// Somebody has said stop, in a question or before it.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Whether somebody has said stop since signals are watched for.
pub fn was_asked_to_stop() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// Marks that a question is open for as long as it lives.
pub struct Asking;

impl Asking {
    pub fn begin() -> Asking {
        ASKING.store(true, Ordering::SeqCst);
        Asking
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        ASKING.store(false, Ordering::SeqCst);
    }
}

/// Stays alive through a Ctrl-C that is meant for a child.
pub fn outlive() {
    watch(&Children::new());
}

/// Watches for SIGINT, SIGTERM and SIGHUP from now on.
pub fn watch(children: &Children) {
    let children = children.clone();
    let watching = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            // Whoever started eos with nohup wants it to outlive the terminal: watching would end that.
            let mut hang_up = (!hang_up_is_ignored()).then(|| signal(SignalKind::hangup()).ok()).flatten();
            let (Ok(mut interrupt), Ok(mut terminate)) =
                (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
            else {
                return;
            };
            let mut asked = false;
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    Some(()) = heard(&mut hang_up) => {}
                }
                STOPPED.store(true, Ordering::SeqCst);
                if ASKING.load(Ordering::SeqCst) {
                    // Nothing is at work: whoever asks sees it and takes it for a no.
                    continue;
                }
                let text = if asked {
                    "Still stopping: what tofu is in the middle of has to be finished and written down."
                } else {
                    "Stopping: nothing more is begun; tofu finishes what it is in the middle of."
                };
                screen::say(&format!("\n{text}"));
                asked = true;
                children.interrupt();
            }
        });
    };
    // Without the thread Ctrl-C ends eos as it always would, and `eos resume` goes on.
    let _ = std::thread::Builder::new().name("interrupt".into()).spawn(watching);
}

/// The next of a signal that may not be watched for, which then never comes.
async fn heard(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

/// Whether eos was started with SIGHUP ignored, as nohup does it. Where the kernel does not say so, it was not.
fn hang_up_is_ignored() -> bool {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    // The lowest bit is signal 1, which is SIGHUP.
    ignored & 1 == 1
}
