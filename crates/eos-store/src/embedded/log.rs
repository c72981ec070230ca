//! The log: groups of batches that were answered and are not in the redb file yet. One write in one place and one
//! fdatasync make a group durable, where a transaction of redb writes seven or eight pages.
//!
//! A file of a fixed size, so that the sync writes no metadata, with two sides: one is appended to while what the other
//! one holds is written into the redb file, with the side's generation in the same transaction. What a crash leaves is
//! told by that number: sides of a later generation are read again, earlier ones are history. Entries are chained by
//! their digests, so that a torn or an older entry ends a side and can never follow a new one.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// Bytes of a side.
pub const SIDE: usize = 1 << 20;
/// The first page says whose log this is.
const FIRST_PAGE: usize = 4_096;
const MAGIC: &[u8; 8] = b"eos log1";
/// Length, generation, digest.
const HEADER: usize = 4 + 8 + DIGEST;
const DIGEST: usize = 16;

type Chain = [u8; DIGEST];

pub struct Log {
    file: File,
    store: u64,
    /// Of the side that is appended to. Its parity is the side.
    generation: u64,
    end: usize,
    chain: Chain,
}

/// What a crash left: the entries of the sides that the redb file does not have, oldest first.
pub struct Left {
    pub entries: Vec<Vec<u8>>,
    /// With these written, the file has everything up to this generation.
    pub generation: u64,
}

impl Log {
    /// What the log at `path` holds beyond generation `kept` of `store`. No log: nothing.
    pub fn left(path: &Path, store: u64, kept: u64) -> Result<Left, StoreError> {
        let mut bytes = Vec::new();
        match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            read => drop(read.map_err(|e| failed("read", path, &e))?),
        }
        let mut left = Left { entries: Vec::new(), generation: kept };
        // Shorter: it was never whole, so nothing was ever answered from it.
        if bytes.len() < FIRST_PAGE + 2 * SIDE {
            return Ok(left);
        }
        let damaged =
            |reason: &str| StoreError::Damaged { place: path.display().to_string(), reason: reason.into() };
        if bytes[..MAGIC.len()] != *MAGIC || bytes[MAGIC.len()..MAGIC.len() + 8] != store.to_le_bytes() {
            return Err(damaged(
                "this log belongs to another store; put it back beside its own, or move it away",
            ));
        }
        let mut sides: Vec<_> =
            bytes[FIRST_PAGE..].chunks(SIDE).take(2).filter_map(|side| read_side(side, store)).collect();
        sides.retain(|(generation, _)| *generation > kept);
        sides.sort_by_key(|(generation, _)| *generation);
        for (generation, entries) in sides {
            if generation != left.generation + 1 {
                return Err(damaged("it is older than its log: changes between the two are missing"));
            }
            left.generation = generation;
            left.entries.extend(entries);
        }
        Ok(left)
    }

    /// A log to append to, from the generation after `kept` on. Whatever it held must be in the redb file.
    pub fn open(path: &Path, store: u64, kept: u64) -> Result<Log, StoreError> {
        let opened = make(path, store).map_err(|e| failed("make", path, &e))?;
        Ok(Log { file: opened, store, generation: kept + 1, end: 0, chain: first_chain(store) })
    }

    /// How many bytes of entries the side still takes.
    pub fn room(&self) -> usize {
        SIDE - self.end
    }

    /// Of the side that is appended to.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Makes the entries durable, in this order. After an error the next call writes to the same place again.
    pub fn append(&mut self, entries: &[Vec<u8>]) -> std::io::Result<()> {
        let mut bytes = Vec::with_capacity(entries.iter().map(|entry| size(entry)).sum());
        let mut chain = self.chain;
        for entry in entries {
            chain = next_chain(&chain, self.generation, entry);
            let length = u32::try_from(entry.len()).map_err(|_| ErrorKind::FileTooLarge)?;
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(&self.generation.to_le_bytes());
            bytes.extend_from_slice(&chain);
            bytes.extend_from_slice(entry);
        }
        if bytes.len() > self.room() {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let place = FIRST_PAGE + side_of(self.generation) * SIDE + self.end;
        self.file.write_all_at(&bytes, place as u64)?;
        self.file.sync_data()?;
        (self.end, self.chain) = (self.end + bytes.len(), chain);
        Ok(())
    }

    /// Goes on at the other side, which must be in the redb file. The generation of the side that was left.
    pub fn turn(&mut self) -> u64 {
        let left = self.generation;
        (self.generation, self.end, self.chain) = (left + 1, 0, first_chain(self.store));
        left
    }
}

/// Bytes that an entry takes in a side.
pub fn size(entry: &[u8]) -> usize {
    HEADER + entry.len()
}

fn side_of(generation: u64) -> usize {
    usize::from(generation % 2 == 1)
}

fn first_chain(store: u64) -> Chain {
    let mut chain = [0; DIGEST];
    chain[..8].copy_from_slice(&store.to_le_bytes());
    chain
}

fn next_chain(before: &Chain, generation: u64, entry: &[u8]) -> Chain {
    let digest = Sha256::new()
        .chain_update(before)
        .chain_update(generation.to_le_bytes())
        .chain_update(entry)
        .finalize();
    let mut chain = [0; DIGEST];
    chain.copy_from_slice(&digest[..DIGEST]);
    chain
}

