//! Which operations of a run came to their end, for whoever takes it back: of one that failed nobody knows how far it came.

use std::collections::BTreeMap;

use eos_model::Name;
use eos_tofu::{Children, Event, Session};

use crate::engine::Engine;
use crate::record::Goal;
use crate::run_state::Run;
use crate::treatment::Treatment;

/// Why what a failed operation did stays.
pub(crate) const NOT_TO_ITS_END: &str =
    "an operation that did not come to its end: what it did until then, if anything, stays";

impl Engine<'_> {
    /// Whether an operation was carried out, as the journal and the log of the last tofu tell.
    pub(crate) fn was_carried_out(&self, run: &Run, name: &Name, address: &str) -> bool {
        let Some(unit) = run.units.get(name) else { return false };
        unit.applied_whole || self.says_complete(run, name, address).unwrap_or(false)
    }

    fn says_complete(&self, run: &Run, name: &Name, address: &str) -> Option<bool> {
        let unit = run.units.get(name)?;
        let child = unit.child.filter(|_| !unit.child_undoes)?;
        let made = self.archive().read(&self.id(&run.begun.env, name), &run.begun.units[name].digest).ok()?;
        let desk = self.desk(&made, Goal::Gone, &Treatment::default(), &BTreeMap::new()).ok()?;
        // Reading is allowed to a run that was told to stop.
        let session = Session { children: Children::new(), ..desk.session.clone() };
        let past = session.past_apply(child).ok()??;
        let is_it =
            |event: &Event| matches!(event, Event::ApplyComplete { address: done, .. } if done == address);
        Some(past.events.iter().any(is_it))
    }
}
