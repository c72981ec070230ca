//! Salt, reached as a resource asks for it. Whatever takes time to get ready is kept for the process's life.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_salt::{
    ApiSettings, Credentials, Installation, Masterless, MasterlessSettings, Report, RunsStates, SaltApi,
    SaltError, StateRun, Stop,
};

use super::arguments::{Arguments, Via};
use super::host;
use crate::call::Call;
use crate::settings::Settings;

/// Where states find programs, as on a minion.
const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What leaves room for Salt's own folders before a socket's path is too long.
const SHORT: usize = 30;

pub enum Failure {
    /// Salt was not asked.
    Refused(Diagnostics),
    Salt(SaltError),
}

impl From<Diagnostics> for Failure {
    fn from(found: Diagnostics) -> Failure {
        Failure::Refused(found)
    }
}

impl From<Diagnostic> for Failure {
    fn from(found: Diagnostic) -> Failure {
        Failure::Refused(found.into())
    }
}

impl From<SaltError> for Failure {
    fn from(error: SaltError) -> Failure {
        Failure::Salt(error)
    }
}

/// Runs states on the target of a resource, until they are done or tofu wants to end.
pub fn run(call: &Call, arguments: &Arguments<'_>, sls: &str, test: bool) -> Result<Report, Failure> {
    run_until(call, arguments, sls, test, &|| call.stop.is_stopped())
}

/// The same for what takes a moment and must not be left out.
pub fn run_to_the_end(
    call: &Call,
    arguments: &Arguments<'_>,
    sls: &str,
    test: bool,
) -> Result<Report, Failure> {
    run_until(call, arguments, sls, test, &|| false)
}

fn run_until(
    call: &Call,
    arguments: &Arguments<'_>,
    sls: &str,
    test: bool,
    stop: Stop<'_>,
) -> Result<Report, Failure> {
    let settings = call.settings;
    let (salt, environment): (Arc<dyn RunsStates>, Option<String>) = match arguments.via {
        Via::Masterless => {
            let environment = host::masterless(settings.estate.as_deref(), arguments)?;
            (masterless(settings)?, Some(environment))
        }
        Via::Minion => (minions(settings)?, None),
    };
    let pillar = arguments.resolve_pillar(settings)?;
    let environment = environment.as_deref();
    let run = StateRun { target: arguments.target, environment, sls, pillar: &pillar, test };
    Ok(salt.run(&run, stop)?)
}

fn masterless(settings: &Settings) -> Result<Arc<dyn RunsStates>, Failure> {
    static KEPT: Kept<(PathBuf, Option<PathBuf>, String), Masterless> = LazyLock::new(Mutex::default);
    let program = settings.salt.program.as_deref().ok_or_else(|| {
        Diagnostic::error(codes::SALT, "where Salt is on this machine was not said: EOS_SALT is not set").fix(
            "let eos run tofu (eos tofu <unit> -- plan), or set EOS_SALT to what eos tools path salt prints",
        )
    })?;
    let estate = settings.estate.clone().unwrap_or_default();
    let key = (program.to_owned(), settings.salt.socket.clone(), estate.to_string());
    kept(&KEPT, key, || {
        // Salt puts sockets far below: only a short folder will do.
        let short = |folder: &&Path| folder.as_os_str().len() < SHORT;
        let temp = settings.plugin.temporary_folder.as_deref().filter(short).unwrap_or(Path::new("/tmp"));
        Ok(Masterless::new(MasterlessSettings {
            installation: Installation::at(program)?,
            locks: estate.join(".eos/cache/locks").into(),
            estate: Some(estate),
            temp: temp.to_owned(),
            socket: settings.salt.socket.clone(),
            keep_warm: true,
            search_path: SEARCH_PATH.to_owned(),
            module_dirs: Vec::new(),
        }))
    })
    .map(|salt| salt as Arc<dyn RunsStates>)
}

fn minions(settings: &Settings) -> Result<Arc<dyn RunsStates>, Failure> {
    static KEPT: Kept<(String, PathBuf), SaltApi> = LazyLock::new(Mutex::default);
    let unsaid = |what: &str, fix: &str| Diagnostic::error(codes::SALT, what).fix(fix);
    let address = settings.salt.api.clone().ok_or_else(|| {
        unsaid(
            "where salt-api is was not said: EOS_SALT_API is not set",
            "name it in eos.toml: [salt] api = \"https://salt.example.org:8000\"",
        )
    })?;
    let file = settings.salt.token_file.clone().ok_or_else(|| {
        unsaid(
            "how to log in at salt-api was not said: EOS_SALT_TOKEN_FILE is not set",
            "set it to a file that holds a token, or {\"username\": …, \"password\": …, \"eauth\": …}",
        )
    })?;
    kept(&KEPT, (address.clone(), file.clone()), || {
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Diagnostic::error(codes::CANNOT_READ, format!("{} cannot be read", file.display()))
                .why(error.to_string())
                .fix(format!("look at its owner and mode: ls -l {}", file.display()))
        })?;
        let credentials = Credentials::parse(&text)?;
        Ok(SaltApi::new(ApiSettings { address, credentials, authority: None })?)
    })
    .map(|salt| salt as Arc<dyn RunsStates>)
}

/// By everything it was made from.
type Kept<K, V> = LazyLock<Mutex<HashMap<K, Arc<V>>>>;

fn kept<K: Hash + Eq, V>(
    all: &Kept<K, V>,
    key: K,
    make: impl FnOnce() -> Result<V, Failure>,
) -> Result<Arc<V>, Failure> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = all.get(&key) {
        return Ok(found.clone());
    }
    let made = Arc::new(make()?);
    all.insert(key, made.clone());
    Ok(made)
}
