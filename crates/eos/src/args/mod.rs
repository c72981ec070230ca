//! Arguments: the global flags, and those that a component's schema brings.

pub mod component;
pub mod running;
pub mod spoken;
pub mod weak_secret;

use clap::{Arg, ArgAction, ArgMatches};
use eos_model::Diagnostic;

use crate::context::Context;

/// Flags every command has.
pub fn global() -> Vec<Arg> {
    vec![
        Arg::new("json")
            .long("json")
            .global(true)
            .action(ArgAction::SetTrue)
            .help("Print one JSON document instead of text")
            .help_heading("Global"),
        Arg::new("directory")
            .short('C')
            .long("directory")
            .global(true)
            .value_name("DIR")
            .help("Work in the estate DIR is in")
            .help_heading("Global"),
        Arg::new("env")
            .long("env")
            .short('e')
            .global(true)
            .value_name("ENV")
            .help("Environment; the estate's default if not given")
            .help_heading("Global"),
    ]
}

/// Flags of the commands that change the estate and then apply it.
pub fn changing() -> Vec<Arg> {
    let mut flags = recording();
    flags.extend(running::carrying_out());
    flags.extend(running::data());
    flags
}

/// Whether a change is only recorded and compiled: asked for once, or always on this machine.
pub fn stops_after_recording(context: &Context, matches: &ArgMatches) -> Result<bool, Diagnostic> {
    Ok(running::is_set(matches, "no-apply") || !context.applies()?)
}

pub fn dry_run() -> Arg {
    Arg::new("dry-run")
        .long("dry-run")
        .action(ArgAction::SetTrue)
        .help("Show what would change and write nothing")
        .help_heading("Recording")
}

/// Flags of the commands that change the estate.
pub fn recording() -> Vec<Arg> {
    vec![
        dry_run(),
        Arg::new("no-apply")
            .long("no-apply")
            .action(ArgAction::SetTrue)
            .help("Record and compile, and stop there")
            .help_heading("Recording"),
        Arg::new("because")
            .long("because")
            .value_name("REASON")
            .help("Why, for the history")
            .help_heading("Recording"),
    ]
}
