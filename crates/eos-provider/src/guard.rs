//! A panic in a handler becomes a diagnostic with its text and place; without this, tofu says "request cancelled".
//!
//! The hook remembers the place for the thread the panic happens in, and prints nothing: tofu would log it, with whatever
//! the text holds.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use eos_model::{Diagnostic, Diagnostics, codes};

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// For the whole process; called once, by the server.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        PLACE.set(info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default());
    }));
}

/// The work's own result, or its panic as an error.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Diagnostics> {
    // What the work shares with others is behind locks that forgive a panic.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a panic without a text");
        Diagnostic::error(codes::PROVIDER, "internal error in the eos provider")
            .why(format!("{text}{}", PLACE.take()))
            .fix("this is a bug: please report it with the command that led to it")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_an_error_with_its_text() {
        assert_eq!(guarded(|| 7).unwrap(), 7);
        let found = guarded(|| panic!("lost count at {}", 3)).map(|(): ()| ()).unwrap_err();
        assert!(found.0[0].why.as_deref().unwrap().starts_with("lost count at 3"), "{found:?}");
    }
}
