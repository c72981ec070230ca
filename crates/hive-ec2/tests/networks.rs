//! What belongs to different networks does not go together.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use hive_ec2::Engine;
use support::{call, engine, runtime, texts};

async fn made(engine: &Arc<Engine>, query: &str, element: &str) -> String {
    texts(&call(engine, query).await.unwrap(), element).remove(0)
}

async fn code(engine: &Arc<Engine>, query: &str) -> String {
    call(engine, query).await.expect_err(query).code.into_owned()
}

/// A VPC with a subnet, a NAT gateway, an egress-only gateway and an interface.
struct Network {
    vpc: String,
    nat: String,
    outward: String,
    interface: String,
    gateway: String,
}

async fn network(engine: &Arc<Engine>, number: u8) -> Network {
    let create = format!("CreateVpc&CidrBlock=10.{number}.0.0/16&AmazonProvidedIpv6CidrBlock=true");
    let vpc = made(engine, &create, "vpcId").await;
    let subnet = format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.{number}.0.0/24");
    let subnet = made(engine, &subnet, "subnetId").await;
    let gateway = made(engine, "CreateInternetGateway", "internetGatewayId").await;
    call(engine, &format!("AttachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}")).await.unwrap();
    let nat = format!("CreateNatGateway&SubnetId={subnet}&ConnectivityType=private");
    let outward = format!("CreateEgressOnlyInternetGateway&VpcId={vpc}");
    let interface = format!("CreateNetworkInterface&SubnetId={subnet}");
    Network {
        nat: made(engine, &nat, "natGatewayId").await,
        outward: made(engine, &outward, "egressOnlyInternetGatewayId").await,
        interface: made(engine, &interface, "networkInterfaceId").await,
        vpc,
        gateway,
    }
}

