//! kill -9 in the middle of many writes: every answer that was given is true after the restart.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::Gateway;
use support::client::Client;

const WRITERS: usize = 8;
const WRITES: usize = 10_000;

#[test]
fn every_acknowledged_write_survives_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    // Killed after a quarter, a half and three quarters of the writes, then left to finish.
    for (round, stop_at) in [WRITES / 4, WRITES / 2, WRITES * 3 / 4, usize::MAX].into_iter().enumerate() {
        let gateway = Gateway::start(&data, &["--plain-http"]);
        let done = Arc::new(AtomicUsize::new(acknowledged.len()));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (done, data, port) = (Arc::clone(&done), data.clone(), gateway.port());
                std::thread::spawn(move || {
                    let mut names = Vec::new();
                    let Ok(mut client) = Client::connect(&data, port, 0) else { return names };
                    for number in 0.. {
                        if done.load(Ordering::Relaxed) >= WRITES {
                            break;
                        }
                        let name = format!("pg-{round}-{writer}-{number}");
                        match client
                            .action(&format!("CreatePlacementGroup&GroupName={name}&Strategy=cluster"))
                        {
                            Ok(answer) if answer.status == 200 => {
                                done.fetch_add(1, Ordering::Relaxed);
                                names.push(name);
                            }
                            _ => break,
                        }
                    }
                    names
                })
            })
            .collect();
        while done.load(Ordering::Relaxed) < stop_at.min(WRITES) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        gateway.kill();
        for writer in writers {
            acknowledged.extend(writer.join().unwrap());
        }
    }
    assert!(acknowledged.len() >= WRITES, "only {} writes were acknowledged", acknowledged.len());
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let answer =
        Client::connect(&data, gateway.port(), 0).unwrap().action("DescribePlacementGroups").unwrap();
    let found: BTreeSet<&str> = answer
        .body
        .split("<groupName>")
        .skip(1)
        .filter_map(|rest| rest.split("</groupName>").next())
        .collect();
    let lost: Vec<_> = acknowledged.iter().filter(|name| !found.contains(name.as_str())).take(5).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}

/// What one writer was told, and what it asked for and was not told.
#[derive(Default)]
struct Told {
    /// VPCs with the tag they were given, if that was answered.
    there: Vec<(String, Option<String>)>,
    gone: Vec<String>,
}

/// Makes VPCs, which are several records each, tags them and deletes every third, until the gateway is gone.
fn change_until_killed(data: &std::path::Path, port: u16, writer: &str, done: &AtomicUsize) -> Told {
    let mut told = Told::default();
    let Ok(mut client) = Client::connect(data, port, 0) else { return told };
    for number in 0.. {
        let mut succeeds = |query: String| {
            let answer = client.action(&query).ok().filter(|answer| answer.status == 200)?;
            done.fetch_add(1, Ordering::Relaxed);
            Some(answer.element("vpcId").to_owned())
        };
        let Some(vpc) = succeeds("CreateVpc&CidrBlock=10.0.0.0/16".to_owned()) else { break };
        let tag = format!("{writer}-{number}");
        let tagged = succeeds(format!("CreateTags&ResourceId.1={vpc}&Tag.1.Key=Name&Tag.1.Value={tag}"));
        if number % 3 > 0 || tagged.is_none() {
            told.there.push((vpc, tagged.map(|_| tag)));
        } else if succeeds(format!("DeleteVpc&VpcId={vpc}")).is_some() {
            told.gone.push(vpc);
        }
    }
    told
}

/// A VPC comes and goes with its group, table and ACL, whether or not its making or its end was answered.
#[test]
fn what_is_several_records_survives_kill_9_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut all = Told::default();
    for round in 0..4 {
        let gateway = Gateway::start(&data, &["--plain-http"]);
        let done = Arc::new(AtomicUsize::new(0));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (done, data, port) = (Arc::clone(&done), data.clone(), gateway.port());
                let name = format!("{round}-{writer}");
                std::thread::spawn(move || change_until_killed(&data, port, &name, &done))
            })
            .collect();
        while done.load(Ordering::Relaxed) < 400 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        gateway.kill();
        for writer in writers {
            let told = writer.join().unwrap();
            all.there.extend(told.there);
            all.gone.extend(told.gone);
        }
    }
    assert!(all.there.len() > 200 && all.gone.len() > 50, "{} and {}", all.there.len(), all.gone.len());
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let mut client = Client::connect(&data, gateway.port(), 0).unwrap();
    let mut listed = |query: &str, element: &str| -> Vec<String> {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        let body = client.action(query).unwrap().body;
        let pieces = body.split(&open).skip(1).filter_map(|rest| rest.split(&close).next());
        let mut found: Vec<String> = pieces.map(str::to_owned).collect();
        found.sort();
        found
    };
    let vpcs = listed("DescribeVpcs", "vpcId");
    let lost = all.there.iter().find(|(vpc, _)| vpcs.binary_search(vpc).is_err());
    assert!(lost.is_none(), "acknowledged and lost: {lost:?}");
    let back = all.gone.iter().find(|vpc| vpcs.binary_search(vpc).is_ok());
    assert!(back.is_none(), "deleted and there again: {back:?}");
    let default = "DescribeSecurityGroups&Filter.1.Name=group-name&Filter.1.Value.1=default";
    assert_eq!(listed(default, "vpcId"), vpcs);
    assert_eq!(listed("DescribeNetworkAcls", "vpcId"), vpcs);
    assert_eq!(listed("DescribeRouteTables", "vpcId"), vpcs);
    let tags = listed("DescribeTags&Filter.1.Name=key&Filter.1.Value.1=Name", "value");
    let lost =
        all.there.iter().filter_map(|(_, tag)| tag.as_ref()).find(|tag| tags.binary_search(tag).is_err());
    assert!(lost.is_none(), "acknowledged and lost: the tag {lost:?}");
}
