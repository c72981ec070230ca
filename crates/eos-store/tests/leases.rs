//! What every implementation of `Leases` promises, on each of them.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod support;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use eos_store::Nats;
use eos_store::lease::{
    Broken, EmbeddedLeases, Lease, LeaseError, LeaseStatus, Leases, Lost, NatsLeases, Owner, Reach, Terms,
};
use eos_store::{NatsAccess, NatsRecords, NatsSettings, Records, StoreError};
use support::{Other, connect, eventually, say, told};
use test_tools::NatsServer;

const TTL: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(60);

fn owner(run: &str) -> Owner {
    let (host, command) = ("laptop".to_owned(), "eos apply".to_owned());
    Owner { user: "kim".to_owned(), host, command, pid: std::process::id(), run: run.to_owned() }
}

fn take(leases: &dyn Leases, key: &str, run: &str, wait: Duration) -> Result<Lease, LeaseError> {
    let on_wait = &mut |_: &_| ControlFlow::Continue(());
    leases.acquire(key, &owner(run), Terms { ttl: TTL, wait, on_wait })
}

type Open<'a> = &'a (dyn Fn() -> Arc<dyn Leases> + Sync);

type Promise = (&'static str, fn(Open<'_>));

const CONTRACT: [Promise; 6] = [
    ("one at a time, numbers rise, everybody sees who", one_at_a_time),
    ("whoever waits is told of the holder, and follows it", waits_and_follows),
    ("whoever waits may give up", gives_up),
    ("a broken lease is lost, and recorded", broken_is_lost),
    ("many who want one never have it together", never_together),
    ("a holder that lost it leaves the next one alone", lost_leaves_alone),
];

#[test]
fn embedded() {
    for (name, test) in CONTRACT {
        println!("embedded: {name}");
        let dir = tempfile::tempdir().unwrap();
        test(&|| Arc::new(EmbeddedLeases::new(&dir.path().join("state/leases"))));
    }
}

#[test]
fn nats() {
    let Some(server) = NatsServer::start("leases on NATS") else { return };
    for (number, (name, test)) in CONTRACT.into_iter().enumerate() {
        println!("nats: {name}");
        let bucket = format!("leases{number}");
        test(&|| Arc::new(NatsLeases::open(&connect(&server), &bucket, 1).unwrap()));
    }
}

/// Every promise once more, on a server that is killed and started again before each thing that is asked of it.
#[test]
fn nats_killed_and_restarted() {
    let Some(server) = NatsServer::start("leases on a NATS that is killed over and over") else { return };
    let url = server.url();
    let restarts = Arc::new(AtomicUsize::new(0));
    let server = Arc::new(Mutex::new(server));
    for (number, (name, test)) in CONTRACT.into_iter().enumerate() {
        println!("nats, killed and restarted: {name}");
        let bucket = format!("leases{number}");
        let opened = || NatsLeases::open(&Nats::connect(&url, &NatsAccess::default()).ok()?, &bucket, 1).ok();
        test(&|| {
            let leases = eventually("NATS is back", opened);
            Arc::new(Disturbed { leases, server: Arc::clone(&server), restarts: Arc::clone(&restarts) })
        });
    }
    println!("{} restarts", restarts.load(Ordering::SeqCst));
    assert!(restarts.load(Ordering::SeqCst) > CONTRACT.len());
}

/// Leases on a server that goes away before each call. Whoever is told so asks again, as a person would.
struct Disturbed {
    leases: NatsLeases,
    server: Arc<Mutex<NatsServer>>,
    restarts: Arc<AtomicUsize>,
}

impl Disturbed {
    /// Longer than a server takes to come back.
    const TTL: Duration = Duration::from_secs(12);

    fn after_a_restart<T>(&self, mut ask: impl FnMut() -> Result<T, LeaseError>) -> Result<T, LeaseError> {
        self.server.lock().unwrap().restart();
        self.restarts.fetch_add(1, Ordering::SeqCst);
        eventually("NATS answers", || match ask() {
            Err(LeaseError::Unreachable { .. }) => None,
            answer => Some(answer),
        })
    }
}

impl Leases for Disturbed {
    fn acquire(&self, key: &str, owner: &Owner, terms: Terms<'_>) -> Result<Lease, LeaseError> {
        let Terms { wait, on_wait, .. } = terms;
        self.after_a_restart(|| {
            self.leases.acquire(key, owner, Terms { ttl: Self::TTL, wait, on_wait: &mut *on_wait })
        })
    }

    fn list(&self) -> Result<Vec<LeaseStatus>, LeaseError> {
        self.after_a_restart(|| self.leases.list())
    }

    fn break_lease(&self, key: &str, because: &str, by: &str) -> Result<Broken, LeaseError> {
        self.after_a_restart(|| self.leases.break_lease(key, because, by))
    }