#[test]
fn a_route_has_one_target_of_its_own_network() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let (own, other) = (network(&engine, 1).await, network(&engine, 2).await);
        let table = made(&engine, &format!("CreateRouteTable&VpcId={}", own.vpc), "routeTableId").await;
        let v4 = format!("CreateRoute&RouteTableId={table}&DestinationCidrBlock=0.0.0.0/0");
        let v6 = format!("CreateRoute&RouteTableId={table}&DestinationIpv6CidrBlock=::/0");
        let within = format!("CreateRoute&RouteTableId={table}&DestinationCidrBlock=10.1.7.0/24");
        let block = format!("CreateRoute&RouteTableId={table}&DestinationCidrBlock=10.1.0.0/16");
        let delete = "DeleteRoute&DestinationCidrBlock=10.1.0.0/16&RouteTableId=";
        for (expected, query) in [
            ("RouteAlreadyExists", format!("{block}&GatewayId={}", own.gateway)),
            ("RouteAlreadyExists", format!("{block}&NetworkInterfaceId={}", own.interface)),
            ("InvalidGatewayID.NotFound", format!("{block}&GatewayId=local")),
            ("InvalidGatewayID.NotFound", format!("{within}&GatewayId=local")),
            ("InvalidParameterValue", format!("{within}&GatewayId={}", own.gateway)),
            ("InvalidParameterValue", format!("{delete}{table}")),
            ("InvalidRouteTableID.NotFound", format!("{delete}rtb-0123456789abcdef0")),
            (
                "InvalidParameterValue",
                format!("{v4}&LocalTarget=true").replace("CreateRoute", "ReplaceRoute"),
            ),
            (
                "InvalidParameterCombination",
                format!("{v4}&NatGatewayId={}&GatewayId={}", own.nat, own.gateway),
            ),
            (
                "InvalidParameterCombination",
                format!("{v4}&NatGatewayId={}&NetworkInterfaceId={}", own.nat, own.interface),
            ),
            ("MissingParameter", v4.clone()),
            ("InvalidParameterValue", format!("{v4}&NatGatewayId={}", other.nat)),
            ("InvalidParameterValue", format!("{v4}&GatewayId={}", other.gateway)),
            ("InvalidParameterValue", format!("{v4}&NetworkInterfaceId={}", other.interface)),
            ("InvalidParameterValue", format!("{v6}&EgressOnlyInternetGatewayId={}", other.outward)),
            ("InvalidParameterValue", format!("{v4}&EgressOnlyInternetGatewayId={}", own.outward)),
            ("InvalidNatGatewayID.NotFound", format!("{v4}&NatGatewayId=nat-0123456789abcdef0")),
        ] {
            assert_eq!(code(&engine, &query).await, expected, "{query}");
        }
        let local = call(&engine, &format!("{delete}{table}")).await.unwrap_err();
        let gone = format!("DeleteRoute&RouteTableId={table}&DestinationCidrBlock=10.8.0.0/16");
        let gone = call(&engine, &gone).await.unwrap_err();
        assert!(gone.message.contains("destination-cidr-block 10.8.0.0/16"), "{gone}");
        assert!(local.message.contains("cannot remove local route"), "the provider looks for it: {local}");
        call(&engine, &format!("{within}&NetworkInterfaceId={}", own.interface)).await.unwrap();
        call(&engine, &format!("{v6}&EgressOnlyInternetGatewayId={}", own.outward)).await.unwrap();
        call(&engine, &format!("{v4}&NatGatewayId={}", own.nat)).await.unwrap();
        let replace = format!("ReplaceRoute&RouteTableId={table}&DestinationCidrBlock=0.0.0.0/0");
        assert_eq!(
            code(&engine, &format!("{replace}&NatGatewayId={}", other.nat)).await,
            "InvalidParameterValue"
        );
        call(&engine, &format!("{replace}&NetworkInterfaceId={}", own.interface)).await.unwrap();
        call(&engine, &format!("DeleteNatGateway&NatGatewayId={}", own.nat)).await.unwrap();
        for _ in 0..4_000 {
            let query = format!("DescribeNatGateways&NatGatewayId.1={}", own.nat);
            if texts(&call(&engine, &query).await.unwrap(), "state") == ["deleted"] {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(
            code(&engine, &format!("{replace}&NatGatewayId={}", own.nat)).await,
            "InvalidNatGatewayID.NotFound"
        );
    });
}

#[test]
fn a_rule_names_groups_of_its_own_network_or_of_one_that_is_peered() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let mut groups = Vec::new();
        let mut vpcs = Vec::new();
        for number in [1, 2] {
            let vpc = made(&engine, &format!("CreateVpc&CidrBlock=10.{number}.0.0/16"), "vpcId").await;
            let group = format!("CreateSecurityGroup&VpcId={vpc}&GroupName=g&GroupDescription=x");
            groups.push(made(&engine, &group, "groupId").await);
            vpcs.push(vpc);
        }
        let rule = |peer: &str| {
            format!(
                "AuthorizeSecurityGroupIngress&GroupId={}&IpPermissions.1.IpProtocol=-1\
                 &IpPermissions.1.Groups.1.GroupId={peer}",
                groups[0]
            )
        };
        let own = call(&engine, &rule(&groups[0])).await.unwrap();
        let id = texts(&own, "securityGroupRuleId").remove(0);
        assert_eq!(code(&engine, &rule(&groups[1])).await, "InvalidGroup.NotFound");
        let new = "SecurityGroupRule.1.SecurityGroupRule";
        let modify = |more: &str| {
            format!(
                "ModifySecurityGroupRules&GroupId={}&SecurityGroupRule.1.SecurityGroupRuleId={id}\
                 &{new}.IpProtocol=-1&{more}",
                groups[0]
            )
        };
        let other = format!("{new}.ReferencedGroupId={}", groups[1]);
        assert_eq!(code(&engine, &modify(&other)).await, "InvalidGroup.NotFound");
        for text in ["x".repeat(400), "%E2%98%83".to_owned()] {
            let query = modify(&format!("{new}.CidrIpv4=0.0.0.0/0&{new}.Description={text}"));
            assert_eq!(code(&engine, &query).await, "InvalidParameterValue");
        }
        let peer = format!("CreateVpcPeeringConnection&VpcId={}&PeerVpcId={}", vpcs[0], vpcs[1]);
        let peer = made(&engine, &peer, "vpcPeeringConnectionId").await;
        assert_eq!(code(&engine, &rule(&groups[1])).await, "InvalidGroup.NotFound", "nobody agreed yet");
        call(&engine, &format!("AcceptVpcPeeringConnection&VpcPeeringConnectionId={peer}")).await.unwrap();
        for _ in 0..4_000 {
            if call(&engine, &rule(&groups[1])).await.is_ok() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("the groups of peered networks do not see each other");
    });
}

