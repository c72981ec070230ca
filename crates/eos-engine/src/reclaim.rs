//! What a killed tofu made with eos's own provider and did not write into its state. Going forward finds it again by its mark;
//! going back, tofu has to know of it before it can take it away.

use eos_model::Name;
use eos_tofu::{PlanOptions, Session, TofuError};
use serde_json::{Value as Json, json};

use crate::agreed::{ChangeKind, without_keys};
use crate::change::{Change, changes_of};
use crate::data;
use crate::data_in_care::DataInCare;
use crate::engine::Desk;
use crate::jobs;
use crate::left_elsewhere::LeftElsewhere;
use crate::one_unit::{Conduct, Journaled, Target, UnitEnd};
use crate::outputs;
use crate::planner::is_own;
use crate::problems::cannot_plan;
use crate::record::Goal;
use crate::treatment::Treatment;
use crate::undo::past;
use crate::unit::Unit;

/// What the provider says of a job that is not there, or not ours.
const MISSING: &str = "there is no job";
/// A program takes no longer word than this, in bytes.
const LONGEST_WORD: usize = 120_000;

impl Conduct<'_> {
    /// Takes the jobs of a half-done unit into its state, those that bear its mark and that the state does not have; of one
    /// that was not registered yet, its secrets. What cannot be taken in is listed: a person is needed.
    pub fn reclaim(&self, name: &Name, made: &Unit) -> Journaled<()> {
        // Without its inputs it was never applied.
        let Ok(inputs) = outputs::inputs(name, &made.manifest.inputs, &self.applied()) else { return Ok(()) };
        let is_ours = |kind: &String| kind.starts_with("eos_");
        if !made.main()["resource"].as_object().is_some_and(|kinds| kinds.keys().any(is_ours)) {
            return Ok(());
        }
        // What the bytes before the run have as well stays in tofu's care.
        let (goal, digest) = past(&self.begun.units[name]);
        let declared = match goal {
            Goal::Present => data::declared(&self.bytes(name, &digest).map_err(UnitEnd::Failed)?.files),
            Goal::Gone => Vec::new(),
        };
        let in_care = DataInCare::of(made);
        let is_left_behind = |address: &String| {
            let resource = without_keys(address);
            resource.starts_with("eos_")
                && in_care.resources.contains_key(&resource)
                && !declared.contains(&resource)
        };
        let treatment = Treatment::default();
        let target = Target { unit: made, goal: Goal::Present, treatment: &treatment, inputs: &inputs };
        let desk = self.desk(name, &target)?;
        let session = &desk.session;
        self.recover(name, session)?;
        let state = self.unlocking(name, session, || session.state())?;
        let mut unrecorded = self.creates_begun(name, session).map_err(|e| self.fail(name, e))?;
        unrecorded.retain(|address, _| !state.instances().any(|instance| instance.address == *address));
        let mut left = Vec::new();
        for (address, job) in jobs::described(made, &inputs) {
            // Without a mark nobody can tell whose it is.
            if state.instances().any(|instance| instance.address == address)
                || job["Meta"]["eos.unit"].is_null()
            {
                continue;
            }
            unrecorded.remove(&address);
            left.extend(self.take_in_job(name, session, &address, &job)?);
        }
        left.extend(unrecorded.keys().filter(|address| is_job(address)).map(|address| {
            format!(
                "{address} was being made when tofu was killed: look whether Nomad has that job, and stop it"
            )
        }));
        let unrecorded_data = unrecorded.keys().filter(|address| is_left_behind(address)).cloned().collect();
        self.remember_unrecorded(name, made, unrecorded_data).map_err(UnitEnd::Failed)?;
        if self.looked_after {
            return Ok(());
        }
        if !left.is_empty() {
            return Err(self.stick(name, left));
        }
        let begun = |address: &String| {
            is_undone_by_states(made, address) && !in_care.resources.contains_key(&without_keys(address))
        };
        let states: Vec<String> = unrecorded.into_keys().filter(begun).collect();
        if states.is_empty() { Ok(()) } else { self.finish_states(name, &desk, &target, states) }
    }

    /// Takes what a run of another clone left of a unit into its state, so that it goes like whatever else goes of it.
    pub fn reclaim_left(&self, name: &Name, left: &LeftElsewhere) -> Journaled<()> {
        let made = &left.made;
        let Ok(inputs) = outputs::inputs(name, &made.manifest.inputs, &self.applied()) else { return Ok(()) };
        let treatment = Treatment::default();
        let target = Target { unit: made, goal: Goal::Present, treatment: &treatment, inputs: &inputs };
        let desk = self.desk(name, &target)?;
        self.recover(name, &desk.session)?;
        let mut secrets = Vec::new();
        for (address, job) in jobs::described(made, &inputs) {
            if left.ours.contains_key(&address) {
                secrets.extend(self.take_in_job(name, &desk.session, &address, &job)?);
            }
        }
        let of =
            |kind: ChangeKind| left.ours.iter().filter(move |(_, is)| **is == kind).map(|(a, _)| a.clone());
        self.remember_unrecorded(name, made, of(ChangeKind::Forget).collect()).map_err(UnitEnd::Failed)?;
        if !secrets.is_empty() && !self.looked_after {
            return Err(self.stick(name, secrets));
        }
        let states: Vec<String> = of(ChangeKind::Destroy).filter(|address| !is_job(address)).collect();
        if states.is_empty() { Ok(()) } else { self.finish_states(name, &desk, &target, states) }
    }

    /// Takes a job that bears the unit's mark into its state; of one that was not registered yet, its secrets. Gives what a
    /// person has to look for.
    fn take_in_job(
        &self,
        name: &Name,
        session: &Session,
        address: &str,
        job: &Json,
    ) -> Journaled<Option<String>> {
        if self.take_in(name, session, address, &marked(job))? || !jobs::reads_secrets(job) {
            return Ok(None);
        }
        let spec = format!("eos.spec={}", json!({"Job": job}));
        if spec.len() > LONGEST_WORD {
            let id = text(job, "ID");
            return Ok(Some(format!("{address}: its secrets may be in Nomad's variable nomad/jobs/{id}")));
        }
        self.take_in(name, session, address, &spec)?;
        Ok(None)
    }

    /// Host states cannot be imported. Carried out once more they are in the state, and tofu runs what undoes them.
    fn finish_states(
        &self,
        name: &Name,
        desk: &Desk,
        target: &Target<'_>,
        states: Vec<String>,
    ) -> Journaled<()> {
        let session = &desk.session;
        let file = session.folder.plan_file();
        let options = PlanOptions { out: file.clone(), targets: states.clone(), ..PlanOptions::default() };
        let failed = |error: TofuError| self.fail(name, cannot_plan(name, &error));
        if !self.unlocking(name, session, || session.plan(&options, &mut |_| ()))?.changes {
            return Ok(());
        }
        let plan = session.show_plan(&file).map_err(failed)?;
        let in_care = DataInCare::of(target.unit);
        let changes = changes_of(name, &target.unit.manifest, &in_care.resources, &plan);
        let is_more = |change: &Change| change.kind != ChangeKind::Create || !is_own(&change.provider);
        if changes.iter().any(is_more) {
            let tell = |address: String| {
                format!("{address} was being carried out when tofu was killed: what it did on the host stays")
            };
            return Err(self.stick(name, states.into_iter().map(tell).collect()));
        }
        self.apply(name, desk, target, &changes).map(|_| ())
    }

    /// Imports an object; false when there is none.
    fn take_in(&self, name: &Name, session: &Session, address: &str, id: &str) -> Journaled<bool> {
        match session.import(address, id) {
            Ok(()) => Ok(true),
            Err(error) if format!("{error} {error:?}").contains(MISSING) => Ok(false),
            Err(error) => Err(self.fail(name, cannot_plan(name, &error))),
        }
    }
}

/// The id under which only a job that is its own is imported.
fn marked(job: &Json) -> String {
    let space = job["Namespace"].as_str().map(|space| format!("{space}/")).unwrap_or_default();
    format!("eos.unit={};{space}{}", text(&job["Meta"], "eos.unit"), text(job, "ID"))
}

fn text<'j>(value: &'j Json, key: &str) -> &'j str {
    value[key].as_str().unwrap_or_default()
}

/// Whether a resource has states that undo it, which are run when tofu destroys it. What is done once is not done again.
pub(crate) fn is_undone_by_states(made: &Unit, address: &str) -> bool {
    let Some(name) = without_keys(address).strip_prefix("eos_salt_state.").map(str::to_owned) else {
        return false;
    };
    let main = made.main();
    let body = &main["resource"]["eos_salt_state"][&name];
    body.get("on_destroy").is_some() && body.get("trigger").is_none()
}

pub(crate) fn is_job(address: &str) -> bool {
    without_keys(address).rsplit('.').nth(1) == Some("eos_nomad_job")
}
