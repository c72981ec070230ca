//! Planning: every unit in order, independent ones at once, each with what is known of the units it takes values from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};
use eos_tofu::Refresh;

use crate::agreed::{ChangeKind, without_keys};
use crate::applied::{AppliedUnit, Kept};
use crate::ask_tofu::Past;
use crate::change::{Change, DataNote, Fate};
use crate::data;
use crate::data_in_care::DataInCare;
use crate::engine::Engine;
use crate::left_elsewhere::Brought;
use crate::observer::Progress;
use crate::order::{Graph, Needs, blast_radius};
use crate::outlook::{Foreseen, Outlook, gather_inputs, outputs_declared};
use crate::plan::{Awaited, Look, RunPlan, UnitPlan, Verdict};
use crate::problems::data_at_risk;
use crate::record::Goal;
use crate::runs;
use crate::treatment::Treatment;
use crate::unit::Unit;
use crate::walk::{Next, walk};

/// A unit and where it is to be brought.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub unit: Arc<Unit>,
    pub goal: Goal,
}

/// What is planned, gathered from compiled units, the store and the archive.
pub(crate) struct Survey<'r> {
    pub env: &'r EnvName,
    pub commit: &'r str,
    pub wanted: BTreeMap<Name, Wanted>,
    /// What each compiled unit of the environment needs, also those that are not wanted.
    pub compiled: Needs,
    pub applied: BTreeMap<Name, AppliedUnit>,
    pub kept: BTreeMap<Name, Kept>,
    pub look: Look,
    pub destroy_data: &'r BTreeSet<Name>,
    pub adopt: &'r BTreeMap<Name, BTreeMap<String, String>>,
    /// Units whose state is lost for good.
    pub new_state: &'r BTreeSet<Name>,
}

impl Look {
    fn refresh(self) -> Refresh {
        if self == Look::Nothing { Refresh::No } else { Refresh::Yes }
    }
}

