//! Where the engine keeps what it must not lose: `.eos/state`, which is to be backed up. Where tofu runs, and all that
//! may be deleted, is [`eos_tofu::Places`].

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::UnitId;

use crate::run_id::RunId;

/// The engine's folders in one estate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: Utf8PathBuf,
}

impl Layout {
    pub fn new(root: impl Into<Utf8PathBuf>) -> Layout {
        Layout { root: root.into() }
    }

    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    pub fn state(&self) -> Utf8PathBuf {
        self.root.join(".eos/state")
    }

    /// Journals, one a run.
    pub fn runs(&self) -> Utf8PathBuf {
        self.state().join("runs")
    }

    pub fn journal(&self, run: &RunId) -> Utf8PathBuf {
        self.runs().join(format!("{run}.journal"))
    }

    /// Where a journal goes once its run is over for good: looking for runs that are not stays quick.
    pub fn finished_journal(&self, run: &RunId) -> Utf8PathBuf {
        self.runs().join("finished").join(format!("{run}.journal"))
    }

    pub fn archive(&self) -> Utf8PathBuf {
        self.state().join("archive")
    }

    /// Names the local state; see [`crate::guard`].
    pub fn state_id(&self) -> Utf8PathBuf {
        self.state().join("id")
    }

    /// Non-sensitive outputs as plain JSON, for whoever wants to read them.
    pub fn outputs(&self, unit: &UnitId) -> Utf8PathBuf {
        self.state().join("outputs").join(unit.env.as_str()).join(format!("{}.json", unit.name))
    }
}
