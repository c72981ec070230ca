//! `eos upgrade`: pins this eos's catalogue and tools in place of the ones the estate has, after showing what changes.

use clap::{ArgMatches, Command};
use eos_catalog::{Catalog, Folder, Origin};
use eos_compile::COMPILER;
use eos_model::Diagnostics;
use eos_pillar::Change;
use eos_pillar::lock_file::{LOCK_FILE, VENDORED_CATALOG};
use serde_json::json;

use super::{Call, init, tools};
use crate::args;
use crate::build_folder;
use crate::loaded::{Loaded, pin};
use crate::outcome::Outcome;
use crate::recording::{self, Message};
use crate::views::diff;
use crate::views::style::Style;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .args(args::recording())
        .after_help("Examples:\n  eos upgrade --dry-run\n  eos upgrade --because \"new grafana\""))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let built_in = Folder::built_in();
    let mut lock = loaded.estate.lock.clone();
    let mut change = Change::default();
    let mut kinds = Vec::new();
    for (kind, digest) in &mut lock.catalog {
        let Some(folder) = built_in.get(kind) else { continue };
        if folder.digest() == *digest {
            continue;
        }
        *digest = folder.digest();
        kinds.push(kind.clone());
        if let Ok(old) = Folder::read(&loaded.estate.root.join(VENDORED_CATALOG).join(kind)) {
            old.files.keys().for_each(|path| change.remove(format!("{VENDORED_CATALOG}/{kind}/{path}")));
        }
        for (path, bytes) in &folder.files {
            change.write(format!("{VENDORED_CATALOG}/{kind}/{path}"), bytes.to_vec());
        }
    }
    // Kinds that were written by hand are used too.
    for env in loaded.estate.file.environments.keys() {
        for entry in loaded.environment(env)?.components.values() {
            if !lock.catalog.contains_key(&entry.kind)
                && loaded.catalog.origin(&entry.kind) == Some(Origin::BuiltIn)
            {
                kinds.push(entry.kind.clone());
                pin(&loaded.catalog, &mut lock, &mut change, &entry.kind);
            }
        }
    }
    lock.compiler = COMPILER;
    lock.estate = lock.estate.or_else(|| init::new_id(call.context));
    lock.tools = tools::pinned_versions(call.context, &loaded.estate.file.executor);
    if lock == loaded.estate.lock {
        return Ok(Outcome::new(
            "The estate has this eos's catalogue and tools already.\n",
            json!({"kinds": [], "changed": false}),
        ));
    }
    change.write(LOCK_FILE, lock.write());
    let own = Folder::below(&loaded.estate.root.join("catalog")).unwrap_or_default();
    loaded.catalog = Catalog::from_layers([(Origin::BuiltIn, built_in), (Origin::Estate, own)]);
    loaded.estate.lock = lock;
    let style = Style(call.context.color_stdout);
    let mut text = String::new();
    let mut compiled = Vec::new();
    let mut changed_files = Vec::new();
    for env in loaded.estate.file.environments.keys().cloned().collect::<Vec<_>>() {
        let result = loaded.compile(&loaded.tree, &env)?;
        let difference = build_folder::compare(&loaded.estate.root, &env, &result.files);
        for path in difference.changed.iter().chain(&difference.added).chain(&difference.removed) {
            let before = fs_err::read(loaded.estate.root.join(path)).unwrap_or_default();
            let after = result.files.get(path).map(Vec::as_slice).unwrap_or_default();
            text.push_str(&diff::unified(path.as_str(), &before, after, style, diff::LONGEST));
            changed_files.push(path.clone());
        }
        compiled.push((env, result));
    }
    let what = if kinds.is_empty() { "tools and compiler".to_owned() } else { kinds.join(", ") };
    if matches.get_flag("dry-run") {
        text.push_str(&format!(
            "Dry run: {what} would be upgraded, {} artifact(s) would change. Nothing was written.\n",
            changed_files.len()
        ));
        return Ok(Outcome::new(text, json!({"dry_run": true, "kinds": kinds, "artifacts": changed_files})));
    }
    let message = Message::new(call, matches, format!("upgrade {what}"));
    let said = message.trailers(call.context, loaded.estate.git.identity());
    let commit = loaded.estate.commit(&change, &said)?;
    for (env, result) in &compiled {
        build_folder::sync(&loaded.estate.root, env, &result.files)
            .map_err(|problem| recording::only_build_is_behind(problem, env, commit.as_deref(), false))?;
    }
    text.push_str(&format!("Upgraded {what}; {} artifact(s) changed.\n", changed_files.len()));
    Ok(Outcome::new(text, json!({"kinds": kinds, "artifacts": changed_files, "commit": commit})))
}
