//! `--dry-run`: what a change would do to the pillar and to every artifact, shown and not written.
//!
//! One function for every command that changes an estate, so that they all show the same.

use eos_model::EnvName;
use eos_pillar::Change;
use serde_json::{Value as Json, json};

use crate::build_folder;
use crate::context::Context;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::Prepared;
use crate::views::diff;
use crate::views::plan::counted;
use crate::views::style::Style;
use crate::views::wrap::below;

/// The differences, then `notes` a line each, then how much would change.
pub fn show(
    context: &Context,
    loaded: &Loaded,
    env: &EnvName,
    prepared: &Prepared,
    notes: &[String],
) -> Outcome {
    let mut text = String::new();
    let (pillar, others) = changes(context, loaded, &prepared.change, &mut text);
    let changed = build_folder::compare(&loaded.estate.root, env, &prepared.compiled.files);
    let mut artifacts = Vec::new();
    for path in changed.added.iter().chain(&changed.changed).chain(&changed.removed) {
        let before = fs_err::read(loaded.estate.root.join(path)).unwrap_or_default();
        let after = prepared.compiled.files.get(path).map(Vec::as_slice);
        artifacts.push(difference(context, &mut text, path, &before, after));
    }
    for other in &others {
        let would = if other["removed"] == true { "removed" } else { "written" };
        text.push_str(&told(
            other["path"].as_str().unwrap_or_default(),
            &format!("would be {would}"),
            context,
        ));
    }
    for note in notes {
        text.push_str(&below("", "", note, context.width, 2));
    }
    text.push_str(&format!(
        "Dry run: {} pillar file(s) and {} artifact(s) would change. Nothing was written.\n",
        pillar.len(),
        artifacts.len()
    ));
    Outcome::new(
        text,
        json!({"dry_run": true, "pillar": pillar, "artifacts": artifacts, "files": others, "notes": notes}),
    )
}

/// The differences of a change itself: of the pillar, shown, and of other files, named.
pub fn changes(
    context: &Context,
    loaded: &Loaded,
    change: &Change,
    text: &mut String,
) -> (Vec<Json>, Vec<Json>) {
    let mut pillar = Vec::new();
    let mut others = Vec::new();
    for (path, after) in &change.files {
        let there = loaded.tree.get(path).unwrap_or_default();
        if path.starts_with("pillar") {
            if there != after.as_deref().unwrap_or_default() {
                pillar.push(difference(context, text, path.as_str(), there, after.as_deref()));
            }
        } else {
            // Secrets are encrypted and the lock is digests: that they change is all there is to see.
            others.push(json!({"path": path, "removed": after.is_none()}));
        }
    }
    (pillar, others)
}

/// What becomes of a file, beside its path, or below one that leaves no room.
fn told(path: &str, what: &str, context: &Context) -> String {
    let beside = path.chars().count() + 1 + what.chars().count() <= context.table_width;
    format!("{path}{}{what}\n", if beside { " " } else { "\n  " })
}

/// One file's difference, added to the text and given for `--json`. Of a file that goes away a person reads that it does,
/// not every line of it; of where lines are from, that it changes with them; and of long lines what changes in them.
fn difference(context: &Context, text: &mut String, path: &str, before: &[u8], after: Option<&[u8]>) -> Json {
    let plain = diff::unified(path, before, after.unwrap_or_default(), Style(false), usize::MAX);
    match after {
        None => {
            let lines = counted(String::from_utf8_lossy(before).lines().count(), "line");
            text.push_str(&told(path, &format!("would be removed ({lines})"), context));
        }
        Some(_) if path.ends_with("/provenance.json") => {
            text.push_str(&told(path, "would be written (--json shows it)", context));
        }
        Some(after) => {
            let style = Style(context.color_stdout);
            text.push_str(&diff::unified(path, before, after, style, diff::LONGEST));
        }
    }
    json!({"path": path, "diff": plain})
}
