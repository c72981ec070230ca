//! What the build folder looked like when eos last wrote it, so that nothing needs to be read twice.
//!
//! A stamp is a cache: it may be deleted, and a file whose size or time differs from it is read again. It is wrong only
//! about a file changed within the same clock tick, to the same size, right after eos wrote it.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::EnvName;
use eos_pillar::files;
use sha2::{Digest, Sha256};

const HEAD: &str = "eos-build 1";

/// Size and time of a file, or the time of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    size: u64,
    time: i128,
}

impl Seen {
    pub fn at(path: &Utf8Path) -> Option<Seen> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        let time = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        Some(Seen { size: if metadata.is_dir() { 0 } else { metadata.len() }, time })
    }
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
        let mut lines = text.lines();
        let mut stamp = Stamp::default();
        let mut head = lines.next()?.strip_prefix(HEAD)?.trim_start().split(' ');
        stamp.units = head.next()?.parse().ok()?;
        stamp.inputs = head.next().unwrap_or_default().to_owned();
        for line in lines {
            let mut fields = line.splitn(4, ' ');
            let (size, time, digest, path) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
            let seen = Seen { size: size.parse().ok()?, time: time.parse().ok()? };
            if digest == "-" {
                stamp.folders.insert(path.into(), seen);
            } else {
                stamp.files.insert(path.into(), (seen, digest.to_owned()));
            }
        }
        Some(stamp)
    }

    /// A stamp that cannot be written costs only time.
    pub fn write(&self, root: &Utf8Path, env: &EnvName) {
        let mut text = format!("{HEAD} {} {}\n", self.units, self.inputs);
        for (path, seen) in &self.folders {
            text.push_str(&format!("{} {} - {path}\n", seen.size, seen.time));
        }
        for (path, (seen, digest)) in &self.files {
            text.push_str(&format!("{} {} {digest} {path}\n", seen.size, seen.time));
        }
        let _ = files::write_cache(root, &path(env), text.as_bytes());
    }

    /// Whether everything it names is still as it was: no file touched, none added, none gone.
    pub fn holds(&self, root: &Utf8Path) -> bool {
        let paths: Vec<(&String, &Seen)> =
            self.folders.iter().chain(self.files.iter().map(|(path, (seen, _))| (path, seen))).collect();
        ask_each(&paths, |(path, seen)| Seen::at(&root.join(path)) == Some(**seen))
            .into_iter()
            .all(|same| same)
    }

    pub fn folders_hold(&self, root: &Utf8Path) -> bool {
        !self.folders.is_empty()
            && self.folders.iter().all(|(path, seen)| Seen::at(&root.join(path)) == Some(*seen))
    }
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
