//! A run as a person starts it: tools found, servers and stores connected, and the engine made of them.

pub mod answering;
pub mod apart;
pub mod archived;
pub mod changed_settings;
pub mod closed_folder;
pub mod confirm;
pub mod ended;
pub mod entries_back;
pub mod first;
pub mod flow;
pub mod going_back;
pub mod health;
pub mod in_the_way;
pub mod interrupt;
pub mod listening;
pub mod lost_data;
pub mod operations;
pub mod others_folders;
pub mod progress;
pub mod screen;
pub mod secrets_left;
pub mod shared_store;
pub mod shown;
pub mod side_channel;
pub mod still_used;
pub mod surroundings;
pub mod taken_ports;
pub mod this_machine;
pub mod undoing;

use std::num::NonZero;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use camino::Utf8PathBuf;
use eos_compile::{OPERATIONS, intent};
use eos_deps::Step;
use eos_engine::{Actor, Applied, Engine, Health, Layout, LeaseTerms, Observer, Tools, Units};
use eos_model::{Diagnostic, Diagnostics, EnvName, codes};
use eos_pillar::entry::Backing;
use eos_pillar::estate_file::Backend as Kept;
use eos_pillar::{Environment, Estate};
use eos_secrets::{Identity, STATE_KEY_FILE, read_state_key};
use eos_store::lease::{EmbeddedLeases, Leases};
use eos_store::{FolderRecords, Records};
use eos_tofu::{Children, Encryption, Installation, InstallationSettings, OfflineProvider, Places, Tofu};

use crate::commands::tools as tool_commands;
use crate::context::Context;
use crate::loaded::Loaded;
use side_channel::SideChannel;
use surroundings::Here;

/// Everything an engine borrows.
pub struct Runs {
    pub layout: Layout,
    pub tools: Tools,
    /// Before the side channel, whose folder its sockets are in: fields go in this order.
    pub here: Here,
    pub side: SideChannel,
    pub actor: Actor,
    pub records: Box<dyn Records>,
    pub leases: Box<dyn Leases>,
    pub health: health::NomadHealth,
    _answering: answering::Answering,
    parallel: usize,
}

impl Runs {
    /// `units` says which tools are needed; `command` is what was typed, secrets elided.
    pub fn open(
        context: &Context,
        estate: &Estate,
        units: &[&Units],
        command: &str,
    ) -> Result<Runs, Diagnostics> {
        let root = estate.root.canonicalize_utf8().unwrap_or_else(|_| estate.root.clone());
        let places = Places::new(root.clone());
        let layout = Layout::new(root.clone());
        keep_to_the_owner(&layout.state())?;
        let executor = ensure_tool(context, &estate.file.executor)?;
        let tofu = Tofu::detect_once(&executor, &places).map_err(broken_tool)?;
        surroundings::refuse_other_namespace(&context.given, &estate.file, units)?;
        let wants_salt = units.iter().flat_map(|units| units.units.values()).any(surroundings::needs_salt);
        if wants_salt {
            this_machine::refuse_other(context, estate, units)?;
        }
        let salt = salt_folder(context, wants_salt)?;
        let installation = Installation::write(&places, &installation(context)).map_err(broken_tool)?;
        if tofu.flavor().encrypts() && root.join(STATE_KEY_FILE).exists() {
            // Without the key each unit would fail by itself, in the words of tofu.
            read_state_key(&root, &Identity::load(&context.identity_file)?)?;
        }
        let encryption = tofu.flavor().encrypts().then(|| {
            let words = ["__state-key", "--estate", root.as_str()].map(str::to_owned);
            Encryption::by_command(context.binary.clone(), words)
        });
        let side = SideChannel::open().map_err(|error| {
            Diagnostic::error(codes::CANNOT_WRITE, format!("cannot listen for previews: {error}"))
                .fix("look at the permissions of the folder for temporary files")
        })?;
        let (records, leases) = store(estate, &layout)?;
        let here = Here {
            places: places.clone(),
            estate: estate.file.clone(),
            state_key: estate.state_key().to_owned(),
            identity_file: context.identity_file.clone(),
            salt,
            warm_salt: OnceLock::new(),
            side_socket: side.path().to_string_lossy().into_owned(),
            sockets: side.folder().to_owned(),
            given: surroundings::given(context, &estate.file),
        };
        let children = Children::new();
        let health = health::NomadHealth::new(&here, units, &children);
        let answering = answering::Answering::watch(&here, units, &children);
        let actor = Actor {
            user: context.user.clone(),
            machine: context.machine.clone(),
            command: command.to_owned(),
        };
        // A unit mostly waits, for disks, clouds and deployments: two for each core.
        let parallel = 2 * std::thread::available_parallelism().map_or(1, NonZero::get);
        let tools = Tools { tofu, places, installation, encryption, children };
        Ok(Runs {
            layout,
            tools,
            here,
            side,
            actor,
            records,
            leases,
            health,
            _answering: answering,
            parallel,
        })
    }

