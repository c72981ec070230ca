//! `eos sync`: others' changes taken from the estate's remote and one's own given to it. It only moves forward.

use clap::{ArgMatches, Command};
use eos_model::{Diagnostic, Diagnostics, codes};
use eos_pillar::Estate;
use eos_pillar::git_remote::{Distance, Upstream};
use eos_pillar::history::Recorded;
use serde_json::json;

use super::Call;
use crate::args;
use crate::loaded::{self, Loaded};
use crate::outcome::Outcome;
use crate::views::table::shorten;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command.arg(args::dry_run()).after_help(
        "Where both sides have changes the other has not, nothing is moved: exit code 4.\n\nExamples:\n  eos sync\n  eos sync --dry-run",
    ))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let root = loaded::root(call.context)?;
    let dry = matches.get_flag("dry-run");
    let mut estate = Estate::open(&root)?;
    // Fetching and giving may take their time and may ask for a passphrase: nobody has to wait for that.
    estate.release();
    let upstream = estate.git.upstream()?;
    estate.git.fetch(&upstream)?;
    if !dry {
        estate = Estate::open_for_change(&root)?;
    }
    let distance = estate.git.distance(&upstream)?;
    refuse_diverged(&upstream, &distance)?;
    if !dry {
        if let (Some(there), false) = (&distance.there, distance.behind.is_empty()) {
            estate.git.fast_forward(there)?;
        }
        estate.release();
        if !distance.ahead.is_empty() {
            refuse_unsound(call)?;
        }
        if let Some(newest) = distance.ahead.first() {
            estate.git.push(&upstream, &newest.commit)?;
        }
    }
    let document = json!({
        "remote": upstream.remote, "branch": upstream.branch, "dry_run": dry,
        "taken": distance.behind, "given": distance.ahead,
    });
    Ok(Outcome::new(text(&upstream, &distance, dry, call.context.width), document))
}

/// What does not compile would be everybody's trouble.
fn refuse_unsound(call: &Call<'_>) -> Result<(), Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    loaded.estate.file.environments.keys().try_for_each(|env| loaded.compile_here(env).map(drop))
}

fn refuse_diverged(upstream: &Upstream, distance: &Distance) -> Result<(), Diagnostic> {
    if distance.ahead.is_empty() || distance.behind.is_empty() {
        return Ok(());
    }
    let Upstream { remote, branch } = upstream;
    Err(Diagnostic::error(
        codes::DIVERGED,
        format!(
            "{remote} has {} that you have not, and you have {} that it has not",
            changes(distance.behind.len()),
            changes(distance.ahead.len())
        ),
    )
    .why("which of two changes is meant is for people to say: eos neither merges nor rewrites what was recorded")
    .fix(format!("git merge {remote}/{branch} brings both together; then eos compile and eos sync")))
}

fn text(upstream: &Upstream, distance: &Distance, dry: bool, width: usize) -> String {
    let remote = &upstream.remote;
    let mut text = String::new();
    let mut part = |head: String, all: &[Recorded]| {
        if !all.is_empty() {
            text.push_str(&format!("{head}: {}.\n", changes(all.len())));
            text.push_str(&lines(all, width));
        }
    };
    let (took, gave) = if dry { ("Would take from", "Would give to") } else { ("Taken from", "Given to") };
    part(format!("{took} {remote}"), &distance.behind);
    part(format!("{gave} {remote}"), &distance.ahead);
    match (text.is_empty(), distance.behind.is_empty() || dry) {
        (true, _) => format!("Nothing to do: {remote} has what you have.\n"),
        (false, true) => text,
        (false, false) => text + "eos plan shows what that changes.\n",
    }
}

/// The newest few, a line each.
fn lines(all: &[Recorded], width: usize) -> String {
    const SHOWN: usize = 10;
    let line = |change: &Recorded| {
        let who = change.user.as_deref().unwrap_or(&change.author);
        let what = change.command.as_deref().unwrap_or(&change.subject);
        format!(
            "  {}\n",
            shorten(&format!("{}  {who}  {what}", &change.commit[..10]), width.saturating_sub(2))
        )
    };
    let mut text: String = all.iter().take(SHOWN).map(line).collect();
    if all.len() > SHOWN {
        text.push_str(&format!("  … and {} more\n", all.len() - SHOWN));
    }
    text
}

fn changes(count: usize) -> String {
    format!("{count} change{}", if count == 1 { "" } else { "s" })
}
