//! What the build folder looked like when eos last wrote it, so that nothing needs to be read twice.
//!
//! A stamp is a cache: it may be deleted, and a file whose size or times differ from it is read again. It is wrong only
//! about a file changed within the same clock tick, to the same size, right after eos wrote it.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::EnvName;
use eos_pillar::files;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
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
        let found = rustix::fs::statat(&folder.0, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let time = nanoseconds(found.st_mtime, found.st_mtime_nsec.try_into().unwrap_or_default());
        let changed = nanoseconds(found.st_ctime, found.st_ctime_nsec.try_into().unwrap_or_default());
        Some(Seen { size: if is_folder { 0 } else { found.st_size as u64 }, time, changed })
    }
}

/// An estate's folder, open: below it a name is found in fewer steps than from the root of the file system.
pub struct Root(OwnedFd);

impl Root {
    pub fn open(root: &Utf8Path) -> Option<Root> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        rustix::fs::open(root.as_std_path(), flags, Mode::empty()).ok().map(Root)
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
        let (mut files, mut folders) = (Vec::new(), Vec::new());
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

    pub fn folders_hold(&self, root: &Root) -> bool {
        let folders: Vec<(&&str, &Seen)> = self.folders.iter().collect();
        let hold = ask_each(&folders, |(path, seen)| Seen::below(root, path) == Some(**seen));
        !folders.is_empty() && hold.into_iter().all(|same| same)
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
