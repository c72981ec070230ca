//! EC2's quotas, and what an instance type can carry.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use hive_ec2::{Engine, Environment, Limits, NodeId, RecordsNode};
use jiff::Timestamp;
use support::{call, engine_of, first, runtime, settled, texts};

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

/// A limit, the number that it is set to here or EC2's own, how many more work then, the code after these, and the request:
/// `#` is the number of the turn and names in braces are what is there already.
struct Row(&'static str, Option<u32>, usize, &'static str, &'static str);

/// The default VPC, its internet gateway, groups and tables count.
const ROWS: &[Row] = &[
    Row(
        "acl-rules",
        None,
        // A VPC's own ACL has one.
        19,
        "NetworkAclEntryLimitExceeded",
        "CreateNetworkAclEntry&NetworkAclId={acl}&Egress=false&RuleNumber=1#&Protocol=-1&RuleAction=allow&CidrBlock=10.0.0.0/8",
    ),
    Row("acls-per-vpc", Some(3), 2, "NetworkAclLimitExceeded", "CreateNetworkAcl&VpcId={vpc}"),
    Row("elastic-addresses", None, 5, "AddressLimitExceeded", "AllocateAddress"),
    Row(
        "group-rules",
        None,
        60,
        "RulesPerSecurityGroupLimitExceeded",
        "AuthorizeSecurityGroupIngress&GroupId={group}&IpPermissions.1.IpProtocol=tcp&IpPermissions.1.FromPort=1#\
         &IpPermissions.1.ToPort=1#&IpPermissions.1.IpRanges.1.CidrIp=0.0.0.0/0",
    ),
    Row(
        "groups-per-interface",
        Some(1),
        0,
        "SecurityGroupsPerInterfaceLimitExceeded",
        "CreateNetworkInterface&SubnetId={subnet}&SecurityGroupId.1={group}&SecurityGroupId.2={other_group}",
    ),
    Row("internet-gateways", None, 4, "InternetGatewayLimitExceeded", "CreateInternetGateway"),
    Row(
        "nat-gateways-per-zone",
        None,
        5,
        "NatGatewayLimitExceeded",
        "CreateNatGateway&SubnetId={subnet}&ConnectivityType=private",
    ),
    Row(
        "network-interfaces",
        Some(2),
        2,
        "NetworkInterfaceLimitExceeded",
        "CreateNetworkInterface&SubnetId={subnet}",
    ),
    Row("route-tables-per-vpc", Some(3), 2, "RouteTableLimitExceeded", "CreateRouteTable&VpcId={vpc}"),
    Row(
        "routes",
        Some(4),
        3,
        "RouteLimitExceeded",
        "CreateRoute&RouteTableId={table}&DestinationCidrBlock=10.9.#.0/24&NetworkInterfaceId={interface}",
    ),
    Row(
        "security-groups",
        Some(6),
        2,
        "SecurityGroupLimitExceeded",
        "CreateSecurityGroup&VpcId={vpc}&GroupName=new#&GroupDescription=d",
    ),
    Row(
        "subnets-per-vpc",
        Some(3),
        2,
        "SubnetLimitExceeded",
        "CreateSubnet&VpcId={vpc}&CidrBlock=10.0.1#.0/24",
    ),
    Row("vpcs", None, 3, "VpcLimitExceeded", "CreateVpc&CidrBlock=10.1#.0.0/16"),
];

/// A VPC with what the rows need, by the names that they have there.
async fn prepared(engine: &Arc<Engine>) -> Vec<(&'static str, String)> {
    let mut there: Vec<(&'static str, String)> = Vec::new();
    for (name, query, element) in [
        ("{vpc}", "CreateVpc&CidrBlock=10.0.0.0/16", "vpcId"),
        ("{subnet}", "CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/24", "subnetId"),
        ("{acl}", "DescribeNetworkAcls&Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}", "networkAclId"),
        ("{table}", "DescribeRouteTables&Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}", "routeTableId"),
        ("{group}", "CreateSecurityGroup&VpcId={vpc}&GroupName=a&GroupDescription=d", "groupId"),
        ("{other_group}", "CreateSecurityGroup&VpcId={vpc}&GroupName=b&GroupDescription=d", "groupId"),
        ("{interface}", "CreateNetworkInterface&SubnetId={subnet}", "networkInterfaceId"),
    ] {
        let made = first(engine, &filled(query, &there), element).await;
        there.push((name, made));
    }
    there
}

fn filled(query: &str, there: &[(&'static str, String)]) -> String {
    there.iter().fold(query.to_owned(), |query, (name, value)| query.replace(name, value))
}

#[test]
fn an_account_has_as_much_as_ec2_gives() {
    runtime().block_on(async {
        let rows: Vec<_> = ROWS.iter().map(|Row(name, ..)| *name).collect();
        assert_eq!(Limits::names().collect::<Vec<_>>(), rows, "every limit has a row, in the same order");
        for Row(name, most, count, code, query) in ROWS {
            let dir = tempfile::tempdir().unwrap();
            let own = most.map(|most| format!("{name}={most}"));
            // Whatever else the row needs is no matter of its limit.
            let mut limits = vec!["all=none"];
            let usual = format!("{name}={}", Limits::default().of(name));
            limits.push(own.as_deref().unwrap_or(&usual));
            let engine = engine(dir.path(), &limits).await;
            let mut there = prepared(&engine).await;
            if *name == "network-interfaces" {
                let free = format!("DeleteNetworkInterface&NetworkInterfaceId={}", there.remove(6).1);
                call(&engine, &free).await.unwrap();
            }
            works(&engine, *count, code, |turn| filled(&query.replace('#', &turn.to_string()), &there)).await;
        }
    });
}

#[test]
fn what_a_limit_is_can_be_asked_and_filters_have_one_too() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path(), &[]).await;
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
        // A launch has a code of its own.
        let launch = format!(
            "{run}&NetworkInterface.1.DeviceIndex=0&NetworkInterface.1.SecondaryPrivateIpAddressCount=2"
        );
        let code = "InvalidInterface.IpAddressLimitExceeded";
        assert_eq!(call(&engine, &launch).await.unwrap_err().code, code);
    });
}

