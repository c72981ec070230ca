//! What taking a run back means for the pillar: each unit of the run is asked for as it was when it was last applied before
//! the run, or no longer where the run made it. Whatever else was recorded meanwhile stays, by whomever.
//!
//! What a unit is asked for is its own file. Somebody's own YAML and a host's file may speak of several: they go back only
//! where the units of the run come out as they were, and nothing else changes. Compiling tells.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use eos_compile::OPERATIONS;
use eos_compile::intent::{component_path, holds_data, ours};
use eos_engine::record::{Begun, Goal, Intended};
use eos_engine::{AppliedUnit, Digest, Run, Units};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};
use eos_pillar::{Change, Tree};

use crate::commands::delete::{readers, take_out};
use crate::loaded::Loaded;

/// The change that takes a run back in the pillar, or why that cannot be told apart from what else was recorded.
/// Units `without_data` leave none behind.
pub fn change_of(
    loaded: &Loaded,
    run: &Run,
    applied: &BTreeMap<Name, AppliedUnit>,
    without_data: &BTreeSet<Name>,
) -> Result<Change, Diagnostics> {
    let begun = &run.begun;
    let change = own_entries(loaded, begun, without_data)?;
    let now = compiled(loaded, &loaded.tree, &begun.env);
    let after = compiled(loaded, &loaded.tree.with(&change), &begun.env);
    let (now, after) = match (now, after) {
        (Ok(now), Ok(after)) => (now, after),
        // Somebody's mistake is no reason not to take a run back; it must not become another one by that.
        (Err(now), Err(after)) if after.0.iter().all(|one| has(&now, one)) => return Ok(change),
        (Err(_), Ok(_)) => return Ok(change),
        (_, Err(after)) => return Err(breaks(begun, after)),
    };
    refuse_others_changed(begun, &now, &after, applied)?;
    let unlike = unlike_before(begun, &after);
    if unlike.is_empty() {
        return Ok(change);
    }
    let common = common_files(loaded, begun)?;
    let with_common = |files: &BTreeMap<Utf8PathBuf, Option<Vec<u8>>>| {
        let mut change = change.clone();
        change.files.extend(files.clone());
        change
    };
    let fits = |files: &BTreeMap<Utf8PathBuf, Option<Vec<u8>>>| {
        let tree = loaded.tree.with(&with_common(files));
        let same = |then: &Units| others(begun, &now).eq(others(begun, then));
        compiled(loaded, &tree, &begun.env)
            .is_ok_and(|then| unlike_before(begun, &then).is_empty() && same(&then))
            && keeps_hosts(loaded, &tree, &begun.env)
    };
    if !common.is_empty() && fits(&common) {
        let mut needed = common.clone();
        for path in common.keys() {
            let content = needed.remove(path);
            if !fits(&needed) {
                needed.extend(content.map(|content| (path.clone(), content)));
            }
        }
        return Ok(with_common(&needed));
    }
    if let Some(gone) = unlike.iter().find(|name| !after.units.contains_key(**name)) {
        return Err(inseparable(begun, format!("what {gone} was is no longer in the pillar"))
            .why("its data was purged, or somebody took its entry out of a file of their own")
            .fix(format!("eos create makes {gone} anew"))
            .into());
    }
    let back = compiled(loaded, &loaded.tree.with(&with_common(&common)), &begun.env);
    if back.is_ok_and(|back| unlike_before(begun, &back) == unlike) {
        // Not the pillar: the catalogue or a setting of the estate. Those are not the run's.
        return Ok(change);
    }
    let files: Vec<&str> = common.keys().map(|path| path.as_str()).collect();
    let names: Vec<&str> = unlike.iter().map(|name| name.as_str()).collect();
    Err(inseparable(begun, format!("{} says what {} is, and more", files.join(", "), names.join(", ")))
        .why("what else it says would be taken back too")
        .fix("bring it to what it said before by hand, git commit it, then eos apply")
        .into())
}