/// The entries up to the first that is not whole; None: there is not one.
fn read_side(side: &[u8], store: u64) -> Option<(u64, Vec<Vec<u8>>)> {
    let (mut found, mut entries) = (None, Vec::new());
    let (mut rest, mut chain) = (side, first_chain(store));
    while let Some((generation, digest, entry, after)) = split_entry(rest) {
        if *found.get_or_insert(generation) != generation || next_chain(&chain, generation, entry) != digest {
            break;
        }
        entries.push(entry.to_vec());
        (rest, chain) = (after, digest);
    }
    let generation = found.filter(|_| !entries.is_empty())?;
    Some((generation, entries))
}

fn split_entry(bytes: &[u8]) -> Option<(u64, Chain, &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (generation, rest) = rest.split_first_chunk::<8>()?;
    let (digest, rest) = rest.split_first_chunk::<DIGEST>()?;
    let (entry, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((u64::from_le_bytes(*generation), *digest, entry, rest))
}

/// An empty log, renamed into place only when all of it is on disk. It is made page by page, and anew at each start: what is
/// written or read at once the kernel also keeps as one, and then looks through all of it at each sync of a few bytes.
fn make(path: &Path, store: u64) -> std::io::Result<File> {
    let fresh = path.with_extension("log.fresh");
    let file = File::options().read(true).write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    let mut page = [0; FIRST_PAGE];
    for place in (0..2 * SIDE).step_by(page.len()) {
        file.write_all_at(&page, (FIRST_PAGE + place) as u64)?;
    }
    page[..MAGIC.len()].copy_from_slice(MAGIC);
    page[MAGIC.len()..MAGIC.len() + 8].copy_from_slice(&store.to_le_bytes());
    file.write_all_at(&page, 0)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

fn failed(operation: &'static str, path: &Path, reason: &std::io::Error) -> StoreError {
    StoreError::Io { operation, place: path.display().to_string(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: u64 = 7;

    fn entries(words: &[&str]) -> Vec<Vec<u8>> {
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    fn found(path: &Path, kept: u64) -> (Vec<String>, u64) {
        let left = Log::left(path, STORE, kept).unwrap();
        (left.entries.into_iter().map(|entry| String::from_utf8(entry).unwrap()).collect(), left.generation)
    }

    /// A log with two entries of generation 3 and one of generation 4.
    fn log_of_two_sides(path: &Path) -> Log {
        let mut log = Log::open(path, STORE, 2).unwrap();
        log.append(&entries(&["a", "b"])).unwrap();
        assert_eq!(log.turn(), 3);
        log.append(&entries(&["c"])).unwrap();
        log
    }

    #[test]
    fn what_the_file_does_not_have_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        assert_eq!(found(&path, 0), (vec![], 0));
        let mut log = log_of_two_sides(&path);
        assert_eq!(found(&path, 2), (vec!["a".into(), "b".into(), "c".into()], 4));
        assert_eq!(found(&path, 3), (vec!["c".into()], 4));
        assert_eq!(found(&path, 4), (vec![], 4));
        // The first side again: what was there before the turn is no part of it.
        log.turn();
        log.append(&entries(&["d"])).unwrap();
        assert_eq!(found(&path, 3), (vec!["c".into(), "d".into()], 5));
        // A process that starts now goes on from there.
        let mut again = Log::open(&path, STORE, 5).unwrap();
        again.append(&entries(&["e"])).unwrap();
        assert_eq!(found(&path, 5), (vec!["e".into()], 6));
    }

    #[test]
    fn a_torn_entry_ends_a_side() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        let mut log = Log::open(&path, STORE, 0).unwrap();
        log.append(&entries(&["first", "second", "third"])).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let second = whole.windows(6).position(|part| part == b"second").unwrap();
        for place in [second - HEADER, second - 1, second, second + 5] {
            let mut torn = whole.clone();
            torn[place] ^= 1;
            std::fs::write(&path, torn).unwrap();
            assert_eq!(found(&path, 0), (vec!["first".into()], 1), "byte {place}");
        }
        // What is left of a group that failed cannot follow what was written over its beginning.
        std::fs::write(&path, &whole).unwrap();
        let mut log = Log::open(&path, STORE, 0).unwrap();
        log.append(&entries(&["First"])).unwrap();
        assert_eq!(found(&path, 0), (vec!["First".into()], 1));
    }

    #[test]
    fn a_log_of_another_store_or_time_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        log_of_two_sides(&path);
        assert!(matches!(Log::left(&path, STORE + 1, 2), Err(StoreError::Damaged { .. })));
        assert!(matches!(Log::left(&path, STORE, 1), Err(StoreError::Damaged { .. })));
        // One that was never whole was never answered from.
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..FIRST_PAGE + SIDE]).unwrap();
        assert_eq!(found(&path, 0), (vec![], 0));
        Log::open(&path, STORE, 0).unwrap().append(&entries(&["a"])).unwrap();
        assert_eq!(found(&path, 0), (vec!["a".into()], 1));
    }

    #[test]
    fn a_side_takes_what_it_has_room_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        let mut log = Log::open(&path, STORE, 0).unwrap();
        let large = vec![vec![b'x'; SIDE - HEADER]];
        assert_eq!(size(&large[0]), log.room());
        log.append(&large).unwrap();
        assert_eq!(log.room(), 0);
        assert!(log.append(&entries(&[""])).is_err());
        log.turn();
        log.append(&large).unwrap();
        assert_eq!(Log::left(&path, STORE, 0).unwrap().entries.len(), 2);
    }
}