#[test]
fn a_table_has_one_way_to_a_service() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let vpc = made(&engine, "CreateVpc&CidrBlock=10.0.0.0/16", "vpcId").await;
        let table = made(&engine, &format!("CreateRouteTable&VpcId={vpc}"), "routeTableId").await;
        let way = |service: &str, more: &str| {
            format!("CreateVpcEndpoint&VpcId={vpc}&ServiceName=com.amazonaws.us-east-1.{service}&{more}")
        };
        let here = format!("RouteTableId.1={table}");
        call(&engine, &way("s3", &here)).await.unwrap();
        assert_eq!(code(&engine, &way("s3", &here)).await, "RouteAlreadyExists");
        let free = made(&engine, &way("s3", ""), "vpcEndpointId").await;
        let modify = format!("ModifyVpcEndpoint&VpcEndpointId={free}");
        assert_eq!(code(&engine, &format!("{modify}&AddRouteTableId.1={table}")).await, "RouteAlreadyExists");
        call(&engine, &way("dynamodb", &here)).await.unwrap();
        for policy in ["banana", "{}", "[]"] {
            let query = way("s3", &format!("PolicyDocument={policy}"));
            assert_eq!(code(&engine, &query).await, "InvalidPolicyDocument");
            let query = format!("{modify}&PolicyDocument={policy}");
            assert_eq!(code(&engine, &query).await, "InvalidPolicyDocument");
        }
        call(&engine, &format!("{modify}&PolicyDocument={{\"Statement\":[]}}")).await.unwrap();
    });
}

#[test]
fn a_gateway_that_leaves_its_network_follows_no_table_of_it() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let gateway = made(&engine, "CreateInternetGateway", "internetGatewayId").await;
        for number in [1, 2] {
            let vpc = made(&engine, &format!("CreateVpc&CidrBlock=10.{number}.0.0/16"), "vpcId").await;
            let table = made(&engine, &format!("CreateRouteTable&VpcId={vpc}"), "routeTableId").await;
            let place = format!("InternetGatewayId={gateway}&VpcId={vpc}");
            call(&engine, &format!("AttachInternetGateway&{place}")).await.unwrap();
            let follow = format!("AssociateRouteTable&RouteTableId={table}&GatewayId={gateway}");
            call(&engine, &follow).await.unwrap();
            let follows = "DescribeRouteTables&Filter.1.Name=association.gateway-id&Filter.1.Value.1";
            let found = call(&engine, &format!("{follows}={gateway}")).await.unwrap();
            assert_eq!(texts(&found, "gatewayId").iter().filter(|id| **id == gateway).count(), 1, "{found}");
            call(&engine, &format!("DetachInternetGateway&{place}")).await.unwrap();
            assert_eq!(engine.dangling(), Vec::<String>::new());
            let found = call(&engine, &format!("{follows}={gateway}")).await.unwrap();
            assert_eq!(texts(&found, "routeTableId"), Vec::<String>::new());
        }
        call(&engine, &format!("DeleteInternetGateway&InternetGatewayId={gateway}")).await.unwrap();
    });
}

