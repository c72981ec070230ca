//! Ids that lead nowhere: `NotFound` for what is an id, of whichever kind, `Malformed` for what is none.

#![allow(clippy::unwrap_used)]

mod support;

use support::{call, engine, runtime};

const DESCRIBES: &[(&str, &str)] = &[
    ("DescribeAddresses&AllocationId.1", "InvalidAllocationID.NotFound"),
    ("DescribeDhcpOptions&DhcpOptionsId.1", "InvalidDhcpOptionID.NotFound"),
    ("DescribeImages&ImageId.1", "InvalidAMIID.NotFound"),
    ("DescribeInstances&InstanceId.1", "InvalidInstanceID.NotFound"),
    ("DescribeInternetGateways&InternetGatewayId.1", "InvalidInternetGatewayID.NotFound"),
    ("DescribeNatGateways&NatGatewayId.1", "NatGatewayNotFound"),
    ("DescribeNetworkAcls&NetworkAclId.1", "InvalidNetworkAclID.NotFound"),
    ("DescribeNetworkInterfaces&NetworkInterfaceId.1", "InvalidNetworkInterfaceID.NotFound"),
    ("DescribeRouteTables&RouteTableId.1", "InvalidRouteTableID.NotFound"),
    ("DescribeSecurityGroups&GroupId.1", "InvalidGroup.NotFound"),
    ("DescribeSnapshots&SnapshotId.1", "InvalidSnapshot.NotFound"),
    ("DescribeSubnets&SubnetId.1", "InvalidSubnetID.NotFound"),
    ("DescribeVolumes&VolumeId.1", "InvalidVolume.NotFound"),
    ("DescribeVpcEndpoints&VpcEndpointId.1", "InvalidVpcEndpointId.NotFound"),
    ("DescribeVpcPeeringConnections&VpcPeeringConnectionId.1", "InvalidVpcPeeringConnectionID.NotFound"),
    ("DescribeVpcs&VpcId.1", "InvalidVpcID.NotFound"),
];

#[test]
fn an_id_of_another_kind_is_not_found_and_what_is_no_id_is_malformed() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        for (describe, code) in DESCRIBES {
            // Two kinds, since one of them is the right one somewhere.
            for id in ["vpc-00000000", "rtb-0123456789abcdef0"] {
                let error = call(&engine, &format!("{describe}={id}")).await.unwrap_err();
                assert_eq!(error.code, *code, "{describe}={id}");
            }
            for id in ["nonsense", "vpc-xyz", "-00000000", "VPC-00000000"] {
                let error = call(&engine, &format!("{describe}={id}")).await.unwrap_err();
                assert!(error.code.ends_with("Malformed"), "{describe}={id}: {}", error.code);
            }
        }
    });
}
