//! Ctrl-C in a run: the first one asks every tofu to stop and keep its state; a second changes nothing, since a tofu
//! that is asked twice gives up at once and may forget what it made.

use std::io::Write as _;

use eos_tofu::Children;

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
                let text = if asked {
                    "Still stopping: what tofu is in the middle of has to be finished and written down."
                } else {
                    "Stopping: nothing more is begun; tofu finishes what it is in the middle of."
                };
                let _ = writeln!(std::io::stderr(), "\n{text}");
                asked = true;
                children.interrupt();
            }
        });
    };
    // Without the thread Ctrl-C ends eos as it always would, and `eos resume` goes on.
    let _ = std::thread::Builder::new().name("interrupt".into()).spawn(watching);
}
