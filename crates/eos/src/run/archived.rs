//! Bytes that another clone applied: compiled again from the commit they were applied from, and taken only when they are the
//! very same. Without them nothing of such a unit could be taken away, looked at or brought back from here.

use std::collections::BTreeMap;

use eos_engine::{Applied, AppliedUnit, Archive, Layout};
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
    let last = applied.environment(env)?.map(|last| last.commit);
    let units = applied.units(env)?;
    let missing = units.iter().filter(|(name, unit)| {
        let id = UnitId { env: env.clone(), name: (*name).clone() };
        digests(unit).any(|digest| archive.read(&id, digest).is_err())
    });
    let missing: BTreeMap<&Name, &AppliedUnit> = missing.collect();
    let mut commits: Vec<&String> = missing.values().map(|unit| &unit.commit).chain(&last).collect();
    commits.sort();
    commits.dedup();
    for commit in commits.into_iter().filter(|_| !missing.is_empty()) {
        let Ok(change) = loaded.estate.git.change_back_to(commit) else { continue };
        let Ok(compiled) = loaded.compile(&loaded.tree.with(&change), env) else { continue };
        let Ok(then) = super::units(env, &compiled.files) else { continue };
        for (name, unit) in &missing {
            if let Some(same) =
                then.units.get(*name).filter(|then| digests(unit).any(|digest| *digest == then.digest))
            {
                archive.keep(same)?;
            }
        }
    }
    Ok(())
}

fn digests(unit: &AppliedUnit) -> impl Iterator<Item = &eos_engine::unit::Digest> {
    unit.digest.iter().chain(unit.attempt.iter().map(|attempt| &attempt.digest))
}
