//! Pinned packages from PyPI in a venv of their own. pip holds each file of each package, and of what builds those that
//! come as source, against the tool's lock file before anything in it runs.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::build;
use crate::cache::Lock;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{Pypi, Tool};

/// Who vouches for every file.
const OWN_LOCK: &str = "eos's own lock file";

/// Settings of the caller's own Python and pip that would put packages elsewhere than into the venv, or other ones.
const CLEARED: &[&str] = &[
    "PYTHONHOME",
    "PYTHONPATH",
    "PIP_CONSTRAINT",
    "PIP_NO_BINARY",
    "PIP_ONLY_BINARY",
    "PIP_PREFIX",
    "PIP_REQUIREMENT",
    "PIP_ROOT",
    "PIP_TARGET",
    "PIP_USER",
    "VIRTUAL_ENV",
    "__PYVENV_LAUNCHER__",
];

/// Builds the venv at `venv`, with its logs in `work`; returns who vouched for it.
pub(crate) fn build(
    tool: &Tool,
    recipe: &Pypi,
    search_path: &[Utf8PathBuf],
    (work, venv): (&Utf8Path, &Utf8Path),
    lock: &Lock,
    progress: &mut dyn Progress,
) -> Result<String, Failure> {
    let python = build::program("python3", search_path)?;
    let log = work.join("build.log");
    build::run(
        "python3 -m venv",
        isolated(&python, work).args(["-m", "venv", venv.as_str()]),
        lock,
        &log,
        progress,
    )?;
    let packages: Vec<String> = recipe.packages.iter().map(|package| tool.fill(package)).collect();
    let what = format!("pip install {}", packages.join(" "));
    let mut install = |name: &str, requirements: String, how: &str| {
        let file = work.join(name);
        fs_err::write(&file, requirements)?;
        let mut pip = isolated(&venv.join("bin/python"), work);
        pip.args(["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]);
        pip.args(["--no-deps", "--require-hashes", how, "--requirement", file.as_str()]);
        build::run(&what, &mut pip, lock, &log, progress)
            .map_err(|failure| mismatch(&log).unwrap_or(failure))
            .map(drop)
    };
    let is_source = |name: &str| recipe.from_source.iter().any(|source| source == name);
    install("wheels.txt", recipe.lock.requirements(|name| !is_source(name)), "--only-binary=:all:")?;
    if !recipe.from_source.is_empty() {
        // With what is in the venv by now. Else pip would build with whatever the index has that day, and without sums.
        install("sources.txt", recipe.lock.requirements(is_source), "--no-build-isolation")?;
    }
    Ok(format!("{OWN_LOCK} ({})", packages.join(", ")))
}

/// What pip says when a file does not have one of its sums.
fn mismatch(log: &Utf8Path) -> Option<Failure> {
    let text = fs_err::read_to_string(log).ok()?;
    let (_, told) = text.split_once("DO NOT MATCH THE HASHES")?;
    let after = |mark: &str| told.lines().find_map(|line| Some(line.split_once(mark)?.1.trim().to_owned()));
    let what = told.lines().nth(1).unwrap_or_default().trim().split(" (from").next().unwrap_or_default();
    Some(Failure::Checksum {
        what: what.to_owned(),
        expected: after("Expected sha256").unwrap_or_default(),
        actual: after("Got").unwrap_or_default(),
        vouched_by: OWN_LOCK.to_owned(),
    })
}

fn isolated(python: &Utf8Path, work: &Utf8Path) -> Command {
    let mut command = Command::new(python);
    command.current_dir(work);
    for variable in CLEARED {
        command.env_remove(variable);
    }
    command
}