impl Engine<'_> {
    pub(crate) fn plan_survey(&self, survey: &Survey<'_>) -> Result<RunPlan, Diagnostics> {
        let wanted = survey.wanted.keys().collect();
        runs::refuse_live_children(self.layout, survey.env, &wanted, &survey.applied)?;
        let goals: BTreeMap<Name, Goal> =
            survey.wanted.iter().map(|(name, want)| (name.clone(), want.goal)).collect();
        let before: Needs =
            survey.applied.iter().map(|(name, unit)| (name.clone(), unit.needs.clone())).collect();
        let graph = Graph::new(&goals, &survey.compiled, &before);
        let mut all_needs = before;
        all_needs.extend(survey.compiled.clone());
        let radius = blast_radius(&all_needs);
        let outlook = Mutex::new(self.present_outlook(survey));
        let plan_one = |name: &Name| {
            let Some(want) = survey.wanted.get(name) else { return Err(Diagnostics::new()) };
            if self.is_stopped() {
                return Err(stopped(name).into());
            }
            let after = graph.after.get(name).cloned().unwrap_or_default();
            let reach = radius.get(name).copied().unwrap_or_default();
            let mut planned = match want.goal {
                Goal::Present => self.plan_present(survey, &want.unit, &outlook),
                Goal::Gone => self.plan_gone(survey, &want.unit),
            }?;
            let brought = Brought {
                unit: &want.unit,
                goal: want.goal,
                treatment: &planned.treatment.clone(),
                applied: &survey.applied,
            };
            self.show_left_elsewhere(brought, &mut planned)?;
            planned.after = after;
            planned.blast_radius = reach;
            self.observer.on(&Progress::Planned { unit: name, changes: planned.changes().len() });
            Ok(planned)
        };
        let mut found = Diagnostics::new();
        let mut judge = |_: &Name, planned: &Result<UnitPlan, Diagnostics>| match planned {
            Ok(_) => Next::Go,
            Err(problems) => {
                // A server that is silent is so for every unit.
                let new = problems.0.iter().filter(|problem| !found.0.contains(problem)).cloned().collect();
                found.extend(Diagnostics(new));
                Next::Block
            }
        };
        let results = walk(&graph, self.parallel, &plan_one, &mut judge);
        if found.has_errors() {
            return Err(found);
        }
        let units = results.into_iter().filter_map(|(name, plan)| Some((name, plan.ok()?))).collect();
        Ok(RunPlan {
            env: survey.env.clone(),
            commit: survey.commit.to_owned(),
            at: self.now(),
            units,
            order: graph.sorted(),
        })
    }

    /// The outputs that are there now.
    fn present_outlook(&self, survey: &Survey<'_>) -> Outlook {
        let foreseen = |unit: &AppliedUnit| {
            let values =
                unit.outputs.iter().map(|(name, value)| (name.clone(), Foreseen::Value(value.clone())));
            values.chain(unit.sensitive.iter().map(|name| (name.clone(), Foreseen::Secret))).collect()
        };
        let complete = survey.applied.iter().filter(|(_, unit)| unit.digest.is_some());
        complete.map(|(name, unit)| (name.clone(), foreseen(unit))).collect()
    }

    fn plan_present(
        &self,
        survey: &Survey<'_>,
        unit: &Arc<Unit>,
        outlook: &Mutex<Outlook>,
    ) -> Result<UnitPlan, Diagnostics> {
        let name = unit.name();
        let applied = survey.applied.get(name);
        let (inputs, waits_for) = gather_inputs(unit, &lock(outlook))?;
        let treatment = self.treatment_for(survey, unit, Goal::Present)?;
        let mut planned = UnitPlan {
            goal: Goal::Present,
            digest: unit.digest.clone(),
            applied: applied.and_then(|applied| applied.digest.clone()),
            kind: unit.manifest.kind.clone(),
            host: unit.manifest.host.as_ref().map(ToString::to_string),
            after: BTreeMap::new(),
            blast_radius: 0,
            inputs,
            treatment,
            verdict: Verdict::Untouched,
            warnings: Vec::new(),
            unreached: None,
            unplaced: Vec::new(),
            settings: Vec::new(),
            causes: Vec::new(),
        };
        if !waits_for.is_empty() {
            let creates = data::declared(&unit.files).into_iter().collect();
            let foreseen = self.foresee(survey, unit, &planned, &waits_for)?;
            planned.verdict = Verdict::Envelope { waits_for, creates, updates: applied.is_some(), foreseen };
            let later = outputs_declared(unit).into_iter().map(|output| (output, Foreseen::Later)).collect();
            lock(outlook).insert(name.clone(), later);
            return Ok(planned);
        }
        let as_applied = applied.is_some_and(|applied| is_as_applied(applied, unit, &planned));
        if as_applied && survey.look != Look::Everything && planned.treatment == Treatment::default() {
            return Ok(planned);
        }
        self.observer.on(&Progress::Planning { unit: name });
        let in_care = self.data_in_care(unit, applied);
        let refresh = survey.look.refresh();
        let is_new = applied.is_none()
            && planned.treatment == Treatment::default()
            && !survey.wanted.values().any(|other| other.unit.takes_from(name));
        let past = Past { is_new, ..self.past_of(survey, unit) };
        let shown = self.ask_tofu(unit, &mut planned, refresh, &in_care, past)?;
        if let (Verdict::Changes { changes, .. }, Some(kept)) = (&mut planned.verdict, survey.kept.get(name))
        {
            taken_over(unit, kept, changes);
        }
        if let Verdict::Unchanged { record } = &mut planned.verdict {
            *record = !as_applied;
        }
        if let Some(outputs) = shown {
            lock(outlook).insert(name.clone(), outputs);
        }
        Ok(planned)
    }

    /// What would change in a unit that exists, with the values its inputs have until the others are applied.
    fn foresee(
        &self,
        survey: &Survey<'_>,
        unit: &Arc<Unit>,
        planned: &UnitPlan,
        waits_for: &[Awaited],
    ) -> Result<Vec<Change>, Diagnostics> {
        let mut trial = planned.clone();
        for awaited in waits_for {
            let present =
                survey.applied.get(unit.name()).and_then(|applied| applied.inputs.get(&awaited.variable));
            let Some(value) = present else { return Ok(Vec::new()) };
            trial.inputs.insert(awaited.variable.clone(), value.clone());
        }
        self.observer.on(&Progress::Planning { unit: unit.name() });
        let refresh = survey.look.refresh();
        let past = self.past_of(survey, unit);
        let in_care = self.data_in_care(unit, survey.applied.get(unit.name()));
        self.ask_tofu(unit, &mut trial, refresh, &in_care, past)?;
        Ok(trial.changes().to_vec())
    }

    fn plan_gone(&self, survey: &Survey<'_>, unit: &Arc<Unit>) -> Result<UnitPlan, Diagnostics> {
        let name = unit.name();
        let applied = survey.applied.get(name);
        let mut planned = UnitPlan {
            goal: Goal::Gone,
            digest: unit.digest.clone(),
            applied: applied.and_then(|applied| applied.digest.clone()),
            kind: unit.manifest.kind.clone(),
            host: unit.manifest.host.as_ref().map(ToString::to_string),
            after: BTreeMap::new(),
            blast_radius: 0,
            inputs: applied.map(|applied| applied.inputs.clone()).unwrap_or_default(),
            treatment: self.treatment_for(survey, unit, Goal::Gone)?,
            verdict: Verdict::Unchanged { record: true },
            warnings: Vec::new(),
            unreached: None,
            unplaced: Vec::new(),
            settings: Vec::new(),
            causes: Vec::new(),
        };
        self.observer.on(&Progress::Planning { unit: name });
        let refresh = survey.look.refresh();
        let past = self.past_of(survey, unit);
        // What goes is more than the bytes it goes by: a run may have failed on its way to others.
        let in_care = self.data_in_care(unit, applied);
        self.ask_tofu(unit, &mut planned, refresh, &in_care, past)?;
        if let Verdict::Unchanged { record } = &mut planned.verdict {
            *record = true;
        }
        for address in data::with_last_words(&unit.files) {
            planned.warnings.push(format!(
                "what {address} does when it is destroyed (a provisioner) is not run: do it by hand before"
            ));
        }
        Ok(planned)
    }

    /// Which data is held back or taken over again.
    fn treatment_for(&self, survey: &Survey<'_>, unit: &Unit, goal: Goal) -> Result<Treatment, Diagnostic> {
        let destroy_data = survey.destroy_data.contains(unit.name());
        let in_care = self.data_in_care(unit, survey.applied.get(unit.name()));
        let mut treatment = self.treat(unit, goal, &in_care, survey.kept.get(unit.name()), destroy_data)?;
        if goal == Goal::Present {
            treatment.adopt.extend(survey.adopt.get(unit.name()).cloned().unwrap_or_default());
        }
        Ok(treatment)
    }

    pub(crate) fn treat(
        &self,
        unit: &Unit,
        goal: Goal,
        in_care: &DataInCare,
        kept: Option<&Kept>,
        destroy_data: bool,
    ) -> Result<Treatment, Diagnostic> {
        let declared: BTreeSet<String> = match goal {
            Goal::Present => data::declared(&unit.files).into_iter().collect(),
            Goal::Gone => BTreeSet::new(),
        };
        if goal == Goal::Gone
            && !destroy_data
            && let Some(module) = data::opaque_modules(&unit.files).first()
        {
            return Err(data_at_risk(unit.name(), module, None));
        }
        let keep = if destroy_data {
            BTreeSet::new()
        } else {
            in_care.resources.keys().filter(|address| !declared.contains(*address)).cloned().collect()
        };
        // Resources of eos find what is theirs when they are created; others are imported by their id.
        let foreign = kept.iter().flat_map(|kept| &kept.objects).filter(|object| !is_own(&object.provider));
        let adopt = foreign
            .filter(|object| declared.contains(&without_keys(&object.address)))
            .filter_map(|object| Some((object.address.clone(), object.id.clone()?)))
            .collect();
        Ok(Treatment { keep, adopt, destroy_data: destroy_data && in_care.is_possible() })
    }

    fn past_of(&self, survey: &Survey<'_>, unit: &Unit) -> Past {
        let Some(applied) = survey.applied.get(unit.name()) else { return Past::default() };
        let before = applied.digest.as_ref().filter(|_| !survey.new_state.contains(unit.name()));
        let has_resources = |digest| match self.archive().read(&unit.id, digest) {
            Ok(before) => !data::declared(&before.files).is_empty(),
            // Applied from another machine: what is compiled now is the best guess.
            Err(_) => !data::declared(&unit.files).is_empty(),
        };
        Past {
            has_state: before.is_some_and(has_resources),
            unfinished: applied.attempt.is_some(),
            is_new: false,
        }
    }

    /// By the bytes that were applied last, or that a run began to apply, and by the new ones.
    pub(crate) fn data_in_care(&self, unit: &Unit, applied: Option<&AppliedUnit>) -> DataInCare {
        let digests = applied.into_iter().flat_map(AppliedUnit::digests);
        digests.filter(|digest| **digest != unit.digest).fold(DataInCare::of(unit), |in_care, digest| {
            match self.archive().read(&unit.id, digest) {
                Ok(before) => in_care.and(&before),
                Err(_) => in_care.and_lost_bytes(),
            }
        })
    }
}