/// As EC2 keeps it: stale.
#[test]
fn a_rule_outlives_the_peered_network_whose_group_it_names() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let mut vpcs = Vec::new();
        let mut groups = Vec::new();
        for number in [1, 2] {
            let vpc = made(&engine, &format!("CreateVpc&CidrBlock=10.{number}.0.0/16"), "vpcId").await;
            let of_vpc = format!("DescribeSecurityGroups&Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}");
            groups.push(made(&engine, &of_vpc, "groupId").await);
            vpcs.push(vpc);
        }
        let peer = format!("CreateVpcPeeringConnection&VpcId={}&PeerVpcId={}", vpcs[0], vpcs[1]);
        let peer = made(&engine, &peer, "vpcPeeringConnectionId").await;
        call(&engine, &format!("AcceptVpcPeeringConnection&VpcPeeringConnectionId={peer}")).await.unwrap();
        support::settled(&engine).await;
        let rule = |peer: &str| {
            format!(
                "SecurityGroupIngress&GroupId={}&IpPermissions.1.IpProtocol=tcp&IpPermissions.1.FromPort=1\
                 &IpPermissions.1.ToPort=2&IpPermissions.1.Groups.1.GroupId={peer}",
                groups[0]
            )
        };
        let stale = rule(&groups[1]);
        call(&engine, &format!("Authorize{stale}")).await.unwrap();
        call(&engine, &format!("DeleteVpc&VpcId={}", vpcs[1])).await.unwrap();
        assert_eq!(engine.dangling(), Vec::<String>::new());
        let describe = format!("DescribeSecurityGroups&GroupId.1={}", groups[0]);
        assert!(texts(&call(&engine, &describe).await.unwrap(), "groupId").contains(&groups[1]));
        let words = stale.replace("SecurityGroupIngress", "UpdateSecurityGroupRuleDescriptionsIngress");
        call(&engine, &format!("{words}&IpPermissions.1.Groups.1.Description=stale")).await.unwrap();
        call(&engine, &format!("Revoke{stale}")).await.unwrap();
        for action in ["Authorize", "Revoke"] {
            assert_eq!(code(&engine, &format!("{action}{stale}")).await, "InvalidGroup.NotFound");
        }
    });
}

#[test]
fn a_rule_names_a_prefix_list_that_was_handed_out() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let list = "DescribePrefixLists&Filter.1.Name=prefix-list-name&Filter.1.Value.1=com.amazonaws.us-east-1.s3";
        let list = made(&engine, list, "prefixListId").await;
        let managed = list_filter(&list);
        assert_eq!(made(&engine, &managed, "prefixListName").await, "com.amazonaws.us-east-1.s3");
        assert_eq!(made(&engine, &managed, "ownerId").await, "AWS");
        let group = made(&engine, "CreateSecurityGroup&GroupName=g&GroupDescription=x", "groupId").await;
        let rule = |list: &str| {
            format!(
                "SecurityGroupEgress&GroupId={group}&IpPermissions.1.IpProtocol=tcp&IpPermissions.1.FromPort=443\
                 &IpPermissions.1.ToPort=443&IpPermissions.1.PrefixListIds.1.PrefixListId={list}"
            )
        };
        let made_rule = call(&engine, &format!("Authorize{}", rule(&list))).await.unwrap();
        assert_eq!(texts(&made_rule, "prefixListId"), [list.as_str()]);
        let found = call(&engine, &format!("DescribeSecurityGroups&GroupId.1={group}")).await.unwrap();
        assert_eq!(texts(&found, "prefixListId"), [list.as_str()]);
        let by_list = "DescribeSecurityGroups&Filter.1.Name=egress.ip-permission.prefix-list-id&Filter.1.Value.1";
        assert_eq!(made(&engine, &format!("{by_list}={list}"), "groupId").await, group);
        assert_eq!(code(&engine, &format!("Authorize{}", rule(&list))).await, "InvalidPermission.Duplicate");
        let unknown = rule("pl-0123456789abcdef0");
        assert_eq!(code(&engine, &format!("Authorize{unknown}")).await, "InvalidPrefixListId.NotFound");
        call(&engine, &format!("Revoke{}", rule(&list))).await.unwrap();
    });
}

