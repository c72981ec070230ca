//! Runs the commands of a build, their output in a log of which a failure shows the end.

use std::io::{Read, Seek, SeekFrom};
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::cache::Lock;
use crate::failure::Failure;
use crate::progress::{Progress, Step};

/// How much of a log a message shows.
const TAIL_LINES: usize = 8;

/// The first executable of that name on the search path.
pub(crate) fn program(name: &str, search_path: &[Utf8PathBuf]) -> Result<Utf8PathBuf, Failure> {
    candidates(name, search_path)
        .next()
        .ok_or_else(|| Failure::Absent(format!("needs `{name}`, which is not on the search path")))
}

/// Every executable file of that name, in the search path's order.
pub(crate) fn candidates(name: &str, search_path: &[Utf8PathBuf]) -> impl Iterator<Item = Utf8PathBuf> {
    search_path
        .iter()
        // A relative entry would make the tool depend on where eos was started.
        .filter(|directory| directory.is_absolute())
        .map(move |directory| directory.join(name))
        .filter(|path| {
            std::fs::metadata(path).is_ok_and(|metadata| {
                metadata.is_file()
                    && std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
            })
        })
}

/// Runs one command to its end and returns what it wrote to stdout.
///
/// Its stdin is the lock: a build that outlives a killed eos keeps the lock, so that nobody builds in the same place.
pub(crate) fn run(
    what: &str,
    command: &mut Command,
    lock: &Lock,
    log: &Utf8Path,
    progress: &mut dyn Progress,
) -> Result<String, Failure> {
    progress.step(Step::Building { what, log });
    let output_path = log.with_extension("out");
    let output = fs_err::File::create(&output_path)?;
    let status = command
        .stdin(Stdio::from(lock.file.try_clone()?))
        .stdout(output.into_parts().0)
        .stderr(fs_err::File::create(log)?.into_parts().0)
        .status()
        .map_err(|error| Failure::Command {
            command: what.to_owned(),
            status: error.to_string(),
            log_tail: String::new(),
        })?;
    if status.success() {
        return Ok(fs_err::read_to_string(&output_path)?);
    }
    let log_tail = [tail(&output_path)?, tail(log)?].concat();
    Err(Failure::Command { command: what.to_owned(), status: status.to_string(), log_tail })
}

fn tail(path: &Utf8Path) -> Result<String, Failure> {
    let mut file = fs_err::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(4096)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    Ok(lines
        .iter()
        .skip(lines.len().saturating_sub(TAIL_LINES))
        .map(|line| format!("\n    {line}"))
        .collect())
}
