//! Where addresses go: those that come with an instance, and those that move from one interface to another.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use hive_ec2::Engine;
use support::{call, engine, first, runtime, settled, texts};

const RUN: &str = "RunInstances&MinCount=1&MaxCount=1&ImageId=ami-00000000000000d01&InstanceType=t3.micro";

/// The public address and name that an instance has.
async fn public(engine: &Arc<Engine>, instance: &str) -> (String, String) {
    settled(engine).await;
    let found = call(engine, &format!("DescribeInstances&InstanceId.1={instance}")).await.unwrap();
    let first = |element| texts(&found, element).into_iter().next().unwrap_or_default();
    (first("ipAddress"), first("dnsName"))
}

async fn power(engine: &Arc<Engine>, action: &str, instance: &str) {
    settled(engine).await;
    call(engine, &format!("{action}&InstanceId.1={instance}")).await.unwrap();
    settled(engine).await;
}

#[test]
fn an_automatic_public_address_comes_back_when_an_elastic_one_goes() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let instance = first(&engine, RUN, "instanceId").await;
        let (born_with, _) = public(&engine, &instance).await;
        assert!(born_with.starts_with("198."), "{born_with}");
        let elastic = call(&engine, "AllocateAddress").await.unwrap();
        let (allocation, ip) =
            (texts(&elastic, "allocationId").remove(0), texts(&elastic, "publicIp").remove(0));
        let associate = format!("AssociateAddress&AllocationId={allocation}&InstanceId={instance}");
        let disassociate = format!("DisassociateAddress&PublicIp={ip}");
        call(&engine, &associate).await.unwrap();
        assert_eq!(public(&engine, &instance).await.0, ip);
        // A running instance gets another at once.
        call(&engine, &disassociate).await.unwrap();
        let (another, _) = public(&engine, &instance).await;
        assert!(another.starts_with("198.") && another != ip, "{another}");
        // One that is stopped gets it when it starts.
        call(&engine, &associate).await.unwrap();
        power(&engine, "StopInstances", &instance).await;
        assert_eq!(public(&engine, &instance).await.0, ip);
        call(&engine, &disassociate).await.unwrap();
        assert_eq!(public(&engine, &instance).await.0, "");
        power(&engine, "StartInstances", &instance).await;
        assert!(public(&engine, &instance).await.0.starts_with("198."));
        // Where the elastic address is taken from by another instance, too.
        call(&engine, &associate).await.unwrap();
        let other = first(&engine, RUN, "instanceId").await;
        call(&engine, &format!("AssociateAddress&AllocationId={allocation}&InstanceId={other}"))
            .await
            .unwrap();
        let (again, _) = public(&engine, &instance).await;
        assert!(again.starts_with("198.") && again != ip, "{again}");
        assert_eq!(public(&engine, &other).await.0, ip);
        // Not with a second interface beside it.
        let subnet = first(&engine, &format!("DescribeInstances&InstanceId.1={instance}"), "subnetId").await;
        let second = format!("CreateNetworkInterface&SubnetId={subnet}");
        let second = first(&engine, &second, "networkInterfaceId").await;
        let attach = format!("AttachNetworkInterface&NetworkInterfaceId={second}&InstanceId={instance}");
        call(&engine, &format!("{attach}&DeviceIndex=1")).await.unwrap();
        power(&engine, "StopInstances", &instance).await;
        power(&engine, "StartInstances", &instance).await;
        assert_eq!(public(&engine, &instance).await.0, "");
    });
}

#[test]
fn a_secondary_address_moves_to_another_interface_with_what_is_tied_to_it() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let subnet = "DescribeSubnets&Filter.1.Name=cidr-block&Filter.1.Value.1=172.31.0.0/20";
        let subnet = first(&engine, subnet, "subnetId").await;
        let make = format!("CreateNetworkInterface&SubnetId={subnet}&PrivateIpAddress=");
        let make = [10, 11].map(|host| format!("{make}172.31.0.{host}"));
        let one = first(&engine, &make[0], "networkInterfaceId").await;
        let other = first(&engine, &make[1], "networkInterfaceId").await;
        let assign = |to: &str, ip: &str| {
            format!("AssignPrivateIpAddresses&NetworkInterfaceId={to}&PrivateIpAddress.1={ip}")
        };
        call(&engine, &assign(&one, "172.31.0.20")).await.unwrap();
        let allocation = first(&engine, "AllocateAddress", "allocationId").await;
        let tie = format!("AssociateAddress&AllocationId={allocation}&NetworkInterfaceId={one}");
        call(&engine, &format!("{tie}&PrivateIpAddress=172.31.0.20")).await.unwrap();
        let moved = assign(&other, "172.31.0.20");
        assert_eq!(call(&engine, &moved).await.unwrap_err().code, "InvalidIPAddress.InUse");
        call(&engine, &format!("{moved}&AllowReassignment=true")).await.unwrap();
        let held = |id: &str| format!("DescribeNetworkInterfaces&NetworkInterfaceId.1={id}");
        assert!(!call(&engine, &held(&one)).await.unwrap().contains("172.31.0.20"));
        assert!(call(&engine, &held(&other)).await.unwrap().contains("172.31.0.20"));
        assert_eq!(first(&engine, "DescribeAddresses", "networkInterfaceId").await, other);
        // What is the first address of an interface stays there.
        let primary = format!("{}&AllowReassignment=true", assign(&other, "172.31.0.10"));
        assert_eq!(call(&engine, &primary).await.unwrap_err().code, "InvalidIPAddress.InUse");
    });
}

#[test]
fn a_public_address_has_a_name_where_the_network_has_names() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let instance = first(&engine, RUN, "instanceId").await;
        let vpc = first(&engine, "DescribeVpcs", "vpcId").await;
        for (enabled, names) in [("true", true), ("false", false)] {
            let set = format!("ModifyVpcAttribute&VpcId={vpc}&EnableDnsHostnames.Value={enabled}");
            call(&engine, &set).await.unwrap();
            assert_eq!(!public(&engine, &instance).await.1.is_empty(), names);
            let described =
                call(&engine, &format!("DescribeInstances&InstanceId.1={instance}")).await.unwrap();
            let interfaces = call(&engine, "DescribeNetworkInterfaces").await.unwrap();
            for answer in [described, interfaces] {
                let told = texts(&answer, "publicDnsName");
                assert!(!told.is_empty() && told.iter().all(|name| name.is_empty() != names), "{answer}");
            }
        }
    });
}

#[test]
fn a_nat_gateway_fails_whose_address_is_taken() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let instance = first(&engine, RUN, "instanceId").await;
        let subnet = first(&engine, &format!("DescribeInstances&InstanceId.1={instance}"), "subnetId").await;
        let allocation = first(&engine, "AllocateAddress", "allocationId").await;
        let associate = format!("AssociateAddress&AllocationId={allocation}&InstanceId={instance}");
        call(&engine, &associate).await.unwrap();
        let make = format!("CreateNatGateway&SubnetId={subnet}&AllocationId={allocation}");
        let gateway = first(&engine, &make, "natGatewayId").await;
        let found = call(&engine, &format!("DescribeNatGateways&NatGatewayId.1={gateway}")).await.unwrap();
        assert_eq!(texts(&found, "state"), ["failed"]);
        assert_eq!(texts(&found, "failureCode"), ["Resource.AlreadyAssociated"]);
        let address = call(&engine, "DescribeAddresses").await.unwrap();
        assert_eq!(texts(&address, "instanceId"), [instance]);
    });
}
