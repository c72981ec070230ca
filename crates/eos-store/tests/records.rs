//! What every implementation of `Records` promises, on each of them.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use eos_store::{
    Batch, Durability, EmbeddedRecords, FolderRecords, NatsRecords, NatsSettings, Pending, Records,
    StoreError,
};
use support::connect;
use test_tools::NatsServer;

type Open<'a> = &'a dyn Fn() -> Arc<dyn Records>;

/// Each is given a way to open the same, at first empty, store again.
type Promise = (&'static str, fn(Open<'_>));

const CONTRACT: [Promise; 9] = [
    ("what was answered is there after reopening", answered_is_kept),
    ("a conflicting batch changes nothing and harms no other", conflict_changes_nothing),
    ("a check holds a batch to its parent", check_holds),
    ("many writers of one key lose no update", no_update_is_lost),
    ("an empty batch is answered after those before it", empty_batch_waits),
    ("versions count from one, again after a deletion", versions_count),
    ("batches sent without waiting are applied in order", order_is_kept),
    ("any key and any value comes back as it was", anything_is_kept),
    ("a reader sees whole batches", batches_are_whole),
];

#[test]
fn embedded() {
    embedded_with(Durability::Full);
}

#[test]
fn embedded_relaxed() {
    embedded_with(Durability::Relaxed);
}

fn embedded_with(durability: Durability) {
    for (name, test) in CONTRACT {
        let dir = tempfile::tempdir().unwrap();
        // redb lets a file be open once: whoever asks while it is open gets the same.
        let open_now = std::cell::RefCell::new(std::sync::Weak::<EmbeddedRecords>::new());
        run("embedded", name, test, &|| {
            let known = open_now.borrow().upgrade();
            let store = known.unwrap_or_else(|| {
                Arc::new(EmbeddedRecords::open(&dir.path().join("store.redb"), durability).unwrap())
            });
            *open_now.borrow_mut() = Arc::downgrade(&store);
            store
        });
    }
}

#[test]
fn folder() {
    for (name, test) in CONTRACT {
        let dir = tempfile::tempdir().unwrap();
        run("folder", name, test, &|| Arc::new(FolderRecords::open(&dir.path().join("a/b")).unwrap()));
    }
}

#[test]
fn nats() {
    let Some(server) = NatsServer::start("records on NATS") else { return };
    for (number, (name, test)) in CONTRACT.into_iter().enumerate() {
        let bucket = format!("contract{number}");
        run("nats", name, test, &|| {
            Arc::new(NatsRecords::open(&connect(&server), &bucket, &NatsSettings::default()).unwrap())
        });
    }
}

