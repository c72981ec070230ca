//! `eos explain`: the page of an error code.

use clap::{Arg, ArgMatches, Command};
use eos_model::{Diagnostic, Diagnostics, codes};
use serde_json::json;

use super::Call;
use crate::outcome::Outcome;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("code").value_name("CODE").help("Such as E0404; all codes if not given"))
        .after_help("Examples:\n  eos explain E0404\n  eos explain"))
}

pub fn run(_: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let Some(code) = matches.get_one::<String>("code") else {
        let text: String =
            codes::PAGES.iter().map(|page| format!("{}  {}\n", page.code, page.title())).collect();
        let all: Vec<_> =
            codes::PAGES.iter().map(|page| json!({"code": page.code, "title": page.title()})).collect();
        return Ok(Outcome::new(text, json!({ "codes": all })));
    };
    let page = codes::find(code).ok_or_else(|| {
        Diagnostic::error(codes::USAGE, format!("there is no code {code:?}")).fix("eos explain lists them")
    })?;
    Ok(Outcome::new(page.text, json!({"code": page.code, "title": page.title(), "text": page.text})))
}
