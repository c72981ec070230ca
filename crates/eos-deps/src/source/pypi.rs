//! Pinned packages from PyPI in a venv of their own; pip checks each file against its index.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::build;
use crate::cache::Lock;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{Pypi, Tool};

/// Settings of the caller's own Python and pip that would put packages elsewhere than into the venv.
const CLEARED: &[&str] = &[
    "PYTHONHOME",
    "PYTHONPATH",
    "PIP_PREFIX",
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
    let mut install = isolated(&venv.join("bin/python"), work);
    install.args(["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]);
    let constraints = work.join("constraints.txt");
    fs_err::write(&constraints, recipe.constraints.join("\n") + "\n")?;
    install.args(["--constraint", constraints.as_str()]).args(&packages);
    build::run(&format!("pip install {}", packages.join(" ")), &mut install, lock, &log, progress)?;
    Ok(format!("pip, against its index ({})", packages.join(", ")))
}

fn isolated(python: &Utf8Path, work: &Utf8Path) -> Command {
    let mut command = Command::new(python);
    command.current_dir(work);
    for variable in CLEARED {
        command.env_remove(variable);
    }
    command
}
