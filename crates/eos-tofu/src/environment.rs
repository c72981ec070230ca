//! The environment of a tofu child, built from nothing: what is not put in is not there.

use std::collections::BTreeMap;
use std::fmt;

use crate::requirements::Requirements;
use crate::{Backend, Encryption, Flavor, Installation, WorkFolder};

/// The longest path that a unix socket can have.
const LONGEST_SOCKET: usize = 108;
/// What plugins put behind their folder: `/plugin-dir1234567890/plugin1234567890`, `/eos-provider-abc123/provider.sock`.
const SOCKET_NAME: usize = 40;

/// Variables for one unit's tofu. Debug prints names only: values may be credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct ChildEnvironment {
    variables: BTreeMap<String, String>,
}

impl ChildEnvironment {
    /// What every call needs. Encryption is left out for terraform, which has none.
    pub fn new(
        flavor: Flavor,
        folder: &WorkFolder,
        installation: &Installation,
        backend: &Backend,
        encryption: Option<&Encryption>,
    ) -> ChildEnvironment {
        let places = &installation.places;
        let mut environment = ChildEnvironment { variables: BTreeMap::new() };
        environment
            .set("PATH", installation.search_path.as_str())
            .set("HOME", places.home())
            .set("TF_DATA_DIR", folder.data_dir().as_str())
            .set("TF_CLI_CONFIG_FILE", places.cli_config())
            .set("TF_PLUGIN_CACHE_DIR", places.plugin_cache())
            // A unit's lock file is private to this machine, so it may hold this platform's hashes only; without this
            // every new unit would download again what the cache has.
            .set("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "1")
            .set("TF_IN_AUTOMATION", "1")
            .set("TF_INPUT", "0")
            // A unit has one state: a workspace that somebody chose by hand would show tofu another one, with nothing in it.
            .set("TF_WORKSPACE", "default")
            .set("CHECKPOINT_DISABLE", "1");
        // What a provider writes on its way is kept to the owner, and found by whoever looks after secrets. Plugins also
        // listen there: where that would be too long a path for a socket, they have to go to the machine's own folder.
        let temporary = folder.temporary();
        if temporary.as_str().len() + SOCKET_NAME < LONGEST_SOCKET {
            environment.set("TMPDIR", temporary);
        }
        // Tofu itself ends before collecting garbage pays: a fifth of its time. Its plugins inherit this, so it is only for
        // units without programs of others, which may need a gigabyte; the limit ends it for a state that large.
        if Requirements::read(folder).is_ok_and(|requirements| !requirements.foreign) {
            environment.set("GOGC", "off").set("GOMEMLIMIT", "512MiB");
        }
        if let Some(encryption) = encryption.filter(|_| flavor.encrypts()) {
            environment.set("TF_ENCRYPTION", encryption.to_json());
        }
        if let Some(password) = backend.password() {
            environment.set("TF_HTTP_PASSWORD", password);
        }
        environment
    }

    /// Adds what one of the unit's providers needs (`NOMAD_ADDR`, `HCLOUD_TOKEN`).
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut ChildEnvironment {
        self.variables.insert(name.into(), value.into());
        self
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for ChildEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
