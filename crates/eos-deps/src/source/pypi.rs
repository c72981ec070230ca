//! Pinned packages from PyPI in a venv of their own. pip checks each file against its index, and those of the packages
//! themselves against eos's own table before anything in them runs.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::build;
use crate::cache::Lock;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::source::OWN_TABLE;
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
    let install = || {
        let mut install = isolated(&venv.join("bin/python"), work);
        install.args(["-m", "pip", "install", "--no-input", "--disable-pip-version-check"]);
        install.arg("--progress-bar=off");
        install
    };
    let what = format!("pip install {}", packages.join(" "));
    let mut vouched_by = format!("pip, against its index ({})", packages.join(", "));
    if !recipe.sha256.is_empty() {
        let requirements = work.join("requirements.txt");
        let lines: String =
            packages.iter().map(|package| requirement(package, recipe.sums(package))).collect();
        fs_err::write(&requirements, lines)?;
        let mut pinned = install();
        pinned.args(["--no-deps", "--require-hashes", "--requirement", requirements.as_str()]);
        build::run(&what, &mut pinned, lock, &log, progress)
            .map_err(|failure| mismatch(&log).unwrap_or(failure))?;
        vouched_by = format!("{OWN_TABLE}, {vouched_by}");
    }
    let constraints = work.join("constraints.txt");
    fs_err::write(&constraints, recipe.constraints.join("\n") + "\n")?;
    let mut rest = install();
    rest.args(["--constraint", constraints.as_str()]).args(&packages);
    build::run(&what, &mut rest, lock, &log, progress)?;
    Ok(vouched_by)
}

/// A line of a requirements file: any of the sums will do.
fn requirement(package: &str, sums: &[String]) -> String {
    let sums: String = sums.iter().map(|sum| format!(" --hash=sha256:{sum}")).collect();
    format!("{package}{sums}\n")
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
        vouched_by: OWN_TABLE.to_owned(),
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
