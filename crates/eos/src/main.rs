//! eos: the binary. It alone prints, prompts, reads the process's environment and exits.

mod args;
mod build_folder;
mod build_stamp;
mod commands;
mod context;
mod dry_run;
mod exit_code;
mod hints;
mod identity_place;
mod in_clear;
mod loaded;
mod mending;
mod outcome;
mod own_addresses;
mod own_file;
mod recording;
mod run;
mod secret_lines;
mod views;

use std::io::Write as _;
use std::process::ExitCode;

use context::Context;
use eos_model::{Diagnostic, codes};
use outcome::Outcome;

/// Compiling makes and drops a great many small values; the system's allocator took a third of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let variable = |name: &str| std::env::var(name).ok();
    if eos_provider::is_plugin(variable) {
        return provider(eos_provider::Settings::from_environment(variable));
    }
    let given: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<String> = given.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let context = Context::from_process(&words);
    // Read as something else, a password would be another one.
    let readable = given.iter().all(|word| word.to_str().is_some());
    let result = if readable { commands::run(&context, &words) } else { Err(not_utf8().into()) };
    let (mut outcome, code) = match result {
        Ok(outcome) => {
            let code = outcome.exit;
            (outcome, code)
        }
        Err(found) => {
            let code = exit_code::of(&found);
            (Outcome::refused(found), code)
        }
    };
    secret_lines::blank(&context, &mut outcome.diagnostics);
    match print(&context, &outcome) {
        // A closed pipe is no error; a full disk is: what was printed there is not there.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let _ = writeln!(std::io::stderr(), "eos: cannot write to standard output: {error}");
            ExitCode::from(if code == 0 { exit_code::FAILED } else { code })
        }
        _ => ExitCode::from(code),
    }
}

fn not_utf8() -> Diagnostic {
    Diagnostic::error(codes::USAGE, "a word of the command is not valid UTF-8")
        .fix("type it on a terminal whose locale is UTF-8")
}

/// The whole process when tofu has started it as its plugin; stdout is the handshake's, stderr ends in tofu's log.
fn provider(settings: eos_provider::Settings) -> ExitCode {
    match eos_provider::serve(settings, &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "eos provider: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Data goes to stdout, everything said about it to stderr.
fn print(context: &Context, outcome: &Outcome) -> std::io::Result<()> {
    let mut stdout = std::io::stdout();
    if context.json {
        writeln!(stdout, "{:#}", outcome.document())?;
        return stdout.flush();
    }
    let rendered = views::diagnostics::render(&outcome.diagnostics, context.width, context.color_stderr);
    let _ = std::io::stderr().write_all(rendered.as_bytes());
    stdout.write_all(outcome.text.as_bytes())?;
    stdout.flush()
}
