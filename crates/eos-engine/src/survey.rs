//! From a request to what is planned: compiled units, units that are no longer compiled, and what stands in the way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};

use crate::applied::AppliedUnit;
use crate::engine::Engine;
use crate::order::Needs;
use crate::outputs;
use crate::plan::{DestroyRequest, Look, PlanRequest, RunPlan};
use crate::planner::{Survey, Wanted};
use crate::record::Goal;
use crate::unit::{Unit, Units};

impl Engine<'_> {
    /// Plans the compiled units, and the removal of units that are applied and no longer compiled.
    pub fn plan(&self, request: &PlanRequest<'_>) -> Result<RunPlan, Diagnostics> {
        let env = &request.units.env;
        let applied = self.applied().units(env)?;
        // What another clone applied is published here too.
        for (name, record) in applied.iter().filter(|(_, record)| record.digest.is_some()) {
            outputs::publish(self.layout, &self.id(env, name), Some(record))?;
        }
        refuse_unknown(request.only, request.units, &applied)?;
        refuse_unapplied_needs(request, &applied)?;
        let is_asked = |name: &Name| request.only.is_none_or(|only| only.contains(name));
        let mut wanted: BTreeMap<Name, Wanted> = BTreeMap::new();
        for (name, unit) in request.units.units.iter().filter(|(name, _)| is_asked(name)) {
            wanted.insert(name.clone(), Wanted { unit: Arc::new(unit.clone()), goal: Goal::Present });
        }
        let orphans =
            applied.iter().filter(|(name, _)| is_asked(name) && !request.units.units.contains_key(*name));
        for (name, record) in orphans {
            wanted.insert(name.clone(), Wanted { unit: self.archived(env, name, record)?, goal: Goal::Gone });
        }
        self.plan_survey(&Survey {
            env,
            commit: request.commit,
            wanted,
            compiled: needs_of(request.units),
            kept: self.applied().kept(env)?,
            applied,
            look: request.look,
            destroy_data: request.destroy_data,
            adopt: request.adopt,
            new_state: request.new_state,
        })
    }

    /// Plans to take units away, dependents first, their data kept unless named.
    pub fn plan_destroy(&self, request: &DestroyRequest<'_>) -> Result<RunPlan, Diagnostics> {
        let applied = self.applied().units(request.env)?;
        let nothing = Units { env: request.env.clone(), units: BTreeMap::new() };
        refuse_unknown(request.only, &nothing, &applied)?;
        let is_asked = |name: &Name| request.only.is_none_or(|only| only.contains(name));
        refuse_still_needed(&applied, &is_asked)?;
        let mut wanted = BTreeMap::new();
        for (name, record) in applied.iter().filter(|(name, _)| is_asked(name)) {
            wanted.insert(
                name.clone(),
                Wanted { unit: self.archived(request.env, name, record)?, goal: Goal::Gone },
            );
        }
        self.plan_survey(&Survey {
            env: request.env,
            commit: request.commit,
            wanted,
            compiled: Needs::new(),
            kept: self.applied().kept(request.env)?,
            applied,
            look: Look::Everything,
            destroy_data: request.destroy_data,
            adopt: &BTreeMap::new(),
            new_state: request.new_state,
        })
    }

    /// The bytes a unit was applied with, or that a run began to apply.
    pub(crate) fn archived(
        &self,
        env: &EnvName,
        name: &Name,
        record: &AppliedUnit,
    ) -> Result<Arc<Unit>, Diagnostic> {
        let attempt = record.attempt.as_ref().map(|attempt| &attempt.digest);
        let digest = record.digest.as_ref().or(attempt).ok_or_else(|| {
            Diagnostic::error(
                codes::ARCHIVE,
                format!("nothing says which bytes {env}/{name} was applied with"),
            )
        })?;
        self.archive().read(&self.id(env, name), digest).map(Arc::new)
    }
}

pub(crate) fn needs_of(units: &Units) -> Needs {
    units.units.iter().map(|(name, unit)| (name.clone(), unit.manifest.needs.clone())).collect()
}

fn refuse_unknown(
    only: Option<&BTreeSet<Name>>,
    units: &Units,
    applied: &BTreeMap<Name, AppliedUnit>,
) -> Result<(), Diagnostics> {
    let known = |name: &&Name| units.units.contains_key(*name) || applied.contains_key(*name);
    let unknown = only.into_iter().flatten().filter(|name| !known(name)).map(|name| {
        let names = units.units.keys().chain(applied.keys()).map(Name::as_str);
        let near = eos_model::nearest::nearest(name.as_str(), names);
        Diagnostic::error(codes::UNKNOWN_NAME, format!("there is no unit {name} in {}", units.env)).fix(
            near.map_or_else(
                || "eos list shows what there is".to_owned(),
                |near| format!("did you mean {near}?"),
            ),
        )
    });
    refuse(unknown.collect())
}

/// A unit that is asked for alone must find what it needs.
fn refuse_unapplied_needs(
    request: &PlanRequest<'_>,
    applied: &BTreeMap<Name, AppliedUnit>,
) -> Result<(), Diagnostics> {
    let Some(only) = request.only else { return Ok(()) };
    let is_applied = |name: &Name| applied.get(name).is_some_and(|unit| unit.digest.is_some());
    let mut found = Vec::new();
    for name in only {
        let missing = |name: &Name| {
            let unit = request.units.units.get(name);
            let needs = unit.map(|unit| unit.manifest.needs.as_slice()).unwrap_or_default();
            needs.iter().filter(|need| !only.contains(*need) && !is_applied(need))
        };
        // What it needs may need more: what is told to be typed must not be refused for that.
        let mut all: Vec<&Name> = missing(name).collect();
        let mut at = 0;
        while let Some(need) = all.get(at).copied() {
            all.extend(missing(need).filter(|more| !all.contains(more)).collect::<Vec<_>>());
            at += 1;
        }
        let with: String = all.iter().map(|need| format!(" --only {need}")).collect();
        for need in missing(name) {
            found.push(
                Diagnostic::error(
                    codes::NEED_UNAPPLIED,
                    format!("{name} needs {need}, which is not applied"),
                )
                .why("its inputs are not known, and it would fail half-way")
                .fix(format!("--only {name}{with}, or without --only")),
            );
        }
    }
    refuse(found)
}

fn refuse_still_needed(
    applied: &BTreeMap<Name, AppliedUnit>,
    is_asked: &dyn Fn(&Name) -> bool,
) -> Result<(), Diagnostics> {
    let mut found = Vec::new();
    for (user, unit) in applied.iter().filter(|(user, _)| !is_asked(user)) {
        for need in unit.needs.iter().filter(|need| is_asked(need) && applied.contains_key(*need)) {
            found.push(
                Diagnostic::error(codes::STILL_NEEDED, format!("{need} is needed by {user}, which stays"))
                    .fix(format!("destroy {user} too, or point it at another first")),
            );
        }
    }
    refuse(found)
}

fn refuse(found: Vec<Diagnostic>) -> Result<(), Diagnostics> {
    if found.is_empty() { Ok(()) } else { Err(Diagnostics(found)) }
}
