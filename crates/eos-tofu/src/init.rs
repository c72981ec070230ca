//! Initialising a unit's folder, unless nothing that an init looks at has changed since the last one.

use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::call::never_started;
use crate::files::{identity, put};
use crate::lock_file::without_own_entries;
use crate::requirements::{Requirements, hex};
use crate::work_folder::LOCK_FILE;
use crate::{Backend, Event, Exit, Installation, Session, TofuError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitOutcome {
    /// Nothing that init looks at has changed since the last one.
    Skipped,
    Done,
}

/// What the last successful init was made for, and what it made.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    made_for: String,
    /// Must all be there still.
    made: Vec<Utf8PathBuf>,
}

/// How long to sleep between two looks at a lock that somebody else holds.
const LOOK: Duration = Duration::from_millis(20);

impl Session {
    /// Initialises unless nothing that matters changed: the configuration's requirements, the backend, the tool, what
    /// providers resolve to, the dependency lock file.
    pub fn init(&self, installation: &Installation, backend: &Backend) -> Result<InitOutcome, TofuError> {
        let requirements = Requirements::read(&self.folder)?;
        let file = self.folder.own_data().join("init.json");
        let inputs = self.inputs(&requirements, installation, backend);
        let stamp = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Stamp>(&bytes).ok());
        if let Some(stamp) = stamp
            && stamp.made_for == self.digest(&inputs)
            && stamp.made.iter().all(|path| path.exists())
        {
            return Ok(InitOutcome::Skipped);
        }
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(TofuError::io(format!("remove {file}"))(error));
            }
            _ => {}
        }
        self.drop_own_lock_entries(installation)?;
        let mark = self.ready_mark(&requirements, installation);
        let lock = match requirements.installs {
            true => Some(self.lock_plugin_cache(installation, &mark)?),
            false => None,
        };
        self.run_init(installation, backend, lock)?;
        if requirements.installs {
            put(&mark, b"", &installation.places.staging())?;
        }
        let stamp = Stamp { made_for: self.digest(&inputs), made: self.made_by_init() };
        let bytes = serde_json::to_vec(&stamp).unwrap_or_default();
        put(&file, &bytes, &installation.places.staging())?;
        Ok(InitOutcome::Done)
    }

    fn run_init(
        &self,
        installation: &Installation,
        backend: &Backend,
        lock: Option<File>,
    ) -> Result<(), TofuError> {
        let mut arguments: Vec<String> =
            ["init", "-json", "-no-color", "-input=false", "-reconfigure"].map(String::from).into();
        arguments.extend(backend.arguments());
        let name = self.name_of(&arguments);
        let mut command = self.command(&arguments);
        command.envs(&installation.network);
        if let Some(lock) = lock {
            // The child holds the lock as its (empty) standard input: it stays locked even if we are killed.
            command.stdin(lock);
        }
        let log = self.log("init");
        self.write_to(&mut command, &log)?;
        let running = self.start(command, &name)?;
        let (mut diagnostics, mut other) = (Vec::new(), String::new());
        let ended = self.follow(running, &log, &name, &mut |line| match Event::parse(line) {
            Event::Diagnostic(diagnostic) => diagnostics.push(diagnostic),
            Event::Other { kind, message } if kind.is_empty() => {
                other.push_str(&message);
                other.push('\n');
            }
            _ => {}
        })?;
        if ended.exit == Exit::Code(0) {
            return Ok(());
        }
        if diagnostics.is_empty() {
            diagnostics = crate::ToolDiagnostic::all_from_text(&other);
        }
        Err(self.failed(name, ended, diagnostics))
    }

    /// Everything but the lock file, which an init itself changes.
    fn inputs(&self, requirements: &Requirements, installation: &Installation, backend: &Backend) -> String {
        let tool = identity(self.tofu.binary());
        let backend = backend.arguments().join("\n");
        format!("1\n{tool}\n{backend}\n{}\n{}", installation.stamp, requirements.digest)
    }

    fn digest(&self, inputs: &str) -> String {
        let lock_file = std::fs::read(self.folder.dir().join(LOCK_FILE)).unwrap_or_default();
        hex(&Sha256::new().chain_update(inputs).chain_update([0]).chain_update(lock_file).finalize())
    }

    fn drop_own_lock_entries(&self, installation: &Installation) -> Result<(), TofuError> {
        let path = self.folder.dir().join(LOCK_FILE);
        let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
        put(&path, without_own_entries(&text).as_bytes(), &installation.places.staging())?;
        Ok(())
    }

    /// Exclusive while something new may be installed; shared when an init with the same requirements has filled the cache
    /// before, so that many units initialise side by side.
    fn lock_plugin_cache(&self, installation: &Installation, mark: &Utf8Path) -> Result<File, TofuError> {
        let path = installation.places.plugin_cache_lock();
        let failed = || TofuError::io(format!("lock {path}"));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed())?;
        loop {
            let operation = match mark.exists() {
                true => FlockOperation::NonBlockingLockShared,
                false => FlockOperation::NonBlockingLockExclusive,
            };
            match flock(file.as_fd(), operation) {
                Ok(()) => return Ok(file),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(failed()(error.into())),
            }
            if self.children.is_interrupted() {
                let name = format!("{} init", self.tofu.flavor().command());
                return Err(TofuError::Interrupted { failure: Box::new(never_started(&name)) });
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Says that the cache has all that such units need. Lies inside the cache, so that it goes when the cache goes.
    fn ready_mark(&self, requirements: &Requirements, installation: &Installation) -> Utf8PathBuf {
        let tool = identity(self.tofu.binary());
        let digest =
            hex(&Sha256::digest(format!("{tool}\n{}\n{}", installation.stamp, requirements.providers)));
        installation.places.plugin_cache().join(format!(".ready-{}", &digest[..32]))
    }

    /// The backend's record, the list of modules, and the folder of each provider (a link into the plugin cache).
    fn made_by_init(&self) -> Vec<Utf8PathBuf> {
        let data = self.folder.data_dir();
        let mut made = vec![data.join("terraform.tfstate"), data.join("modules/modules.json")];
        let mut level = vec![data.join("providers")];
        // Host, namespace, type, version, platform.
        for _ in 0..5 {
            level = level
                .iter()
                .filter_map(|folder| folder.read_dir_utf8().ok())
                .flat_map(|entries| {
                    entries.flatten().map(|entry| entry.path().to_owned()).collect::<Vec<_>>()
                })
                .collect();
        }
        made.extend(level);
        made.retain(|path| path.exists());
        made
    }
}
