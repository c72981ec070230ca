//! Secrets that are none: the words that a component goes by.

use eos_model::{Diagnostic, codes};
use eos_secrets::Secret;

/// Refuses a secret that is the kind or the name of what it is for. `what` is how it was given.
pub fn refuse(what: &str, secret: &Secret, kind: &str, name: &str) -> Result<(), Diagnostic> {
    if ![kind, name].contains(&secret.expose()) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::BAD_VALUE, format!("{what} is the very name of what it is for"))
        .why("that is the first thing anybody tries, and it stands in every command and file about it")
        .fix("nothing was recorded; left out, eos makes one up where it can"))
}
