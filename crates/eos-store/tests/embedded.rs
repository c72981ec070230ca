//! The embedded store beyond the contract: one process, and writes that may be late.

#![allow(clippy::unwrap_used)]

use eos_store::{Batch, Durability, EmbeddedRecords, Records, StoreError};

fn open(dir: &tempfile::TempDir) -> EmbeddedRecords {
    EmbeddedRecords::open(&dir.path().join("store.redb"), Durability::Full).unwrap()
}

fn put(key: &str, expected: u64, value: &str) -> Batch {
    let mut batch = Batch::default();
    batch.put(key, expected, value.as_bytes().to_vec());
    batch
}

#[test]
fn a_second_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _store = open(&dir);
    let again = EmbeddedRecords::open(&dir.path().join("store.redb"), Durability::Full);
    assert!(matches!(again, Err(StoreError::Io { operation: "open", .. })));
}

#[test]
fn relaxed_writes_reach_the_disk_by_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = EmbeddedRecords::open(&path, Durability::Relaxed).unwrap();
    for number in 0..50 {
        store.submit(put(&format!("k{number}"), 0, "v")).wait().unwrap();
    }
    // What another process would find after a crash now: a copy of the file as it is on disk, some time later.
    let copy = dir.path().join("copy.redb");
    let found = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        std::fs::copy(&path, &copy).unwrap();
        let found = EmbeddedRecords::open(&copy, Durability::Full).ok()?.all().ok()?.len();
        (found == 50).then_some(found)
    });
    assert_eq!(found, Some(50));
    drop(store);
    assert_eq!(EmbeddedRecords::open(&path, Durability::Full).unwrap().all().unwrap().len(), 50);
}
