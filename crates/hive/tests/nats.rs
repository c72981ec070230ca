//! Two gateways on one NATS server: one state, whichever is asked, whichever dies.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use support::Gateway;
use support::client::{Answer, Client};
use test_tools::{NatsServer, free_ports};

/// A server and two gateways, `a` and `b`, with the same keys.
struct Pair {
    a: Gateway,
    b: Gateway,
    server: NatsServer,
    dir: tempfile::TempDir,
}

impl Pair {
    fn start(test: &str) -> Option<Pair> {
        let server = NatsServer::start(test)?;
        let dir = tempfile::tempdir().unwrap();
        let a = gateway(dir.path().join("a"), &server);
        std::fs::create_dir(dir.path().join("b")).unwrap();
        // As docs/hive.md says: whoever shall be let in at both needs the same keys at both.
        std::fs::copy(dir.path().join("a/credentials.json"), dir.path().join("b/credentials.json")).unwrap();
        let b = gateway(dir.path().join("b"), &server);
        Some(Pair { a, b, server, dir })
    }

    fn clients(&self) -> (Client, Client) {
        (client(&self.a), client(&self.b))
    }
}

fn gateway(data: PathBuf, server: &NatsServer) -> Gateway {
    // Each is a node of its own.
    let node = data.file_name().unwrap().to_str().unwrap();
    Gateway::start(&data, &["--plain-http", "--node", node, "--store", &server.url()])
}

fn client(gateway: &Gateway) -> Client {
    Client::connect(&gateway.data, gateway.port(), 0).unwrap()
}

fn ok(client: &mut Client, query: &str) -> Answer {
    let answer = client.action(query).unwrap();
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    answer
}

/// Every text of the elements of this name.
fn all(answer: &Answer, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let found = answer.body.split(&open).skip(1).filter_map(|rest| rest.split(&close).next());
    found.map(str::to_owned).collect()
}

/// Waits for something that must come, however slow the machine.
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(90), "{what}: not within a minute and a half");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_one_gateway_answered_the_other_describes_at_once() {
    let Some(pair) = Pair::start("what_one_gateway_answered_the_other_describes_at_once") else { return };
    let (mut a, mut b) = pair.clients();
    // Made by the first, and not made again by the second.
    assert_eq!(all(&ok(&mut b, "DescribeVpcs"), "vpcId").len(), 1);
    for number in 0..100 {
        for (writer, reader) in [(0, 1), (1, 0)] {
            let both = [&mut a, &mut b];
            let name = format!("group-{number}-{writer}");
            ok(both[writer], &format!("CreatePlacementGroup&GroupName={name}&Strategy=cluster"));
            let seen = ok(both[reader], &format!("DescribePlacementGroups&GroupName.1={name}"));
            assert_eq!(all(&seen, "groupName"), [name.as_str()]);
            if number % 2 == 0 {
                ok(both[reader], &format!("DeletePlacementGroup&GroupName={name}"));
                let gone =
                    both[writer].action(&format!("DescribePlacementGroups&GroupName.1={name}")).unwrap();
                assert_eq!(gone.element("Code"), "InvalidPlacementGroup.Unknown", "{}", gone.body);
            }
        }
    }
    assert_eq!(pair.a.leftovers(), pair.b.leftovers());
}

#[test]
fn nothing_is_given_out_twice() {
    let Some(pair) = Pair::start("nothing_is_given_out_twice") else { return };
    let (mut a, mut b) = pair.clients();
    let vpc = ok(&mut a, "CreateVpc&CidrBlock=10.0.0.0/16").element("vpcId").to_owned();
    let subnet = ok(&mut a, &format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/26"));
    let subnet = subnet.element("subnetId").to_owned();
    // More than there are addresses: the last ones are wanted by everybody at once.
    let query = format!("CreateNetworkInterface&SubnetId={subnet}");
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|number| {
                let (gateway, query) = (if number % 2 == 0 { &pair.a } else { &pair.b }, &query);
                scope.spawn(move || {
                    let mut client = client(gateway);
                    (0..9).map(|_| client.action(query).unwrap()).collect::<Vec<_>>()
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    for refused in refused {
        assert_eq!(refused.element("Code"), "InsufficientFreeAddressesInSubnet", "{}", refused.body);
    }
    let set = |name| made.iter().map(|answer| answer.element(name).to_owned()).collect::<BTreeSet<_>>();
    let (ids, addresses) = (set("networkInterfaceId"), set("privateIpAddress"));
    // 64 addresses less the five that EC2 keeps.
    assert_eq!((made.len(), ids.len(), addresses.len()), (59, 59, 59));
    for client in [&mut a, &mut b] {
        let query = format!("DescribeNetworkInterfaces&Filter.1.Name=subnet-id&Filter.1.Value.1={subnet}");
        let seen: BTreeSet<_> = all(&ok(client, &query), "networkInterfaceId").into_iter().collect();
        assert_eq!(seen, ids);
    }
}

/// Two requests at the same time, one at each gateway.
fn at_once(clients: (&mut Client, &mut Client), queries: (&str, &str)) -> (Answer, Answer) {
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            start.wait();
            clients.0.action(queries.0).unwrap()
        });
        start.wait();
        let second = clients.1.action(queries.1).unwrap();
        (first.join().unwrap(), second)
    })
}