    /// Lets the providers' progress be seen.
    pub fn hear(&self, bars: &Arc<progress::Bars>) {
        let bars = Arc::clone(bars);
        self.side.listen(move |message| {
            if message.kind == side_channel::Kind::Progress
                && let Some(unit) = message.name.split('/').nth(1)
            {
                bars.detail(unit, &message.text);
            }
        });
    }

    pub fn engine<'a>(&'a self, observer: &'a dyn Observer, health: &'a dyn Health) -> Engine<'a> {
        Engine {
            layout: &self.layout,
            tools: &self.tools,
            surroundings: &self.here,
            records: self.records.as_ref(),
            leases: self.leases.as_ref(),
            health,
            observer,
            clock: &now,
            parallel: self.parallel,
            actor: &self.actor,
            terms: self.terms(),
        }
    }
}

/// State may hold secrets in clear, and does with terraform: nobody else may look into its folder.
fn keep_to_the_owner(folder: &camino::Utf8Path) -> Result<(), Diagnostic> {
    let failed = |error: std::io::Error| {
        Diagnostic::error(codes::CANNOT_WRITE, format!("cannot keep {folder} to its owner: {error}"))
            .fix("look at the permissions of .eos")
    };
    fs_err::create_dir_all(folder).map_err(failed)?;
    fs_err::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).map_err(failed)
}

impl Runs {
    fn terms(&self) -> LeaseTerms {
        let mut terms = LeaseTerms::default();
        if let Some(seconds) = self.here.estate.nats.as_ref().and_then(|nats| nats.lease_seconds) {
            terms.ttl = Duration::from_secs(seconds.get().into());
        }
        terms
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().try_into().unwrap_or(0))
}

/// The compiled units of an environment.
pub fn units(env: &EnvName, files: &eos_compile::Files) -> Result<Units, Diagnostics> {
    Units::from_build(env, files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())))
}

/// What was applied, and who is at work.
type Store = (Box<dyn Records>, Box<dyn Leases>);

/// Leases and records: this machine's, or those of the estate's NATS.
pub fn store(estate: &Estate, layout: &Layout) -> Result<Store, Diagnostics> {
    let unusable = |error: eos_store::StoreError| {
        Diagnostic::error(codes::STORE, format!("the estate's store cannot be used: {error}"))
            .fix("look at the permissions of .eos/state, and whether the disk is full")
    };
    let Some(nats) = &estate.file.nats else {
        let records = FolderRecords::open(layout.state().join("records").as_std_path()).map_err(unusable)?;
        let leases = EmbeddedLeases::new(layout.state().join("leases").as_std_path());
        return Ok((Box::new(records), Box::new(leases)));
    };
    if estate.file.backend == Kept::Local {
        return Err(Diagnostic::error(
            codes::BAD_ESTATE_FILE,
            "eos.toml shares leases over NATS but keeps tofu's state on this machine",
        )
        .why("another machine would take turns with this one and build everything a second time")
        .fix("add [backend] kind = \"http\" and its address, or remove [nats]")
        .into());
    }
    shared_store::open(estate, nats)
}

/// Whether no run ever began to make this, and nothing is kept of it. What cannot be known from here is no.
pub fn never_applied(estate: &Estate, env: &EnvName, name: &str) -> bool {
    by_what_was_applied(estate, |applied| {
        Ok(!applied.units(env)?.contains_key(name) && !applied.kept(env)?.contains_key(name))
    })
}

/// Whether nothing runs but what the pillar asks for; an operation is over once it was carried out. What cannot be known
/// from here is no.
pub fn runs_only(estate: &Estate, asked: &Environment) -> bool {
    by_what_was_applied(estate, |applied| {
        let mut names = applied.units(&asked.name)?.into_keys();
        Ok(names.all(|name| name.as_str() == OPERATIONS || asked.components.contains_key(&name)))
    })
}

