//! Ids that lead nowhere: `NotFound` for what is an id, of whichever kind, `Malformed` for what is none,
//! where EC2's list of error codes has that code for its kind.

#![allow(clippy::unwrap_used)]

mod support;

use support::{call, engine, runtime};

/// The action with its parameter, and the codes for an id that is not there and for what is no id.
const DESCRIBES: &[(&str, &str, &str)] = &[
    ("DescribeAddresses&AllocationId.1", "InvalidAllocationID.NotFound", "InvalidAllocationID.NotFound"),
    (
        "DescribeAddressesAttribute&AllocationId.1",
        "InvalidAllocationID.NotFound",
        "InvalidAllocationID.NotFound",
    ),
    ("DescribeDhcpOptions&DhcpOptionsId.1", "InvalidDhcpOptionID.NotFound", "InvalidDhcpOptionID.NotFound"),
    ("DescribeIamInstanceProfileAssociations&AssociationId.1", "NoSuchAssociation", "NoSuchAssociation"),
    (
        "DescribeImageAttribute&Attribute=description&ImageId",
        "InvalidAMIID.NotFound",
        "InvalidAMIID.Malformed",
    ),
    ("DescribeImages&ImageId.1", "InvalidAMIID.NotFound", "InvalidAMIID.Malformed"),
    (
        "DescribeInstanceAttribute&Attribute=userData&InstanceId",
        "InvalidInstanceID.NotFound",
        "InvalidInstanceID.Malformed",
    ),
    (
        "DescribeInstanceCreditSpecifications&InstanceId.1",
        "InvalidInstanceID.NotFound",
        "InvalidInstanceID.Malformed",
    ),
    ("DescribeInstanceStatus&InstanceId.1", "InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"),
    ("DescribeInstances&InstanceId.1", "InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"),
    (
        "DescribeInternetGateways&InternetGatewayId.1",
        "InvalidInternetGatewayID.NotFound",
        "InvalidInternetGatewayId.Malformed",
    ),
    ("DescribeKeyPairs&KeyPairId.1", "InvalidKeyPair.NotFound", "InvalidKeyPair.NotFound"),
    (
        "DescribeLaunchTemplateVersions&LaunchTemplateId",
        "InvalidLaunchTemplateId.NotFound",
        "InvalidLaunchTemplateId.Malformed",
    ),
    (
        "DescribeLaunchTemplates&LaunchTemplateId.1",
        "InvalidLaunchTemplateId.NotFound",
        "InvalidLaunchTemplateId.Malformed",
    ),
    ("DescribeNatGateways&NatGatewayId.1", "NatGatewayNotFound", "NatGatewayMalformed"),
    ("DescribeNetworkAcls&NetworkAclId.1", "InvalidNetworkAclID.NotFound", "InvalidNetworkAclId.Malformed"),
    (
        "DescribeNetworkInterfaceAttribute&Attribute=description&NetworkInterfaceId",
        "InvalidNetworkInterfaceID.NotFound",
        "InvalidNetworkInterfaceId.Malformed",
    ),
    (
        "DescribeManagedPrefixLists&PrefixListId.1",
        "InvalidPrefixListID.NotFound",
        "InvalidPrefixListId.Malformed",
    ),
    (
        "DescribeNetworkInterfaces&NetworkInterfaceId.1",
        "InvalidNetworkInterfaceID.NotFound",
        "InvalidNetworkInterfaceId.Malformed",
    ),
    (
        "DescribePlacementGroups&GroupId.1",
        "InvalidPlacementGroup.Unknown",
        "InvalidPlacementGroupId.Malformed",
    ),
    ("DescribePrefixLists&PrefixListId.1", "InvalidPrefixListId.NotFound", "InvalidPrefixListId.Malformed"),
    ("DescribeRouteTables&RouteTableId.1", "InvalidRouteTableID.NotFound", "InvalidRouteTableId.Malformed"),
    (
        "DescribeSecurityGroupRules&SecurityGroupRuleId.1",
        "InvalidSecurityGroupRuleId.NotFound",
        "InvalidSecurityGroupRuleId.Malformed",
    ),
    ("DescribeSecurityGroups&GroupId.1", "InvalidGroup.NotFound", "InvalidGroupId.Malformed"),
    (
        "DescribeSnapshotAttribute&Attribute=createVolumePermission&SnapshotId",
        "InvalidSnapshot.NotFound",
        "InvalidSnapshotID.Malformed",
    ),
    ("DescribeSnapshots&SnapshotId.1", "InvalidSnapshot.NotFound", "InvalidSnapshotID.Malformed"),
    ("DescribeSubnets&SubnetId.1", "InvalidSubnetID.NotFound", "InvalidSubnetID.Malformed"),
    (
        "DescribeVolumeAttribute&Attribute=autoEnableIO&VolumeId",
        "InvalidVolume.NotFound",
        "InvalidVolumeID.Malformed",
    ),
    ("DescribeVolumeStatus&VolumeId.1", "InvalidVolume.NotFound", "InvalidVolumeID.Malformed"),
    ("DescribeVolumes&VolumeId.1", "InvalidVolume.NotFound", "InvalidVolumeID.Malformed"),
    ("DescribeVolumesModifications&VolumeId.1", "InvalidVolume.NotFound", "InvalidVolumeID.Malformed"),
    (
        "DescribeVpcAttribute&Attribute=enableDnsSupport&VpcId",
        "InvalidVpcID.NotFound",
        "InvalidVpcID.Malformed",
    ),
    (
        "DescribeVpcEndpoints&VpcEndpointId.1",
        "InvalidVpcEndpointId.NotFound",
        "InvalidVpcEndpointId.Malformed",
    ),
    (
        "DescribeVpcPeeringConnections&VpcPeeringConnectionId.1",
        "InvalidVpcPeeringConnectionID.NotFound",
        "InvalidVpcPeeringConnectionId.Malformed",
    ),
    ("DescribeVpcs&VpcId.1", "InvalidVpcID.NotFound", "InvalidVpcID.Malformed"),
];

