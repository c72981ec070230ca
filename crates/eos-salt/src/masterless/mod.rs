//! States on this machine, without a master.
//!
//! Asked are, in this order: the warm process of the run (a socket), a warm process of our own, and when that cannot be
//! started `salt-call` itself. Runs on one target wait for each other, whichever process asks for them.

mod cold;
mod conversation;
mod folder;
mod installation;
mod minion;
mod warm;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;

use crate::error::SaltError;
use crate::high_data;
use crate::report::Report;
use crate::returned;
use crate::run::{RunsStates, StateRun, Stop};
use crate::target_lock::TargetLock;
use conversation::Conversation;
pub use folder::sweep;
pub use installation::Installation;
pub use warm::WarmServer;
use warm::{Returned, WarmProcess};

#[derive(Debug, Clone)]
pub struct MasterlessSettings {
    pub installation: Installation,
    /// Its pillar and what its units published are the minion's pillar.
    pub estate: Option<Utf8PathBuf>,
    /// Private folders are made in here. Salt puts sockets below them, so that a short path is better.
    pub temp: PathBuf,
    /// Where the locks of targets are.
    pub locks: PathBuf,
    /// The warm process of the run.
    pub socket: Option<PathBuf>,
    /// Whether to keep a process of our own warm; else every run starts `salt-call`.
    pub keep_warm: bool,
    /// Where states find programs: the PATH of Salt.
    pub search_path: String,
    /// Folders with modules of the estate's own: `states/`, `modules/`, …
    pub module_dirs: Vec<PathBuf>,
}

/// Runs states on this machine.
pub struct Masterless {
    settings: MasterlessSettings,
    own: Mutex<Option<WarmProcess>>,
}

impl Masterless {
    pub fn new(settings: MasterlessSettings) -> Masterless {
        Masterless { settings, own: Mutex::new(None) }
    }

    fn returned(&self, run: &StateRun<'_>, at_work: &Path, stop: Stop<'_>) -> Result<Returned, SaltError> {
        let settings = &self.settings;
        let minion = minion::configuration(run, settings.estate.as_deref(), &settings.module_dirs);
        if let Some(socket) = &settings.socket {
            // Not there any more: its owner is gone, and we go on alone.
            if let Ok(mut conversation) = Conversation::connect(socket, stop) {
                let redactor = run.pillar.redactor();
                let answer = warm::ask(&mut conversation, minion, run, at_work, stop).map_err(|problem| {
                    SaltError::NoAnswer { target: run.target.to_owned(), output: problem.to_string() }
                })?;
                return warm::understood(answer, run.target, &redactor);
            }
        }
        if settings.keep_warm {
            let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            if own.is_none() {
                let (temp, path) = (&settings.temp, &settings.search_path);
                *own = WarmProcess::start(&settings.installation, temp, path, None, stop).ok();
            }
            if let Some(process) = own.as_mut() {
                let answer = process.run(minion, run, at_work, stop);
                if matches!(answer, Err(SaltError::NoAnswer { .. })) {
                    // Whatever happened to it, the next run starts anew.
                    *own = None;
                }
                return answer;
            }
        }
        if stop() {
            return Err(warm::stopped_after(0));
        }
        cold::run(settings, minion, run, at_work, stop)
    }
}

impl RunsStates for Masterless {
    fn run(&self, run: &StateRun<'_>, stop: Stop<'_>) -> Result<Report, SaltError> {
        let lock = TargetLock::take(&self.settings.locks, run.target, stop)?;
        let Returned { value, stopped } = self.returned(run, &lock.at_work, stop)?;
        let report = returned::report(run.target, value, run.test, &run.pillar.redactor())?;
        // Told to end while it was at its last state, it has done everything all the same.
        let complete =
            || high_data::of(run.target, run.sls).is_ok_and(|high| high.left_out(&report).is_empty());
        if stopped && !complete() { Err(warm::stopped_after(report.states.len())) } else { Ok(report) }
    }
}

/// An environment from nothing: what eos was given, secrets included, is no business of states.
fn child_environment(command: &mut Command, home: &Path, search_path: &str) {
    command.env_clear();
    command.env("PATH", search_path).env("HOME", home).env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8");
    // Salt's installation stays as it is.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
}
