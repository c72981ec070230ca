//! Where tofu's things live in an estate. Everything below `.eos/cache` may be deleted at any time when nothing runs.

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::UnitId;

/// The folders of one estate. The root is absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    root: Utf8PathBuf,
}

impl Places {
    /// `root` must be absolute: tofu runs in a folder of its own.
    pub fn new(root: impl Into<Utf8PathBuf>) -> Places {
        Places { root: root.into() }
    }

    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Where a unit's compiled bytes are put for tofu to run in.
    pub fn work(&self, unit: &UnitId) -> Utf8PathBuf {
        self.cache().join("work").join(unit.env.as_str()).join(unit.name.as_str())
    }

    /// Modules that units share, by digest: `../../modules` as a unit sees it.
    pub fn modules(&self) -> Utf8PathBuf {
        self.cache().join("work/modules")
    }

    /// TF_DATA_DIR of a unit.
    pub fn data(&self, unit: &UnitId) -> Utf8PathBuf {
        self.cache().join("tofu").join(unit.env.as_str()).join(unit.name.as_str())
    }

    /// Downloaded providers, shared by all units.
    pub fn plugin_cache(&self) -> Utf8PathBuf {
        self.cache().join("plugins")
    }

    /// The filesystem mirror that offers eos as a provider.
    pub fn mirror(&self) -> Utf8PathBuf {
        self.cache().join("mirror")
    }

    /// TF_CLI_CONFIG_FILE.
    pub fn cli_config(&self) -> Utf8PathBuf {
        self.cache().join("tofurc")
    }

    /// HOME of a tofu child: empty and private, so that no file of the person's own home takes part.
    pub fn home(&self) -> Utf8PathBuf {
        self.cache().join("home")
    }

    /// Where new files are made before they are moved to their place.
    pub(crate) fn staging(&self) -> Utf8PathBuf {
        self.cache().join("staging")
    }

    /// Held while an init may write to the plugin cache.
    pub(crate) fn plugin_cache_lock(&self) -> Utf8PathBuf {
        self.cache().join("plugins.lock")
    }

    /// Which tools were asked for their version already.
    pub(crate) fn known_tools(&self) -> Utf8PathBuf {
        self.cache().join("tools.json")
    }

    /// The local backend's state file: the key is estate/env/unit.
    pub fn local_state(&self, estate: &str, unit: &UnitId) -> Utf8PathBuf {
        let folder = self.root.join(".eos/state/tofu").join(estate).join(unit.env.as_str());
        folder.join(format!("{}.tfstate", unit.name))
    }

    /// A state that the backend did not take, until it does. Not in the cache: nothing else knows what was just made.
    pub(crate) fn unsaved_state(&self, unit: &UnitId) -> Utf8PathBuf {
        self.root.join(".eos/state/unsaved").join(unit.env.as_str()).join(format!("{}.tfstate", unit.name))
    }

    fn cache(&self) -> Utf8PathBuf {
        self.root.join(".eos/cache")
    }
}