#[test]
fn nothing_is_made_in_a_vpc_that_goes_away() {
    let Some(pair) = Pair::start("nothing_is_made_in_a_vpc_that_goes_away") else { return };
    let (mut a, mut b) = pair.clients();
    // The one changes what the VPC was born with, the others only name the VPC.
    let children = [
        ("CreateSubnet&CidrBlock=10.0.0.0/24", "subnetId", "DeleteSubnet&SubnetId"),
        ("CreateSecurityGroup&GroupName=g&GroupDescription=g", "groupId", "DeleteSecurityGroup&GroupId"),
        ("CreateRouteTable", "routeTableId", "DeleteRouteTable&RouteTableId"),
    ];
    for (create, id, delete) in children.iter().cycle().take(60) {
        let vpc = ok(&mut a, "CreateVpc&CidrBlock=10.0.0.0/16").element("vpcId").to_owned();
        let queries = (format!("DeleteVpc&VpcId={vpc}"), format!("{create}&VpcId={vpc}"));
        let (deleted, made) = at_once((&mut a, &mut b), (&queries.0, &queries.1));
        assert!((deleted.status == 200) != (made.status == 200), "{} {}", deleted.body, made.body);
        if deleted.status == 200 {
            assert_eq!(made.element("Code"), "InvalidVpcID.NotFound", "{}", made.body);
        } else {
            assert_eq!(deleted.element("Code"), "DependencyViolation", "{}", deleted.body);
            ok(&mut b, &format!("{delete}={}", made.element(id)));
            ok(&mut a, &format!("DeleteVpc&VpcId={vpc}"));
        }
    }
    assert_eq!(pair.a.leftovers(), []);
    assert_eq!(pair.b.leftovers(), []);
}

#[test]
fn a_name_is_taken_once() {
    let Some(pair) = Pair::start("a_name_is_taken_once") else { return };
    let (mut a, mut b) = pair.clients();
    for number in 0..40 {
        let query = format!("CreatePlacementGroup&GroupName=name-{number}&Strategy=cluster");
        let (first, second) = at_once((&mut a, &mut b), (&query, &query));
        let refused = if first.status == 200 { &second } else { &first };
        assert!((first.status == 200) != (second.status == 200), "{} {}", first.body, second.body);
        assert_eq!(refused.element("Code"), "InvalidPlacementGroup.Duplicate", "{}", refused.body);
    }
}

