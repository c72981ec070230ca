//! Clients at two gateways on one NATS server make, tag and delete, while one gateway after the other is killed: no
//! answer turns out untrue, and both answer the same in the end.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use support::Gateway;
use support::client::{Answer, Client};
use support::nats::Server;

const CLIENTS: usize = 8;
const KILLS: usize = 10;
/// Between two kills; the clients go on whatever happens.
const CHANGES_BETWEEN: usize = 60;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// Answered, and not touched again.
    There,
    Gone,
    /// The gateway died before it answered: either is right.
    Open,
}

/// What each group and its tag must be by the answers.
type Ledger = BTreeMap<String, (Fate, Fate)>;

/// Sends to wherever the gateway is now; None if it went away before it answered.
fn send(data: &Path, port: &AtomicUsize, query: &str) -> Option<Answer> {
    let port = u16::try_from(port.load(Ordering::SeqCst)).unwrap();
    let mut client = Client::connect(data, port, 0).ok()?;
    client.action(query).ok().filter(|answer| answer.status < 500)
}

fn work(number: usize, data: &Path, port: &AtomicUsize, done: &AtomicBool, changes: &AtomicUsize) -> Ledger {
    let mut ledger = Ledger::default();
    let mut count = 0;
    while !done.load(Ordering::SeqCst) {
        let name = format!("group-{number}-{count}");
        count += 1;
        let fate = |answer: Option<&Answer>, done: Fate| match answer {
            Some(answer) if answer.status == 200 => done,
            Some(answer) => panic!("{}", answer.body),
            None => Fate::Open,
        };
        let made = send(data, port, &format!("CreatePlacementGroup&GroupName={name}&Strategy=cluster"));
        let mut entry = (fate(made.as_ref(), Fate::There), Fate::Gone);
        if let Some(made) = made {
            changes.fetch_add(1, Ordering::SeqCst);
            let id = made.element("groupId");
            let tagged =
                send(data, port, &format!("CreateTags&ResourceId.1={id}&Tag.1.Key=k&Tag.1.Value={name}"));
            entry.1 = fate(tagged.as_ref(), Fate::There);
            if count % 3 == 0 {
                let deleted = send(data, port, &format!("DeletePlacementGroup&GroupName={name}"));
                entry.0 = fate(deleted.as_ref(), Fate::Gone);
            }
        } else {
            std::thread::sleep(Duration::from_millis(20));
        }
        ledger.insert(name, entry);
    }
    ledger
}

#[test]
fn no_answer_is_untrue_whichever_gateway_dies() {
    let Some(server) = Server::start("no_answer_is_untrue_whichever_gateway_dies") else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = [dir.path().join("a"), dir.path().join("b")];
    let start = |data: &Path| Gateway::start(data, &["--plain-http", "--store", &server.url()]);
    let first = start(&data[0]);
    std::fs::create_dir(&data[1]).unwrap();
    std::fs::copy(data[0].join("credentials.json"), data[1].join("credentials.json")).unwrap();
    let mut gateways = [Some(first), Some(start(&data[1]))];
    let port_of = |gateway: &Option<Gateway>| usize::from(gateway.as_ref().unwrap().port());
    let ports: [AtomicUsize; 2] = [port_of(&gateways[0]).into(), port_of(&gateways[1]).into()];
    let (done, changes) = (AtomicBool::new(false), AtomicUsize::new(0));
    let ledger: Mutex<Ledger> = Mutex::default();
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (data, port) = (&data[number % 2], &ports[number % 2]);
            let (done, changes, ledger) = (&done, &changes, &ledger);
            scope.spawn(move || {
                let mine = work(number, data, port, done, changes);
                ledger.lock().unwrap().extend(mine);
            });
        }
        // Also ends the clients when something here fails.
        let finished = Finish(&done);
        for kill in 0..KILLS {
            let from = changes.load(Ordering::SeqCst);
            let begun = std::time::Instant::now();
            while changes.load(Ordering::SeqCst) < from + CHANGES_BETWEEN {
                assert!(begun.elapsed() < Duration::from_secs(90), "the clients are stuck");
                std::thread::sleep(Duration::from_millis(10));
            }
            let which = kill % 2;
            gateways[which].take().unwrap().kill();
            gateways[which] = Some(start(&data[which]));
            ports[which].store(port_of(&gateways[which]), Ordering::SeqCst);
        }
        drop(finished);
    });
    let answers: Vec<BTreeMap<String, (String, bool)>> = (0..2)
        .map(|which| {
            let gateway = gateways[which].as_ref().unwrap();
            let mut client = Client::connect(&data[which], gateway.port(), 0).unwrap();
            let answer = client.action("DescribePlacementGroups").unwrap();
            assert_eq!(answer.status, 200, "{}", answer.body);
            let groups = answer.body.split("<groupId>").skip(1);
            groups
                .map(|rest| {
                    let id = rest.split('<').next().unwrap();
                    let name = rest.split("<groupName>").nth(1).and_then(|name| name.split('<').next());
                    let name = name.unwrap().to_owned();
                    (name.clone(), (id.to_owned(), rest.contains(&format!("<value>{name}</value>"))))
                })
                .collect()
        })
        .collect();
    assert_eq!(answers[0], answers[1]);
    let ids: BTreeSet<&String> = answers[0].values().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), answers[0].len());
    let ledger = ledger.into_inner().unwrap();
    assert!(ledger.len() > KILLS * CHANGES_BETWEEN);
    for (name, (group, tag)) in &ledger {
        let found = answers[0].get(name);
        match group {
            Fate::There => assert!(found.is_some(), "{name} was acknowledged and is lost"),
            Fate::Gone => assert!(found.is_none(), "{name} was deleted and is there"),
            Fate::Open => {}
        }
        if let (Some((_, tagged)), Fate::There) = (found, tag) {
            assert!(tagged, "{name}'s tag was acknowledged and is lost");
        }
    }
}

struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
