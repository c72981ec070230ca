//! Records on NATS beyond the contract: servers that die, several writers, watches.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use eos_store::{Batch, Changes, NatsRecords, NatsSettings, Records, StoreError, Watch};
use support::{Other, connect, eventually, say, told};
use test_tools::NatsServer;

const LONG: Duration = Duration::from_secs(60);

fn open(server: &NatsServer) -> NatsRecords {
    let settings = NatsSettings { patience: LONG, ..NatsSettings::default() };
    NatsRecords::open(&connect(server), "store", &settings).unwrap()
}

fn put(key: &str, expected: u64, value: &str) -> Batch {
    let mut batch = Batch::default();
    batch.put(key, expected, value.as_bytes().to_vec());
    batch
}

type State = BTreeMap<String, (u64, Vec<u8>)>;

fn state_of(records: &dyn Records) -> State {
    records.all().unwrap().into_iter().map(|record| (record.key, (record.version, record.value))).collect()
}

/// What a watch has told so far.
struct Followed {
    watch: Watch,
    state: State,
}

impl Followed {
    fn new(records: &dyn Records) -> Followed {
        let mut watch = records.watch().unwrap().unwrap();
        let start = std::mem::take(&mut watch.start);
        let state = start.into_iter().map(|record| (record.key, (record.version, record.value))).collect();
        Followed { watch, state }
    }

    fn apply(&mut self, changes: Changes) {
        for change in changes.changes {
            match change.value {
                Some(value) => self.state.insert(change.key, (change.version, value)),
                None => self.state.remove(&change.key),
            };
        }
    }

    /// Everything that is there.
    fn drain(&mut self) {
        while let Some(changes) = self.watch.try_next() {
            self.apply(changes);
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_done_twice_while_the_server_dies() {
    const WRITERS: usize = 6;
    let Some(mut server) = NatsServer::start("records while NATS is killed") else { return };
    let stores = [open(&server), open(&server)];
    let mut followed = Followed::new(&stores[0]);
    let (ended, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (store, ended, written) = (&stores[writer % 2], &ended, &written);
                scope.spawn(move || {
                    let mut count = 0;
                    while !ended.load(Ordering::Acquire) {
                        // Only this writer has these keys: a conflict would mean that a write was done twice.
                        let mut batch = put(&format!("{writer}/a"), count, &count.to_string());
                        batch.put(format!("{writer}/b"), count, count.to_string().into_bytes());
                        store.submit(batch).wait().unwrap();
                        count += 1;
                        written.fetch_add(1, Ordering::AcqRel);
                    }
                    count
                })
            })
            .collect();
        for _ in 0..6 {
            let before = written.load(Ordering::Acquire);
            eventually("writes go on", || (written.load(Ordering::Acquire) > before + 40).then_some(()));
            server.restart();
        }
        let before = written.load(Ordering::Acquire);
        eventually("writes go on", || (written.load(Ordering::Acquire) > before + 40).then_some(()));
        ended.store(true, Ordering::Release);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let state = state_of(&stores[1]);
    for (writer, count) in counts.iter().enumerate() {
        let last = (*count, (count - 1).to_string().into_bytes());
        assert_eq!(state[&format!("{writer}/a")], last);
        assert_eq!(state[&format!("{writer}/b")], last);
    }
    assert_eq!(state.len(), WRITERS * 2);
    stores[0].caught_up(LONG).wait().unwrap();
    followed.drain();
    assert_eq!(followed.state, state);
}

#[test]
fn a_watch_shows_states_that_existed_and_is_as_new_as_the_last_answer() {
    const KEYS: usize = 5;
    const SUM: i64 = 0;
    let Some(server) = NatsServer::start("watching records") else { return };
    let [ours, theirs] = [open(&server), open(&server)];
    let mut start = Batch::default();
    for key in 0..KEYS {
        start.put(format!("n/{key}"), 0, b"0".to_vec());
    }
    ours.submit(start).wait().unwrap();
    let mut followed = Followed::new(&theirs);
    let number = |value: &[u8]| std::str::from_utf8(value).unwrap().parse::<i64>().unwrap();
    std::thread::scope(|scope| {
        let ours = &ours;
        // Written as fast as it goes, so that messages are overwritten before they are read.
        let writer = scope.spawn(move || {
            let mut now = [(1, 0); KEYS];
            let mut answers = Vec::new();
            for round in 0..600usize {
                let (from, to) = (round % KEYS, (round * 7 + 1 + round / KEYS) % KEYS);
                if from == to {
                    continue;
                }
                let mut batch = Batch::default();
                for (key, change) in [(from, -1), (to, 1)] {
                    let (version, value): (u64, i64) = now[key];
                    batch.put(format!("n/{key}"), version, (value + change).to_string().into_bytes());
                    now[key] = (version + 1, value + change);
                }
                answers.push(ours.submit(batch));
                if round % 50 == 0 {
                    answers.drain(..).for_each(|answer| answer.wait().unwrap());
                }
            }
            answers.into_iter().for_each(|answer| answer.wait().unwrap());
        });
        let mut seen = 0;
        while !writer.is_finished() {
            while let Some(changes) = followed.watch.try_next() {
                assert!(changes.changes.iter().all(|change| !change.own));
                followed.apply(changes);
                let sum: i64 = followed.state.values().map(|(_, value)| number(value)).sum();
                assert_eq!(sum, SUM, "{:?}", followed.state);
                seen += 1;
            }
            std::thread::yield_now();
        }
        assert!(seen > 1, "the watch showed nothing in between");
        writer.join().unwrap();
    });
    // Whatever one was told is kept, the other reads at once, however much it is: also a deletion.
    for round in 0..20 {
        let gone = format!("n/{}", round % KEYS);
        let mut batch = Batch::default();
        batch.delete(&gone, ours.get(&gone).unwrap().map_or(0, |record| record.version));
        for part in 0..100 {
            batch.put(format!("extra/{round}/{part}"), 0, vec![0; 10_000]);
        }
        ours.submit(batch).wait().unwrap();
        let reached = theirs.caught_up(LONG).wait().unwrap();
        assert!(reached <= theirs.last_sequence().wait().unwrap());
        followed.drain();
        assert!((0..100).all(|part| followed.state.contains_key(&format!("extra/{round}/{part}"))));
        assert!(!followed.state.contains_key(&gone));
    }
    assert_eq!(followed.state, state_of(&ours));
}

#[test]
fn a_watch_learns_what_happened_while_it_could_not_look() {
    let Some(mut server) = NatsServer::start("a watch while NATS is away") else { return };
    let ours = open(&server);
    ours.submit(put("stays", 0, "1")).wait().unwrap();
    ours.submit(put("goes", 0, "1")).wait().unwrap();
    let mut followed = Followed::new(&ours);
    ours.caught_up(LONG).wait().unwrap();
    server.kill();
    assert!(ours.caught_up(Duration::from_millis(200)).wait().is_err());
    server.start_again();
    let theirs = open(&server);
    let mut batch = put("new", 0, "1");
    batch.delete("goes", 1);
    theirs.submit(batch).wait().unwrap();
    eventually("the watch is back", || ours.caught_up(LONG).wait().ok());
    followed.drain();
    assert_eq!(followed.state.keys().collect::<Vec<_>>(), ["new", "stays"]);
    assert_eq!(followed.state, state_of(&theirs));
    // Gone without a message that says so, as a deletion is after a while.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(server.url()).await.unwrap();
        let stream = async_nats::jetstream::new(client).get_stream("KV_store").await.unwrap();
        stream.purge().filter("$KV.store.new").await.unwrap();
    });
    server.restart();
    eventually("the watch is back and knows", || {
        ours.caught_up(LONG).wait().ok()?;
        followed.drain();
        (!followed.state.contains_key("new")).then_some(())
    });
    assert_eq!(followed.state, state_of(&theirs));
}

