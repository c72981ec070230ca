//! Clients at two gateways on one NATS server make, tag and delete, while one gateway after the other is killed: no
//! answer turns out untrue, nothing is made or taken away by half, and both answer the same in the end.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use support::Gateway;
use support::client::{Answer, Client};
use test_tools::NatsServer;

const CLIENTS: usize = 8;
const KILLS: usize = 10;
/// Between two kills; the clients go on whatever happens.
const CHANGES_BETWEEN: usize = 40;
const IMAGE: &str = "ami-00000000000000d01";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// Answered, and not touched again.
    There,
    Gone,
    /// The gateway died before it answered: either is right.
    Open,
}

/// What each group and its tag must be by the answers; machines and VPCs are tagged as they are made.
#[derive(Default)]
struct Ledger {
    groups: BTreeMap<String, (Fate, Fate)>,
    machines: BTreeMap<String, Fate>,
    vpcs: BTreeMap<String, Fate>,
    /// Every id that an answer gave to something new, also what is gone by now.
    ids: Vec<String>,
}

impl Ledger {
    fn extend(&mut self, other: Ledger) {
        self.groups.extend(other.groups);
        self.machines.extend(other.machines);
        self.vpcs.extend(other.vpcs);
        self.ids.extend(other.ids);
    }
}

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
            ledger.ids.push(id.to_owned());
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
        ledger.groups.insert(name.clone(), entry);
        let tag = |kind: &str| {
            format!(
                "TagSpecification.1.ResourceType={kind}&TagSpecification.1.Tag.1.Key=name&TagSpecification.1.Tag.1.Value={name}"
            )
        };
        // Many records each: a machine with two disks and an interface, a VPC with what is born with it.
        if count % 6 == 1 {
            let device = "BlockDeviceMapping.1.DeviceName=/dev/sdf&BlockDeviceMapping.1.Ebs.VolumeSize=1";
            let run =
                format!("RunInstances&ImageId={IMAGE}&MinCount=1&MaxCount=1&{device}&{}", tag("instance"));
            let made = send(data, port, &run);
            // An answer may say an id more than once.
            let new = ["reservationId", "instanceId", "networkInterfaceId", "attachmentId", "volumeId"];
            let new = new.iter().flat_map(|name| made.iter().flat_map(|made| all(made, name)));
            ledger.ids.extend(new.collect::<BTreeSet<_>>());
            ledger.machines.insert(name.clone(), fate(made.as_ref(), Fate::There));
        }
        if count % 6 == 4 {
            let made = send(data, port, &format!("CreateVpc&CidrBlock=10.0.0.0/16&{}", tag("vpc")));
            let mut state = fate(made.as_ref(), Fate::There);
            ledger.ids.extend(made.as_ref().map(|made| made.element("vpcId").to_owned()));
            if let Some(made) = made.filter(|_| count % 12 == 4) {
                let delete = format!("DeleteVpc&VpcId={}", made.element("vpcId"));
                state = fate(send(data, port, &delete).as_ref(), Fate::Gone);
            }
            ledger.vpcs.insert(name, state);
        }
    }
    ledger
}

/// Every text of the elements of this name.
fn all(answer: &Answer, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let found = answer.body.split(&open).skip(1).filter_map(|rest| rest.split(&close).next());
    found.map(str::to_owned).collect()
}

/// Whole machines and whole VPCs, by the name they were tagged with.
fn nothing_is_half_there(client: &mut Client) -> (Vec<String>, Vec<String>) {
    let mut ask = |query: &str| {
        let answer = client.action(query).unwrap();
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        answer
    };
    let instances = ask("DescribeInstances");
    let machines = all(&instances, "instanceId").into_iter().collect::<BTreeSet<_>>().len();
    let volumes = ask("DescribeVolumes");
    assert_eq!(volumes.body.matches("<volumeType>").count(), 2 * machines);
    assert_eq!(ask("DescribeNetworkInterfaces").body.matches("<macAddress>").count(), machines);
    let tagged = |answer: &Answer| all(answer, "value");
    let vpcs = ask("DescribeVpcs");
    let ids: BTreeSet<_> = all(&vpcs, "vpcId").into_iter().collect();
    for describe in ["DescribeSecurityGroups", "DescribeRouteTables", "DescribeNetworkAcls"] {
        let parents = all(&ask(describe), "vpcId");
        assert_eq!(parents.iter().cloned().collect::<BTreeSet<_>>(), ids, "{describe}");
        assert_eq!(parents.len(), ids.len(), "one each: {describe}");
    }
    (tagged(&instances), tagged(&vpcs))
}

#[test]
fn no_answer_is_untrue_whichever_gateway_dies() {
    let Some(server) = NatsServer::start("no_answer_is_untrue_whichever_gateway_dies") else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = [dir.path().join("a"), dir.path().join("b")];
    let start = |data: &Path| {
        let node = data.file_name().unwrap().to_str().unwrap();
        Gateway::start(data, &["--plain-http", "--node", node, "--store", &server.url()])
    };
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
    let ledger = ledger.into_inner().unwrap();
    let mut given = BTreeSet::new();
    for id in &ledger.ids {
        assert!(!id.is_empty() && given.insert(id), "{id:?} was given twice");
    }
    // Also what nobody was told of, because the gateway died.
    let there: BTreeSet<&String> = answers[0].values().map(|(id, _)| id).collect();
    assert_eq!(there.len(), answers[0].len());
    assert!(given.iter().filter(|id| id.starts_with("pg-")).count() >= KILLS * CHANGES_BETWEEN);
    assert!(
        ["i-", "vpc-", "eni-"].iter().all(|kind| given.iter().any(|id| id.starts_with(kind))),
        "{given:?}"
    );
    let whole: Vec<_> = (0..2)
        .map(|which| {
            let gateway = gateways[which].as_ref().unwrap();
            nothing_is_half_there(&mut Client::connect(&data[which], gateway.port(), 0).unwrap())
        })
        .collect();
    assert_eq!(whole[0], whole[1]);
    for (kind, found, fates) in
        [("machine", &whole[0].0, &ledger.machines), ("VPC", &whole[0].1, &ledger.vpcs)]
    {
        assert!(fates.len() > KILLS, "too few to say anything");
        for (name, fate) in fates {
            match (fate, found.iter().filter(|found| *found == name).count()) {
                (Fate::There, 1) | (Fate::Gone, 0) | (Fate::Open, 0 | 1) => {}
                (fate, count) => panic!("the {kind} {name} is {fate:?} and there {count} times"),
            }
        }
    }
    assert!(ledger.groups.len() > KILLS * CHANGES_BETWEEN);
    for (name, (group, tag)) in &ledger.groups {
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
