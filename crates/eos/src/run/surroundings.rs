//! What tofu needs of the outside for one unit: where its state is, and the variables that its own providers read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use eos_engine::{Surroundings, Unit, Units};
use eos_model::{Diagnostic, UnitId, codes};
use eos_nomad::{Client, Connection, Patience, Stop, Tls};
use eos_pillar::Estate;
use eos_pillar::estate_file::{Backend as Kept, DEFAULT_NAMESPACE, EstateFile};
use eos_salt::{Installation as SaltInstallation, WarmServer};
use eos_secrets::credentials;
use eos_tofu::{Backend, Places};
use serde_json::Value as Json;

use super::answering;
use crate::context::Context;

/// Where a child finds programs.
pub const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// The source of the provider that this binary is.
const OWN_PROVIDER: &str = "eos.local/eos/eos";

pub struct Here {
    pub places: Places,
    pub estate: EstateFile,
    /// What its states are kept under at a shared backend.
    pub state_key: String,
    pub identity_file: Utf8PathBuf,
    /// The folder of Salt's own programs, when it is here.
    pub salt: Option<Utf8PathBuf>,
    /// A Salt that stays for the whole run, started when the first unit needs it: six times faster than one a call.
    pub warm_salt: OnceLock<Option<WarmServer>>,
    /// Where previews and progress are heard.
    pub side_socket: String,
    /// Private to this process, for sockets.
    pub sockets: PathBuf,
    /// What the process was given for providers.
    pub given: BTreeMap<String, String>,
}

impl Surroundings for Here {
    fn backend(&self, unit: &UnitId) -> Result<Backend, Diagnostic> {
        Ok(match &self.estate.backend {
            Kept::Local => Backend::Local { path: self.places.local_state(&self.estate.name, unit) },
            Kept::Http { address, username } => {
                let base = format!("{}/{}/{unit}", address.trim_end_matches('/'), self.state_key);
                Backend::Http {
                    lock_address: Some(format!("{base}/lock")),
                    unlock_address: Some(format!("{base}/lock")),
                    username: username.clone().or_else(|| self.given.get("TF_HTTP_USERNAME").cloned()),
                    password: self.given.get("TF_HTTP_PASSWORD").cloned().map(Into::into),
                    address: base,
                }
            }
        })
    }

    fn variables(&self, unit: &Unit) -> Result<Vec<(String, String)>, Diagnostic> {
        let sources = providers(unit);
        let mut variables =
            credentials::scoped(sources.iter().map(String::as_str), &self.estate.credentials, &self.given);
        // Whoever reads state or plans needs the identity: tofu runs eos for the key.
        variables.insert("EOS_IDENTITY".into(), self.identity_file.to_string());
        if sources.iter().any(|source| source == OWN_PROVIDER) {
            variables.insert("EOS_ESTATE".into(), self.places.root().to_string());
            variables.insert("EOS_PREVIEW".into(), self.side_socket.clone());
            if let Some(salt) = &self.salt {
                variables.insert("EOS_SALT".into(), salt.to_string());
                if needs_salt(unit)
                    && let Some(server) = self.warm_salt.get_or_init(|| self.start_salt(salt))
                {
                    let socket = server.socket().to_string_lossy().into_owned();
                    variables.insert("EOS_SALT_SOCKET".into(), socket);
                }
            }
            // A job's spec says in which namespace it is: a shell's variable would plan a second copy of it elsewhere.
            variables.remove("NOMAD_NAMESPACE");
            for name in ["NOMAD_ADDR", "NOMAD_CACERT", "NOMAD_REGION"] {
                if let Some(value) = self.nomad_variable(name) {
                    variables.insert(name.into(), value);
                }
            }
            if let Some(salt) = &self.estate.salt {
                variables.entry("EOS_SALT_API".into()).or_insert_with(|| salt.api.clone());
            }
        }
        Ok(variables.into_iter().collect())
    }
}

/// What the process was given for providers: those that eos knows, and those of which the estate says what they read.
pub fn given(context: &Context, estate: &EstateFile) -> BTreeMap<String, String> {
    let named = estate.credentials.values().flatten();
    let named = named.filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)));
    context.given.clone().into_iter().chain(named).collect()
}

impl Here {
    /// None when it does not start: the provider then starts its own, and says what is wrong.
    fn start_salt(&self, salt: &Utf8Path) -> Option<WarmServer> {
        let installation = SaltInstallation::at(salt.as_std_path()).ok()?;
        WarmServer::start(&installation, &self.sockets, SEARCH_PATH, &self.sockets.join("salt"), &|| false)
            .ok()
    }

