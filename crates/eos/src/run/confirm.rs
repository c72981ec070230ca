//! The question before anything changes. Without a terminal nobody is asked and nothing happens; Ctrl-C is a no.

use std::io::{BufRead as _, Write as _};

use eos_model::{Diagnostic, codes};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::interrupt;
use crate::context::Context;

/// How soon a Ctrl-C at the question is seen.
const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

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
    let _asking = interrupt::Asking::begin();
    let mut line = String::new();
    let read = if is_answered() { std::io::stdin().lock().read_line(&mut line).unwrap_or(0) } else { 0 };
    if read == 0 {
        let _ = writeln!(stderr);
    }
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Waits for a line, or for a Ctrl-C that means no. Once signals are watched for, a Ctrl-C alone ends no read.
fn is_answered() -> bool {
    let stdin = std::io::stdin();
    loop {
        if interrupt::was_asked_to_stop() {
            return false;
        }
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&MOMENT));
        match ready {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // A line, the end of the input, or something that reading will tell.
            _ => return !interrupt::was_asked_to_stop(),
        }
    }
}
