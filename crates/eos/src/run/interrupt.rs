//! Ctrl-C in a run: the first one asks every tofu to stop and keep its state; a second changes nothing, since a tofu
//! that is asked twice gives up at once and may forget what it made. While a question is open it is the answer: no.

use std::sync::atomic::{AtomicBool, Ordering};

use eos_tofu::Children;

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

/// Watches for SIGINT and SIGTERM from now on.
pub fn watch(children: &Children) {
    let children = children.clone();
    let watching = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
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