fn list_filter(list: &str) -> String {
    format!("DescribeManagedPrefixLists&Filter.1.Name=prefix-list-id&Filter.1.Value.1={list}")
}

/// Numbers and blocks of an ACL's entries, and the blocks that a group lets out to.
async fn of_network(engine: &Arc<Engine>, vpc: &str) -> (Vec<String>, Vec<String>) {
    let of_vpc = format!("Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}");
    let acls = call(engine, &format!("DescribeNetworkAcls&{of_vpc}")).await.unwrap();
    let groups = call(engine, &format!("DescribeSecurityGroups&{of_vpc}")).await.unwrap();
    (texts(&acls, "ruleNumber"), texts(&groups, "cidrIpv6"))
}

#[test]
fn a_network_with_ipv6_is_born_with_rules_for_it() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let both = ["100", "101", "32767", "32768", "100", "101", "32767", "32768"];
        let born = "CreateVpc&CidrBlock=10.1.0.0/16&AmazonProvidedIpv6CidrBlock=true";
        let born = made(&engine, born, "vpcId").await;
        let later = made(&engine, "CreateVpc&CidrBlock=10.2.0.0/16", "vpcId").await;
        assert_eq!(
            of_network(&engine, &later).await,
            (vec!["100", "32767", "100", "32767"].into_iter().map(Into::into).collect(), vec![])
        );
        call(&engine, &format!("AssociateVpcCidrBlock&VpcId={later}&AmazonProvidedIpv6CidrBlock=true"))
            .await
            .unwrap();
        for vpc in [&born, &later] {
            let (numbers, out) = of_network(&engine, vpc).await;
            assert_eq!(numbers, both);
            assert_eq!(out, ["::/0"]);
        }
        let group = format!("CreateSecurityGroup&VpcId={born}&GroupName=g&GroupDescription=x");
        let group = made(&engine, &group, "groupId").await;
        let found = call(&engine, &format!("DescribeSecurityGroups&GroupId.1={group}")).await.unwrap();
        assert_eq!(
            (texts(&found, "cidrIp"), texts(&found, "cidrIpv6")),
            (vec!["0.0.0.0/0".to_owned()], vec!["::/0".to_owned()])
        );
        let acl = call(&engine, &format!("CreateNetworkAcl&VpcId={born}")).await.unwrap();
        assert_eq!(texts(&acl, "ruleNumber"), ["32767", "32768", "32767", "32768"]);
    });
}

/// What its owner changed is not widened.
#[test]
fn a_network_that_gets_ipv6_keeps_the_rules_that_were_changed() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let vpc = made(&engine, "CreateVpc&CidrBlock=10.1.0.0/16", "vpcId").await;
        let of_vpc = format!("Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}");
        let acl = made(&engine, &format!("DescribeNetworkAcls&{of_vpc}"), "networkAclId").await;
        let group = made(&engine, &format!("DescribeSecurityGroups&{of_vpc}"), "groupId").await;
        call(&engine, &format!("DeleteNetworkAclEntry&NetworkAclId={acl}&RuleNumber=100&Egress=false"))
            .await
            .unwrap();
        let revoke = format!("RevokeSecurityGroupEgress&GroupId={group}&IpPermissions.1.IpProtocol=-1");
        call(&engine, &format!("{revoke}&IpPermissions.1.IpRanges.1.CidrIp=0.0.0.0/0")).await.unwrap();
        call(&engine, &format!("AssociateVpcCidrBlock&VpcId={vpc}&AmazonProvidedIpv6CidrBlock=true"))
            .await
            .unwrap();
        let (mut numbers, out) = of_network(&engine, &vpc).await;
        numbers.sort();
        assert_eq!(numbers, ["100", "101", "32767", "32767", "32768", "32768"]);
        assert_eq!(out, Vec::<String>::new());
    });
}

