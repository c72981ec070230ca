//! The embedded store keeps the trait's promises: atomic, checked, durable, shared syncs.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

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
fn what_was_answered_is_there_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    store.submit(put("a", 0, "1")).wait().unwrap();
    store.submit(put("a", 1, "2")).wait().unwrap();
    drop(store);
    let record = open(&dir).get("a").unwrap().unwrap();
    assert_eq!((record.version, record.value.as_slice()), (2, &b"2"[..]));
}

#[test]
fn a_conflicting_batch_changes_nothing_and_harms_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let mut stale = put("fresh", 0, "x");
    stale.put("a", 7, b"y".to_vec());
    let answers = [put("a", 0, "1"), stale, put("b", 0, "1")].map(|batch| store.submit(batch));
    let results: Vec<_> = answers.into_iter().map(eos_store::Pending::wait).collect();
    assert!(results[0].is_ok() && results[2].is_ok());
    assert!(matches!(&results[1], Err(StoreError::Conflict { key, expected: 7, actual: 1 }) if key == "a"));
    let keys: Vec<_> = store.all().unwrap().into_iter().map(|record| record.key).collect();
    assert_eq!(keys, ["a", "b"]);
}

#[test]
fn a_check_holds_a_batch_to_its_parent() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    store.submit(put("parent", 0, "p")).wait().unwrap();
    let mut child = put("child", 0, "c");
    child.check("parent", 1);
    store.submit(child).wait().unwrap();
    let mut gone = Batch::default();
    gone.delete("parent", 1);
    store.submit(gone).wait().unwrap();
    let mut orphan = put("orphan", 0, "o");
    orphan.check("parent", 1);
    assert!(matches!(store.submit(orphan).wait(), Err(StoreError::Conflict { actual: 0, .. })));
}

#[test]
fn many_writers_of_one_key_lose_no_update() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(open(&dir));
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            std::thread::spawn(move || {
                for _ in 0..20 {
                    loop {
                        let now = store.get("n").unwrap();
                        let (version, value) = now.map_or((0, 0), |r| {
                            (r.version, String::from_utf8(r.value).unwrap().parse().unwrap())
                        });
                        let next: u64 = value + 1;
                        if store.submit(put("n", version, &next.to_string())).wait().is_ok() {
                            break;
                        }
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let record = store.get("n").unwrap().unwrap();
    assert_eq!((record.version, record.value.as_slice()), (160, &b"160"[..]));
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

#[test]
fn an_empty_batch_is_answered_after_those_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let before = store.submit(put("a", 0, "1"));
    store.submit(Batch::default()).wait().unwrap();
    assert!(store.get("a").unwrap().is_some());
    before.wait().unwrap();
}
