//! Where two parts of a request contradict each other, neither is dropped; where they agree, both are taken.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use hive_ec2::Engine;
use support::{call, engine, first, runtime, settled, texts};

async fn code(engine: &Arc<Engine>, query: &str) -> String {
    call(engine, query).await.expect_err(query).code.into_owned()
}

#[test]
fn a_group_is_what_is_said_of_it() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let group = |name: &str| format!("CreateSecurityGroup&GroupName={name}&GroupDescription=x");
        let (one, other) = (group("one"), group("other"));
        let (one, other) = (first(&engine, &one, "groupId").await, first(&engine, &other, "groupId").await);
        let found = format!("DescribeSecurityGroups&GroupId.1={one}");
        let (vpc, owner) = (first(&engine, &found, "vpcId").await, first(&engine, &found, "ownerId").await);
        let authorize = format!("AuthorizeSecurityGroupIngress&GroupId={one}");
        let port = |port: u16| {
            let rule = "&IpPermissions.1";
            format!("{rule}.IpProtocol=tcp{rule}.FromPort={port}{rule}.ToPort={port}")
        };
        let range = "&IpPermissions.1.IpRanges.1.CidrIp=10.0.0.0/8";
        let pair = "&IpPermissions.1.Groups.1";
        for (refused, taken) in [
            (format!("&GroupName=other{}{range}", port(1)), format!("&GroupName=one{}{range}", port(1))),
            (
                format!("{}{pair}.GroupId={other}{pair}.GroupName=nobody", port(2)),
                format!("{}{pair}.GroupId={other}{pair}.GroupName=other", port(2)),
            ),
            (
                format!("{}{pair}.GroupId={other}{pair}.VpcId=vpc-0123456789abcdef0", port(3)),
                format!("{}{pair}.GroupId={other}{pair}.VpcId={vpc}{pair}.UserId={owner}", port(3)),
            ),
            (format!("&CidrIp=10.0.0.0/8{}{range}", port(4)), format!("{}{range}", port(4))),
            (
                format!("&IpProtocol=udp&FromPort=5&ToPort=5&CidrIp=10.0.0.0/8{}{range}", port(5)),
                "&IpProtocol=udp&FromPort=5&ToPort=5&CidrIp=10.0.0.0/8".to_owned(),
            ),
        ] {
            let query = format!("{authorize}{refused}");
            assert_eq!(code(&engine, &query).await, "InvalidParameterCombination", "{query}");
            call(&engine, &format!("{authorize}{taken}"))
                .await
                .unwrap_or_else(|error| panic!("{taken}: {error}"));
        }
        // Half a rule is none, also beside a whole one.
        let rule = first(&engine, "DescribeSecurityGroupRules", "securityGroupRuleId").await;
        for half in [
            format!("{authorize}&CidrIp=10.0.0.0/8"),
            format!(
                "RevokeSecurityGroupIngress&GroupId={one}&CidrIp=10.0.0.0/8&SecurityGroupRuleId.1={rule}"
            ),
        ] {
            assert_eq!(code(&engine, &half).await, "MissingParameter", "{half}");
        }
    });
}

#[test]
fn tags_are_spelled_in_one_way() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let tags = |name: &str| {
            format!("&{name}.1.ResourceType=vpc&{name}.1.Tag.1.Key={name}&{name}.1.Tag.1.Value=x")
        };
        let (one, many) = (tags("TagSpecification"), tags("TagSpecifications"));
        let create = "CreateVpc&CidrBlock=10.0.0.0/16";
        assert_eq!(code(&engine, &format!("{create}{one}{many}")).await, "InvalidParameterCombination");
        for (taken, key) in [(one, "TagSpecification"), (many, "TagSpecifications")] {
            assert_eq!(first(&engine, &format!("{create}{taken}"), "key").await, key);
        }
    });
}

/// The AWS provider moves an address to another instance and names the interface of the one that had it, which may be gone.
#[test]
fn an_address_goes_to_the_instance_that_is_named() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let run = "RunInstances&MinCount=2&MaxCount=2&ImageId=ami-00000000000000d01";
        call(&engine, run).await.unwrap();
        settled(&engine).await;
        let found = call(&engine, "DescribeNetworkInterfaces").await.unwrap();
        let (interfaces, instances) = (texts(&found, "networkInterfaceId"), texts(&found, "instanceId"));
        let address = texts(&found, "privateIpAddress").remove(0);
        let allocation = first(&engine, "AllocateAddress", "allocationId").await;
        let associate = |interface: &str, more: &str| {
            let both = format!("InstanceId={}&NetworkInterfaceId={interface}", instances[1]);
            format!("AssociateAddress&AllocationId={allocation}&{both}{more}")
        };
        for (query, place) in [
            (associate(&interfaces[0], ""), 1),
            (associate(&interfaces[0], &format!("&PrivateIpAddress={address}")), 0),
            (associate("eni-0123456789abcdef0", ""), 1),
            (associate(&interfaces[1], ""), 1),
        ] {
            call(&engine, &query).await.unwrap();
            let place = &interfaces[place];
            assert_eq!(first(&engine, "DescribeAddresses", "networkInterfaceId").await, *place, "{query}");
        }
    });
}

#[test]
fn a_key_pair_has_the_name_and_the_id_that_are_given() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let create = "CreateKeyPair&KeyType=ed25519&KeyName";
        let one = first(&engine, &format!("{create}=one"), "keyPairId").await;
        first(&engine, &format!("{create}=other"), "keyPairId").await;
        let delete = |name: &str| format!("DeleteKeyPair&KeyName={name}&KeyPairId={one}");
        for another in ["other", "nobody"] {
            assert_eq!(code(&engine, &delete(another)).await, "InvalidParameterCombination");
        }
        call(&engine, &delete("one")).await.unwrap();
        let left = call(&engine, "DescribeKeyPairs").await.unwrap();
        assert_eq!(texts(&left, "keyName"), ["other"]);
        // What is not there is no error.
        call(&engine, &delete("one")).await.unwrap();
        assert_eq!(code(&engine, "DeleteKeyPair").await, "MissingParameter");
    });
}