#[test]
fn one_client_token_makes_one_instance_wherever_it_is_sent() {
    let Some(pair) = Pair::start("one_client_token_makes_one_instance_wherever_it_is_sent") else { return };
    let (mut a, mut b) = pair.clients();
    for round in 0..10 {
        let query = format!(
            "RunInstances&ImageId=ami-0abcdef1234567890&InstanceType=t3.micro&MinCount=1&MaxCount=1&ClientToken=token-{round}"
        );
        let images = ok(&mut a, "DescribeImages&Owner.1=amazon");
        let query = query.replace("ami-0abcdef1234567890", images.element("imageId"));
        let answers: Vec<String> = std::thread::scope(|scope| {
            let clients: Vec<_> = [&pair.a, &pair.b, &pair.a, &pair.b]
                .into_iter()
                .map(|gateway| {
                    let query = &query;
                    scope.spawn(move || ok(&mut client(gateway), query).element("instanceId").to_owned())
                })
                .collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        assert_eq!(answers.iter().collect::<BTreeSet<_>>().len(), 1, "{answers:?}");
        let other = b.action(&query.replace("t3.micro", "t3.small")).unwrap();
        assert_eq!(other.element("Code"), "IdempotentParameterMismatch", "{}", other.body);
        assert_eq!(all(&ok(&mut b, "DescribeInstances"), "instanceId").len(), round + 1);
    }
}

#[test]
fn a_gateway_finishes_what_a_killed_one_began() {
    let Some(pair) = Pair::start("a_gateway_finishes_what_a_killed_one_began") else { return };
    let Pair { mut a, b, server, dir } = pair;
    let mut survivor = client(&b);
    let images = ok(&mut survivor, "DescribeImages&Owner.1=amazon");
    let query = format!(
        "RunInstances&ImageId={}&InstanceType=t3.micro&MinCount=20&MaxCount=20",
        images.element("imageId")
    );
    let mut acknowledged = BTreeSet::new();
    for _ in 0..5 {
        // Killed between the answer and the report of the machines' start, as far as a test can aim.
        let answer = ok(&mut client(&a), &query);
        a.kill();
        acknowledged.extend(all(&answer, "instanceId"));
        a = gateway(dir.path().join("a"), &server);
    }
    // The last word of a killed gateway, with nobody to start it again.
    let answer = ok(&mut client(&a), &query);
    a.kill();
    acknowledged.extend(all(&answer, "instanceId"));
    eventually("every instance runs", || {
        let seen = ok(&mut survivor, "DescribeInstances");
        let ids: BTreeSet<_> = all(&seen, "instanceId").into_iter().collect();
        assert_eq!(ids, acknowledged);
        (!seen.body.contains("<name>pending</name>")).then_some(())
    });
    drop(server);
}

#[test]
fn gateways_come_back_with_their_server() {
    let Some(mut pair) = Pair::start("gateways_come_back_with_their_server") else { return };
    let (mut a, mut b) = pair.clients();
    let vpc = ok(&mut a, "CreateVpc&CidrBlock=10.0.0.0/16").element("vpcId").to_owned();
    for _ in 0..3 {
        pair.server.kill();
        // Not what it remembers: it may be old.
        let asked = b.action("DescribeVpcs").unwrap();
        assert_eq!((asked.status, asked.element("Code")), (503, "Unavailable"), "{}", asked.body);
        let refused = a.action(&format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/24")).unwrap();
        assert_eq!((refused.status, refused.element("Code")), (503, "Unavailable"), "{}", refused.body);
        pair.server.start_again();
        for client in [&mut a, &mut b] {
            eventually("the gateway answers again", || {
                let answer = client.action("DescribeVpcs").unwrap();
                (answer.status == 200).then(|| assert!(answer.body.contains(&vpc), "{}", answer.body))
            });
        }
        let subnet = ok(&mut b, &format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.1.0/24"));
        ok(&mut a, &format!("DeleteSubnet&SubnetId={}", subnet.element("subnetId")));
    }
}

#[test]
fn a_store_that_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let start = |store: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hive"));
        command.arg("--data").arg(dir.path().join("data")).args(["--port", "0", "--store", store]);
        let ended = command.output().unwrap();
        assert!(!ended.status.success());
        String::from_utf8_lossy(&ended.stderr).into_owned()
    };
    let [port] = free_ports();
    let nobody = format!("127.0.0.1:{port}");
    let said = start(&format!("nats://someone:secret@{nobody}"));
    assert!(said.contains("cannot be reached") && said.contains(&nobody), "{said}");
    assert!(!said.contains("secret"), "{said}");
    assert!(start("redis://127.0.0.1").contains("--store"));
}

/// Each gateway has a file of keys, and an account is made once for all of them.
#[test]
fn a_new_account_is_taken_up_by_each_gateway_that_has_its_key() {
    let Some(mut pair) = Pair::start("a_new_account_is_taken_up_by_each_gateway_that_has_its_key") else {
        return;
    };
    let account = "200000000002";
    let second = hive::Credentials::add_account(&pair.a.data, "100000000001", "admin").unwrap();
    assert!(hive::control::running(&pair.a.data).unwrap().keys.contains(&second.access_key_id));
    // An account that cannot be prepared is not let in; a key that is taken away is refused all the same.
    pair.server.kill();
    hive::Credentials::revoke(&pair.a.data, &second.access_key_id).unwrap();
    hive::Credentials::add_account(&pair.a.data, account, "admin").unwrap();
    let refused = hive::environment::variables_of(&pair.a.data, Some(account)).unwrap_err();
    assert!(matches!(&refused, hive::HiveError::NotLetIn(said) if said == account), "{refused}");
    assert_eq!(hive::control::running(&pair.a.data).unwrap().keys.len(), 1);
    pair.server.start_again();
    eventually("the account is let in", || hive::environment::variables_of(&pair.a.data, Some(account)).ok());
    let of_account = |gateway: &Gateway| Client::connect(&gateway.data, gateway.port(), 1).unwrap();
    let vpc = all(&ok(&mut of_account(&pair.a), "DescribeVpcs"), "vpcId");
    assert_eq!(vpc.len(), 1);
    std::fs::copy(pair.a.data.join("credentials.json"), pair.b.data.join("credentials.json")).unwrap();
    let mut other = of_account(&pair.b);
    eventually("the other gateway lets it in", || {
        let answer = other.action("DescribeVpcs").unwrap();
        (answer.status == 200).then(|| assert_eq!(all(&answer, "vpcId"), vpc))
    });
}

#[test]
fn a_data_directory_has_one_gateway_also_on_nats() {
    let Some(pair) = Pair::start("a_data_directory_has_one_gateway_also_on_nats") else { return };
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_hive"))
        .arg("--data")
        .arg(&pair.a.data)
        .args(["--port", "0", "--store", &pair.server.url()])
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("another gateway runs"), "{second:?}");
    assert_eq!(hive::control::running(&pair.a.data).unwrap().endpoint, pair.a.endpoint);
}

/// More reports at once than NATS takes records in a batch.
#[test]
fn what_comes_in_a_burst_is_written_in_pieces() {
    let test = "what_comes_in_a_burst_is_written_in_pieces";
    let Some(server) = NatsServer::start(test) else { return };
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let words = ["--plain-http", "--store", &server.url()];
    let gateway = Gateway::start_with_log(&dir.path().join("data"), &words, &log);
    let mut client = client(&gateway);
    let mut run =
        "RunInstances&ImageId=ami-00000000000000d01&InstanceType=t3.micro&MinCount=50&MaxCount=50".to_owned();
    for (number, letter) in ["f", "g", "h"].iter().enumerate() {
        let device = format!("BlockDeviceMapping.{}", number + 1);
        run += &format!("&{device}.DeviceName=/dev/sd{letter}&{device}.Ebs.VolumeSize=1");
    }
    let mut ids = BTreeSet::new();
    for _ in 0..6 {
        ids.extend(all(&ok(&mut client, &run), "instanceId"));
    }
    assert_eq!(ids.len(), 300);
    let list = |ids: &BTreeSet<String>| {
        let one = |(number, id): (usize, &String)| format!("&InstanceId.{}={id}", number + 1);
        ids.iter().enumerate().map(one).collect::<String>()
    };
    ok(&mut client, &format!("TerminateInstances{}", list(&ids)));
    eventually("every instance is terminated", || {
        let seen = ok(&mut client, "DescribeInstances");
        let said = std::fs::read_to_string(&log).unwrap();
        (seen.body.matches("<name>terminated</name>").count() == 300)
            .then(|| assert_eq!(said.lines().count(), 1, "quiet but for its start: {said}"))
    });
    eventually("no volume is left", || {
        all(&ok(&mut client, "DescribeVolumes"), "volumeId").is_empty().then_some(())
    });
}

/// A launch of more than fit into one change is a launch of those that do.
#[test]
fn as_many_are_launched_as_nats_takes_at_once() {
    let test = "as_many_are_launched_as_nats_takes_at_once";
    let Some(server) = NatsServer::start(test) else { return };
    let dir = tempfile::tempdir().unwrap();
    let gateway = gateway(dir.path().join("data"), &server);
    let mut client = client(&gateway);
    let run = "RunInstances&ImageId=ami-00000000000000d01&InstanceType=t3.micro&MaxCount=1000";
    let some = format!("{run}&MinCount=1&ClientToken=some");
    let launched = all(&ok(&mut client, &some), "instanceId").len();
    assert!((200..1000).contains(&launched), "{launched}");
    let again = all(&ok(&mut client, &some), "instanceId").len();
    assert_eq!(again, launched, "the token has its answer");
    let refused = client.action(&format!("{run}&MinCount=1000")).unwrap();
    assert_eq!(refused.element("Code"), "ResourceCountExceeded", "{}", refused.body);
}
