//! What is known of the data in a unit's care: by the bytes it was applied from and by those it shall be applied from.
//!
//! Where something cannot be known, it counts as data: a resource of a module that is not read here and protects
//! something, and whatever is no longer asked for when the bytes it was made from are lost.

use std::collections::BTreeSet;

use eos_model::{Diagnostic, Diagnostics, Name, codes};

use crate::agreed::{ChangeKind, without_keys};
use crate::change::Change;
use crate::data::{self, DataResources};
use crate::problems::data_at_risk;
use crate::unit::Unit;

#[derive(Debug, Clone, Default)]
pub(crate) struct DataInCare {
    pub resources: DataResources,
    /// Modules that protect something and are not read here: `module.net`.
    opaque: BTreeSet<String>,
    /// What the bytes that are known ask for.
    declared: BTreeSet<String>,
    /// Tofu has objects by bytes that cannot be read any more.
    bytes_lost: bool,
}

impl DataInCare {
    /// By the bytes a unit shall have.
    pub fn of(unit: &Unit) -> DataInCare {
        DataInCare::default().and(unit)
    }

    /// By these bytes, too.
    pub fn and(mut self, unit: &Unit) -> DataInCare {
        self.resources.extend(data::data_resources(&unit.files));
        self.opaque.extend(data::opaque_modules(&unit.files));
        self.declared.extend(data::declared(&unit.files));
        self
    }

    /// By bytes that cannot be read, too.
    pub fn and_lost_bytes(self) -> DataInCare {
        DataInCare { bytes_lost: true, ..self }
    }

    /// Whether there may be any.
    pub fn is_possible(&self) -> bool {
        !self.resources.is_empty() || !self.opaque.is_empty() || self.bytes_lost
    }

    /// Refuses changes that destroy or replace what holds data, or what may: nobody named it.
    pub fn refuse_loss(&self, unit: &Name, changes: &[Change]) -> Result<(), Diagnostics> {
        let gone = |change: &&Change| matches!(change.kind, ChangeKind::Destroy | ChangeKind::Replace);
        let found = changes.iter().filter(gone).filter_map(|change| self.risk(unit, change)).collect();
        let found = Diagnostics(found);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn risk(&self, unit: &Name, change: &Change) -> Option<Diagnostic> {
        let address = without_keys(&change.address);
        if let Some(class) = self.resources.get(&address) {
            return Some(data_at_risk(unit, &change.address, class.as_deref()));
        }
        let is_below = |module: &&String| {
            address.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        if let Some(module) = self.opaque.iter().find(is_below) {
            let why =
                format!("{module} protects something with prevent_destroy, and eos does not read which");
            return Some(may_hold_data(unit, &change.address).why(why));
        }
        if self.bytes_lost && !self.declared.contains(&address) {
            let found = may_hold_data(unit, &change.address);
            return Some(
                found
                    .why("the bytes it was applied from cannot be read here, and they say what holds data")
                    .fix(
                        "run it in the clone that applied it, or bring .eos/state/archive back from a backup",
                    ),
            );
        }
        None
    }
}

fn may_hold_data(unit: &Name, address: &str) -> Diagnostic {
    Diagnostic::error(codes::DATA_AT_RISK, format!("{unit}: {address} may hold data and would be destroyed"))
        .fix(format!("after a backup, if it may go: --destroy-data {unit}"))
}