/// What is created again where its data was kept finds it there, and says so.
fn taken_over(unit: &Unit, kept: &Kept, changes: &mut [Change]) {
    for change in changes.iter_mut().filter(|change| change.kind == ChangeKind::Create) {
        let Some(object) = kept.objects.iter().find(|object| object.address == change.address) else {
            continue;
        };
        let places = unit.manifest.volumes.iter().filter_map(|volume| volume.path.clone()).collect();
        let classes = object.class.iter().cloned().collect();
        change.data = Some(DataNote { classes, places, fate: Fate::Stays });
    }
}

pub(crate) const OWN_PROVIDER: &str = "eos.local/eos/eos";

pub(crate) fn is_own(provider: &str) -> bool {
    provider == OWN_PROVIDER
}

pub(crate) fn stopped(name: &Name) -> Diagnostic {
    Diagnostic::error(codes::STOPPED, format!("stopped before {name}")).fix("run the command again")
}

fn lock(outlook: &Mutex<Outlook>) -> std::sync::MutexGuard<'_, Outlook> {
    outlook.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_as_applied(applied: &AppliedUnit, unit: &Unit, planned: &UnitPlan) -> bool {
    applied.digest.as_ref() == Some(&unit.digest)
        && applied.attempt.is_none()
        && applied.inputs == planned.inputs
        && applied.needs == unit.manifest.needs
}