    fn broken(&self) -> Result<Vec<Broken>, LeaseError> {
        self.after_a_restart(|| self.leases.broken())
    }

    fn reach(&self) -> Reach {
        self.leases.reach()
    }
}

fn one_at_a_time(open: Open<'_>) {
    let (ours, theirs) = (open(), open());
    assert!(theirs.list().unwrap().is_empty());
    let first = take(&*ours, "prod/grafana", "r1", Duration::ZERO).unwrap();
    let other = take(&*theirs, "prod/redis", "r2", Duration::ZERO).unwrap();
    let refused = take(&*theirs, "prod/grafana", "r3", Duration::ZERO).unwrap_err();
    let LeaseError::Held { status, .. } = &refused else { panic!("{refused}") };
    assert_eq!((status.owner.clone(), status.fence, status.stale), (owner("r1"), first.fence(), false));
    assert!(refused.to_string().contains("kim@laptop"), "{refused}");
    let list = theirs.list().unwrap();
    let seen: Vec<_> = list.iter().map(|one| (one.key.as_str(), one.owner.run.as_str(), one.stale)).collect();
    assert_eq!(seen, [("prod/grafana", "r1", false), ("prod/redis", "r2", false)]);
    assert_eq!(first.lost(), None);
    let fence = first.fence();
    first.release().unwrap();
    let second = take(&*theirs, "prod/grafana", "r4", Duration::ZERO).unwrap();
    assert!(second.fence() > fence);
    drop((second, other));
    assert!(ours.list().unwrap().is_empty());
    assert!(matches!(take(&*ours, "", "r", Duration::ZERO), Err(LeaseError::BadKey { .. })));
}

fn waits_and_follows(open: Open<'_>) {
    let (ours, theirs) = (open(), open());
    let first = Mutex::new(Some(take(&*ours, "k", "r1", Duration::ZERO).unwrap()));
    let mut told_of = None;
    let mut on_wait = |status: &LeaseStatus| {
        told_of = Some((status.owner.run.clone(), status.since));
        // The holder ends while the other waits.
        drop(first.lock().unwrap().take());
        ControlFlow::Continue(())
    };
    let terms = Terms { ttl: TTL, wait: LONG, on_wait: &mut on_wait };
    let second = theirs.acquire("k", &owner("r2"), terms).unwrap();
    assert_eq!(told_of.map(|(run, _)| run).as_deref(), Some("r1"));
    assert_eq!(second.lost(), None);
}

fn gives_up(open: Open<'_>) {
    let (ours, theirs) = (open(), open());
    let _first = take(&*ours, "k", "r1", Duration::ZERO).unwrap();
    let terms = Terms { ttl: TTL, wait: LONG, on_wait: &mut |_| ControlFlow::Break(()) };
    let gave_up = theirs.acquire("k", &owner("r2"), terms).unwrap_err();
    assert!(matches!(gave_up, LeaseError::GaveUp { .. }), "{gave_up}");
}

fn broken_is_lost(open: Open<'_>) {
    let (ours, theirs) = (open(), open());
    assert!(matches!(theirs.break_lease("k", "b", "sam"), Err(LeaseError::NotHeld { .. })));
    let held = take(&*ours, "k", "r1", Duration::ZERO).unwrap();
    let (sender, lost) = mpsc::channel();
    held.on_lost(move |lost| sender.send(lost).unwrap());
    let record = theirs.break_lease("k", "laptop lost", "sam").unwrap();
    assert_eq!((record.owner.run.as_str(), record.by.as_str()), ("r1", "sam"));
    assert!(theirs.list().unwrap().is_empty());
    let next = take(&*theirs, "k", "r2", Duration::ZERO).unwrap();
    assert!(next.fence() > held.fence());
    assert_eq!(lost.recv_timeout(LONG).unwrap(), Lost::Broken(Box::new(record.clone())));
    assert!(held.lost().is_some());
    // Told at once from now on.
    let (sender, again) = mpsc::channel();
    held.on_lost(move |lost| sender.send(lost).unwrap());
    assert!(matches!(again.try_recv(), Ok(Lost::Broken(_))));
    held.release().unwrap();
    assert_eq!(theirs.list().unwrap()[0].owner.run, "r2");
    next.release().unwrap();
    assert_eq!(ours.broken().unwrap(), [record]);
}

fn never_together(open: Open<'_>) {
    let (inside, fences) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for run in 0..6 {
            let (inside, fences, leases) = (&inside, &fences, open());
            scope.spawn(move || {
                for round in 0..3 {
                    let lease = take(&*leases, "k", &format!("{run}-{round}"), LONG).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                    fences.lock().unwrap().push(lease.fence());
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    // Without the server it ends by its time to live.
                    let released = lease.release();
                    assert!(matches!(released, Ok(()) | Err(LeaseError::Unreachable { .. })), "{released:?}");
                }
            });
        }
    });
    let fences = fences.into_inner().unwrap();
    assert_eq!(fences.len(), 18);
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
}

