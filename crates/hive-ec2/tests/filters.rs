//! Every filter of every Describe: found by an index wherever one can tell, and the same as by looking at everything. In a
//! debug build each answer that an index gave is held against the latter.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hive_ec2::{ACTIONS, Engine};
use support::{call, engine, first, runtime, settled, texts};

/// What has to look at every resource, because it follows from what many others are.
const LOOK_AT_ALL: &[(&str, &str)] =
    &[("DescribeRouteTables", "route.state"), ("DescribeSubnets", "available-ip-address-count")];

fn filters() -> impl Iterator<Item = (&'static str, &'static str)> {
    ACTIONS.iter().flat_map(|entry| {
        let names = entry.accepts.filters.map(|names| names()).unwrap_or_default();
        names.into_iter().map(move |name| (entry.name, name))
    })
}

/// So many of everything that there can be many of.
async fn many_of_everything(engine: &Arc<Engine>, count: usize) {
    let vpc = first(engine, "CreateVpc&CidrBlock=10.0.0.0/16", "vpcId").await;
    let subnet = first(engine, &format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/20"), "subnetId").await;
    let run = format!("RunInstances&ImageId=ami-00000000000000d01&SubnetId={subnet}&MinCount={count}");
    let instance = first(engine, &format!("{run}&MaxCount={count}"), "instanceId").await;
    let volume = first(engine, "CreateVolume&AvailabilityZone=us-east-1a&Size=1", "volumeId").await;
    settled(engine).await;
    for number in 1..=count {
        let block = format!("10.{number}.0.0/16");
        let other = first(engine, &format!("CreateVpc&CidrBlock={block}"), "vpcId").await;
        for query in [
            format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.{}.0/24", 100 + number),
            format!("CreateVpcPeeringConnection&VpcId={vpc}&PeerVpcId={other}"),
            format!("CreateVpcEndpoint&VpcId={other}&ServiceName=com.amazonaws.us-east-1.s3"),
            format!("CreateRouteTable&VpcId={vpc}"),
            format!("CreateNetworkAcl&VpcId={vpc}"),
            format!("CreateSecurityGroup&VpcId={vpc}&GroupName=g{number}&GroupDescription=d"),
            format!("CreateSnapshot&VolumeId={volume}"),
            format!("CreateImage&InstanceId={instance}&Name=image-{number}"),
            format!("CreatePlacementGroup&GroupName=p{number}&Strategy=cluster"),
            format!("CreateNatGateway&SubnetId={subnet}&ConnectivityType=private"),
            format!(
                "CreateLaunchTemplate&LaunchTemplateName=template-{number}&LaunchTemplateData.InstanceType=t3.micro"
            ),
            format!("CreateEgressOnlyInternetGateway&VpcId={other}"),
            "CreateVolume&AvailabilityZone=us-east-1a&Size=1".to_owned(),
            "CreateDhcpOptions&DhcpConfiguration.1.Key=domain-name&DhcpConfiguration.1.Value.1=x".to_owned(),
            "CreateInternetGateway".to_owned(),
            "AllocateAddress".to_owned(),
            format!("CreateKeyPair&KeyName=k{number}&KeyType=ed25519"),
        ] {
            call(engine, &query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        }
    }
}

#[test]
fn what_a_filter_cannot_match_is_not_looked_at() {
    const COUNT: usize = 40;
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let engine = engine(dir.path()).await;
        many_of_everything(&engine, COUNT).await;
        let mut looks = Vec::new();
        for (action, name) in filters() {
            for value in ["none", "none*", "no?e"] {
                let before = engine.looked_at();
                let query = format!("{action}&Filter.1.Name={name}&Filter.1.Value.1={value}");
                let answer = call(&engine, &query).await;
                // Some have a value that must be given, or none that begins like that.
                assert!(answer.is_ok() || action == "DescribeLaunchTemplateVersions", "{query}: {answer:?}");
                if engine.looked_at() - before >= COUNT as u64 / 2 {
                    looks.push((action, name));
                }
            }
        }
        looks.dedup();
        assert_eq!(looks, LOOK_AT_ALL);
    });
}

/// Texts that answers have, a few of each element.
fn some_texts(answer: &str) -> BTreeSet<String> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for piece in answer.split('<').filter(|piece| !piece.starts_with('/')) {
        let Some((element, text)) = piece.split_once('>') else { continue };
        let of_it = found.entry(element).or_default();
        if of_it.len() < 4 {
            of_it.insert(text);
        }
    }
    found.into_values().flatten().map(str::to_owned).collect()
}

#[test]
fn an_index_finds_what_looking_finds() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let engine = engine(dir.path()).await;
        support::everything(&engine).await;
        let mut matched: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let of_tables = ["DescribeInstanceTypeOfferings", "DescribeInstanceTypes"];
        let actions = ACTIONS.iter().filter(|entry| !of_tables.contains(&entry.name));
        for entry in actions.filter(|entry| entry.accepts.filters.is_some()) {
            let answer = call(&engine, entry.name).await.unwrap_or_default();
            let values = some_texts(&answer);
            for name in entry.accepts.filters.map(|names| names()).unwrap_or_default() {
                for value in values.iter().map(String::as_str).chain(["true", "false", "ok", "passed"]) {
                    let shorter: String = value.chars().take(value.chars().count() / 2).collect();
                    for value in [value.to_owned(), format!("{shorter}*")] {
                        let value = value.replace('%', "%25").replace('+', "%2B").replace('&', "%26");
                        let query = format!("{}&Filter.1.Name={name}&Filter.1.Value.1={value}", entry.name);
                        let Ok(found) = call(&engine, &query).await else { continue };
                        if found.contains("<item>") {
                            matched.entry(entry.name).or_default().insert(name);
                        }
                    }
                }
            }
        }
        // One that is terminated has no interface that a filter could be about.
        let gone = "DescribeInstances&Filter.1.Name=instance-state-name&Filter.1.Value.1=terminated";
        let gone = first(&engine, gone, "instanceId").await;
        for (name, value) in [("attachment.instance-id", gone.as_str()), ("availability-zone", "us-east-1?")]
        {
            let query =
                format!("DescribeInstances&Filter.1.Name=network-interface.{name}&Filter.1.Value.1={value}");
            let found = texts(&call(&engine, &query).await.unwrap(), "instanceId");
            assert!(!found.contains(&gone), "{name}: {found:?}");
        }
        // What the filters of instances are about is there, so that they were held against something.
        let of_instances = &matched["DescribeInstances"];
        for name in
            ["dns-name", "private-dns-name", "network-interface.group-name", "block-device-mapping.status"]
        {
            assert!(of_instances.contains(name), "{name}: {of_instances:?}");
        }
    });
}
