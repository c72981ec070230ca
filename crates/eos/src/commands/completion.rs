//! `eos completion`: a script that asks eos itself, so kinds, names and values are always the estate's own.

use clap::{Arg, ArgMatches, Command};
use eos_model::Diagnostics;
use serde_json::json;

use super::Call;
use crate::outcome::Outcome;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("shell").required(true).value_parser(["bash", "fish", "zsh"]))
        .after_help("Examples:\n  source <(eos completion bash)\n  eos completion zsh > ~/.zfunc/_eos\n  eos completion fish > ~/.config/fish/completions/eos.fish"))
}

pub fn run(_: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let shell = matches.get_one::<String>("shell").map_or("bash", String::as_str);
    let script = match shell {
        "fish" => FISH,
        "zsh" => ZSH,
        _ => BASH,
    };
    Ok(Outcome::new(script, json!({"shell": shell, "script": script})))
}

const BASH: &str = r#"_eos() {
  local IFS=$'\n'
  COMPREPLY=($(eos __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _eos eos
"#;

const ZSH: &str = r#"#compdef eos
_eos() {
  local -a found
  local line
  for line in ${(f)"$(eos __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  _describe eos found
}
# Loaded as a function this file is run to complete, and sourced it only says how.
if [ "$funcstack[1]" = _eos ]; then _eos "$@"; else compdef _eos eos; fi
"#;

const FISH: &str =
    "complete -c eos -f -a '(eos __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'\n";
