//! Asking a person. Without a terminal a secret comes from stdin, and a question is refused, never left hanging.

use std::io::{BufRead as _, Write as _};

use eos_model::{Diagnostic, codes};
use eos_secrets::Secret;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::context::Context;

/// A secret: typed without echo, or the first line of stdin. `command` is what it may be piped into.
pub fn secret(context: &Context, what: &str, command: &str) -> Result<Secret, Diagnostic> {
    let stdin = std::io::stdin();
    let mut line = String::new();
    if context.interactive {
        let _ = write!(std::io::stderr(), "{what}: ");
        let _ = std::io::stderr().flush();
        let before = tcgetattr(&stdin).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(&stdin, OptionalActions::Flush, &quiet);
        }
        let read = stdin.lock().read_line(&mut line);
        if let Some(before) = before {
            let _ = tcsetattr(&stdin, OptionalActions::Flush, &before);
        }
        let _ = writeln!(std::io::stderr());
        read.map_err(|error| empty(what, command, &error.to_string()))?;
    } else {
        stdin.lock().read_line(&mut line).map_err(|error| empty(what, command, &error.to_string()))?;
    }
    let value = line.trim_end_matches(['\n', '\r']);
    if value.is_empty() {
        return Err(empty(what, command, "nothing came"));
    }
    Ok(Secret::new(value.to_owned()))
}

fn empty(what: &str, command: &str, problem: &str) -> Diagnostic {
    Diagnostic::error(codes::NO_TERMINAL, format!("{what} was to be read from stdin: {problem}"))
        .fix(format!("pipe it in: pass show {what} | {command}"))
}
