//! The write-ahead journal of a run: append-only, checksummed, durable before anything is done.
//!
//! A file begins with [`HEADER`] bytes that name the format. Each record after it is `length, number, checksum, JSON`.
//! Room is made ahead by writing zeros, so that an append changes no metadata of the file: one write and one fdatasync.
//! A length of zero is where the journal ends for now.
//!
//! Since an append returns only when it is durable, at most the last record can be torn by a crash: it was never acted
//! on and is cut off. A bad record with a good one behind it was damaged later, and nothing is guessed: refused.
//!
//! The writer holds a lock on the file that ends with its process. Readers need no lock.

use std::io::{ErrorKind, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::FlockOperation;
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

/// The format written here; a newer one is refused.
pub const FORMAT: u32 = 1;

const MAGIC: &[u8; 12] = b"eos journal\n";
const HEADER: u64 = 16;
/// Length, number and checksum in front of each record.
const PREFIX: usize = 16;
/// Room is made in steps of this size.
const STEP: u64 = 64 << 10;
/// No record is larger; a length beyond it is damage.
const LARGEST: usize = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("cannot {operation} the journal {path}: {source}")]
    Io { operation: &'static str, path: Utf8PathBuf, source: std::io::Error },
    #[error("{path} is no journal")]
    NotAJournal { path: Utf8PathBuf },
    #[error("the journal {path} has format {found}; this program reads up to {FORMAT}")]
    NewerFormat { path: Utf8PathBuf, found: u32 },
    #[error("the journal {path} is damaged at record {number} (byte {offset}), though good records follow")]
    Damaged { path: Utf8PathBuf, number: u32, offset: u64 },
    #[error("record {number} of the journal {path} is not understood: {reason}")]
    Unreadable { path: Utf8PathBuf, number: u32, reason: String },
    #[error("another process is writing the journal {path}")]
    InUse { path: Utf8PathBuf },
    #[error("record {number} would have {size} bytes, more than a journal takes")]
    TooLarge { number: u32, size: usize },
    #[error("the journal {path} failed before: nothing more is written to it")]
    Failed { path: Utf8PathBuf },
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    file: std::fs::File,
    path: Utf8PathBuf,
    /// Where the next record goes.
    end: u64,
    /// Up to where the file is known to hold room.
    room: u64,
    next: u32,
    /// After a failed write or sync nobody knows what is on the disk, so nothing more is written.
    failed: bool,
}

impl Journal {
    /// Makes the journal of a new run, durable with its name.
    pub fn create(path: &Utf8Path) -> Result<Journal, JournalError> {
        let io = |operation| failing(operation, path);
        let folder = path.parent().unwrap_or(Utf8Path::new("."));
        std::fs::create_dir_all(folder).map_err(io("make a place for"))?;
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(io("create"))?;
        lock(&file, path, FlockOperation::NonBlockingLockExclusive)?;
        let mut journal =
            Journal { file, path: path.to_owned(), end: HEADER, room: 0, next: 0, failed: false };
        let made = journal.make_room(STEP).and_then(|()| {
            let mut header = MAGIC.to_vec();
            header.extend(FORMAT.to_be_bytes());
            journal.write(0, &header, "begin")?;
            std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("name"))
        });
        if let Err(problem) = made {
            // A journal that could not be begun must not look like a run.
            let _ = std::fs::remove_file(path);
            return Err(problem);
        }
        Ok(journal)
    }

    /// Opens a journal to go on with it: its records, and the torn last one cut off.
    pub fn open<R: DeserializeOwned>(path: &Utf8Path) -> Result<(Journal, Vec<R>), JournalError> {
        let io = |operation| failing(operation, path);
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path).map_err(io("open"))?;
        lock(&file, path, FlockOperation::NonBlockingLockExclusive)?;
        let bytes = content(&file, path)?;
        let (records, end) = parse(path, &bytes)?;
        let size = bytes.len() as u64;
        let next = u32::try_from(records.len()).unwrap_or(u32::MAX);
        let mut journal = Journal { file, path: path.to_owned(), end, room: size, next, failed: false };
        if bytes[usize::try_from(end).unwrap_or(bytes.len())..].iter().any(|byte| *byte != 0) {
            journal.file.set_len(end).map_err(io("cut"))?;
            journal.room = end;
            journal.make_room(STEP)?;
        }
        Ok((journal, records))
    }

    /// Writes a record and returns once it is on the disk. Its number counts from zero.
    pub fn append<R: Serialize>(&mut self, record: &R) -> Result<u32, JournalError> {
        if self.failed {
            return Err(JournalError::Failed { path: self.path.clone() });
        }
        let number = self.next;
        let text = serde_json::to_vec(record).map_err(|e| JournalError::Unreadable {
            path: self.path.clone(),
            number,
            reason: e.to_string(),
        })?;
        if text.len() > LARGEST {
            return Err(JournalError::TooLarge { number, size: text.len() });
        }
        let bytes = framed(number, &text);
        let after = self.end + bytes.len() as u64;
        // The zeros that end the journal are part of the room.
        let needed = after + PREFIX as u64;
        let written = if needed > self.room { self.make_room(needed) } else { Ok(()) }
            .and_then(|()| self.write(self.end, &bytes, "write"));
        if let Err(problem) = written {
            self.failed = true;
            return Err(problem);
        }
        self.end = after;
        self.next += 1;
        Ok(number)
    }

    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Writes zeros up to the next step after `needed`, so that they are blocks of the file and not only a size.
    fn make_room(&mut self, needed: u64) -> Result<(), JournalError> {
        let target = needed.div_ceil(STEP) * STEP;
        let zeros = vec![0; usize::try_from(STEP).unwrap_or_default()];
        let mut at = self.room;
        while at < target {
            let size = usize::try_from((target - at).min(STEP)).unwrap_or_default();
            self.file.write_all_at(&zeros[..size], at).map_err(failing("make room in", &self.path))?;
            at += size as u64;
        }
        self.file.sync_all().map_err(failing("make room in", &self.path))?;
        self.room = target;
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8], operation: &'static str) -> Result<(), JournalError> {
        self.file
            .write_all_at(bytes, at)
            .and_then(|()| self.file.sync_data())
            .map_err(failing(operation, &self.path))
    }
}