fn lost_leaves_alone(open: Open<'_>) {
    let (ours, theirs) = (open(), open());
    let held = take(&*ours, "k", "r1", Duration::ZERO).unwrap();
    theirs.break_lease("k", "b", "sam").unwrap();
    let next = take(&*theirs, "k", "r2", Duration::ZERO).unwrap();
    drop(held);
    assert_eq!(theirs.list().unwrap()[0].owner.run, "r2");
    // Its own renewals go on, so that waiting longer than its time to live does not help.
    let refused = take(&*ours, "k", "r3", TTL + TTL / 2);
    assert!(matches!(refused, Err(LeaseError::Held { .. })), "{refused:?}");
    assert_eq!(next.lost(), None);
}

/// Another process that holds a lease, says so, and says when it finds it lost.
fn hold(leases: &dyn Leases, run: &str) -> Lease {
    let lease = take(leases, "k", run, Duration::ZERO).unwrap();
    lease.on_lost(|lost| say(&format!("lost: {lost}")));
    say(&format!("holds {}", lease.fence()));
    lease
}

#[test]
#[ignore = "run by other tests, as a process of its own"]
fn embedded_holder() {
    let Some(folder) = told() else { return };
    let _lease = hold(&EmbeddedLeases::new(support::path_of(&folder)), "other");
    std::thread::sleep(LONG * 5);
}

#[test]
#[ignore = "run by other tests, as a process of its own"]
fn nats_holder() {
    let Some(url) = told() else { return };
    let nats = Nats::connect(&url, &NatsAccess::default()).unwrap();
    let leases = NatsLeases::open(&nats, "leases", 1).unwrap();
    let records = NatsRecords::open(&nats, "records", &NatsSettings::default()).unwrap();
    let _more = take(&leases, "k2", "other", Duration::ZERO).unwrap();
    let lease = hold(&leases, "other");
    // Works on under its lease, by what it knew when it began, until it is told otherwise.
    let version = records.get("applied").unwrap().map_or(0, |record| record.version);
    say("works");
    let lost = eventually("the lease is lost", || lease.lost());
    say(&format!("sees {lost}"));
    let mut late = eos_store::Batch::default();
    late.put("applied", version, b"late".to_vec());
    let refused = matches!(records.submit(late).wait(), Err(StoreError::Conflict { .. }));
    say(if refused { "refused" } else { "written" });
    lease.release().unwrap();
    say("released");
}

fn number(said: Option<String>) -> u64 {
    said.unwrap().strip_prefix("holds ").unwrap().parse().unwrap()
}

#[test]
fn embedded_lease_of_a_killed_process_is_free_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let leases = EmbeddedLeases::new(dir.path());
    let mut other = Other::start("embedded_holder", dir.path().to_str().unwrap());
    let fence = number(other.hear());
    assert!(matches!(take(&leases, "k", "r", Duration::ZERO), Err(LeaseError::Held { .. })));
    assert!(!leases.list().unwrap()[0].stale);
    other.kill();
    assert!(leases.list().unwrap()[0].stale);
    let lease = take(&leases, "k", "r", Duration::ZERO).unwrap();
    assert!(lease.fence() > fence);
    assert_eq!(leases.reach(), Reach::Machine);
}

#[test]
fn embedded_lease_of_a_frozen_process_can_be_broken() {
    let dir = tempfile::tempdir().unwrap();
    let leases = EmbeddedLeases::new(dir.path());
    let mut other = Other::start("embedded_holder", dir.path().to_str().unwrap());
    number(other.hear());
    other.freeze();
    // The process is there: nobody takes its lease away unasked.
    assert!(matches!(take(&leases, "k", "r", TTL * 2), Err(LeaseError::Held { .. })));
    leases.break_lease("k", "it hangs", "sam").unwrap();
    let _ours = take(&leases, "k", "r", Duration::ZERO).unwrap();
    other.thaw();
    assert_eq!(other.hear().unwrap(), "lost: the lease was broken by sam: it hangs");
}

#[test]
fn a_killed_holder_is_outlasted() {
    let Some(server) = NatsServer::start("the lease of a killed holder") else { return };
    let nats = connect(&server);
    let leases = NatsLeases::open(&nats, "leases", 1).unwrap();
    assert_eq!(leases.reach(), Reach::Network);
    let mut other = Other::start("nats_holder", &server.url());
    let fence = number(other.hear());
    assert_eq!(other.hear().unwrap(), "works");
    other.kill();
    // A fresh observer has seen nothing yet, so it may not judge.
    assert!(matches!(take(&leases, "k", "r", Duration::ZERO), Err(LeaseError::Held { .. })));
    assert_eq!(leases.list().unwrap().len(), 2);
    let lease = take(&leases, "k", "r", LONG).unwrap();
    assert!(lease.fence() > fence);
    // The other one was watched at the same time.
    take(&leases, "k2", "r", Duration::ZERO).unwrap();
}

