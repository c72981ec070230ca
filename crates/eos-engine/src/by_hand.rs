//! Tofu by a person's own hand, in a unit's folder with its state, its inputs and its credentials.
//!
//! Under the unit's lease like any run: whoever types `state rm` must be the only one at work.

use std::collections::BTreeSet;
use std::process::{ExitStatus, Output};

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_tofu::TofuError;

use crate::data;
use crate::engine::Engine;
use crate::leases::HeldLeases;
use crate::outputs;
use crate::problems::cannot_plan;
use crate::record::Goal;
use crate::runs;
use crate::treatment::Treatment;
use crate::unit::Unit;

impl Engine<'_> {
    /// Runs any command of tofu's with our own terminal.
    pub fn run_tofu(&self, unit: &Unit, arguments: &[String]) -> Result<ExitStatus, Diagnostics> {
        let _leases = self.alone(unit)?;
        let desk = self.desk_by_hand(unit)?;
        Ok(desk.session.passthrough(arguments).map_err(|error| failed(unit, &error))?)
    }

    /// The same for a program: what tofu prints is given back.
    pub fn run_tofu_kept(&self, unit: &Unit, arguments: &[String]) -> Result<Output, Diagnostics> {
        let _leases = self.alone(unit)?;
        let desk = self.desk_by_hand(unit)?;
        Ok(desk.session.passthrough_kept(arguments).map_err(|error| failed(unit, &error))?)
    }

    /// Takes an object that exists into a unit's state.
    pub fn import(&self, unit: &Unit, address: &str, id: &str) -> Result<(), Diagnostics> {
        let _leases = self.alone(unit)?;
        let desk = self.desk_by_hand(unit)?;
        Ok(desk.session.import(address, id).map_err(|error| failed(unit, &error))?)
    }

    /// Refuses an apply by hand where tofu has data in its care that is no longer asked for: eos would keep it, tofu alone
    /// destroys it, and nothing but bytes that are gone says that it is data.
    pub fn refuse_unasked_data(&self, unit: &Unit) -> Result<(), Diagnostic> {
        let applied = self.applied().unit(&unit.id)?;
        let in_care = self.data_in_care(unit, applied.as_ref());
        let declared = data::declared(&unit.files);
        let Some(address) = in_care.resources.keys().find(|address| !declared.contains(*address)) else {
            return Ok(());
        };
        let name = unit.name();
        Err(Diagnostic::error(
            codes::DATA_AT_RISK,
            format!("{name}: {address} holds data and is no longer asked for: tofu would destroy it"),
        )
        .why("by hand nobody holds it back")
        .fix(format!(
            "eos apply --only {name} lets go of it and keeps the data; --destroy-data {name} destroys it"
        )))
    }

    fn alone(&self, unit: &Unit) -> Result<HeldLeases, Diagnostics> {
        let leases =
            HeldLeases::take(self, &self.new_run_id()?, &unit.id.env, std::iter::once(&unit.id.name))?;
        // A run that was killed holds no lease any more, and its tofu may still work in the unit's folder.
        let (env, applied) = (&unit.id.env, self.applied().units(&unit.id.env)?);
        runs::refuse_live_children(self.layout, env, &BTreeSet::from([&unit.id.name]), &applied)?;
        Ok(leases)
    }

    fn desk_by_hand(&self, unit: &Unit) -> Result<crate::engine::Desk, Diagnostic> {
        let applied = self.applied().units(&unit.id.env)?;
        let inputs = outputs::inputs(&unit.id.name, &unit.manifest.inputs, &applied)?;
        self.desk(unit, Goal::Present, &Treatment::default(), &inputs)
    }
}

fn failed(unit: &Unit, error: &TofuError) -> Diagnostic {
    cannot_plan(&unit.id.name, error)
}
