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
                        let (version, value) =
                            now.map_or((0, 0), |r| (r.version, String::from_utf8(r.value).unwrap().parse().unwrap()));
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
