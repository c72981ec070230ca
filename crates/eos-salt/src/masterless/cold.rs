//! One `salt-call` for one run: slower than a warm process, and nothing but Salt's own command line.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::child_environment;
use super::folder::PrivateFolder;
use super::installation::Installation;
use super::warm::{last_words, stopped_after};
use crate::error::SaltError;
use crate::run::{StateRun, Stop};

const EXTRA_PILLAR: &str = include_str!("../../python/extra_pillar.py");
/// msgpack of `{"__all__": {"kill": true}}`: what `state.soft_kill` writes to end a run after the state it is at.
const END_AFTER_THIS_STATE: &[u8] = b"\x81\xa7__all__\x81\xa4kill\xc3";
const EVERY: Duration = Duration::from_millis(50);

/// Runs `salt-call state.apply` and gives what it returned.
pub(crate) fn run(
    installation: &Installation,
    temp: &Path,
    search_path: &str,
    mut minion: Json,
    run: &StateRun<'_>,
    stop: Stop<'_>,
) -> Result<Json, SaltError> {
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
    if !run.pillar.is_empty() {
        // Arguments of a process can be read by anybody; a file in here cannot.
        folder.write("modules/pillar/eos_extra_pillar.py", EXTRA_PILLAR)?;
        let values = zeroize::Zeroizing::new(Json::from(run.pillar.expose().clone()).to_string());
        let extra = json!({"eos_extra_pillar": folder.write("pillar.json", values.as_bytes())?});
        match minion["ext_pillar"].as_array_mut() {
            Some(modules) => modules.push(extra),
            None => minion["ext_pillar"] = json!([extra]),
        }
    }
    folder.write("minion", minion.to_string())?;
    let output = |name: &str| {
        let path = folder.join(name);
        fs_err::File::create(&path).map(fs_err::File::into_file).map_err(SaltError::files("write", path))
    };
    let mut command = Command::new(&installation.salt_call);
    command.args(["--local", "--out=json", "--retcode-passthrough", "--log-level=error", "--config-dir"]);
    command.arg(folder.path()).args(["state.apply", "eos_run"]);
    if run.test {
        command.arg("test=True");
    }
    child_environment(&mut command, folder.path(), search_path);
    command.stdin(folder.lock_for_child()?).stdout(output("out")?).stderr(output("errors")?);
    command.current_dir(folder.path()).process_group(0);
    let start = |source| SaltError::Start { program: installation.salt_call.clone(), source };
    let mut child = command.spawn().map_err(start)?;
    let mut stopped = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(start)? {
            break status;
        }
        stopped = stopped || stop();
        if stopped {
            end_after_this_state(&root.join("var/cache/salt/minion"));
        }
        std::thread::sleep(EVERY);
    };
    let redactor = run.pillar.redactor();
    let answer = fs_err::read(folder.join("out")).unwrap_or_default();
    let returned = serde_json::from_slice::<Json>(&answer)
        .ok()
        .and_then(|mut answer| answer.get_mut("local").map(Json::take));
    match returned {
        Some(returned) if stopped => Err(stopped_after(returned.as_object().map_or(0, serde_json::Map::len))),
        Some(returned) => Ok(returned),
        None => {
            let said = last_words(&folder.join("errors"), &redactor);
            let output = format!("{said}\n{}\n{status}", redactor.text(&String::from_utf8_lossy(&answer)));
            Err(SaltError::NoAnswer { target: run.target.to_owned(), output: output.trim().to_owned() })
        }
    }
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