#[test]
fn a_table_has_one_route_to_a_block() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let own = network(&engine, 40).await;
        let table = made(&engine, &format!("CreateRouteTable&VpcId={}", own.vpc), "routeTableId").await;
        let route = |block: &str| format!("RouteTableId={table}&DestinationCidrBlock={block}");
        let out = format!("CreateRoute&{}&GatewayId={}", route("10.41.8.0/24"), own.gateway);
        call(&engine, &out).await.unwrap();
        let add = |block: &str| format!("AssociateVpcCidrBlock&VpcId={}&CidrBlock={block}", own.vpc);
        for block in ["10.41.0.0/16", "10.41.8.0/24"] {
            assert_eq!(code(&engine, &add(block)).await, "InvalidVpc.Range", "{block}");
        }
        // The smaller block is the more specific way.
        call(&engine, &add("10.41.8.0/25")).await.unwrap();
        let added = made(&engine, &add("10.42.0.0/16"), "associationId").await;
        let through = format!("ReplaceRoute&{}&NetworkInterfaceId={}", route("10.42.0.0/16"), own.interface);
        call(&engine, &through).await.unwrap();
        assert_eq!(engine.dangling(), Vec::<String>::new());
        call(&engine, &format!("DisassociateVpcCidrBlock&AssociationId={added}")).await.unwrap();
        let found = call(&engine, &format!("DescribeRouteTables&RouteTableId.1={table}")).await.unwrap();
        let left = texts(&found, "destinationCidrBlock");
        assert_eq!(left, ["10.40.0.0/16", "10.41.8.0/24", "10.41.8.0/25"]);
    });
}

#[test]
fn a_zone_gets_its_default_subnet_back() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let create = "CreateDefaultSubnet&AvailabilityZone=us-east-1b";
        assert_eq!(code(&engine, create).await, "DefaultSubnetAlreadyExistsInAvailabilityZone");
        let here = "DescribeSubnets&Filter.1.Name=availability-zone&Filter.1.Value.1=us-east-1b";
        let old = made(&engine, here, "subnetId").await;
        let before = call(&engine, here).await.unwrap();
        call(&engine, &format!("DeleteSubnet&SubnetId={old}")).await.unwrap();
        for (expected, query) in [
            ("MissingParameter", "CreateDefaultSubnet".to_owned()),
            ("InvalidParameterValue", "CreateDefaultSubnet&AvailabilityZone=mars-1a".to_owned()),
            ("InvalidParameterCombination", format!("{create}&AvailabilityZoneId=use1-az3")),
            ("UnsupportedOperation", format!("{create}&Ipv6Native=true")),
        ] {
            assert_eq!(code(&engine, &query).await, expected, "{query}");
        }
        let new = made(&engine, "CreateDefaultSubnet&AvailabilityZoneId=use1-az2", "subnetId").await;
        assert_eq!(call(&engine, here).await.unwrap().replace(&new, &old), before);
        assert_eq!(engine.leftovers(), []);
        let vpc = made(&engine, here, "vpcId").await;
        let gateway = made(&engine, "DescribeInternetGateways", "internetGatewayId").await;
        call(&engine, &format!("DetachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}"))
            .await
            .unwrap();
        for subnet in texts(&call(&engine, "DescribeSubnets").await.unwrap(), "subnetId") {
            call(&engine, &format!("DeleteSubnet&SubnetId={subnet}")).await.unwrap();
        }
        call(&engine, &format!("DeleteVpc&VpcId={vpc}")).await.unwrap();
        assert_eq!(code(&engine, create).await, "DefaultVpcDoesNotExist");
    });
}
