//! `eos __state-key`: what tofu runs to get the key of state and plans. The key goes to tofu's pipe and nowhere else.

use std::io::Read as _;

use clap::{Arg, ArgMatches, Command};
use eos_model::{Diagnostic, Diagnostics, codes};
use eos_secrets::{Identity, STATE_KEY_FILE, read_state_key};
use serde_json::Value as Json;

use super::Call;
use crate::outcome::Outcome;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command.arg(Arg::new("estate").long("estate").required(true).value_name("DIR")))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let root = call.context.directory.join(matches.get_one::<String>("estate").map_or("", String::as_str));
    let identity = Identity::load(&call.context.identity_file)?;
    let Some(key) = read_state_key(&root, &identity)? else {
        return Err(Diagnostic::error(codes::CANNOT_READ, format!("there is no {STATE_KEY_FILE} in {root}"))
            .why("state and plans are encrypted with it, from the first run on")
            .fix("git log -- secrets shows the commit that had it")
            .into());
    };
    let mut request = Vec::new();
    let wrong = |why: String| Diagnostic::error(codes::USAGE, "this command is for tofu").why(why);
    std::io::stdin().take(1 << 20).read_to_end(&mut request).map_err(|error| wrong(error.to_string()))?;
    let answer = eos_tofu::state_key_response(&key, &request).map_err(|error| wrong(error.to_string()))?;
    Ok(Outcome::new(answer.to_string(), Json::Null))
}
