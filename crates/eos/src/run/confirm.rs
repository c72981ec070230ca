//! The question before anything changes. Without a terminal nobody is asked and nothing happens.

use std::io::{BufRead as _, Write as _};

use eos_model::{Diagnostic, codes};

use crate::context::Context;

/// Whether the person agrees. `retry` is the command that needs no answer.
pub fn ask(context: &Context, question: &str, retry: &str) -> Result<bool, Diagnostic> {
    if !context.interactive || context.json {
        return Err(Diagnostic::error(codes::NO_TERMINAL, "nobody is there to agree to the plan")
            .why("there is no terminal to ask at, and nothing changes without a yes")
            .fix(retry.to_owned()));
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).unwrap_or(0);
    if read == 0 {
        let _ = writeln!(stderr);
    }
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
