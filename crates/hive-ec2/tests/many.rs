//! What is different with many resources: filters that other resources answer, sums that are kept.

#![allow(clippy::unwrap_used)]

mod support;

use support::{call, engine, runtime, texts};

async fn addresses_left(engine: &std::sync::Arc<hive_ec2::Engine>, subnet: &str) -> u64 {
    let seen = call(engine, &format!("DescribeSubnets&SubnetId.1={subnet}")).await.unwrap();
    texts(&seen, "availableIpAddressCount")[0].parse().unwrap()
}

#[test]
fn filters_and_sums_follow_every_change() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let engine = engine(dir.path()).await;
        let vpc = call(&engine, "CreateVpc&CidrBlock=10.0.0.0/16").await.unwrap();
        let vpc = texts(&vpc, "vpcId")[0].clone();
        let subnet = call(&engine, &format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/20")).await.unwrap();
        let subnet = texts(&subnet, "subnetId")[0].clone();
        assert_eq!(addresses_left(&engine, &subnet).await, 4091);
        let mut made = Vec::new();
        for _ in 0..510 {
            let query = format!("CreateNetworkInterface&SubnetId={subnet}&SecondaryPrivateIpAddressCount=1");
            made.push(texts(&call(&engine, &query).await.unwrap(), "networkInterfaceId")[0].clone());
        }
        assert_eq!(addresses_left(&engine, &subnet).await, 4091 - 2 * 510);
        call(&engine, &format!("DeleteNetworkInterface&NetworkInterfaceId={}", made.pop().unwrap())).await.unwrap();
        assert_eq!(addresses_left(&engine, &subnet).await, 4091 - 2 * 509);
        let query = format!("UnassignPrivateIpAddresses&NetworkInterfaceId={}", made[0]);
        let shown = call(&engine, &format!("DescribeNetworkInterfaces&NetworkInterfaceId.1={}", made[0])).await;
        let second = texts(&shown.unwrap(), "privateIpAddress").pop().unwrap();
        call(&engine, &format!("{query}&PrivateIpAddress.1={second}")).await.unwrap();
        assert_eq!(addresses_left(&engine, &subnet).await, 4091 - 2 * 509 + 1);

        // A filter on another resource than the one that is listed: an elastic address of an interface. In a debug build each
        // answer is held against a look at everything.
        let address = call(&engine, "AllocateAddress").await.unwrap();
        let (public, allocation) =
            (texts(&address, "publicIp")[0].clone(), texts(&address, "allocationId")[0].clone());
        let query = format!(
            "DescribeNetworkInterfaces&Filter.1.Name=addresses.association.public-ip&Filter.1.Value.1={public}"
        );
        let found = async || texts(&call(&engine, &query).await.unwrap(), "networkInterfaceId");
        assert!(found().await.is_empty());
        let gateway = texts(&call(&engine, "CreateInternetGateway").await.unwrap(), "internetGatewayId")[0].clone();
        call(&engine, &format!("AttachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}")).await.unwrap();
        let associate = format!("AssociateAddress&AllocationId={allocation}&NetworkInterfaceId={}", made[7]);
        let association = texts(&call(&engine, &associate).await.unwrap(), "associationId")[0].clone();
        for _ in 0..2 {
            assert_eq!(found().await, [made[7].clone()]);
        }
        call(&engine, &format!("DisassociateAddress&AssociationId={association}")).await.unwrap();
        assert!(found().await.is_empty());
    });
}
