//! Many clients at once: one token makes one thing, no address and no id is given out twice.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use support::Gateway;
use support::client::{Answer, Client};

const CLIENTS: usize = 8;

/// Every client sends its queries on a connection of its own, all at the same time.
fn at_once(gateway: &Gateway, queries: impl Fn(usize) -> Vec<String> + Sync) -> Vec<Answer> {
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let queries = queries(number);
                scope.spawn(move || {
                    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
                    queries.iter().map(|query| client.action(query).unwrap()).collect::<Vec<_>>()
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

#[test]
fn one_client_token_makes_one_thing() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let mut client = Client::connect(&data, gateway.port(), 0).unwrap();
    let vpc = client.action("CreateVpc&CidrBlock=10.0.0.0/16").unwrap().element("vpcId").to_owned();
    let query = format!("CreateRouteTable&VpcId={vpc}&ClientToken=once");
    let answers = at_once(&gateway, |_| vec![query.clone(); 5]);
    let ids: BTreeSet<&str> = answers.iter().map(|answer| answer.element("routeTableId")).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let first = (*ids.first().unwrap()).to_owned();
    // The main table and this one.
    let listed =
        client.action(&format!("DescribeRouteTables&Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}")).unwrap();
    assert_eq!(listed.body.matches("<routeTableAssociationId>").count(), 1);
    assert!(listed.body.contains(&first));
    // Also after a restart.
    gateway.kill();
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let mut client = Client::connect(&data, gateway.port(), 0).unwrap();
    assert_eq!(client.action(&query).unwrap().element("routeTableId"), first);
    let other = client.action(&format!("{query}&TagSpecification.1.ResourceType=route-table")).unwrap();
    assert_eq!(other.element("Code"), "IdempotentParameterMismatch");
}

#[test]
fn no_address_is_given_out_twice_and_a_full_subnet_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &["--plain-http"]);
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let vpc = client.action("CreateVpc&CidrBlock=10.0.0.0/16").unwrap().element("vpcId").to_owned();
    let made = client.action(&format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/26")).unwrap();
    let subnet = made.element("subnetId").to_owned();
    let answers = at_once(&gateway, |_| vec![format!("CreateNetworkInterface&SubnetId={subnet}"); 10]);
    let made: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    let addresses: BTreeSet<&str> = made.iter().map(|answer| answer.element("privateIpAddress")).collect();
    // 64 addresses less the five that EC2 keeps.
    assert_eq!((made.len(), addresses.len()), (59, 59));
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!(refused.element("Code"), "InsufficientFreeAddressesInSubnet");
    }
}

#[test]
fn a_describe_sees_what_was_answered_a_moment_ago() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &["--plain-http"]);
    // Each client makes something on one connection and looks for it on another, while the others do the same.
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let gateway = &gateway;
            scope.spawn(move || {
                let mut writer = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
                let mut reader = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
                for round in 0..25 {
                    let name = format!("g-{number}-{round}");
                    writer.action(&format!("CreatePlacementGroup&GroupName={name}")).unwrap();
                    let found =
                        reader.action(&format!("DescribePlacementGroups&GroupName.1={name}")).unwrap();
                    assert_eq!(found.status, 200, "{name}: {}", found.body);
                    writer.action(&format!("DeletePlacementGroup&GroupName={name}")).unwrap();
                    let gone = reader.action(&format!("DescribePlacementGroups&GroupName.1={name}")).unwrap();
                    assert_eq!(gone.element("Code"), "InvalidPlacementGroup.Unknown");
                }
            });
        }
    });
    assert_eq!(gateway.leftovers(), []);
}