    /// Nomad, when it does not answer at this moment: named as the provider names it.
    pub fn silent_nomad(&self) -> Option<String> {
        let connection = nomad_connection(|name| self.nomad_variable(name));
        let client = match Client::new(&connection, Patience::at_once(super::answering::WITHIN), Stop::new())
        {
            Ok(client) => client,
            // How it is said is wrong: tofu's provider says what.
            Err(_) => return None,
        };
        let silent = client.leader().is_err_and(|error| error.is_unreachable());
        silent.then(|| format!("Nomad at {}", client.address()))
    }

    /// One of Nomad's own variables: as given to this process, else as the estate says.
    pub fn nomad_variable(&self, name: &str) -> Option<String> {
        nomad_variable(&self.given, &self.estate, self.places.root(), name)
    }
}

/// The same before anything is run.
pub fn nomad_variable(
    given: &BTreeMap<String, String>,
    estate: &EstateFile,
    root: &Utf8Path,
    name: &str,
) -> Option<String> {
    if name == "NOMAD_NAMESPACE" {
        return Some(estate.namespace().to_owned());
    }
    let estate = estate.nomad.as_ref();
    given.get(name).cloned().or_else(|| match name {
        "NOMAD_ADDR" => estate?.address.clone(),
        "NOMAD_REGION" => estate?.region.clone(),
        "NOMAD_CACERT" => Some(root.join(estate?.ca.as_ref()?).into_string()),
        _ => None,
    })
}

/// Refuses a shell that means another namespace than the estate, which has not said any: its jobs would be looked for
/// in one place and made in another.
pub fn refuse_other_namespace(
    given: &BTreeMap<String, String>,
    estate: &EstateFile,
    units: &[&Units],
) -> Result<(), Diagnostic> {
    let said = estate.nomad.as_ref().is_some_and(|nomad| nomad.namespace.is_some());
    let meant = given.get("NOMAD_NAMESPACE").filter(|meant| *meant != DEFAULT_NAMESPACE);
    let (Some(meant), false) = (meant, said) else { return Ok(()) };
    if !units.iter().flat_map(|units| units.units.values()).any(has_jobs) {
        return Ok(());
    }
    let message =
        format!("NOMAD_NAMESPACE is {meant}, and eos.toml does not say where this estate's jobs are");
    Err(Diagnostic::error(codes::BAD_ESTATE_FILE, message)
        .why("the namespace belongs to the estate: with one shell's variable a job that runs in another would be made a second time, on the same data")
        .fix(format!(
            "write [nomad] namespace = \"{meant}\" into eos.toml if they are there, else \"{DEFAULT_NAMESPACE}\"; or unset NOMAD_NAMESPACE"
        )))
}

/// Whether a unit has jobs of Nomad's.
pub fn has_jobs(unit: &Unit) -> bool {
    unit.main().pointer("/resource/eos_nomad_job").is_some()
}

/// A client of the estate's Nomad that does not wait long for an answer; None where it cannot even be asked.
pub fn nomad(context: &Context, estate: &Estate) -> Option<Client> {
    let connection =
        nomad_connection(|name| nomad_variable(&context.given, &estate.file, &estate.root, name));
    Client::new(&connection, Patience::at_once(answering::WITHIN), Stop::new()).ok()
}

/// How Nomad is reached, by its own variables. `EOS_OWN_NOMAD` says where this machine's agent is, for tests: what runs on
/// the machine is no part of them.
pub fn nomad_connection(text: impl Fn(&str) -> Option<String>) -> Connection {
    let path = |name: &str| text(name).map(PathBuf::from);
    Connection {
        address: text("NOMAD_ADDR").or_else(|| std::env::var("EOS_OWN_NOMAD").ok()),
        token: text("NOMAD_TOKEN").map(Into::into),
        namespace: text("NOMAD_NAMESPACE"),
        region: text("NOMAD_REGION"),
        tls: Tls {
            ca_certificate: path("NOMAD_CACERT"),
            client_certificate: path("NOMAD_CLIENT_CERT"),
            client_key: path("NOMAD_CLIENT_KEY"),
            server_name: text("NOMAD_TLS_SERVER_NAME"),
        },
    }
}

/// The sources of the providers that a unit requires.
fn providers(unit: &Unit) -> Vec<String> {
    let main = unit.files.get(Utf8Path::new("main.tf.json")).map(Vec::as_slice).unwrap_or_default();
    let main: Json = serde_json::from_slice(main).unwrap_or_default();
    let required = main.pointer("/terraform/required_providers").and_then(Json::as_object);
    let sources = required.into_iter().flatten().filter_map(|(_, provider)| provider["source"].as_str());
    sources.map(str::to_owned).collect()
}

/// Whether a unit has states for a host that Salt configures from here.
pub fn needs_salt(unit: &Unit) -> bool {
    let main = unit.main();
    let states = main.pointer("/resource/eos_salt_state").and_then(Json::as_object);
    states.into_iter().flatten().any(|(_, state)| state["via"] == "masterless")
}