/// Hosts that a change would no longer declare although something stands on them; their files are left out of it.
pub fn hold_hosts(
    loaded: &Loaded,
    env: &EnvName,
    change: &mut Change,
    stands: &dyn Fn(&str) -> Vec<String>,
) -> Vec<String> {
    let Ok(now) = loaded.environment(env) else { return Vec::new() };
    // A tree that cannot be read is told of when it is compiled.
    let Ok(then) = loaded.tree.with(change).environment(env) else { return Vec::new() };
    let mut notes = Vec::new();
    for (name, host) in now.hosts.iter().filter(|(name, _)| !then.hosts.contains_key(*name)) {
        let path = eos_compile::intent::host_path(name);
        if host.environment != env.as_str() {
            change.files.remove(&path);
            continue;
        }
        let on_it = stands(name.as_str());
        if !on_it.is_empty() && change.files.remove(&path).is_some() {
            notes.push(format!(
                "host {name} stays declared, since {} stands on it; once nothing does: eos delete host {name}",
                on_it.join(", ")
            ));
        }
    }
    notes
}

/// The entries of the run's units, and what opens them.
fn own_entries(loaded: &Loaded, begun: &Begun, without_data: &BTreeSet<Name>) -> Result<Change, Diagnostics> {
    let git = &loaded.estate.git;
    let mut change = Change::default();
    let mut found = Diagnostics::new();
    for (name, intended) in &begun.units {
        let before = complete(intended);
        // Its bytes are those it had: it was brought back to what the pillar said all along. Where only its record changes, the
        // pillar does, too: it needs somebody else.
        let is_as_before = intended.goal == Goal::Present && past(intended) == Some(&intended.digest);
        if is_as_before && !intended.record_only {
            continue;
        }
        for path in paths_of(loaded, begun, name, before)? {
            let now = loaded.tree.get(&path).map(<[u8]>::to_vec);
            let then = match before {
                Some(before) => git.file_at(&before.commit, &path)?,
                None => before_it_was_asked_for(loaded, &begun.commit, &path, name)?,
            };
            if now == then {
                continue;
            }
            if now != git.file_at(&begun.commit, &path)? {
                found.push(
                    inseparable(begun, format!("{path} was changed since that run began"))
                        .why("taking the run back would take those changes back as well")
                        .fix("eos history shows them; eos rollback <commit> goes back to a commit of your choice"),
                );
                continue;
            }
            if then.is_none() && before.is_none() {
                drop_secrets(loaded, begun, name, without_data, &mut change)?;
            }
            let leaves_data = before.is_none() && !without_data.contains(name);
            if leaves_data && remember(loaded, begun, name, &path, &mut change) {
                continue;
            }
            change.files.insert(path, then);
        }
        let folder = format!("{}/{}/{name}/", eos_secrets::FOLDER, begun.env);
        for path in before.map_or(Ok(Vec::new()), |before| git.paths_at(&before.commit, &folder))? {
            if loaded.estate.root.join(&path).exists() {
                continue;
            }
            if git.file_at(&begun.commit, &path)?.is_some() {
                found.push(
                    inseparable(begun, format!("secrets of {name} were taken away since that run"))
                        .why("what was purged does not come back")
                        .fix(format!("eos create makes {name} anew, with new secrets")),
                );
                break;
            }
            let bytes = before.map_or(Ok(None), |before| git.file_at(&before.commit, &path))?;
            change.files.insert(path, bytes);
        }
    }
    if found.is_empty() { Ok(change) } else { Err(found) }
}

