//! EC2's quotas, and what an instance type can carry.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use hive_ec2::{Engine, Environment, Limits, NodeId, RecordsNode};
use jiff::Timestamp;
use support::{call, engine_of, runtime, texts};

async fn engine(dir: &std::path::Path, limits: &[&str]) -> Arc<Engine> {
    let node = NodeId::new("test");
    let mut environment = Environment::new("us-east-1", node.clone());
    limits.iter().for_each(|limit| environment.limits.set(limit).unwrap());
    engine_of(dir, Arc::new(RecordsNode::new(node)), Arc::new(Timestamp::now), environment).await
}

/// The first `count` times it works, then it is refused with this code; a dry run says the same.
async fn works(
    engine: &Arc<Engine>,
    count: usize,
    code: &str,
    query: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut answers = Vec::new();
    for turn in 0..count {
        answers.push(call(engine, &query(turn)).await.unwrap());
    }
    for suffix in ["", "&DryRun=true"] {
        let refused = call(engine, &format!("{}{suffix}", query(count))).await.unwrap_err();
        assert_eq!(refused.code, code, "{}", query(count));
    }
    answers
}

#[test]
fn an_account_has_as_much_as_ec2_gives() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path(), &["subnets-per-vpc=2", "routes=3"]).await;
        // One of five is the default VPC, and so is its internet gateway.
        let vpcs =
            works(&engine, 4, "VpcLimitExceeded", |n| format!("CreateVpc&CidrBlock=10.{n}.0.0/16")).await;
        works(&engine, 4, "InternetGatewayLimitExceeded", |_| "CreateInternetGateway".to_owned()).await;
        works(&engine, 5, "AddressLimitExceeded", |_| "AllocateAddress".to_owned()).await;
        let vpc = texts(&vpcs[0], "vpcId").remove(0);
        works(&engine, 2, "SubnetLimitExceeded", |n| {
            format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.{n}.0/24")
        })
        .await;
        let make = format!("CreateSecurityGroup&VpcId={vpc}&GroupName=g&GroupDescription=d");
        let group = texts(&call(&engine, &make).await.unwrap(), "groupId").remove(0);
        let rule = format!("AuthorizeSecurityGroupIngress&GroupId={group}&IpPermissions.1.IpProtocol=tcp");
        works(&engine, 60, "RulesPerSecurityGroupLimitExceeded", |n| {
            format!("{rule}&IpPermissions.1.FromPort={n}&IpPermissions.1.ToPort={n}&IpPermissions.1.IpRanges.1.CidrIp=0.0.0.0/0")
        })
        .await;
        let attributes = call(&engine, "DescribeAccountAttributes&AttributeName.1=max-elastic-ips").await;
        assert_eq!(texts(&attributes.unwrap(), "attributeValue"), ["5"]);
        let values: String = (1..=201).map(|n| format!("&Filter.1.Value.{n}=x")).collect();
        let many = call(&engine, &format!("DescribeVpcs&Filter.1.Name=vpc-id{values}")).await;
        assert_eq!(many.unwrap_err().code, "FilterLimitExceeded");
    });
}

#[test]
fn a_machine_has_as_many_interfaces_and_addresses_as_its_type() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path(), &[]).await;
        let types = call(&engine, "DescribeInstanceTypes&InstanceType.1=t3.micro").await.unwrap();
        assert_eq!(texts(&types, "maximumNetworkInterfaces"), ["2"]);
        assert_eq!(texts(&types, "ipv4AddressesPerInterface"), ["2"]);
        let run = "RunInstances&ImageId=ami-00000000000000d01&InstanceType=t3.micro&MinCount=1&MaxCount=1";
        let instance = call(&engine, run).await.unwrap();
        let (id, subnet) = (texts(&instance, "instanceId").remove(0), texts(&instance, "subnetId").remove(0));
        let primary = texts(&instance, "networkInterfaceId").remove(0);
        let mut interfaces = Vec::new();
        for _ in 0..2 {
            let made = call(&engine, &format!("CreateNetworkInterface&SubnetId={subnet}")).await.unwrap();
            interfaces.push(texts(&made, "networkInterfaceId").remove(0));
        }
        works(&engine, 1, "AttachmentLimitExceeded", |n| {
            let (interface, index) = (&interfaces[n], n + 1);
            format!(
                "AttachNetworkInterface&InstanceId={id}&DeviceIndex={index}&NetworkInterfaceId={interface}"
            )
        })
        .await;
        works(&engine, 1, "PrivateIpAddressLimitExceeded", |_| {
            format!("AssignPrivateIpAddresses&NetworkInterfaceId={primary}&SecondaryPrivateIpAddressCount=1")
        })
        .await;
    });
}

#[test]
fn a_limit_is_set_by_its_name() {
    let mut limits = Limits::default();
    limits.set("vpcs=7").unwrap();
    assert_eq!((limits.of("vpcs"), limits.of("elastic-addresses")), (7, 5));
    limits.set("all=none").unwrap();
    assert_eq!(limits.of("elastic-addresses"), u32::MAX);
    for wrong in ["vpcs", "vpcs=", "vpcs=-1", "cars=3"] {
        assert!(limits.set(wrong).unwrap_err().contains("vpcs"), "{wrong}");
    }
}
