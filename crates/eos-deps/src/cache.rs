//! The cache: `<cache>/tools/<name>/<version>/bin/<executable>`, with [`record`](crate::record) beside `bin`.
//!
//! One process at a time installs a tool: it holds a `flock` on `<name>/.lock`. Programs are staged in a directory
//! `.partial-*` beside the final one and renamed; venvs are not relocatable and are built in place. Both count only
//! once their record is there, so that a killed installation leaves nothing that is used; the next one sweeps it away.

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::found::{Found, Source};
use crate::progress::{Progress, Step};
use crate::record::{self, Record, Refusal};
use crate::table::Tool;
use crate::version::Version;

const PARTIAL: &str = ".partial-";

#[derive(Debug, Clone)]
pub(crate) struct Cache {
    tools: Utf8PathBuf,
}

/// The right to install one tool; given up when dropped, or when this process and the builds it started end.
pub(crate) struct Lock {
    pub file: std::fs::File,
}

/// How a tool's files were checked before they came here.
pub(crate) struct Origin {
    pub source: Source,
    pub verified_by: String,
}

impl Cache {
    pub fn new(cache: &Utf8Path) -> Cache {
        Cache { tools: cache.join("tools") }
    }

    /// Where a version of a tool is, or would be.
    pub fn directory(&self, tool: &Tool, version: &Version) -> Utf8PathBuf {
        self.tools.join(&tool.name).join(version.as_str())
    }

    /// The installed copy to use: the pin, else the newest accepted one; and what was not usable.
    pub fn find(&self, tool: &Tool) -> (Option<Found>, Vec<Refusal>) {
        let mut refusals = Vec::new();
        for version in self.versions(tool) {
            let directory = self.directory(tool, &version);
            let checked = Record::read(&directory)
                .and_then(|record| record.check_quickly(&directory).map(|()| found(record, &directory)));
            match checked {
                Ok(found) => return (Some(found), refusals),
                Err(refusal) => refusals.push(refusal),
            }
        }
        (None, refusals)
    }

    /// Reads every byte of the copy that would be used, also of one that a quick look refuses.
    pub fn verify(&self, tool: &Tool) -> Option<Result<Found, Refusal>> {
        let version = self.versions(tool).into_iter().next()?;
        let directory = self.directory(tool, &version);
        let checked = Record::read(&directory)
            .and_then(|record| record.check_fully(&directory).map(|()| found(record, &directory)));
        Some(checked)
    }

    /// Accepted versions that have a directory, the pin first, then the newest.
    fn versions(&self, tool: &Tool) -> Vec<Version> {
        let Ok(entries) = self.tools.join(&tool.name).read_dir_utf8() else {
            return Vec::new();
        };
        let mut versions: Vec<Version> = entries
            .filter_map(|entry| entry.ok()?.file_name().parse().ok())
            .filter(|version| tool.accepts.contains(version))
            .collect();
        versions.sort_by_key(|version| (*version == tool.version, version.clone()));
        versions.reverse();
        versions
    }

    /// Waits until no other process installs this tool.
    pub fn lock(&self, tool: &Tool, progress: &mut dyn Progress) -> std::io::Result<Lock> {
        let directory = self.tools.join(&tool.name);
        fs_err::create_dir_all(&directory)?;
        let (file, path) = fs_err::OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(directory.join(".lock"))?
            .into_parts();
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                progress.step(Step::Waiting { tool: &tool.name });
                file.lock().map_err(|error| std::io::Error::other(format!("{}: {error}", path.display())))?;
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        Ok(Lock { file })
    }

    /// Removes what earlier, unfinished installations left. Only under the lock.
    pub fn sweep(&self, tool: &Tool, _: &Lock) -> std::io::Result<()> {
        for entry in self.tools.join(&tool.name).read_dir_utf8()? {
            let entry = entry?;
            if entry.file_name().starts_with(PARTIAL) {
                fs_err::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// An empty directory to stage a program or to build in; gone when dropped.
    pub fn stage(&self, tool: &Tool, _: &Lock) -> std::io::Result<TempDir> {
        tempfile::Builder::new().prefix(PARTIAL).tempdir_in(self.tools.join(&tool.name))
    }

    /// Makes a staged program the installed one.
    pub fn commit(&self, tool: &Tool, staged: TempDir, origin: Origin, _: &Lock) -> std::io::Result<Found> {
        let directory = self.directory(tool, &tool.version);
        let from = utf8(staged.path())?;
        let executable = Utf8Path::new("bin").join(tool.executable(&tool.version));
        let record = Record::of(
            &from,
            &executable,
            (&tool.name, &tool.version),
            (origin.source, origin.verified_by),
            false,
        )?;
        fs_err::File::open(from.join("bin"))?.sync_all()?;
        record.write(&from)?;
        // What is there was refused before we came here.
        remove(&directory)?;
        fs_err::set_permissions(&from, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        fs_err::rename(&from, &directory)?;
        // Renamed: nothing is left to delete.
        let _ = staged.keep();
        fs_err::File::open(self.tools.join(&tool.name))?.sync_all()?;
        Ok(found(record, &directory))
    }

    /// Clears the place where a venv is built.
    pub fn clear(&self, tool: &Tool, _: &Lock) -> std::io::Result<Utf8PathBuf> {
        let directory = self.directory(tool, &tool.version);
        remove(&directory)?;
        Ok(directory)
    }

    /// Makes a venv that was built in place the installed one.
    pub fn commit_venv(&self, tool: &Tool, origin: Origin, _: &Lock) -> std::io::Result<Found> {
        let directory = self.directory(tool, &tool.version);
        let executable = Utf8Path::new("bin").join(tool.executable(&tool.version));
        let record = Record::of(
            &directory,
            &executable,
            (&tool.name, &tool.version),
            (origin.source, origin.verified_by),
            true,
        )?;
        // Thousands of files: one call for the file system instead of one a file.
        rustix::fs::syncfs(fs_err::File::open(&directory)?)?;
        record.write(&directory)?;
        Ok(found(record, &directory))
    }
}

fn found(record: Record, directory: &Utf8Path) -> Found {
    Found {
        path: directory.join(&record.executable),
        name: record.name,
        version: record.version,
        source: record.source,
        verified_by: Some(record.verified_by),
    }
}

/// Removes a directory so that at no moment a part of it looks installed.
fn remove(directory: &Utf8Path) -> std::io::Result<()> {
    for result in [std::fs::remove_file(directory.join(record::FILE)), std::fs::remove_dir_all(directory)] {
        match result {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(std::io::Error::new(error.kind(), format!("cannot remove {directory}: {error}")));
            }
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn utf8(path: &std::path::Path) -> std::io::Result<Utf8PathBuf> {
    Utf8PathBuf::from_path_buf(path.to_owned())
        .map_err(|path| std::io::Error::other(format!("{} is not UTF-8", path.display())))
}
