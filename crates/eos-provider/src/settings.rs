//! What the provider is told by the environment of its process, read once and by the binary.

use std::path::PathBuf;

use camino::Utf8PathBuf;

/// Only a process that has this variable with this value was started as a plugin.
pub const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub plugin: PluginSettings,
    pub nomad: NomadSettings,
    pub salt: SaltSettings,
    /// The estate's root, where `secrets/` is.
    pub estate: Option<Utf8PathBuf>,
    /// The age identity that opens them.
    pub identity: Option<Utf8PathBuf>,
    /// Where eos listens for previews and progress.
    pub preview_socket: Option<PathBuf>,
}

/// What go-plugin says to the process it starts.
#[derive(Debug, Clone, Default)]
pub struct PluginSettings {
    /// For example `5,6`; empty when the client does not say.
    pub protocol_versions: String,
    /// In PEM; the one client that is let in.
    pub client_certificate: Option<String>,
    /// Where a private folder for the socket can be made.
    pub temporary_folder: Option<PathBuf>,
}

/// The variables of Nomad's own command line.
#[derive(Clone, Default)]
pub struct NomadSettings {
    pub address: Option<String>,
    pub token: Option<String>,
    pub namespace: Option<String>,
    pub region: Option<String>,
    pub ca_certificate: Option<PathBuf>,
    pub client_certificate: Option<PathBuf>,
    pub client_key: Option<PathBuf>,
    pub tls_server_name: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct SaltSettings {
    /// salt-call, or the folder it is in.
    pub program: Option<PathBuf>,
    /// salt-api's address.
    pub api: Option<String>,
    pub token_file: Option<PathBuf>,
    /// A warm Salt process that belongs to the run.
    pub socket: Option<PathBuf>,
}

/// True when tofu or terraform started this process to be its provider.
pub fn is_plugin(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable(COOKIE.0).is_some_and(|value| value == COOKIE.1)
}

impl Settings {
    /// An empty variable counts as absent.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Settings {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let path = |name: &str| text(name).map(PathBuf::from);
        Settings {
            plugin: PluginSettings {
                protocol_versions: text("PLUGIN_PROTOCOL_VERSIONS").unwrap_or_default(),
                client_certificate: text("PLUGIN_CLIENT_CERT"),
                temporary_folder: path("TMPDIR"),
            },
            nomad: NomadSettings {
                address: text("NOMAD_ADDR"),
                token: text("NOMAD_TOKEN"),
                namespace: text("NOMAD_NAMESPACE"),
                region: text("NOMAD_REGION"),
                ca_certificate: path("NOMAD_CACERT"),
                client_certificate: path("NOMAD_CLIENT_CERT"),
                client_key: path("NOMAD_CLIENT_KEY"),
                tls_server_name: text("NOMAD_TLS_SERVER_NAME"),
            },
            salt: SaltSettings {
                program: path("EOS_SALT"),
                api: text("EOS_SALT_API"),
                token_file: path("EOS_SALT_TOKEN_FILE"),
                socket: path("EOS_SALT_SOCKET"),
            },
            estate: text("EOS_ESTATE").map(Utf8PathBuf::from),
            identity: text("EOS_IDENTITY").map(Utf8PathBuf::from),
            preview_socket: path("EOS_PREVIEW"),
        }
    }
}

/// The token is not for anybody's eyes.
impl std::fmt::Debug for NomadSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NomadSettings")
            .field("address", &self.address)
            .field("namespace", &self.namespace)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_an_absent_one() {
        let variable = |name: &str| match name {
            "NOMAD_ADDR" => Some(String::new()),
            "NOMAD_TOKEN" => Some("t0ken".to_owned()),
            _ => None,
        };
        let settings = Settings::from_environment(variable);
        assert_eq!(settings.nomad.address, None);
        assert_eq!(settings.nomad.token.as_deref(), Some("t0ken"));
        assert!(!format!("{settings:?}").contains("t0ken"));
        assert!(!is_plugin(variable));
        assert!(is_plugin(|name| (name == COOKIE.0).then(|| COOKIE.1.to_owned())));
    }
}
