//! Records in a folder beyond the contract: writers that are killed, files that are cut short.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use eos_store::{Batch, FolderRecords, Records, StoreError};
use support::{Other, say, told};

const KEYS: [&str; 3] = ["production/a", "production/b", "production/c"];

fn all_to(expected: u64, value: u64) -> Batch {
    let mut batch = Batch::default();
    for key in KEYS {
        batch.put(key, expected, value.to_string().into_bytes());
    }
    batch
}

/// The number that all keys have together.
fn number_in(folder: &Path) -> Option<u64> {
    let all = FolderRecords::open(folder).unwrap().all().unwrap();
    let mut numbers: Vec<_> = all
        .iter()
        .map(|record| (record.version, std::str::from_utf8(&record.value).unwrap().parse::<u64>().unwrap()))
        .collect();
    assert!(numbers.is_empty() || numbers.len() == KEYS.len(), "{all:?}");
    numbers.dedup();
    assert!(numbers.len() <= 1, "half a batch: {all:?}");
    numbers.first().map(|(version, number)| {
        assert_eq!(*version, number + 1);
        *number
    })
}

#[test]
#[ignore = "run by other tests, as a process of its own"]
fn busy_writer() {
    let Some(folder) = told() else { return };
    let records = FolderRecords::open(Path::new(&folder)).unwrap();
    let first = records.get(KEYS[0]).unwrap().map_or(0, |record| record.version);
    for number in first.. {
        records.submit(all_to(number, number)).wait().unwrap();
        say(&number.to_string());
    }
}

#[test]
fn a_killed_writer_leaves_whole_batches() {
    let dir = tempfile::tempdir().unwrap();
    let mut last = None;
    for round in 0..25 {
        let mut other = Other::start("busy_writer", dir.path().to_str().unwrap());
        for _ in 0..=(round % 5) {
            last = other.hear().map(|said| said.parse().unwrap());
            // Read at any time, by anybody.
            assert!(number_in(dir.path()) >= last);
        }
        // Somewhere in the middle of the next batch, each time somewhere else.
        std::thread::sleep(std::time::Duration::from_micros(round * 370));
        other.kill();
        while let Some(said) = other.hear() {
            last = Some(said.parse().unwrap());
        }
        let found = number_in(dir.path());
        assert!(found >= last, "{found:?} after {last:?} was answered");
    }
    // And it can be written on.
    let next = number_in(dir.path()).unwrap() + 1;
    FolderRecords::open(dir.path()).unwrap().submit(all_to(next, next)).wait().unwrap();
    assert_eq!(number_in(dir.path()), Some(next));
}

#[test]
fn a_slow_reader_sees_no_half_batch() {
    let dir = tempfile::tempdir().unwrap();
    let records = FolderRecords::open(dir.path()).unwrap();
    let mut start = Batch::default();
    for number in 0..600 {
        start.put(format!("filler/{number}"), 0, vec![0; 2_000]);
    }
    const PAIRS: [[&str; 2]; 2] = [["a", "b"], ["c", "d"]];
    PAIRS.as_flattened().iter().for_each(|key| start.put(*key, 0, Vec::new()));
    records.submit(start).wait().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..200 {
                let mut batch = Batch::default();
                PAIRS[round % 2].iter().for_each(|key| batch.put(*key, round as u64 / 2 + 1, Vec::new()));
                records.submit(batch).wait().unwrap();
            }
        });
        while !writer.is_finished() {
            let all = FolderRecords::open(dir.path()).unwrap().all().unwrap();
            let version = |key: &str| all.iter().find(|record| record.key == key).unwrap().version;
            let [[a, b], [c, d]] = PAIRS.map(|pair| pair.map(version));
            assert!(a == b && c == d && (a == c || a == c + 1), "no such state: {a} {b} {c} {d}");
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_batch_whose_files_are_missing_is_finished_from_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let records = FolderRecords::open(dir.path()).unwrap();
    records.submit(all_to(0, 0)).wait().unwrap();
    let old: Vec<_> = files(dir.path());
    records.submit(all_to(1, 1)).wait().unwrap();
    // As a kill right after the rename of `last` would leave it, and after one, two files.
    for done in 0..KEYS.len() {
        for (path, bytes) in old.iter().skip(done) {
            std::fs::write(path, bytes).unwrap();
        }
        // A file that was on its way when the power went.
        std::fs::write(dir.path().join("records/.fresh"), b"{\"key\":\"pro").unwrap();
        std::fs::write(dir.path().join(".fresh"), b"{\"gen").unwrap();
        assert_eq!(number_in(dir.path()), Some(1), "{done} files in place");
        assert_eq!(FolderRecords::open(dir.path()).unwrap().get(KEYS[2]).unwrap().unwrap().version, 2);
    }
    let fresh = FolderRecords::open(dir.path()).unwrap();
    let mut other = Batch::default();
    other.put("other", 0, Vec::new());
    fresh.submit(other).wait().unwrap();
    // The new batch put the files of the one before in place first.
    assert_eq!(fresh.get(KEYS[0]).unwrap().unwrap().version, 2);
    assert_eq!(fresh.all().unwrap().len(), 4);
}

fn files(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder.join("records")).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn damage_and_a_newer_format_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let records = FolderRecords::open(dir.path()).unwrap();
    records.submit(all_to(0, 0)).wait().unwrap();
    let mut other = Batch::default();
    other.put("other", 0, b"x".to_vec());
    records.submit(other).wait().unwrap();
    let (path, bytes) = files(dir.path()).swap_remove(1);
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(matches!(records.all(), Err(StoreError::Damaged { .. })));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(records.all().unwrap().len(), 4);
    std::fs::write(dir.path().join("format"), "2\n").unwrap();
    let refused = FolderRecords::open(dir.path()).map(drop).unwrap_err();
    assert!(matches!(refused, StoreError::NewerFormat { found: 2, known: 1, .. }), "{refused}");
    let refused = records.submit(all_to(1, 1)).wait().unwrap_err();
    assert!(matches!(refused, StoreError::NewerFormat { .. }), "{refused}");
}

#[test]
fn looking_makes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("records");
    let records = FolderRecords::open(&folder).unwrap();
    assert!(records.all().unwrap().is_empty() && records.get("a").unwrap().is_none());
    assert!(!folder.exists());
    let mut bad = Batch::default();
    bad.put("x".repeat(300), 0, Vec::new());
    assert!(matches!(records.submit(bad).wait(), Err(StoreError::BadKey { .. })));
}