/// The records of a journal, which may be growing: a record on its way is not seen yet.
pub fn read<R: DeserializeOwned>(path: &Utf8Path) -> Result<Vec<R>, JournalError> {
    let file = std::fs::File::open(path).map_err(failing("open", path))?;
    Ok(parse(path, &content(&file, path)?)?.0)
}

/// Whether some process is writing the journal now.
pub fn in_use(path: &Utf8Path) -> Result<bool, JournalError> {
    let file = std::fs::File::open(path).map_err(failing("open", path))?;
    match lock(&file, path, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(JournalError::InUse { .. }) => Ok(true),
        Err(problem) => Err(problem),
    }
}

/// The room that was made ahead, given back once nothing more is to come.
pub(crate) fn trim(path: &Utf8Path) -> Result<(), JournalError> {
    let file =
        std::fs::OpenOptions::new().read(true).write(true).open(path).map_err(failing("open", path))?;
    let (_, end) = parse::<serde::de::IgnoredAny>(path, &content(&file, path)?)?;
    file.set_len(end).map_err(failing("trim", path))
}

fn failing(operation: &'static str, path: &Utf8Path) -> impl FnOnce(std::io::Error) -> JournalError + use<> {
    let path = path.to_owned();
    move |source| JournalError::Io { operation, path, source }
}

fn lock(file: &std::fs::File, path: &Utf8Path, operation: FlockOperation) -> Result<(), JournalError> {
    let mut tries = 0;
    loop {
        match rustix::fs::flock(file.as_fd(), operation) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            // Somebody who only looks holds it for a moment.
            Err(rustix::io::Errno::WOULDBLOCK) if tries < 20 => {
                tries += 1;
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(JournalError::InUse { path: path.to_owned() }),
            Err(error) => return Err(failing("lock", path)(error.into())),
        }
    }
}

fn content(mut file: &std::fs::File, path: &Utf8Path) -> Result<Vec<u8>, JournalError> {
    let mut bytes = Vec::new();
    loop {
        match file.read_to_end(&mut bytes) {
            Ok(_) => return Ok(bytes),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failing("read", path)(error)),
        }
    }
}

fn framed(number: u32, text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
    let number = number.to_be_bytes();
    let mut bytes = Vec::with_capacity(PREFIX + text.len());
    bytes.extend(length);
    bytes.extend(number);
    bytes.extend(checksum(&[&length, &number, text]));
    bytes.extend(text);
    bytes
}

fn checksum(parts: &[&[u8]]) -> [u8; 8] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
    }
    let mut short = [0; 8];
    short.copy_from_slice(&digest.finalize()[..8]);
    short
}

/// Records, and where the next one goes.
fn parse<R: DeserializeOwned>(path: &Utf8Path, bytes: &[u8]) -> Result<(Vec<R>, u64), JournalError> {
    let not_one = || JournalError::NotAJournal { path: path.to_owned() };
    let header: &[u8; HEADER as usize] = bytes.first_chunk().ok_or_else(not_one)?;
    if !header.starts_with(MAGIC) {
        return Err(not_one());
    }
    let format = header.last_chunk().copied().map_or(0, u32::from_be_bytes);
    if format > FORMAT {
        return Err(JournalError::NewerFormat { path: path.to_owned(), found: format });
    }
    let mut records = Vec::new();
    let mut at = HEADER as usize;
    loop {
        let number = u32::try_from(records.len()).unwrap_or(u32::MAX);
        let Some(text) = record_at(bytes, at, |found| found == number) else {
            // Torn, or the end. Only what comes after tells damage apart.
            let beyond = at + 1..bytes.len().saturating_sub(PREFIX);
            if beyond.into_iter().any(|at| record_at(bytes, at, |found| found > number).is_some()) {
                return Err(JournalError::Damaged { path: path.to_owned(), number, offset: at as u64 });
            }
            return Ok((records, at as u64));
        };
        let record = serde_json::from_slice(text).map_err(|e| JournalError::Unreadable {
            path: path.to_owned(),
            number,
            reason: e.to_string(),
        })?;
        records.push(record);
        at += PREFIX + text.len();
    }
}

/// The text of a good record whose number is accepted.
fn record_at(bytes: &[u8], at: usize, accepted: impl Fn(u32) -> bool) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let size = u32::from_be_bytes(*length) as usize;
    if size == 0 || size > LARGEST || !accepted(u32::from_be_bytes(*number)) {
        return None;
    }
    let text = rest.get(..size)?;
    (checksum(&[length, number, text]) == *sum).then_some(text)
}
