//! `eos adopt`: bring a Nomad job that runs already under eos. It keeps its id; its settings come from the catalogue and
//! the flags, and the plan shows in what that differs from what runs.

use clap::{Arg, ArgMatches, Command};
use eos_model::{Diagnostic, Diagnostics, codes};

use super::{Call, catalog_here, create};
use crate::args::spoken;
use crate::outcome::Outcome;

/// What can be adopted.
const JOB: &str = "nomad-job/";

pub fn command(command: Command, call: &Call<'_>) -> Result<Command, Diagnostics> {
    let command = command
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommand_value_name("KIND")
        .override_usage("eos adopt nomad-job/<ID> <KIND> [NAME] [FLAGS]")
        .arg(
            Arg::new("object")
                .value_name("OBJECT")
                .required(true)
                .help("nomad-job/<id> of the job that runs"),
        )
        .after_help("Example:\n  eos adopt nomad-job/old-redis redis --port 6380");
    match spoken::bare_words(call.words).get(2) {
        Some(word) => Ok(command.subcommand(create::kind_command(&catalog_here(call.context)?, word)?)),
        None => Ok(command),
    }
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let object = matches.get_one::<String>("object").map_or("", String::as_str);
    let Some(job) = object.strip_prefix(JOB).filter(|job| !job.is_empty()) else {
        return Err(Diagnostic::error(codes::USAGE, format!("{object:?} is nothing that can be adopted"))
            .why("eos adopts Nomad jobs, named by their id")
            .fix("eos adopt nomad-job/old-redis redis")
            .into());
    };
    let Some((kind, inner)) = matches.subcommand() else { return Ok(Outcome::default()) };
    create::create(call, inner, kind, Some(job))
}