/// The secrets that came with a name go with it, unless data stays that they open. As `eos delete` has it.
fn drop_secrets(
    loaded: &Loaded,
    begun: &Begun,
    name: &Name,
    without_data: &BTreeSet<Name>,
    change: &mut Change,
) -> Result<(), Diagnostics> {
    // A pillar that cannot be read is told of when it is compiled.
    let Ok(environment) = loaded.environment(&begun.env) else { return Ok(()) };
    let Some(entry) = environment.components.get(name) else { return Ok(()) };
    if holds_data(&loaded.catalog, entry) && !without_data.contains(name) {
        return Ok(());
    }
    for reference in loaded.secrets()? {
        let path = eos_secrets::file_of(&reference);
        let is_its = reference.env == begun.env && reference.name == *name;
        let was_there = match &begun.before {
            Some(commit) if is_its => loaded.estate.git.file_at(commit, &path)?.is_some(),
            _ => false,
        };
        if is_its && !was_there && readers(loaded, &begun.env, name, &reference).is_empty() {
            change.remove(path);
        }
    }
    Ok(())
}

/// Where the data of a name stays the pillar says where, and what made it: one made again must go back there. As `eos
/// delete` has it. Gives whether there is something to remember.
fn remember(loaded: &Loaded, begun: &Begun, name: &Name, path: &Utf8Path, change: &mut Change) -> bool {
    let Ok(environment) = loaded.environment(&begun.env) else { return false };
    let entry = environment.components.get(name);
    entry.is_some_and(|entry| !take_out(loaded, entry, path.to_owned(), change).is_empty())
}

/// The files that eos keeps of a unit.
fn paths_of(
    loaded: &Loaded,
    begun: &Begun,
    name: &Name,
    before: Option<&AppliedUnit>,
) -> Result<Vec<Utf8PathBuf>, Diagnostic> {
    if name.as_str() != OPERATIONS {
        return Ok(vec![component_path(&begun.env, name)]);
    }
    let folder = format!("pillar/operations/{}/", begun.env);
    let mut paths = loaded.estate.git.paths_at(&begun.commit, &folder)?;
    if let Some(before) = before {
        paths.extend(loaded.estate.git.paths_at(&before.commit, &folder)?);
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// What its file said before it said that a unit is wanted: nothing, or where its data was kept.
fn before_it_was_asked_for(
    loaded: &Loaded,
    commit: &str,
    path: &Utf8Path,
    name: &Name,
) -> Result<Option<Vec<u8>>, Diagnostic> {
    let asks = |bytes: &[u8]| {
        let document = eos_yaml::parse(path, bytes).ok();
        let entry =
            document.as_ref().and_then(|it| it.root.get("eos")?.get("components")?.get(name.as_str()));
        entry.is_some()
    };
    let mut found = None;
    loaded.estate.git.versions_before(commit, path, |bytes| match bytes {
        Some(bytes) if asks(bytes) => true,
        other => {
            found = other.map(<[u8]>::to_vec);
            false
        }
    })?;
    Ok(found)
}

/// Files that more than one unit may hang on and that changed for this run, as they were before it. A host that was
/// declared meanwhile stays.
fn common_files(
    loaded: &Loaded,
    begun: &Begun,
) -> Result<BTreeMap<Utf8PathBuf, Option<Vec<u8>>>, Diagnostic> {
    let git = &loaded.estate.git;
    let base = match &begun.before {
        Some(commit) => commit.clone(),
        None => git.first_commit(&begun.commit)?,
    };
    let mut paths: BTreeSet<Utf8PathBuf> = git.paths_at(&base, "pillar/")?.into_iter().collect();
    paths.extend(git.paths_at(&begun.commit, "pillar/")?);
    let elsewhere = |path: &Utf8Path| {
        let folder = path.components().nth(2).map(|folder| folder.as_str().to_owned());
        let of_other = |env: &EnvName| folder.as_deref() == Some(env.as_str()) && *env != begun.env;
        path.components().count() > 3 && loaded.estate.file.environments.keys().any(of_other)
    };
    let mut files = BTreeMap::new();
    for path in paths {
        let (then, ran) = (git.file_at(&base, &path)?, git.file_at(&begun.commit, &path)?);
        // One a name: those of the run are seen to, the others are no part of it.
        let entry = path.starts_with("pillar/infrastructure") || path.starts_with("pillar/operations");
        let is_own = entry && ran.as_ref().or(then.as_ref()).is_some_and(|bytes| ours(&path, bytes));
        let new_host = path.starts_with("pillar/hosts") && then.is_none();
        let untouched = loaded.tree.get(&path) == ran.as_deref();
        if then != ran && untouched && !(is_own || new_host || elsewhere(&path)) {
            files.insert(path, then);
        }
    }
    Ok(files)
}

/// Units of the run that would be asked for otherwise than they were before it.
fn unlike_before<'b>(begun: &'b Begun, then: &Units) -> Vec<&'b Name> {
    let is_like =
        |name: &Name, intended: &Intended| then.units.get(name).map(|unit| &unit.digest) == past(intended);
    begun.units.iter().filter(|(name, unit)| !is_like(name, unit)).map(|(name, _)| name).collect()
}

