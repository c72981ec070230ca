//! The embedded store beyond the contract: one process, writes that may be late, a log that outlives its process.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use eos_store::{Batch, Durability, EmbeddedRecords, Records, StoreError};
use support::{Other, eventually, path_of, say, told};

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

/// Whoever comes alone, which is so after a group of one, writes itself; all the same it may go away, or be the only
/// thread that there is.
#[test]
fn a_lone_writer_may_go_away_or_have_no_thread_to_spare() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    store.submit(put("first", 0, "v")).wait().unwrap();
    drop(store.submit(put("nobody waits", 0, "v")));
    eventually("it is written", || store.get("nobody waits").unwrap());
    for several in [false, true] {
        let mut runtime = match several {
            true => tokio::runtime::Builder::new_multi_thread(),
            false => tokio::runtime::Builder::new_current_thread(),
        };
        runtime.build().unwrap().block_on(async {
            for number in 0..3 {
                let key = format!("{several} {number}");
                store.submit(put(&key, 0, "v")).await.unwrap();
                assert!(store.get(&key).unwrap().is_some());
            }
        });
    }
    drop(store);
    assert_eq!(open(&dir).all().unwrap().len(), 8);
}

/// Three keys that always change together, in values so large that the log turns every few dozen batches.
const KEYS: [&str; 3] = ["a", "b", "c"];

fn all_to(number: u64) -> Batch {
    let mut batch = Batch::default();
    for key in KEYS {
        batch.put(key, number, format!("{number} {}", "x".repeat(8_000)).into_bytes());
    }
    batch
}

/// How many batches were written; every key must say the same.
fn batches_in(path: &Path) -> u64 {
    let all = EmbeddedRecords::open(path, Durability::Full).unwrap().all().unwrap();
    let mut numbers: Vec<_> = all
        .iter()
        .filter(|record| KEYS.contains(&record.key.as_str()))
        .map(|record| {
            let value = std::str::from_utf8(&record.value).unwrap();
            let number: u64 = value.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(record.version, number + 1, "{}", record.key);
            record.version
        })
        .collect();
    assert!(numbers.is_empty() || numbers.len() == KEYS.len(), "half a batch");
    numbers.dedup();
    assert!(numbers.len() <= 1, "half a batch: {numbers:?}");
    numbers.first().copied().unwrap_or_default()
}

#[test]
#[ignore = "run by other tests, as a process of its own"]
fn busy_writer() {
    let Some(path) = told() else { return };
    let records = EmbeddedRecords::open(path_of(&path), Durability::Full).unwrap();
    let first = records.get(KEYS[0]).unwrap().map_or(0, |record| record.version);
    for number in first.. {
        let large = format!("large {number}");
        if number % 50 == 49 && records.get(&large).unwrap().is_none() {
            // More than the log takes.
            records.submit(put(&large, 0, &"y".repeat(3 << 20))).wait().unwrap();
        }
        records.submit(all_to(number)).wait().unwrap();
        say(&(number + 1).to_string());
    }
}

#[test]
fn what_was_answered_outlives_the_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let mut answered = 0;
    for round in 0..20 {
        let mut other = Other::start("busy_writer", path.to_str().unwrap());
        for _ in 0..=(round * 5) {
            answered = other.hear().unwrap().parse().unwrap();
        }
        std::thread::sleep(std::time::Duration::from_micros(round * 470));
        other.kill();
        while let Some(said) = other.hear() {
            answered = said.parse().unwrap();
        }
        let found = batches_in(&path);
        assert!(found >= answered, "{found} batches after {answered} were answered");
    }
    let store = open(&dir);
    for number in (49..answered).step_by(50) {
        assert_eq!(store.get(&format!("large {number}")).unwrap().unwrap().value.len(), 3 << 20);
    }
}

#[test]
#[ignore = "run by other tests, as a process of its own"]
fn writer_on_a_full_disk() {
    let Some(folder) = told() else { return };
    let path = path_of(&folder).join("store.redb");
    let filler = path_of(&folder).join("filler");
    let store = EmbeddedRecords::open(&path, Durability::Full).unwrap();
    // Until nothing more goes in.
    let mut file = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[1; 4_096]).is_ok() {}
    let mut kept = Vec::new();
    let refused = (0..2_000).find_map(|number| {
        let key = format!("k{number}");
        match store.submit(put(&key, 0, &"z".repeat(5_000))).wait() {
            Ok(()) => {
                kept.push(key);
                None
            }
            Err(error) => Some(error),
        }
    });
    assert!(matches!(&refused, Some(StoreError::Io { operation: "write", .. })), "{refused:?}");
    let there =
        |store: &EmbeddedRecords, keys: &[String]| keys.iter().all(|key| store.get(key).unwrap().is_some());
    assert!(there(&store, &kept));
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    // What was answered reaches the file once there is room. Nothing more is taken: it might stand on what was refused.
    std::thread::sleep(Duration::from_secs(2));
    let refused = store.submit(put("after", 0, "v")).wait();
    assert!(matches!(refused, Err(StoreError::Io { operation: "write", .. })), "{refused:?}");
    assert!(there(&store, &kept));
    drop(store);
    let store = EmbeddedRecords::open(&path, Durability::Full).unwrap();
    store.submit(put("after", 0, "v")).wait().unwrap();
    kept.push("after".to_owned());
    assert!(there(&store, &kept));
    say(&format!("{} kept", kept.len()));
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=8m tmpfs \"$EOS_STORE_TOLD\" || exit 77; exec \"$0\" \"$@\"";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "writer_on_a_full_disk", "--ignored", "--nocapture"])
        .env("EOS_STORE_TOLD", dir.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if output.status.code() == Some(77) {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"SKIPPED a full disk: no file system can be mounted here\n",
        );
        return;
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("kept"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
