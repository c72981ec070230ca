//! Files of an estate: read without leaving it, written so that a crash leaves the old or the new content.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, Place, codes};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The largest file eos reads from an estate.
pub const LARGEST: u64 = eos_yaml::LARGEST_FILE as u64;

/// Reads a file below `root`; `None` when there is none.
pub fn read(root: &Utf8Path, relative: &Utf8Path) -> Result<Option<Vec<u8>>, Diagnostic> {
    let path = root.join(relative);
    let failed = |error: std::io::Error| cannot_read(relative, &error);
    // Opening a pipe would wait for somebody to write into it.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = match rustix::fs::open(path.as_std_path(), flags | OFlags::NOFOLLOW, Mode::empty()) {
        // It is a link.
        Err(Errno::LOOP) => {
            stays_inside(root, relative)?;
            rustix::fs::open(path.as_std_path(), flags, Mode::empty())
        }
        opened => opened,
    };
    let mut file = match opened {
        Ok(file) => std::fs::File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(failed(error.into())),
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(Diagnostic::error(
            codes::CANNOT_READ,
            format!("{relative} is {}, not a file", kind_of(metadata.file_type())),
        )
        .at(Place::file(relative))
        .why("what it has to say is not kept with the estate, and reading it may never end")
        .fix(format!("move it out of the estate: mv {relative} <elsewhere>")));
    }
    let length = metadata.len();
    if length > LARGEST {
        return Err(Diagnostic::error(
            codes::FILE_TOO_LARGE,
            format!(
                "{relative} has {} MB; eos reads files up to {} MB",
                length.div_ceil(1 << 20),
                LARGEST >> 20
            ),
        )
        .at(Place::file(relative))
        .why("a pillar file that large is nearly always something else by mistake")
        .fix("split it, or move it out of the pillar"));
    }
    read_all(&mut file, length).map(Some).map_err(failed)
}

fn kind_of(kind: std::fs::FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else {
        "a device"
    }
}

