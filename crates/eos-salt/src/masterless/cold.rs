//! One `salt-call` for one run: slower than a warm process, and nothing but Salt's own command line.
//!
//! The pillar of the run may hold secrets, and so may what Salt says: both are in memory alone, never in a file.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::{FlockOperation, MemfdFlags, Mode, OFlags, flock, memfd_create, open};
use serde_json::{Value as Json, json};

use super::folder::PrivateFolder;
use super::warm::{Returned, last_lines};
use super::{MasterlessSettings, child_environment};
use crate::error::SaltError;
use crate::run::{StateRun, Stop};

const EXTRA_PILLAR: &str = include_str!("../../python/extra_pillar.py");
/// msgpack of `{"__all__": {"kill": true}}`: what `state.soft_kill` writes to end a run after the state it is at.
const END_AFTER_THIS_STATE: &[u8] = b"\x81\xa7__all__\x81\xa4kill\xc3";
const EVERY: Duration = Duration::from_millis(50);

/// Runs `salt-call state.apply` and gives what it returned.
pub(crate) fn run(
    settings: &MasterlessSettings,
    mut minion: Json,
    run: &StateRun<'_>,
    at_work: &Path,
    stop: Stop<'_>,
) -> Result<Returned, SaltError> {
    let MasterlessSettings { installation, temp, search_path, .. } = settings;
    let folder = PrivateFolder::make(temp)?;
    let files = folder.join("files");
    fs_err::create_dir(&files).map_err(SaltError::files("make the folder", &files))?;
    folder.write("files/eos_run.sls", run.sls)?;
    let root = folder.join("root");
    minion["root_dir"] = json!(root);
    minion["file_roots"] = json!({"base": [files]});
    if let Some(dirs) = minion["module_dirs"].as_array_mut() {
        dirs.insert(0, json!(folder.join("modules")));
    }
    let start = |source| SaltError::Start { program: installation.salt_call.clone(), source };
    let mut pillar = None;
    if !run.pillar.is_empty() {
        // Arguments of a process can be read by anybody, and a file outlives whoever is killed.
        folder.write("modules/pillar/eos_extra_pillar.py", EXTRA_PILLAR)?;
        let values = zeroize::Zeroizing::new(Json::from(run.pillar.expose().clone()).to_string());
        let mut memory = memory(MemfdFlags::empty()).map_err(start)?;
        memory.write_all(values.as_bytes()).map_err(start)?;
        let extra = json!({"eos_extra_pillar": format!("/proc/self/fd/{}", memory.as_raw_fd())});
        pillar = Some(memory);
        match minion["ext_pillar"].as_array_mut() {
            Some(modules) => modules.push(extra),
            None => minion["ext_pillar"] = json!([extra]),
        }
    }
    folder.write("minion", minion.to_string())?;
    let (out, errors) =
        (memory(MemfdFlags::CLOEXEC).map_err(start)?, memory(MemfdFlags::CLOEXEC).map_err(start)?);
    let cache = root.join("var/cache/salt/minion");
    keep_nothing(&cache).map_err(SaltError::files("make the folder", &cache))?;
    let mut command = Command::new(&installation.salt_call);
    command.args(["--local", "--out=json", "--retcode-passthrough", "--log-level=error", "--config-dir"]);
    command.arg(folder.path()).args(["state.apply", "eos_run"]);
    if run.test {
        command.arg("test=True");
    }
    child_environment(&mut command, folder.path(), search_path);
    command.stdin(folder.lock_for_child()?);
    command.stdout(out.try_clone().map_err(start)?).stderr(errors.try_clone().map_err(start)?);
    command.current_dir(folder.path()).process_group(0);
    let held = held_by_child(at_work).map_err(start)?;
    let mut child = command.spawn().map_err(start)?;
    drop((pillar, held));
    let mut stopped = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(start)? {
            break status;
        }
        stopped = stopped || stop();
        if stopped {
            end_after_this_state(&cache);
        }
        std::thread::sleep(EVERY);
    };
    let redactor = run.pillar.redactor();
    let answer = whole(out);
    let returned = serde_json::from_slice::<Json>(&answer)
        .ok()
        .and_then(|mut answer| answer.get_mut("local").map(Json::take));
    match returned {
        Some(value) => Ok(Returned { value, stopped }),
        None => {
            let said = last_lines(&String::from_utf8_lossy(&whole(errors)), &redactor);
            let output = format!("{said}\n{}\n{status}", redactor.text(&String::from_utf8_lossy(&answer)));
            Err(SaltError::NoAnswer { target: run.target.to_owned(), output: output.trim().to_owned() })
        }
    }
}

/// A file without a name. What is not closed on exec the child has as well, under the same number.
fn memory(flags: MemfdFlags) -> std::io::Result<File> {
    Ok(File::from(memfd_create("eos-salt", flags)?))
}

/// A lock that a child has as well, and keeps when we are gone. The programs that states start do not have it: Python
/// closes what it does not hand on by name.
fn held_by_child(path: &Path) -> std::io::Result<File> {
    let file = open(path, OFlags::CREATE | OFlags::RDWR, Mode::RUSR | Mode::WUSR)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(File::from(file))
}

/// All that was written to it.
fn whole(mut memory: File) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = memory.rewind().and_then(|()| memory.read_to_end(&mut bytes));
    bytes
}

/// Salt writes down what states said and what they were, which nobody reads and which may hold secrets.
fn keep_nothing(cache: &Path) -> std::io::Result<()> {
    fs_err::create_dir_all(cache)?;
    for name in ["sls.p", "highstate.cache.p"] {
        std::os::unix::fs::symlink("/dev/null", cache.join(name))?;
    }
    Ok(())
}

/// Salt gives each run an id and notes it down; a file of that name makes it end.
fn end_after_this_state(cache: &Path) {
    let runs = fs_err::read_dir(cache.join("proc")).into_iter().flatten().flatten();
    for run in runs.filter(|run| !run.file_name().to_string_lossy().contains('.')) {
        let pauses = cache.join("state_pause");
        let ready: PathBuf = pauses.join(".ready");
        let written = fs_err::create_dir_all(&pauses)
            .and_then(|()| fs_err::write(&ready, END_AFTER_THIS_STATE))
            .and_then(|()| fs_err::rename(&ready, pauses.join(run.file_name())));
        // Not yet there or already gone: the next look tells.
        let _ = written;
    }
}
