//! What the build folder looked like when eos last wrote it, so that nothing needs to be read twice.
//!
//! A stamp is a cache: it may be deleted, and a file whose size or time differs from it is read again. It is wrong only
//! about a file changed within the same clock tick, to the same size, right after eos wrote it.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::EnvName;
use eos_pillar::files;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use sha2::{Digest, Sha256};

const HEAD: &str = "eos-build 1";
/// Stands where a file's digest would.
const FOLDER: &str = "-";

/// Size and time of a file, or the time of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    size: u64,
    /// Nanoseconds since 1970.
    time: i64,
}

impl Seen {
    pub fn at(path: &Utf8Path) -> Option<Seen> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        let time = nanoseconds(metadata.mtime(), metadata.mtime_nsec());
        Some(Seen { size: if metadata.is_dir() { 0 } else { metadata.len() }, time })
    }

    /// [`Seen::at`] for a path below an open folder.
    fn below(folder: &OwnedFd, path: &str) -> Option<Seen> {
        let found = rustix::fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let time = nanoseconds(found.st_mtime, found.st_mtime_nsec.try_into().unwrap_or_default());
        Some(Seen { size: if is_folder { 0 } else { found.st_size as u64 }, time })
    }
}

/// A time of a file; one beyond the year 2262 counts as that year's.
fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// The stamp of one environment.
#[derive(Debug, Default)]
pub struct Stamp {
    /// Digest of everything the compilation depended on; empty when there were warnings to repeat.
    pub inputs: String,
    pub units: usize,
    pub files: BTreeMap<String, (Seen, String)>,
    pub folders: BTreeMap<String, Seen>,
}

/// A short digest of a file's content.
pub fn content_digest(content: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(content);
    digest
        .iter()
        .take(12)
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

fn path(env: &EnvName) -> Utf8PathBuf {
    Utf8Path::new(".eos/cache").join(format!("build-{env}"))
}

impl Stamp {
    pub fn read(root: &Utf8Path, env: &EnvName) -> Stamp {
        let text = std::fs::read_to_string(root.join(path(env))).unwrap_or_default();
        Stamp::parse(&text).unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Stamp> {
        let (head, rest) = text.split_once('\n')?;
        let (units, inputs) = parse_head(head)?;
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for line in rest.lines() {
            let (seen, digest, path) = parse_line(line)?;
            match digest {
                FOLDER => folders.push((path.to_owned(), seen)),
                digest => files.push((path.to_owned(), (seen, digest.to_owned()))),
            }
        }
        Some(Stamp {
            inputs: inputs.to_owned(),
            units,
            files: files.into_iter().collect(),
            folders: folders.into_iter().collect(),
        })
    }

    /// A stamp that cannot be written costs only time.
    pub fn write(&self, root: &Utf8Path, env: &EnvName) {
        let mut text = format!("{HEAD} {} {}\n", self.units, self.inputs);
        for (path, seen) in &self.folders {
            text.push_str(&format!("{} {} {FOLDER} {path}\n", seen.size, seen.time));
        }
        for (path, (seen, digest)) in &self.files {
            text.push_str(&format!("{} {} {digest} {path}\n", seen.size, seen.time));
        }
        let _ = files::write_cache(root, &path(env), text.as_bytes());
    }

    pub fn folders_hold(&self, root: &Utf8Path) -> bool {
        let folders: Vec<(&String, &Seen)> = self.folders.iter().collect();
        let hold = ask_each(&folders, |(path, seen)| Seen::at(&root.join(path)) == Some(**seen));
        !folders.is_empty() && hold.into_iter().all(|same| same)
    }
}

/// `eos-build 1 <units> <inputs>`
fn parse_head(line: &str) -> Option<(usize, &str)> {
    let mut head = line.strip_prefix(HEAD)?.trim_start().split(' ');
    Some((head.next()?.parse().ok()?, head.next().unwrap_or_default()))
}

/// `<size> <time> <digest, or - for a folder> <path>`
fn parse_line(line: &str) -> Option<(Seen, &str, &str)> {
    let mut fields = line.splitn(4, ' ');
    let (size, time, digest, path) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    Some((Seen { size: size.parse().ok()?, time: time.parse().ok()? }, digest, path))
}

/// The number of units when everything is still as these inputs left it: no file touched, none added, none gone. The
/// stamp is read line by line, nothing of it kept: this is what a person waits for who changed nothing.
pub fn units_if_current(root: &Utf8Path, env: &EnvName, inputs: &str) -> Option<usize> {
    let text = std::fs::read_to_string(root.join(path(env))).ok()?;
    let (head, rest) = text.split_once('\n')?;
    let (units, _) = parse_head(head).filter(|(_, known)| *known == inputs)?;
    // Below an open folder a name is found in fewer steps than from the root of the file system.
    let folder = rustix::fs::open(root.as_std_path(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let holds =
        |line: &str| parse_line(line).is_some_and(|(seen, _, path)| Seen::below(&folder, path) == Some(seen));
    let middle = rest[rest.len() / 2..].find('\n').map_or(rest.len(), |at| rest.len() / 2 + at);
    let halves = [&rest[..middle], &rest[middle..]];
    ask_each(&halves, |half| half.lines().filter(|line| !line.is_empty()).all(holds))
        .into_iter()
        .all(|same| same)
        .then_some(units)
}

/// Asks each item the same question, half of them on another thread; the answers are in the items' order.
pub fn ask_each<T: Sync, A: Send>(items: &[T], question: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let (left, right) = items.split_at(items.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| right.iter().map(&question).collect::<Vec<A>>());
        let mut answers: Vec<A> = left.iter().map(&question).collect();
        match other.join() {
            Ok(more) => answers.extend(more),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        answers
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_reads_back_and_a_foreign_one_counts_for_nothing() {
        let mut stamp = Stamp { inputs: "abc".into(), units: 3, ..Stamp::default() };
        stamp.files.insert("build/x/a b.json".into(), (Seen { size: 1, time: 2 }, "d1".into()));
        stamp.folders.insert("build/x".into(), Seen { size: 0, time: 9 });
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let env: EnvName = "production".parse().unwrap();
        stamp.write(root, &env);
        let read = Stamp::read(root, &env);
        assert_eq!(
            (read.inputs, read.units, read.files, read.folders),
            (stamp.inputs, stamp.units, stamp.files, stamp.folders)
        );
        assert!(Stamp::parse("eos-build 2 1 x\n").is_none());
        assert!(Stamp::parse("eos-build 1 1 x\nnonsense\n").is_none());
    }
}
