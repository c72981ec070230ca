//! One unit's plan by tofu: a saved plan with what it does, or nothing to do.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use eos_model::{Diagnostics, Name};
use eos_tofu::{Action, Output, PlanOptions, Refresh, Session, TofuError};
use serde_json::Value as Json;

use crate::agreed::ChangeKind;
use crate::change::{changes_of, known};
use crate::creations;
use crate::data_in_care::DataInCare;
use crate::engine::Engine;
use crate::observer::Progress;
use crate::outlook::Foreseen;
use crate::plan::{UnitPlan, Verdict};
use crate::problems::{cannot_plan, state_lost};
use crate::record::Goal;
use crate::recover::own_half_made;
use crate::unit::Unit;

/// How long a plan that somebody else makes at the same moment is waited for.
const PLANS_OF_OTHERS: Duration = Duration::from_secs(20);

/// What is known of a unit from before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Past {
    /// It was applied with resources, so that there must be a state.
    pub has_state: bool,
    /// A run began to change it and did not finish.
    pub unfinished: bool,
    /// It was never there, and no unit takes a value from it: what is only created need not be shown in detail.
    pub is_new: bool,
}

/// A saved plan and what it says.
pub(crate) struct TofuPlan {
    pub plan: eos_tofu::Plan,
    pub bytes: Vec<u8>,
    pub warnings: Vec<String>,
}

impl Engine<'_> {
    /// Lets tofu plan; fills in the verdict and gives back the outputs as they would be.
    pub(crate) fn ask_tofu(
        &self,
        unit: &Unit,
        planned: &mut UnitPlan,
        refresh: Refresh,
        in_care: &DataInCare,
        past: Past,
    ) -> Result<Option<BTreeMap<String, Foreseen>>, Diagnostics> {
        let name = unit.name();
        let desk = self.desk(unit, planned.goal, &planned.treatment, &planned.inputs)?;
        if let Some(unsaved) = desk.session.folder.unsaved_state() {
            return Err(self.state_waits(&unit.id.env, name, &unsaved).into());
        }
        let failed = |error: TofuError| cannot_plan(name, &error);
        let main = past.is_new.then(|| unit.main());
        if past.unfinished {
            // As resume does: eos's own resources finish in place what a run left half-made. Before tofu plans, which
            // would refuse to make what holds data anew.
            for address in own_half_made(&desk.session.state().map_err(failed)?) {
                desk.session.untaint(&address).map_err(failed)?;
            }
        }
        let planned_by_tofu = self.tofu_plan(name, &desk.session, refresh, main.as_ref()).map_err(failed)?;
        if past.has_state && makes_everything(planned.goal, planned_by_tofu.as_ref()) {
            let state = desk.session.state().map_err(failed)?;
            if state.is_empty() && state.lineage.is_empty() {
                return Err(state_lost(name).into());
            }
        }
        let Some(TofuPlan { plan, bytes, warnings }) = planned_by_tofu else {
            planned.verdict = Verdict::Unchanged { record: false };
            if planned.applied.is_some() || planned.goal == Goal::Gone {
                return Ok(None);
            }
            // There is a state though nothing was recorded: an estate that was taken over, or a record that was lost.
            let outputs = desk.session.outputs().map_err(|e| cannot_plan(name, &e))?;
            let foreseen = |output| match output {
                Output::Plain(value) => Foreseen::Value(value),
                Output::Sensitive => Foreseen::Secret,
            };
            return Ok(Some(outputs.into_iter().map(|(name, output)| (name, foreseen(output))).collect()));
        };
        planned.warnings = warnings;
        let changes = changes_of(name, &unit.manifest, &in_care.resources, &plan);
        if !planned.treatment.destroy_data {
            in_care.refuse_loss(name, &changes)?;
        }
        let mut outlook = BTreeMap::new();
        let mut outputs = BTreeMap::new();
        for (output, change) in
            plan.output_changes.iter().filter(|(_, change)| change.action != Action::Delete)
        {
            let (foreseen, shown) = match known(&change.after) {
                _ if change.sensitive => (Foreseen::Secret, None),
                Some(value) => (Foreseen::Value(value.clone()), Some(value)),
                None => (Foreseen::Later, None),
            };
            outlook.insert(output.clone(), foreseen);
            outputs.insert(output.clone(), shown);
        }
        planned.verdict = Verdict::Changes { changes, outputs, tfplan: bytes };
        Ok(Some(outlook))
    }

    /// A saved plan with what it says, or nothing when there is nothing to do. With the module of a new unit it is not
    /// shown where that tells no more.
    pub(crate) fn tofu_plan(
        &self,
        name: &Name,
        session: &Session,
        refresh: Refresh,
        new: Option<&Json>,
    ) -> Result<Option<TofuPlan>, TofuError> {
        let file = session.folder.plan_file();
        let options = PlanOptions { out: file.clone(), refresh, ..PlanOptions::default() };
        let mut tell = |event| self.observer.on(&Progress::Tofu { unit: name, event: &event });
        let waiting = Instant::now();
        let planned = loop {
            match session.plan(&options, &mut tell) {
                // Somebody else looks at the unit just now; that is over in a moment.
                Err(TofuError::StateLocked { lock, .. })
                    if lock.is_passing() && waiting.elapsed() < PLANS_OF_OTHERS && !self.is_stopped() =>
                {
                    std::thread::sleep(Duration::from_millis(200));
                }
                other => break other?,
            }
        };
        if !planned.changes {
            return Ok(None);
        }
        let plan = match new.and_then(|main| creations::plan_of(main, &planned)) {
            Some(plan) => plan,
            None => session.show_plan(&file)?,
        };
        let bytes = fs_err::read(&file)
            .map_err(|source| TofuError::Io { operation: "read the saved plan".to_owned(), source })?;
        let warnings = planned.warnings.iter().map(ToString::to_string).collect();
        Ok(Some(TofuPlan { plan, bytes, warnings }))
    }
}

/// The plan of a unit whose state is not there: everything is made, or there is nothing to take away.
fn makes_everything(goal: Goal, planned: Option<&TofuPlan>) -> bool {
    let Some(TofuPlan { plan, .. }) = planned else { return goal == Goal::Gone };
    let mut kinds = plan.resource_changes.iter().filter_map(ChangeKind::of).peekable();
    kinds.peek().is_some() && kinds.all(|kind| kind == ChangeKind::Create)
}
