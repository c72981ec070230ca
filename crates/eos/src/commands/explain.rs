//! `eos explain`: the page of an error code, or a guide to what eos leaves for a person to do.

use clap::{Arg, ArgMatches, Command};
use eos_model::{Diagnostic, Diagnostics, codes};
use serde_json::json;

use super::Call;
use crate::outcome::Outcome;
use crate::views::page::fitting;

/// Guides by name.
pub const GUIDES: &[(&str, &str)] = &[("sso", include_str!("../../../../docs/sso.md"))];

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("code").value_name("CODE").help("Such as E0404, or sso; all of them if not given"))
        .after_help("Examples:\n  eos explain E0404\n  eos explain sso\n  eos explain"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let Some(code) = matches.get_one::<String>("code") else {
        let pages = codes::PAGES.iter().map(|page| format!("{}  {}\n", page.code, page.title()));
        let guides = GUIDES.iter().map(|(name, text)| format!("{name:<5}  {}\n", title(text)));
        let text: String = pages.chain(guides).collect();
        let all: Vec<_> =
            codes::PAGES.iter().map(|page| json!({"code": page.code, "title": page.title()})).collect();
        let guides: Vec<_> =
            GUIDES.iter().map(|(name, text)| json!({"guide": name, "title": title(text)})).collect();
        return Ok(Outcome::new(text, json!({"codes": all, "guides": guides})));
    };
    let width = call.context.width;
    if let Some((name, text)) = GUIDES.iter().find(|(name, _)| name == code) {
        return Ok(Outcome::new(
            fitting(text, width),
            json!({"guide": name, "title": title(text), "text": text}),
        ));
    }
    let page = codes::find(code).ok_or_else(|| {
        Diagnostic::error(codes::USAGE, format!("there is no code {code:?}")).fix("eos explain lists them")
    })?;
    Ok(Outcome::new(
        fitting(page.text, width),
        json!({"code": page.code, "title": page.title(), "text": page.text}),
    ))
}

/// The heading of a guide.
fn title(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches("# ")
}