/// What is so where nothing was applied yet, and else where what was applied says so.
fn by_what_was_applied(
    estate: &Estate,
    holds: impl FnOnce(&Applied<'_>) -> Result<bool, Diagnostic>,
) -> bool {
    let local = estate.file.backend == Kept::Local;
    // The first run of an estate names its state.
    if local && estate.lock.state.is_none() {
        return true;
    }
    let layout = Layout::new(estate.root.clone());
    let shared = estate.file.nats.is_some();
    if !(local || shared) || first::refuse_missing_state(estate, &layout).is_err() {
        return false;
    }
    store(estate, &layout).is_ok_and(|(records, _)| holds(&Applied::new(records.as_ref())).unwrap_or(false))
}

/// Whether what is asked for, or was, has no data although a run began to make it: it never came to its end, and its
/// volumes are empty folders of this machine. What cannot be known from here is no.
pub fn holds_nothing(context: &Context, loaded: &Loaded, environment: &Environment, name: &str) -> bool {
    let entry = environment.components.get(name).or_else(|| environment.kept.get(name));
    let Some(entry) = entry.filter(|entry| !entry.volumes.is_empty()) else { return false };
    let in_cloud = !intent::with_features(&loaded.catalog, entry)
        .is_ok_and(|component| component.cloud.data_classes.is_empty());
    let host = entry.host.as_deref().and_then(|host| environment.hosts.get(host));
    if in_cloud || !host.is_some_and(|host| this_machine::is_it(context, &loaded.estate, host)) {
        return false;
    }
    let layout = Layout::new(loaded.estate.root.clone());
    if first::refuse_missing_state(&loaded.estate, &layout).is_err() {
        return false;
    }
    let Ok((records, _)) = store(&loaded.estate, &layout) else { return false };
    let Ok(units) = Applied::new(records.as_ref()).units(&environment.name) else { return false };
    let is_empty = |path: &str| match fs_err::read_dir(path) {
        Ok(mut files) => files.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    // A logical volume that is not mounted looks empty.
    units.get(name).is_none_or(|unit| unit.digest.is_none())
        && entry.volumes.values().all(|it| it.backing == Backing::Directory && is_empty(&it.path))
}

/// A tool that is here, or is gotten now.
pub fn ensure_tool(context: &Context, name: &str) -> Result<Utf8PathBuf, Diagnostics> {
    let tools = tool_commands::tools(context)?;
    if let Some(found) = tools.find(name)? {
        return Ok(found.path);
    }
    let found = tools.install(name, &mut |step: Step<'_>| tool_commands::progress(context, name, &step))?;
    Ok(found.path)
}

/// Where Salt's programs are. Units that are taken away may need it as well, so it is named whenever it is here; it is
/// gotten only when something that is compiled needs it.
fn salt_folder(context: &Context, wanted: bool) -> Result<Option<Utf8PathBuf>, Diagnostics> {
    let program = if wanted {
        Some(ensure_tool(context, "salt")?)
    } else {
        tool_commands::tools(context)?.find("salt")?.map(|found| found.path)
    };
    Ok(program.map(|program| program.parent().map_or_else(|| program.clone(), ToOwned::to_owned)))
}

/// This binary as a provider, and the providers of the tool cache.
fn installation(context: &Context) -> InstallationSettings {
    let offline = |tool: &str, namespace: &str, kind: &str| {
        let found = tool_commands::tools(context).ok()?.find(tool).ok().flatten()?;
        Some(OfflineProvider {
            namespace: namespace.into(),
            kind: kind.into(),
            version: found.version.to_string(),
            binary: found.path,
        })
    };
    let providers = [
        offline("terraform-provider-hcloud", "hetznercloud", "hcloud"),
        offline("terraform-provider-aws", "hashicorp", "aws"),
    ];
    InstallationSettings {
        eos_binary: Some(context.binary.clone()),
        providers: providers.into_iter().flatten().collect(),
        mirrors: Vec::new(),
        search_path: surroundings::SEARCH_PATH.into(),
        network: context.network.clone(),
    }
}

fn broken_tool(error: eos_tofu::TofuError) -> Diagnostic {
    Diagnostic::error(codes::TOFU, format!("tofu cannot be made ready: {error}"))
        .fix("eos tools verify tofu, or eos tools install tofu")
}