#[test]
fn a_server_that_stays_away_is_an_error_and_the_store_recovers() {
    let Some(mut server) = NatsServer::start("records without NATS") else { return };
    let settings = NatsSettings { patience: Duration::from_millis(300), ..NatsSettings::default() };
    let store = NatsRecords::open(&connect(&server), "store", &settings).unwrap();
    store.submit(put("a", 0, "1")).wait().unwrap();
    server.kill();
    let failed = store.submit(put("a", 1, "2")).wait().unwrap_err();
    assert!(matches!(failed, StoreError::Unreachable { .. } | StoreError::Unknown { .. }), "{failed}");
    assert!(matches!(store.get("a"), Err(StoreError::Unreachable { .. })));
    server.start_again();
    let version = eventually("NATS is back", || store.get("a").ok()).unwrap().version;
    eventually("writes work", || store.submit(put("a", version, "3")).wait().ok());
    assert_eq!(store.get("a").unwrap().unwrap().value, b"3");
}

/// Writes as fast as it can and says what was answered.
#[test]
#[ignore = "run by other tests, as a process of its own"]
fn busy_writer() {
    let Some(told) = told() else { return };
    let (url, name) = told.split_once(' ').unwrap();
    let nats = eos_store::Nats::connect(url, &eos_store::NatsAccess::default()).unwrap();
    let store = NatsRecords::open(&nats, "store", &NatsSettings::default()).unwrap();
    for version in 0.. {
        let batch = |part: &str| put(&format!("{name}/{part}"), version, &version.to_string());
        let mut both = batch("a");
        both.put(format!("{name}/b"), version, version.to_string().into_bytes());
        store.submit(both).wait().unwrap();
        say(&version.to_string());
    }
}