/// Describes whose ids are not held against the table, and why.
const OTHERS: &[(&str, &str)] = &[
    ("DescribeAvailabilityZones", "zones are known by name"),
    ("DescribeEgressOnlyInternetGateways", "EC2 lists nothing where others are not found"),
];

#[test]
fn every_describe_that_takes_ids_has_a_row() {
    let mut without = Vec::new();
    let has_ids = |name: &&str| name.ends_with("Id");
    for entry in hive_ec2::ACTIONS.iter().filter(|entry| entry.name.starts_with("Describe")) {
        let row = DESCRIBES.iter().any(|(describe, ..)| describe.split('&').next() == Some(entry.name));
        let other = OTHERS.iter().any(|(name, _)| *name == entry.name);
        if (entry.parameters)().iter().any(has_ids) != (row || other) {
            without.push(entry.name);
        }
    }
    assert_eq!(without, Vec::<&str>::new());
}

#[test]
fn an_id_of_another_kind_is_not_found_and_what_is_no_id_is_malformed() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        for (describe, not_found, malformed) in DESCRIBES {
            // Two kinds, since one of them is the right one somewhere.
            for id in ["vpc-00000000", "rtb-0123456789abcdef0"] {
                let error = call(&engine, &format!("{describe}={id}")).await.unwrap_err();
                assert_eq!(error.code, *not_found, "{describe}={id}");
            }
            for id in ["nonsense", "vpc-xyz", "-00000000", "VPC-00000000"] {
                let error = call(&engine, &format!("{describe}={id}")).await.unwrap_err();
                assert_eq!(error.code, *malformed, "{describe}={id}");
            }
        }
    });
}

