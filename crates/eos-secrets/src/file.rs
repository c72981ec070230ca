//! Reading a file of the estate's secrets. What lies there may have been put there by anybody who can commit: a link is
//! never followed, nor is a pipe waited for.

use std::fs::File;
use std::io::Read as _;

use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, Place, codes};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// More than the largest secret with all who may read it, and than a list of those.
const LARGEST: u64 = 4 << 20;

/// A file below the estate's root; none when there is none.
pub fn read(root: &Utf8Path, file: &Utf8Path) -> Result<Option<Vec<u8>>, Diagnostics> {
    let folders = file.ancestors().skip(1).filter(|folder| !folder.as_str().is_empty());
    if let Some(link) = folders.filter(|folder| root.join(folder).is_symlink()).last() {
        return Err(is_link(link).into());
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = match rustix::fs::open(root.join(file).as_std_path(), flags, Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(is_link(file).into()),
        Err(error) => return Err(cannot_read(file, &error.into()).into()),
    };
    let metadata = opened.metadata().map_err(|error| cannot_read(file, &error))?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        let what = if metadata.is_file() { "too large for one" } else { "a folder, a pipe or a device" };
        return Err(Diagnostic::error(
            codes::CANNOT_READ,
            format!("{file} is no file of a secret: it is {what}"),
        )
        .at(Place::file(file))
        .why("eos wrote nothing like it there, and reading it may never end")
        .fix(format!("git log -- {file} shows what was there; move this one out of the estate"))
        .into());
    }
    let mut bytes = Vec::new();
    opened.take(LARGEST).read_to_end(&mut bytes).map_err(|error| cannot_read(file, &error))?;
    Ok(Some(bytes))
}

pub fn cannot_read(path: &Utf8Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(codes::CANNOT_READ, format!("{path} cannot be read"))
        .at(Place::file(path))
        .why(error.to_string())
        .fix(format!("look at its owner and mode: ls -l {path}"))
}

fn is_link(path: &Utf8Path) -> Diagnostic {
    Diagnostic::error(codes::LEAVES_ESTATE, format!("{path} is a link, and there are none among secrets"))
        .at(Place::file(path))
        .why("who reads a secret, and what is read, would be decided by another place than the estate")
        .fix(format!("rm {path}, and bring back what git log -- {path} shows was there before"))
}