/// Beside the root: the sixth generation has places for volumes and interfaces together, the seventh for each.
#[test]
fn a_machine_has_as_many_volumes_as_its_type() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path(), &[]).await;
        let run = |kind: &str, volumes: u8| {
            let volumes = (0..volumes).map(|n| {
                let letters = [b'b' + n / 26, b'a' + n % 26].map(char::from).iter().collect::<String>();
                let place = format!("&BlockDeviceMapping.{}", n + 1);
                format!("{place}.DeviceName=xvd{letters}{place}.Ebs.VolumeSize=1")
            });
            let run = format!("RunInstances&ImageId=ami-00000000000000d01&InstanceType={kind}");
            format!("{run}&MinCount=1&MaxCount=1000{}", volumes.collect::<String>())
        };
        for (kind, most, shown, shares) in [
            ("m6i.large", 26, "28", "shared"),
            ("m7i.large", 31, "32", "dedicated"),
            ("t2.micro", 39, "40", "dedicated"),
        ] {
            let types = call(&engine, &format!("DescribeInstanceTypes&InstanceType.1={kind}")).await.unwrap();
            assert_eq!(texts(&types, "maximumEbsAttachments"), [shown]);
            assert_eq!(texts(&types, "attachmentLimitType"), [shares]);
            call(&engine, &run(kind, most).replace("1000", "1")).await.unwrap();
            assert_eq!(
                call(&engine, &run(kind, most + 1)).await.unwrap_err().code,
                "AttachmentLimitExceeded",
                "{kind}"
            );
        }
    });
}

/// An instance that has more than another type carries does not become one of it.
#[test]
fn another_type_must_carry_what_the_machine_has() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path(), &[]).await;
        let run = "RunInstances&ImageId=ami-00000000000000d01&MinCount=1&MaxCount=1&InstanceType=m5.large";
        let interface = |n: usize, more: &str| {
            format!("&NetworkInterface.{n}.DeviceIndex={}{}", n - 1, more.replace('#', &n.to_string()))
        };
        let addresses = "&NetworkInterface.#.SecondaryPrivateIpAddressCount=";
        for (interfaces, code) in [
            ((1..=3).map(|n| interface(n, "")).collect::<String>(), Some("AttachmentLimitExceeded")),
            (interface(1, &format!("{addresses}2")), Some("PrivateIpAddressLimitExceeded")),
            (interface(1, &format!("{addresses}1")) + &interface(2, ""), None),
        ] {
            let id = first(&engine, &format!("{run}{interfaces}"), "instanceId").await;
            settled(&engine).await;
            call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
            settled(&engine).await;
            let change = format!("ModifyInstanceAttribute&InstanceId={id}&InstanceType.Value=t3.micro");
            let answer = call(&engine, &change).await;
            assert_eq!(answer.err().map(|error| error.code.into_owned()).as_deref(), code, "{interfaces}");
        }
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
