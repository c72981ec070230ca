//! What the build folder looked like when eos last wrote it, so that nothing needs to be read twice.
//!
//! A stamp is a cache: it may be deleted, and a file whose size or times differ from it is read again. It is wrong only
//! about a file changed within the same clock tick, to the same size, right after eos wrote it.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{EnvName, ask_each};
use eos_pillar::files;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

const HEAD: &str = "eos-build 2";
/// Stands where a file's digest would.
const FOLDER: &str = "-";

/// Size and times of a file, or the times of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    size: u64,
    /// When it was written, in nanoseconds since 1970; whoever edits a file can set it.
    time: i64,
    /// When anything of it was changed, which nobody can set.
    changed: i64,
}

impl Seen {
    /// How something below a folder looks; nothing when it is not there.
    pub fn below(folder: &Root, path: &str) -> Option<Seen> {
        folder.stat(path).map(Seen::of)
    }

    /// How a file that is open looks.
    pub fn open(file: &impl AsFd) -> std::io::Result<Seen> {
        Ok(Seen::of(rustix::fs::fstat(file)?))
    }

    fn of(found: Stat) -> Seen {
        let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let time = nanoseconds(found.st_mtime, found.st_mtime_nsec.try_into().unwrap_or_default());
        let changed = nanoseconds(found.st_ctime, found.st_ctime_nsec.try_into().unwrap_or_default());
        Seen { size: if is_folder { 0 } else { found.st_size as u64 }, time, changed }
    }
}

/// An estate's folder, open: below it a name is found in fewer steps than from the root of the file system.
pub struct Root(OwnedFd);

impl Root {
    pub fn open(root: &Utf8Path) -> Option<Root> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        rustix::fs::open(root.as_std_path(), flags, Mode::empty()).ok().map(Root)
    }

    fn stat(&self, path: &str) -> Option<Stat> {
        rustix::fs::statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    pub fn is_link(&self, path: &str) -> bool {
        self.stat(path).is_some_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    }

    /// A file to be written anew, in a folder that is there; never what a link leads to.
    pub fn create(&self, path: &str) -> Result<File, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.0, path, flags, Mode::from_raw_mode(0o666)).map(File::from)
    }
}

/// A time of a file; one beyond the year 2262 counts as that year's.
fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// The stamp of one environment. Its paths are parts of texts that are there anyway: there are thousands.
#[derive(Debug, Default)]
pub struct Stamp<'t> {
    /// Digest of everything the compilation depended on; empty when there were warnings to repeat.
    pub inputs: &'t str,
    pub units: usize,
    pub files: BTreeMap<&'t str, (Seen, ContentDigest)>,
    pub folders: BTreeMap<&'t str, Seen>,
}

/// A short digest of a file's content, in hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentDigest([u8; 24]);

