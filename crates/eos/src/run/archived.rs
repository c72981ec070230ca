//! Bytes that another clone applied: compiled again from the commit they were applied from, and taken only when they are the
//! very same. Without them nothing of such a unit could be taken away, looked at or brought back from here.

use std::collections::BTreeSet;

use eos_engine::{Applied, Archive, Digest, Layout};
use eos_model::{Diagnostic, EnvName, Name, UnitId};

use crate::loaded::Loaded;

/// What cannot be made again stays missing; whoever needs it says so.
pub fn complete(
    loaded: &Loaded,
    layout: &Layout,
    applied: &Applied<'_>,
    env: &EnvName,
) -> Result<(), Diagnostic> {
    let archive = Archive::new(layout);
    let mut missing: BTreeSet<(Name, Digest)> = BTreeSet::new();
    let mut commits: BTreeSet<String> = BTreeSet::new();
    let mut need = |name: &Name, digest: &Digest, commit: Option<&String>| {
        let id = UnitId { env: env.clone(), name: name.clone() };
        if archive.read(&id, digest).is_err() {
            missing.insert((name.clone(), digest.clone()));
            commits.extend(commit.cloned());
        }
    };
    for (name, unit) in applied.units(env)? {
        unit.digests().for_each(|digest| need(&name, digest, Some(&unit.commit)));
    }
    for (name, kept) in applied.kept(env)? {
        for object in &kept.objects {
            object.digest.iter().for_each(|digest| need(&name, digest, object.commit.as_ref()));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    commits.extend(applied.environment(env)?.map(|last| last.commit));
    for commit in commits {
        let Ok(change) = loaded.estate.git.change_back_to(&commit) else { continue };
        let Ok(compiled) = loaded.compile(&loaded.tree.with(&change), env) else { continue };
        let Ok(then) = super::units(env, &compiled.files) else { continue };
        for (name, digest) in &missing {
            if let Some(same) = then.units.get(name).filter(|then| then.digest == *digest) {
                archive.keep(same)?;
            }
        }
    }
    Ok(())
}