/// What is not the run's must neither come nor go by taking it back, nor change where it is applied as it is.
fn refuse_others_changed(
    begun: &Begun,
    now: &Units,
    after: &Units,
    applied: &BTreeMap<Name, AppliedUnit>,
) -> Result<(), Diagnostic> {
    let (now, after): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (others(begun, now).collect(), others(begun, after).collect());
    let is_applied =
        |name: &Name, digest| applied.get(name).is_some_and(|unit| unit.digest.as_ref() == Some(digest));
    let is_hit = |name: &Name| match (now.get(name), after.get(name)) {
        (Some(now), Some(after)) => now != after && is_applied(name, now),
        _ => true,
    };
    let names: BTreeSet<&Name> = now.keys().chain(after.keys()).copied().collect();
    let hit: Vec<&str> = names.into_iter().filter(|name| is_hit(name)).map(|name| name.as_str()).collect();
    if hit.is_empty() {
        return Ok(());
    }
    Err(inseparable(begun, format!("{} would change with it", hit.join(", ")))
        .why("that is no part of the run, and was recorded or applied apart from it")
        .fix("eos update or eos delete changes what is not wanted; eos rollback <commit> goes back to a commit"))
}

fn others<'u>(begun: &'u Begun, units: &'u Units) -> impl Iterator<Item = (&'u Name, &'u Digest)> {
    let others = units.units.iter().filter(|(name, _)| !begun.units.contains_key(*name));
    others.map(|(name, unit)| (name, &unit.digest))
}

/// A unit is taken back on its host: that has to stay declared.
fn keeps_hosts(loaded: &Loaded, tree: &Tree, env: &EnvName) -> bool {
    match (loaded.environment(env), tree.environment(env)) {
        (Ok(now), Ok(then)) => now.hosts.keys().all(|name| then.hosts.contains_key(name)),
        _ => false,
    }
}

/// The unit as it was applied to its end before the run.
fn complete(intended: &Intended) -> Option<&AppliedUnit> {
    intended.before.as_ref().filter(|before| before.digest.is_some())
}

fn past(intended: &Intended) -> Option<&Digest> {
    complete(intended).and_then(|before| before.digest.as_ref())
}

fn compiled(loaded: &Loaded, tree: &Tree, env: &EnvName) -> Result<Units, Diagnostics> {
    super::units(env, &loaded.compile(tree, env)?.files)
}

fn has(found: &Diagnostics, one: &Diagnostic) -> bool {
    found.0.iter().any(|other| other.message == one.message)
}

fn breaks(begun: &Begun, mut found: Diagnostics) -> Diagnostics {
    let first = found.0.first().map_or_else(String::new, |first| first.message.clone());
    found.0.insert(
        0,
        inseparable(begun, first)
            .why("something else that is recorded builds on what the run did")
            .fix("delete or change that first; eos rollback <commit> goes back to a commit of your choice"),
    );
    found
}

fn inseparable(begun: &Begun, reason: String) -> Diagnostic {
    Diagnostic::error(codes::HEAD_MOVED, format!("run {} cannot be taken back alone: {reason}", begun.run))
}
