//! A panic in a handler becomes a diagnostic with its text and place; without this, tofu says "request cancelled".
//!
//! The hook remembers the panic's text for the thread it happened in, and prints nothing: tofu would log it, with
//! whatever the text holds.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use eos_model::{Diagnostic, Diagnostics, codes};

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// For the whole process; called once, by the server.
pub fn install() {
    std::panic::set_hook(Box::new(|info| LAST.set(describe(info))));
}

fn describe(info: &PanicHookInfo) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
    format!("{text}{place}")
}

/// The work's own result, or its panic as an error.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Diagnostics> {
    // What the work shares with others is behind locks that forgive a panic.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let text = LAST.take();
        Diagnostic::error(codes::PROVIDER, "internal error in the eos provider")
            .why(if text.is_empty() { "a panic without a text".to_owned() } else { text })
            .fix("this is a bug: please report it with the command that led to it")
            .into()
    })
}
