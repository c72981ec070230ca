//! What happens to things after they are made: changed, deleted, made again, withdrawn.
#![allow(clippy::unwrap_used)]

mod support;

#[path = "lifecycle/build.rs"]
mod build;
#[path = "lifecycle/completion.rs"]
mod completion;
#[path = "lifecycle/hosts.rs"]
mod hosts;
#[path = "lifecycle/kinds.rs"]
mod kinds;
#[path = "lifecycle/made_again.rs"]
mod made_again;
#[path = "lifecycle/names.rs"]
mod names;
#[path = "lifecycle/operations.rs"]
mod operations;
#[path = "lifecycle/recording.rs"]
mod recording;
#[path = "lifecycle/said.rs"]
mod said;
#[path = "lifecycle/secrets.rs"]
mod secrets;
#[path = "lifecycle/typed.rs"]
mod typed;
#[path = "lifecycle/widths.rs"]
mod widths;

use std::io::Write as _;
use std::process::Stdio;

use support::{Run, Sandbox};

fn refused(run: &Run, exit: i32, code: &str) {
    assert_eq!(run.code, exit, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(code), "{}", run.stderr);
}

fn piped(sandbox: &Sandbox, args: &[&str], input: &str) -> Run {
    let mut child = sandbox
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Run::from(child.wait_with_output().unwrap())
}
