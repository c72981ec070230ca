//! Secrets that are none: the words that a component goes by, lines where one is meant, and what cannot be handed on.

use eos_model::{Diagnostic, codes};
use eos_secrets::Secret;

/// Refuses a secret that is the kind or the name of what it is for. `what` is how it was given.
pub fn refuse(what: &str, secret: &Secret, kind: &str, name: &str) -> Result<(), Diagnostic> {
    // What is not PEM ends up on one line of a file, a variable or a URL.
    if secret.expose().contains(['\n', '\r']) && !secret.expose().starts_with("-----BEGIN ") {
        return Err(Diagnostic::error(codes::BAD_VALUE, format!("{what} has several lines"))
            .why("a password or key is one line: where it is used, what stands behind it would be a setting of its own")
            .fix("give one line; only keys and certificates in PEM have several. JSON fits on one: jq -c . file"));
    }
    if secret.expose().contains(|c: char| c.is_control() && !"\n\r\t".contains(c)) {
        return Err(Diagnostic::error(codes::BAD_VALUE, format!("{what} has a character that cannot be seen"))
            .why("no variable of a program can hold it, or nobody could type it again: it came from a key or a file by mistake")
            .fix("nothing was recorded; give it without, or of bytes that are no text their base64"));
    }
    if ![kind, name].contains(&secret.expose()) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::BAD_VALUE, format!("{what} is the very name of what it is for"))
        .why("that is the first thing anybody tries, and it stands in every command and file about it")
        .fix("nothing was recorded; left out, eos makes one up where it can"))
}