/// The whole file, in one call of the system where it is as long as it was said to be: there are thousands of them.
fn read_all(file: &mut std::fs::File, length: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default() + 1];
    let mut done = 0;
    while done < bytes.len() {
        match file.read(&mut bytes[done..]) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if done + 1 == bytes.len() {
            break;
        }
    }
    bytes.truncate(done);
    if done as u64 > length {
        // It grew in the meantime.
        file.take(LARGEST).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Refuses a path that a symbolic link leads out of the estate.
pub fn stays_inside(root: &Utf8Path, relative: &Utf8Path) -> Result<(), Diagnostic> {
    let inside = root.canonicalize_utf8().map_err(|error| cannot_read(relative, &error))?;
    let around = root
        .join(relative.parent().unwrap_or(relative))
        .canonicalize_utf8()
        .map_err(|error| cannot_read(relative, &error))?;
    match root.join(relative).canonicalize_utf8() {
        Ok(real) if around.starts_with(&real) && real.starts_with(&inside) => Err(Diagnostic::error(
            codes::CANNOT_READ,
            format!("{relative} is a link to a folder that it is in"),
        )
        .at(Place::file(relative))
        .why("reading it would never end")
        .fix("remove the link")),
        Ok(real) if real.starts_with(&inside) => Ok(()),
        Ok(_) => Err(Diagnostic::error(
            codes::LEAVES_ESTATE,
            format!("{relative} is a link that leads out of the estate"),
        )
        .at(Place::file(relative))
        .why("a clone of the estate would read something else there")
        .fix("copy the file into the estate")),
        Err(error) => Err(cannot_read(relative, &error)),
    }
}

/// Refuses a path some folder of which is a link that leads out of the estate: writing there would change another's file.
pub fn folders_stay_inside(root: &Utf8Path, relative: &Utf8Path) -> Result<(), Diagnostic> {
    let folders = relative.ancestors().skip(1).filter(|folder| !folder.as_str().is_empty());
    match folders.filter(|folder| root.join(folder).is_symlink()).last() {
        Some(link) => stays_inside(root, link),
        None => Ok(()),
    }
}

/// Writes a file below `root` through a temporary neighbour, flushed before it takes the name.
pub fn write(root: &Utf8Path, relative: &Utf8Path, content: &[u8]) -> Result<(), Diagnostic> {
    write_with(root, relative, content, true).map_err(|error| cannot_write(relative, &error))
}

/// Like [`write`] for several files at once: the disk is waited for once, not once a file.
pub fn write_all(root: &Utf8Path, files: &[(&Utf8Path, Vec<u8>)]) -> Result<(), Diagnostic> {
    let mut temporaries = Vec::new();
    let mut folders = BTreeSet::new();
    let result = (|| {
        for (relative, content) in files {
            let failed = |error: std::io::Error| cannot_write(relative, &error);
            let path = root.join(relative);
            let folder = path.parent().unwrap_or(root).to_owned();
            fs_err::create_dir_all(&folder).map_err(failed)?;
            folders.insert(folder);
            let temporary = temporary_name(&path);
            temporaries.push(temporary.clone());
            fs_err::write(&temporary, content).map_err(failed)?;
        }
        sync(temporaries.iter().map(|path| path.as_path()))
            .map_err(|(at, e)| cannot_write(files[at].0, &e))?;
        for ((relative, _), temporary) in files.iter().zip(&temporaries) {
            fs_err::rename(temporary, root.join(relative)).map_err(|error| cannot_write(relative, &error))?;
        }
        sync(folders.iter().map(|folder| folder.as_path()))
            .map_err(|(_, error)| cannot_write(Utf8Path::new("."), &error))
    })();
    if result.is_err() {
        for temporary in temporaries {
            let _ = fs_err::remove_file(temporary);
        }
    }
    result
}

/// Brings files and folders to the disk. Several at a time: the file system then writes its journal once for all of
/// them. On failure, which one it was.
pub(crate) fn sync<'p>(paths: impl Iterator<Item = &'p Utf8Path>) -> Result<(), (usize, std::io::Error)> {
    const AT_ONCE: usize = 16;
    let paths: Vec<(usize, &Utf8Path)> = paths.enumerate().collect();
    let flush = |(at, path): (usize, &Utf8Path)| {
        fs_err::File::open(path).and_then(|file| file.sync_all()).map_err(|error| (at, error))
    };
    for some in paths.chunks(AT_ONCE) {
        if let [only] = some {
            flush(*only)?;
            continue;
        }
        std::thread::scope(|scope| {
            let waiting: Vec<_> = some.iter().map(|one| scope.spawn(move || flush(*one))).collect();
            waiting.into_iter().try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
    }
    Ok(())
}

/// Like [`write`], without waiting for the disk: for what can be made again.
pub fn write_cache(root: &Utf8Path, relative: &Utf8Path, content: &[u8]) -> Result<(), Diagnostic> {
    write_with(root, relative, content, false).map_err(|error| cannot_write(relative, &error))
}

fn write_with(root: &Utf8Path, relative: &Utf8Path, content: &[u8], durable: bool) -> std::io::Result<()> {
    let path = root.join(relative);
    let folder = path.parent().unwrap_or(root);
    fs_err::create_dir_all(folder)?;
    let temporary = temporary_name(&path);
    let result = (|| {
        let mut file = fs_err::File::create(&temporary)?;
        file.write_all(content)?;
        if durable {
            file.sync_all()?;
        }
        fs_err::rename(&temporary, &path)?;
        if durable {
            fs_err::File::open(folder)?.sync_all()?;
        }
        Ok(())
    })();
    if result.is_err() {
        let _ = fs_err::remove_file(&temporary);
    }
    result
}

/// A hidden neighbour; eos never looks at files whose name starts with a dot.
fn temporary_name(path: &Utf8Path) -> Utf8PathBuf {
    path.with_file_name(format!(".{}.eos-tmp", path.file_name().unwrap_or("file")))
}

/// Removes a file, what a killed eos left half-written beside it, and the folders it leaves empty, up to `root`.
pub fn remove(root: &Utf8Path, relative: &Utf8Path) -> Result<(), Diagnostic> {
    let path = root.join(relative);
    for gone in [temporary_name(&path), path] {
        match fs_err::remove_file(gone) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(cannot_write(relative, &error)),
            _ => {}
        }
    }
    let mut folder = relative.parent();
    while let Some(parent) = folder.filter(|parent| !parent.as_str().is_empty()) {
        match fs_err::remove_dir(root.join(parent)) {
            Err(error) if error.kind() != ErrorKind::NotFound => break,
            _ => folder = parent.parent(),
        }
    }
    Ok(())
}

pub fn cannot_read(relative: &Utf8Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(codes::CANNOT_READ, format!("cannot read {relative}: {}", reason(error)))
        .at(Place::file(relative))
}

pub fn cannot_write(relative: &Utf8Path, error: &std::io::Error) -> Diagnostic {
    let fix = match error.kind() {
        ErrorKind::StorageFull => "free some space on the disk, then run the command again",
        ErrorKind::PermissionDenied => {
            "make the estate writable for you (ls -l shows whose it is), then run the command again"
        }
        ErrorKind::ReadOnlyFilesystem => {
            "mount it writable (findmnt -T . shows the mount), then run the command again"
        }
        _ => "run the command again once the cause is gone; nothing was recorded",
    };
    Diagnostic::error(codes::CANNOT_WRITE, format!("cannot write {relative}: {}", reason(error)))
        .at(Place::file(relative))
        .fix(fix)
}

/// The system's own words, without paths that differ from machine to machine.
pub(crate) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::NotFound => "it does not exist".to_owned(),
        kind => kind.to_string(),
    }
}