impl ContentDigest {
    pub fn of(content: &[u8]) -> ContentDigest {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digest = Sha256::digest(content);
        ContentDigest(std::array::from_fn(|at| {
            let byte = digest[at / 2];
            DIGITS[usize::from(if at % 2 == 0 { byte >> 4 } else { byte & 15 })]
        }))
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

fn path(env: &EnvName) -> Utf8PathBuf {
    Utf8Path::new(".eos/cache").join(format!("build-{env}"))
}

/// The text of an environment's stamp; empty when there is none.
pub fn read(root: &Utf8Path, env: &EnvName) -> String {
    std::fs::read_to_string(root.join(path(env))).unwrap_or_default()
}

impl<'t> Stamp<'t> {
    /// A stamp that says nothing when the text is not one.
    pub fn of(text: &'t str) -> Stamp<'t> {
        Stamp::parse(text).unwrap_or_default()
    }

    fn parse(text: &'t str) -> Option<Stamp<'t>> {
        let (head, rest) = text.split_once('\n')?;
        let (units, inputs) = parse_head(head)?;
        let count = rest.bytes().filter(|byte| *byte == b'\n').count();
        let (mut files, mut folders) = (Vec::with_capacity(count), Vec::new());
        for line in rest.lines() {
            let (seen, digest, path) = parse_line(line)?;
            match digest {
                FOLDER => folders.push((path, seen)),
                digest => files.push((path, (seen, ContentDigest(digest.as_bytes().try_into().ok()?)))),
            }
        }
        Some(Stamp {
            inputs,
            units,
            files: files.into_iter().collect(),
            folders: folders.into_iter().collect(),
        })
    }

    /// A stamp that cannot be written costs only time.
    pub fn write(&self, root: &Utf8Path, env: &EnvName) {
        let mut text = format!("{HEAD} {} {}\n", self.units, self.inputs);
        for (path, seen) in &self.folders {
            text.push_str(&format!("{} {} {} {FOLDER} {path}\n", seen.size, seen.time, seen.changed));
        }
        for (path, (seen, digest)) in &self.files {
            text.push_str(&format!(
                "{} {} {} {} {path}\n",
                seen.size,
                seen.time,
                seen.changed,
                digest.as_str()
            ));
        }
        let _ = files::write_cache(root, &path(env), text.as_bytes());
    }

    /// Only what still is as the stamp says: files that look as they did, and the folders if everything does. Folders that
    /// look as they did hold no file that was not there before.
    pub fn still_so(mut self, root: Option<&Root>) -> Stamp<'t> {
        let holds = |path: &str, seen: &Seen| root.and_then(|root| Seen::below(root, path)) == Some(*seen);
        let files: Vec<_> = std::mem::take(&mut self.files).into_iter().collect();
        let same = ask_each(&files, |(path, (seen, _))| holds(path, seen));
        let folders: Vec<_> = self.folders.iter().collect();
        let all = ask_each(&folders, |(path, seen)| holds(path, seen))
            .into_iter()
            .chain(same.iter().copied())
            .all(|same| same);
        self.files = files.into_iter().zip(same).filter_map(|(file, same)| same.then_some(file)).collect();
        if !all {
            self.folders.clear();
        }
        self
    }
}

/// `eos-build 2 <units> <inputs>`
fn parse_head(line: &str) -> Option<(usize, &str)> {
    let mut head = line.strip_prefix(HEAD)?.trim_start().split(' ');
    Some((head.next()?.parse().ok()?, head.next().unwrap_or_default()))
}

/// `<size> <time> <time of change> <digest, or - for a folder> <path>`
fn parse_line(line: &str) -> Option<(Seen, &str, &str)> {
    let mut fields = line.splitn(5, ' ');
    let (size, time, changed) = (fields.next()?, fields.next()?, fields.next()?);
    let (digest, path) = (fields.next()?, fields.next()?);
    let seen = Seen { size: size.parse().ok()?, time: time.parse().ok()?, changed: changed.parse().ok()? };
    Some((seen, digest, path))
}

/// The number of units when everything is still as these inputs left it: no file touched, none added, none gone. The
/// stamp is read line by line, nothing of it kept: this is what a person waits for who changed nothing.
pub fn units_if_current(root: &Utf8Path, env: &EnvName, inputs: &str) -> Option<usize> {
    let text = std::fs::read_to_string(root.join(path(env))).ok()?;
    let (head, rest) = text.split_once('\n')?;
    let (units, _) = parse_head(head).filter(|(_, known)| *known == inputs)?;
    let folder = Root::open(root)?;
    let holds =
        |line: &str| parse_line(line).is_some_and(|(seen, _, path)| Seen::below(&folder, path) == Some(seen));
    let lines: Vec<&str> = rest.lines().collect();
    ask_each(&lines, |line| holds(line)).into_iter().all(|same| same).then_some(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_reads_back_and_a_foreign_one_counts_for_nothing() {
        let mut stamp = Stamp { inputs: "abc", units: 3, ..Stamp::default() };
        stamp
            .files
            .insert("build/x/a b.json", (Seen { size: 1, time: 2, changed: 3 }, ContentDigest::of(b"x")));
        stamp.folders.insert("build/x", Seen { size: 0, time: 9, changed: 9 });
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let env: EnvName = "production".parse().unwrap();
        stamp.write(root, &env);
        let text = read(root, &env);
        let read = Stamp::of(&text);
        assert_eq!(
            (read.inputs, read.units, read.files, read.folders),
            (stamp.inputs, stamp.units, stamp.files, stamp.folders)
        );
        assert!(text.ends_with(" 2d711642b726b04401627ca9 build/x/a b.json\n"), "{text}");
        assert!(Stamp::parse("eos-build 1 1 x\n").is_none());
        assert!(Stamp::parse("eos-build 2 1 x\nnonsense\n").is_none());
    }
}
