//! The journal on a real disk: cut anywhere, damaged anywhere, full, newer, shared.
#![allow(clippy::unwrap_used)]

use camino::{Utf8Path, Utf8PathBuf};
use eos_engine::journal::{self, Journal, JournalError};
use proptest::prelude::*;

fn place() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().join("runs/a.journal")).unwrap();
    (folder, path)
}

fn written(path: &Utf8Path, records: &[String]) -> Vec<u64> {
    let mut journal = Journal::create(path).unwrap();
    let mut ends = vec![16];
    for record in records {
        journal.append(record).unwrap();
        ends.push(ends.last().unwrap() + 16 + serde_json::to_vec(record).unwrap().len() as u64);
    }
    ends
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("record {n} {}", "x".repeat(n * 7 % 40))).collect()
}

#[test]
fn records_read_back_and_writing_goes_on_after_opening() {
    let (_folder, path) = place();
    written(&path, &texts(3));
    let (mut journal, found) = Journal::open::<String>(&path).unwrap();
    assert_eq!(found, texts(3));
    assert_eq!(journal.append(&"more").unwrap(), 3);
    // A reader needs nothing of the writer, who still holds the journal.
    assert!(journal::in_use(&path).unwrap());
    assert_eq!(journal::read::<String>(&path).unwrap().len(), 4);
    assert!(matches!(Journal::open::<String>(&path), Err(JournalError::InUse { .. })));
    drop(journal);
    assert!(!journal::in_use(&path).unwrap());
}

#[test]
fn a_journal_grows_beyond_the_room_made_ahead() {
    let (_folder, path) = place();
    let records: Vec<String> = (0..40).map(|n| format!("{n}{}", "y".repeat(9_000))).collect();
    written(&path, &records);
    assert_eq!(journal::read::<String>(&path).unwrap(), records);
}

/// A crash can leave any part of the last record behind, in any order of its bytes' arrival.
#[test]
fn a_torn_last_record_is_cut_wherever_it_was_torn() {
    let records = texts(4);
    let (_folder, path) = place();
    let ends = written(&path, &records);
    let whole = std::fs::read(&path).unwrap();
    let (start, end) = (ends[3] as usize, ends[4] as usize);
    for torn in (start..end).step_by(3) {
        for (from, to) in [(torn, end), (start, torn)] {
            let mut bytes = whole.clone();
            bytes[from..to].fill(0);
            if bytes == whole {
                continue;
            }
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(journal::read::<String>(&path).unwrap(), records[..3], "torn at {torn}");
            let (mut journal, found) = Journal::open::<String>(&path).unwrap();
            assert_eq!(found, records[..3]);
            journal.append(&"after").unwrap();
            drop(journal);
            let after = journal::read::<String>(&path).unwrap();
            assert_eq!(after[3], "after", "nothing of the torn record shows");
            assert_eq!(after.len(), 4);
        }
    }
}

/// A file system may also lose the end of a file with its size.
#[test]
fn a_shortened_file_is_a_torn_tail_too() {
    let records = texts(3);
    let (_folder, path) = place();
    let ends = written(&path, &records);
    let whole = std::fs::read(&path).unwrap();
    for size in ends[2]..=ends[3] {
        std::fs::write(&path, &whole[..size as usize]).unwrap();
        let found = Journal::open::<String>(&path).unwrap().1;
        assert_eq!(found.len(), if size == ends[3] { 3 } else { 2 });
    }
}

#[test]
fn damage_before_a_good_record_is_refused_and_named() {
    let (_folder, path) = place();
    let ends = written(&path, &texts(5));
    let whole = std::fs::read(&path).unwrap();
    for at in ends[1]..ends[4] {
        let mut bytes = whole.clone();
        bytes[at as usize] ^= 0x40;
        std::fs::write(&path, &bytes).unwrap();
        let number = ends.iter().filter(|end| **end <= at).count() as u32 - 1;
        match journal::read::<String>(&path) {
            Err(JournalError::Damaged { number: found, .. }) => assert_eq!(found, number, "byte {at}"),
            other => panic!("byte {at}: {other:?}"),
        }
        assert!(Journal::open::<String>(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "a refused journal is left as it is");
    }
}

#[test]
fn newer_formats_and_other_files_are_refused() {
    let (_folder, path) = place();
    written(&path, &texts(1));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[15] = 2;
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(journal::read::<String>(&path), Err(JournalError::NewerFormat { found: 2, .. })));
    for other in [&b""[..], b"eos", b"{\"format\": 1, \"records\": []}"] {
        std::fs::write(&path, other).unwrap();
        assert!(matches!(journal::read::<String>(&path), Err(JournalError::NotAJournal { .. })));
    }
    assert!(
        matches!(Journal::create(&path), Err(JournalError::Io { .. })),
        "an old journal is never overwritten"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever happens to the bytes, reading gives a prefix of what was written or refuses.
    #[test]
    fn what_is_read_is_what_was_written_or_nothing(
        records in proptest::collection::vec("[a-z]{0,30}", 1..8),
        hits in proptest::collection::vec((0usize..800, any::<u8>()), 0..4),
        cut in 16usize..900,
    ) {
        let (_folder, path) = place();
        written(&path, &records);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(cut);
        for (at, value) in hits {
            if at >= 16 && at < bytes.len() {
                bytes[at] = value;
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(found) = journal::read::<String>(&path) {
            prop_assert_eq!(&records[..found.len()], &found[..]);
        }
    }
}

/// Not asserted: prints how many durable appends a second the journal does beside bare writes with fdatasync.
#[test]
#[ignore = "a measurement: cargo test --release -p eos-engine --test journal -- --ignored --nocapture rate"]
fn rate() {
    use std::os::unix::fs::FileExt as _;
    use std::time::Instant;
    const APPENDS: usize = 400;
    let (folder, path) = place();
    let record = "x".repeat(180);
    let file = std::fs::File::create(folder.path().join("bare")).unwrap();
    file.write_all_at(&vec![0; 64 << 10], 0).unwrap();
    file.sync_all().unwrap();
    let (mut bare, mut journaled) = (0.0, 0.0);
    let mut journal = Journal::create(&path).unwrap();
    // In turns, so that both see the same disk.
    for round in 0..8 {
        let begun = Instant::now();
        for number in 0..APPENDS / 8 {
            file.write_all_at(record.as_bytes(), ((round * APPENDS / 8 + number) * 160) as u64 % 60_000)
                .unwrap();
            file.sync_data().unwrap();
        }
        bare += begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        for _ in 0..APPENDS / 8 {
            journal.append(&record).unwrap();
        }
        journaled += begun.elapsed().as_secs_f64();
    }
    println!(
        "bare fdatasync {:.0}/s, journal {:.0}/s, ratio {:.2}",
        APPENDS as f64 / bare,
        APPENDS as f64 / journaled,
        bare / journaled
    );
}