#[test]
fn a_killed_writer_leaves_whole_batches() {
    let Some(server) = NatsServer::start("a killed writer of records") else { return };
    for round in 0..8 {
        let mut other = Other::start("busy_writer", &format!("{} w{round}", server.url()));
        let mut last: Option<u64> = None;
        for _ in 0..=round * 3 {
            last = other.hear().map(|said| said.parse().unwrap());
        }
        other.kill();
        // What it said before it died, read or not.
        while let Some(said) = other.hear() {
            last = Some(said.parse().unwrap());
        }
        let store = open(&server);
        let state = state_of(&store);
        let (a, b) = (&state[&format!("w{round}/a")], &state[&format!("w{round}/b")]);
        assert_eq!(a, b);
        assert!(a.0 > last.unwrap(), "{a:?} {last:?}");
    }
}

#[test]
fn what_cannot_be_kept_is_refused_and_harms_nothing() {
    let Some(server) = NatsServer::start("what NATS cannot keep") else { return };
    let store = open(&server);
    let mut many = Batch::default();
    for key in 0..1_000 {
        many.put(format!("k{key}"), 0, Vec::new());
    }
    let answers =
        [put("a", 0, "1"), many, put("huge", 0, &"x".repeat(2 << 20)), put("", 0, "1"), put("b", 0, "1")]
            .map(|batch| store.submit(batch));
    let results: Vec<_> = answers.into_iter().map(eos_store::Pending::wait).collect();
    assert!(results[0].is_ok() && results[4].is_ok(), "{results:?}");
    assert!(matches!(results[1], Err(StoreError::TooLarge { .. })));
    assert!(matches!(results[2], Err(StoreError::TooLarge { .. })));
    assert!(matches!(results[3], Err(StoreError::BadKey { .. })));
    let mut many = Batch::default();
    for key in 0..999 {
        many.put(format!("k{key}"), 0, Vec::new());
    }
    store.submit(many).wait().unwrap();
    assert_eq!(store.all().unwrap().len(), 1_001);
}

#[test]
fn a_bucket_of_somebody_else_and_a_newer_format_are_refused() {
    let Some(server) = NatsServer::start("foreign buckets") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let make = |name: &str, format: Option<&str>| {
        let url = server.url();
        let metadata =
            format.map(|format| ("eos.format".to_owned(), format.to_owned())).into_iter().collect();
        let config = async_nats::jetstream::stream::Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            metadata,
            ..Default::default()
        };
        runtime.block_on(async move {
            let client = async_nats::connect(url).await.unwrap();
            async_nats::jetstream::new(client).create_stream(config).await.unwrap();
        });
    };
    make("foreign", None);
    make("newer", Some("2"));
    let nats = connect(&server);
    let open = |name: &str| NatsRecords::open(&nats, name, &NatsSettings::default()).map(drop);
    assert!(matches!(open("foreign"), Err(StoreError::Io { .. })));
    assert!(matches!(open("newer"), Err(StoreError::NewerFormat { found: 2, known: 1, .. })));
    assert!(matches!(open("no.good"), Err(StoreError::Io { .. })));
    // A record written past eos is not taken for one.
    let store = Arc::new(NatsRecords::open(&nats, "store", &NatsSettings::default()).unwrap());
    store.submit(put("a", 0, "1")).wait().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(server.url()).await.unwrap();
        let jetstream = async_nats::jetstream::new(client);
        jetstream.publish("$KV.store.a", "by hand".into()).await.unwrap().await.unwrap();
    });
    assert!(matches!(store.get("a"), Err(StoreError::Damaged { .. })));
    assert!(matches!(store.all(), Err(StoreError::Damaged { .. })));
    assert!(store.submit(put("a", 1, "2")).wait().is_err());
}

/// For people: how many batches of two records 32 callers get through, each waiting for its answer.
#[test]
#[ignore = "prints figures"]
fn throughput() {
    const CALLERS: usize = 32;
    const EACH: usize = 100;
    let measure = |name: &str, store: &dyn Records| {
        let started = std::time::Instant::now();
        std::thread::scope(|scope| {
            for caller in 0..CALLERS {
                scope.spawn(move || {
                    for round in 0..EACH {
                        let mut batch = put(&format!("{caller}/{round}/a"), 0, &"x".repeat(500));
                        batch.put(format!("{caller}/{round}/b"), 0, vec![b'y'; 500]);
                        store.submit(batch).wait().unwrap();
                    }
                });
            }
        });
        let rate = (CALLERS * EACH) as f64 / started.elapsed().as_secs_f64();
        println!("{name}: {rate:.0} batches a second");
    };
    let dir = tempfile::tempdir().unwrap();
    let redb = eos_store::EmbeddedRecords::open(&dir.path().join("redb"), eos_store::Durability::Full);
    measure("embedded", &redb.unwrap());
    for synced in [false, true] {
        let Some(server) = NatsServer::start_with(
            "throughput",
            test_tools::NatsSettings { synced, ..test_tools::NatsSettings::default() },
        ) else {
            return;
        };
        measure(&format!("NATS, sync_interval always: {synced}"), &open(&server));
        let one = open(&server);
        let started = std::time::Instant::now();
        (0..200).for_each(|version| one.submit(put("single", version, "x")).wait().unwrap());
        println!("    one caller: {:.1} ms each", started.elapsed().as_secs_f64() * 1_000.0 / 200.0);
    }
}