fn run(store: &str, name: &str, test: fn(Open<'_>), open: Open<'_>) {
    println!("{store}: {name}");
    test(open);
}

fn put(key: &str, expected: u64, value: &str) -> Batch {
    let mut batch = Batch::default();
    batch.put(key, expected, value.as_bytes().to_vec());
    batch
}

fn value(store: &dyn Records, key: &str) -> Option<(u64, String)> {
    store.get(key).unwrap().map(|record| (record.version, String::from_utf8(record.value).unwrap()))
}

fn answered_is_kept(open: Open<'_>) {
    let store = open();
    assert!(store.all().unwrap().is_empty());
    assert_eq!(value(&*store, "a"), None);
    store.submit(put("a", 0, "1")).wait().unwrap();
    store.submit(put("a", 1, "2")).wait().unwrap();
    drop(store);
    assert_eq!(value(&*open(), "a"), Some((2, "2".to_owned())));
}

fn conflict_changes_nothing(open: Open<'_>) {
    let store = open();
    let mut stale = put("fresh", 0, "x");
    stale.put("a", 7, b"y".to_vec());
    let answers = [put("a", 0, "1"), stale, put("b", 0, "1")].map(|batch| store.submit(batch));
    let results: Vec<_> = answers.into_iter().map(Pending::wait).collect();
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    assert!(matches!(&results[1], Err(StoreError::Conflict { key, expected: 7, actual: 1 }) if key == "a"));
    let keys: Vec<_> = store.all().unwrap().into_iter().map(|record| record.key).collect();
    assert_eq!(keys, ["a", "b"]);
    // Another that does not know what this one wrote.
    let late = open().submit(put("a", 0, "z")).wait();
    assert!(matches!(late, Err(StoreError::Conflict { expected: 0, actual: 1, .. })), "{late:?}");
}

fn check_holds(open: Open<'_>) {
    let store = open();
    store.submit(put("parent", 0, "p")).wait().unwrap();
    let mut child = put("child", 0, "c");
    child.check("parent", 1);
    store.submit(child).wait().unwrap();
    // By somebody else, so that the first has not heard of it.
    let mut gone = Batch::default();
    gone.delete("parent", 1);
    open().submit(gone).wait().unwrap();
    let mut orphan = put("orphan", 0, "o");
    orphan.check("parent", 1);
    let refused = store.submit(orphan.clone()).wait();
    assert!(matches!(refused, Err(StoreError::Conflict { actual: 0, .. })), "{refused:?}");
    assert_eq!(value(&*store, "orphan"), None);
    let mut only = Batch::default();
    only.check("child", 1);
    only.check("parent", 0);
    store.submit(only).wait().unwrap();
}

fn no_update_is_lost(open: Open<'_>) {
    let stores = [open(), open()];
    let add_twenty = |store: &dyn Records| {
        for _ in 0..20 {
            loop {
                let (version, number) = value(store, "n").map_or((0, 0), |(v, n)| (v, n.parse().unwrap()));
                let next: u64 = number + 1;
                match store.submit(put("n", version, &next.to_string())).wait() {
                    Ok(()) => break,
                    Err(StoreError::Conflict { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for number in 0..8 {
            let store = &*stores[number % 2];
            scope.spawn(move || add_twenty(store));
        }
    });
    assert_eq!(value(&*stores[0], "n"), Some((160, "160".to_owned())));
}

fn empty_batch_waits(open: Open<'_>) {
    let store = open();
    let before = store.submit(put("a", 0, "1"));
    store.submit(Batch::default()).wait().unwrap();
    assert!(store.get("a").unwrap().is_some());
    before.wait().unwrap();
}

fn versions_count(open: Open<'_>) {
    let store = open();
    for round in 0..3 {
        for version in 0..3 {
            store.submit(put("k", version, &round.to_string())).wait().unwrap();
            assert_eq!(value(&*store, "k").unwrap().0, version + 1);
        }
        let mut gone = Batch::default();
        gone.delete("k", 3);
        store.submit(gone).wait().unwrap();
        assert_eq!(value(&*store, "k"), None);
        assert!(store.all().unwrap().is_empty());
    }
    assert!(open().all().unwrap().is_empty());
}

fn order_is_kept(open: Open<'_>) {
    let store = open();
    let answers: Vec<_> =
        (0..200).map(|version| store.submit(put("k", version, &version.to_string()))).collect();
    for answer in answers {
        answer.wait().unwrap();
    }
    assert_eq!(value(&*store, "k"), Some((200, "199".to_owned())));
}

fn anything_is_kept(open: Open<'_>) {
    let store = open();
    let keys =
        ["000000000000/local/vpc/vpc-1", "a.b", "a/b", "a//b", "=", "ä ö*>", "Z", "UPPER", "upper", "x/"];
    let values: Vec<Vec<u8>> = keys
        .iter()
        .enumerate()
        .map(|(n, _)| (0..n * n * 2_000).map(|byte| (byte % 251) as u8).collect())
        .collect();
    let mut batch = Batch::default();
    for (key, value) in keys.iter().zip(&values) {
        batch.put(*key, 0, value.clone());
    }
    store.submit(batch).wait().unwrap();
    drop(store);
    let store = open();
    for (key, value) in keys.iter().zip(&values) {
        assert_eq!(&store.get(key).unwrap().unwrap().value, value, "{key}");
    }
    let all = store.all().unwrap();
    assert_eq!(all.len(), keys.len());
    assert!(all.is_sorted_by(|a, b| a.key < b.key));
}

/// A sum that every batch keeps is never seen to differ.
fn batches_are_whole(open: Open<'_>) {
    const EACH: u64 = 100;
    const KEYS: [&str; 4] = ["a", "b", "c", "d"];
    let mut start = Batch::default();
    for key in KEYS {
        start.put(key, 0, EACH.to_string().into_bytes());
    }
    open().submit(start).wait().unwrap();
    let (stores, ended) = ([open(), open()], AtomicBool::new(false));
    let number = |value: &[u8]| std::str::from_utf8(value).unwrap().parse::<u64>().unwrap();
    std::thread::scope(|scope| {
        let writers: Vec<_> = stores
            .iter()
            .enumerate()
            .map(|(who, store)| {
                scope.spawn(move || {
                    for round in 0..60 {
                        let (from, to) = (KEYS[(round + who) % 4], KEYS[(round * 3 + who + 1) % 4]);
                        if from == to {
                            continue;
                        }
                        let (a, b) = (store.get(from).unwrap().unwrap(), store.get(to).unwrap().unwrap());
                        let mut batch = Batch::default();
                        batch.put(from, a.version, (number(&a.value) - 1).to_string().into_bytes());
                        batch.put(to, b.version, (number(&b.value) + 1).to_string().into_bytes());
                        match store.submit(batch).wait() {
                            Ok(()) | Err(StoreError::Conflict { .. }) => {}
                            Err(other) => panic!("{other}"),
                        }
                    }
                })
            })
            .collect();
        let (ended, reader) = (&ended, open());
        scope.spawn(move || {
            while !ended.load(Ordering::Acquire) {
                let all = reader.all().unwrap();
                let sum: u64 = all.iter().map(|record| number(&record.value)).sum();
                assert_eq!((all.len(), sum), (KEYS.len(), EACH * KEYS.len() as u64), "{all:?}");
            }
        });
        let results: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        ended.store(true, Ordering::Release);
        assert!(results.iter().all(Result::is_ok));
    });
}
