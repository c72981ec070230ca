//! Flags of the commands that plan and apply.

use std::collections::BTreeSet;

use clap::{Arg, ArgAction, ArgMatches};
use eos_engine::OnFailure;
use eos_model::{Diagnostic, Diagnostics, Name};

/// Which units, and how closely they are looked at.
pub fn choosing() -> Vec<Arg> {
    vec![
        Arg::new("only")
            .long("only")
            .value_name("NAME")
            .action(ArgAction::Append)
            .help("Only this unit; may be given again")
            .help_heading("Planning"),
        Arg::new("no-refresh")
            .long("no-refresh")
            .action(ArgAction::SetTrue)
            .help("Trust what was last seen; units that did not change are not looked at")
            .help_heading("Planning"),
        // As tofu spells it.
        Arg::new("refresh")
            .long("refresh")
            .value_name("BOOL")
            .value_parser(clap::value_parser!(bool))
            .hide(true),
    ]
    .into_iter()
    .chain(data())
    .collect()
}

/// Whether to look at units that did not change.
pub fn refreshes(matches: &ArgMatches) -> bool {
    let refresh = matches.try_get_one::<bool>("refresh").ok().flatten().copied();
    !is_set(matches, "no-refresh") && refresh.unwrap_or(true)
}

/// What becomes of data.
pub fn data() -> [Arg; 3] {
    let destroy = Arg::new("destroy-data")
        .long("destroy-data")
        .value_name("NAME")
        .action(ArgAction::Append)
        .value_delimiter(',')
        .help("The data of this name may be destroyed; without it data is always kept")
        .help_heading("Data");
    let anew = Arg::new("new-state")
        .long("new-state")
        .value_name("NAME")
        .action(ArgAction::Append)
        .value_delimiter(',')
        .help("The state of this name is lost for good: what tofu knew of it is forgotten")
        .help_heading("Data");
    [destroy, preserve_data().conflicts_with("destroy-data"), anew]
}

/// Accepted since people ask for it; it is the default.
pub fn preserve_data() -> Arg {
    Arg::new("preserve-data")
        .long("preserve-data")
        .action(ArgAction::SetTrue)
        .help("Keep data: this is the default")
        .help_heading("Data")
}

/// Whether to ask, and what to do about a failure.
pub fn carrying_out() -> Vec<Arg> {
    vec![
        Arg::new("yes")
            .long("yes")
            .short('y')
            .action(ArgAction::SetTrue)
            .help("Do not ask")
            .help_heading("Applying"),
        Arg::new("on-failure")
            .long("on-failure")
            .value_name("POLICY")
            .value_parser(["stop", "undo", "continue-independent"])
            .default_value("stop")
            .help("When a unit fails: begin nothing more, take back what was done, or go on with the rest")
            .help_heading("Applying"),
        Arg::new("looked-after")
            .long("looked-after")
            .action(ArgAction::SetTrue)
            .help("You have looked after what a run of another clone may have left behind")
            .help_heading("Applying"),
    ]
}

pub fn on_failure(matches: &ArgMatches) -> OnFailure {
    match matches.try_get_one::<String>("on-failure").ok().flatten().map(String::as_str) {
        Some("undo") => OnFailure::Undo,
        Some("continue-independent") => OnFailure::ContinueIndependent,
        _ => OnFailure::Stop,
    }
}

/// The names behind a flag that may be given again; every bad one is told.
pub fn names(matches: &ArgMatches, flag: &str) -> Result<BTreeSet<Name>, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut names = BTreeSet::new();
    for word in matches.try_get_many::<String>(flag).ok().flatten().into_iter().flatten() {
        match word.parse::<Name>() {
            Ok(name) => {
                names.insert(name);
            }
            Err(problem) => found.push(Diagnostic::from(problem)),
        }
    }
    if found.is_empty() { Ok(names) } else { Err(found) }
}

pub fn is_set(matches: &ArgMatches, flag: &str) -> bool {
    matches.try_get_one::<bool>(flag).ok().flatten().copied().unwrap_or(false)
}