#[test]
fn a_frozen_holder_finds_its_lease_lost_and_its_late_write_refused() {
    let Some(server) = NatsServer::start("the lease of a frozen holder") else { return };
    let nats = connect(&server);
    let leases = NatsLeases::open(&nats, "leases", 1).unwrap();
    let records = NatsRecords::open(&nats, "records", &NatsSettings::default()).unwrap();
    let mut other = Other::start("nats_holder", &server.url());
    let fence = number(other.hear());
    assert_eq!(other.hear().unwrap(), "works");
    other.freeze();
    let lease = take(&leases, "k", "r", LONG).unwrap();
    assert!(lease.fence() > fence);
    let mut batch = eos_store::Batch::default();
    batch.put("applied", 0, b"ours".to_vec());
    records.submit(batch).wait().unwrap();
    other.thaw();
    let said: Vec<_> = std::iter::from_fn(|| other.hear()).collect();
    assert!(said.iter().any(|line| line.starts_with("lost: ")), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("sees ")), "{said:?}");
    assert!(said.contains(&"refused".to_owned()), "{said:?}");
    assert_eq!(said.last().unwrap(), "released");
    assert_eq!(records.get("applied").unwrap().unwrap().value, b"ours");
    assert_eq!(lease.lost(), None);
    assert_eq!(leases.list().unwrap()[0].owner.run, "r");
}

#[test]
fn a_short_absence_of_the_server_costs_no_lease() {
    let Some(mut server) = NatsServer::start("a lease while NATS is restarted") else { return };
    let nats = connect(&server);
    let leases = NatsLeases::open(&nats, "leases", 1).unwrap();
    let on_wait = &mut |_: &_| ControlFlow::Continue(());
    let terms = Terms { ttl: Duration::from_secs(20), wait: Duration::ZERO, on_wait };
    let lease = leases.acquire("k", &owner("r1"), terms).unwrap();
    server.restart();
    // Until it has been renewed on the new server.
    let other = eventually("NATS is back", || NatsLeases::open(&connect(&server), "leases", 1).ok());
    let age = |leases: &NatsLeases| leases.list().ok().and_then(|list| Some(list.first()?.stale));
    eventually("the lease is seen", || (age(&other) == Some(false)).then_some(()));
    std::thread::sleep(Duration::from_secs(8));
    assert_eq!(lease.lost(), None);
    assert!(matches!(take(&other, "k", "r2", Duration::ZERO), Err(LeaseError::Held { .. })));
    lease.release().unwrap();
    take(&other, "k", "r2", Duration::ZERO).unwrap();
}

#[test]
fn without_the_server_nothing_is_taken_and_a_holder_stops() {
    let Some(mut server) = NatsServer::start("leases without NATS") else { return };
    let leases = NatsLeases::open(&connect(&server), "leases", 1).unwrap();
    let held = take(&leases, "k", "r1", Duration::ZERO).unwrap();
    let (sender, lost) = mpsc::channel();
    held.on_lost(move |lost| sender.send(lost).unwrap());
    server.kill();
    let lost = lost.recv_timeout(LONG).unwrap();
    assert!(matches!(lost, Lost::Expired { .. }), "{lost}");
    let refused = take(&leases, "other", "r2", Duration::ZERO).unwrap_err();
    assert!(matches!(refused, LeaseError::Unreachable { .. }), "{refused}");
    assert!(matches!(leases.list(), Err(LeaseError::Unreachable { .. })));
    assert!(matches!(held.release(), Err(LeaseError::Unreachable { .. })));
    let gone = Nats::connect(&server.url(), &NatsAccess::default()).map(drop);
    assert!(matches!(gone, Err(StoreError::Unreachable { .. })), "{gone:?}");
}

#[test]
fn what_a_newer_program_wrote_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let leases = EmbeddedLeases::new(dir.path());
    drop(take(&leases, "k", "r1", Duration::ZERO).unwrap());
    let path = dir.path().join("k.lease");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"format\":1", "\"format\":2")).unwrap();
    let refused = take(&leases, "k", "r1", Duration::ZERO).unwrap_err();
    assert!(matches!(refused, LeaseError::NewerFormat { found: 2, known: 1, .. }), "{refused}");
    std::fs::write(&path, &text[..20]).unwrap();
    assert!(matches!(leases.list(), Err(LeaseError::Damaged { .. })));
}