/// What takes something away that is gone already: by this code the provider takes it for done.
const GONE: &[(&str, &str)] = &[
    ("DeleteDhcpOptions&DhcpOptionsId=dopt", "InvalidDhcpOptionsID.NotFound"),
    ("DeleteEgressOnlyInternetGateway&EgressOnlyInternetGatewayId=eigw", "InvalidGatewayID.NotFound"),
    ("DeleteInternetGateway&InternetGatewayId=igw", "InvalidInternetGatewayID.NotFound"),
    ("DeleteLaunchTemplate&LaunchTemplateId=lt", "InvalidLaunchTemplateId.NotFound"),
    ("DeleteNatGateway&NatGatewayId=nat", "NatGatewayNotFound"),
    ("DeleteNetworkAcl&NetworkAclId=acl", "InvalidNetworkAclID.NotFound"),
    ("DeleteNetworkAclEntry&RuleNumber=1&Egress=true&NetworkAclId=acl", "InvalidNetworkAclID.NotFound"),
    ("DeleteNetworkInterface&NetworkInterfaceId=eni", "InvalidNetworkInterfaceID.NotFound"),
    ("DeletePlacementGroup&GroupName=pg", "InvalidPlacementGroup.Unknown"),
    ("DeleteRouteTable&RouteTableId=rtb", "InvalidRouteTableID.NotFound"),
    ("DeleteSecurityGroup&GroupId=sg", "InvalidGroup.NotFound"),
    ("DeleteSnapshot&SnapshotId=snap", "InvalidSnapshot.NotFound"),
    ("DeleteSubnet&SubnetId=subnet", "InvalidSubnetID.NotFound"),
    ("DeleteVolume&VolumeId=vol", "InvalidVolume.NotFound"),
    ("DeleteVpc&VpcId=vpc", "InvalidVpcID.NotFound"),
    ("DeleteVpcPeeringConnection&VpcPeeringConnectionId=pcx", "InvalidVpcPeeringConnectionID.NotFound"),
    ("DeregisterImage&ImageId=ami", "InvalidAMIID.NotFound"),
    ("DetachNetworkInterface&AttachmentId=eni-attach", "InvalidAttachmentID.NotFound"),
    ("DisassociateAddress&AssociationId=eipassoc", "InvalidAssociationID.NotFound"),
    ("DisassociateRouteTable&AssociationId=rtbassoc", "InvalidAssociationID.NotFound"),
    ("DisassociateVpcCidrBlock&AssociationId=vpc-cidr-assoc", "InvalidVpcCidrBlockAssociationID.NotFound"),
    ("ModifyImageAttribute&Attribute=launchPermission&UserId.1=1&ImageId=ami", "InvalidAMIID.NotFound"),
    ("ModifySnapshotAttribute&UserId.1=1&SnapshotId=snap", "InvalidSnapshot.NotFound"),
    ("ModifyVpcEndpoint&ResetPolicy=true&VpcEndpointId=vpce", "InvalidVpcEndpointId.NotFound"),
    ("ReleaseAddress&AllocationId=eipalloc", "InvalidAllocationID.NotFound"),
    ("ReplaceNetworkAclAssociation&NetworkAclId=acl&AssociationId=aclassoc", "InvalidAssociationID.NotFound"),
];

#[test]
fn what_is_gone_has_the_code_that_clients_take_for_done() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        for (query, code) in GONE {
            let query = format!("{query}-0123456789abcdef0");
            assert_eq!(call(&engine, &query).await.unwrap_err().code, *code, "{query}");
        }
        let made = support::everything(&engine).await;
        let detach = format!("DetachInternetGateway&VpcId={}", made.get("vpc"));
        let missing = format!("{detach}&InternetGatewayId=igw-0123456789abcdef0");
        assert_eq!(call(&engine, &missing).await.unwrap_err().code, "InvalidInternetGatewayID.NotFound");
    });
}
