//! Where a unit's state is kept. The compiled unit names the kind of backend; this gives it the place.

use camino::Utf8PathBuf;
use zeroize::Zeroizing;

#[derive(Clone, PartialEq, Eq)]
pub enum Backend {
    /// An absolute path.
    Local { path: Utf8PathBuf },
    Http {
        address: String,
        lock_address: Option<String>,
        unlock_address: Option<String>,
        username: Option<String>,
        /// Handed over in the environment, so that it is in no argument and no file.
        password: Option<Zeroizing<String>>,
    },
}

impl Backend {
    /// `-backend-config` arguments of an init.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let given = match self {
            Backend::Local { path } => vec![("path", Some(path.as_str()))],
            Backend::Http { address, lock_address, unlock_address, username, .. } => vec![
                ("address", Some(address.as_str())),
                ("lock_address", lock_address.as_deref()),
                ("unlock_address", unlock_address.as_deref()),
                ("username", username.as_deref()),
            ],
        };
        given
            .into_iter()
            .filter_map(|(name, value)| Some(format!("-backend-config={name}={}", value?)))
            .collect()
    }

    pub(crate) fn password(&self) -> Option<&str> {
        match self {
            Backend::Local { .. } => None,
            Backend::Http { password, .. } => password.as_ref().map(|password| password.as_str()),
        }
    }
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Backend::Local { path } => f.debug_struct("Local").field("path", path).finish(),
            Backend::Http { address, username, .. } => f
                .debug_struct("Http")
                .field("address", address)
                .field("username", username)
                .finish_non_exhaustive(),
        }
    }
}
