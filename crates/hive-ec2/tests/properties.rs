//! Random sequences of actions: nothing is ever left dangling, no action fails by our fault, a restart changes
//! nothing, and deleting in the order of dependency always ends with nothing left.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use eos_store::{Durability, EmbeddedRecords};
use hive_api::ApiError;
use hive_ec2::Engine;
use proptest::prelude::*;
use support::{engine, runtime};

const IMAGE: &str = "ami-00000000000000d01";

struct World {
    engine: Arc<Engine>,
    /// Ids that were ever made, by prefix; some are gone by now, and that is meant.
    ids: Vec<String>,
}

impl World {
    async fn call(&mut self, query: &str) -> Result<String, ApiError> {
        let answer = support::call(&self.engine, query).await;
        if let Ok(text) = &answer
            && !query.starts_with("Describe")
        {
            self.learn(text);
        }
        answer
    }

    /// Every id in an answer may be used later.
    fn learn(&mut self, text: &str) {
        for piece in text.split(['<', '>', ' ']) {
            let is_id = piece.rsplit_once('-').is_some_and(|(prefix, digits)| {
                digits.len() == 17 && !prefix.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
            });
            if is_id && piece != IMAGE && !self.ids.iter().any(|known| known == piece) {
                self.ids.push(piece.to_owned());
            }
        }
    }

    fn pick(&self, prefix: &str, choice: u8) -> String {
        let known: Vec<&String> =
            self.ids.iter().filter(|id| id.rsplit_once('-').is_some_and(|(p, _)| p == prefix)).collect();
        match known.len() {
            0 => format!("{prefix}-00000000000000000"),
            // Mostly young ones, so that changes meet each other; sometimes any, so that stale ids are used too.
            count if choice < 200 => known[count - 1 - choice as usize % count.min(3)].clone(),
            count => known[choice as usize % count].clone(),
        }
    }

    fn query(&self, action: u8, a: u8, b: u8) -> String {
        let id = |prefix| self.pick(prefix, a);
        let other = |prefix| self.pick(prefix, b);
        match action % 66 {
            0 => "CreateVpc&CidrBlock=10.0.0.0/16".to_owned(),
            1..=4 => format!("CreateSubnet&VpcId={}&CidrBlock=10.0.{}.0/24", id("vpc"), b % 8),
            5 => format!("CreateSecurityGroup&GroupName=g{b}&GroupDescription=d&VpcId={}", id("vpc")),
            6 => format!(
                "AuthorizeSecurityGroupIngress&GroupId={}&IpPermissions.1.IpProtocol=-1\
                 &IpPermissions.1.Groups.1.GroupId={}",
                id("sg"),
                other("sg")
            ),
            7 => "CreateInternetGateway".to_owned(),
            8 => format!("AttachInternetGateway&InternetGatewayId={}&VpcId={}", id("igw"), other("vpc")),
            9 => format!("DetachInternetGateway&InternetGatewayId={}&VpcId={}", id("igw"), other("vpc")),
            10 => format!("CreateRouteTable&VpcId={}&ClientToken=t{}", id("vpc"), b % 4),
            11 => format!("AssociateRouteTable&RouteTableId={}&SubnetId={}", id("rtb"), other("subnet")),
            12 => format!(
                "CreateRoute&RouteTableId={}&DestinationCidrBlock=0.0.0.0/0&GatewayId={}",
                id("rtb"),
                other("igw")
            ),
            13 | 14 => {
                format!("CreateNetworkInterface&SubnetId={}&SecurityGroupId.1={}", id("subnet"), other("sg"))
            }
            15..=17 => {
                format!("RunInstances&MinCount=1&MaxCount=2&ImageId={IMAGE}&SubnetId={}", id("subnet"))
            }
            18 => format!(
                "RunInstances&MinCount=1&MaxCount=1&ImageId={IMAGE}&NetworkInterface.1.DeviceIndex=0\
                 &NetworkInterface.1.NetworkInterfaceId={}",
                id("eni")
            ),
            19 => format!(
                "AttachNetworkInterface&NetworkInterfaceId={}&InstanceId={}&DeviceIndex={}",
                id("eni"),
                other("i"),
                b % 3
            ),
            20 => format!("DetachNetworkInterface&AttachmentId={}", id("eni-attach")),
            21 => "AllocateAddress".to_owned(),
            22 => format!(
                "AssociateAddress&AllocationId={}&NetworkInterfaceId={}",
                id("eipalloc"),
                other("eni")
            ),
            23 => format!("CreateVolume&AvailabilityZone=us-east-1a&Size={}", 1 + u32::from(b)),
            24 => format!(
                "AttachVolume&VolumeId={}&InstanceId={}&Device=/dev/sd{}",
                id("vol"),
                other("i"),
                ["f", "g", "h", "i", "j"][usize::from(b) % 5]
            ),
            25 => format!("DetachVolume&VolumeId={}", id("vol")),
            26 => format!("StopInstances&InstanceId.1={}", id("i")),
            27 => format!("StartInstances&InstanceId.1={}", id("i")),
            28 => format!("TerminateInstances&InstanceId.1={}&InstanceId.2={}", id("i"), other("i")),
            29 => format!("DeleteVpc&VpcId={}", id("vpc")),
            30 => format!("DeleteSubnet&SubnetId={}", id("subnet")),
            31 => format!("DeleteSecurityGroup&GroupId={}", id("sg")),
            32 => format!("DeleteInternetGateway&InternetGatewayId={}", id("igw")),
            33 => format!("DeleteRouteTable&RouteTableId={}", id("rtb")),
            34 => format!("DeleteNetworkInterface&NetworkInterfaceId={}", id("eni")),
            35 => format!("DeleteVolume&VolumeId={}", id("vol")),
            36 => format!("CreateSnapshot&VolumeId={}", id("vol")),
            37 => format!("CreateNatGateway&SubnetId={}&AllocationId={}", id("subnet"), other("eipalloc")),
            38 => format!("DeleteNatGateway&NatGatewayId={}", id("nat")),
            39 => format!("CreateEgressOnlyInternetGateway&VpcId={}", id("vpc")),
            40 => "CreateDhcpOptions&DhcpConfiguration.1.Key=domain-name&DhcpConfiguration.1.Value.1=x"
                .to_owned(),
            41 => format!("AssociateDhcpOptions&DhcpOptionsId={}&VpcId={}", id("dopt"), other("vpc")),
            43 => format!("CreateVpcPeeringConnection&VpcId={}&PeerVpcId={}", id("vpc"), other("vpc")),
            44 => format!("AcceptVpcPeeringConnection&VpcPeeringConnectionId={}", id("pcx")),
            45 => format!("DeleteVpcPeeringConnection&VpcPeeringConnectionId={}", id("pcx")),
            46 => format!(
                "CreateVpcEndpoint&VpcId={}&ServiceName=com.amazonaws.us-east-1.s3&RouteTableId.1={}",
                id("vpc"),
                other("rtb")
            ),
            47 => format!(
                "CreateVpcEndpoint&VpcEndpointType=Interface&VpcId={}&ServiceName=com.amazonaws.us-east-1.ssm\
                 &SubnetId.1={}&PrivateDnsEnabled=false",
                id("vpc"),
                other("subnet")
            ),
            48 => format!("DeleteVpcEndpoints&VpcEndpointId.1={}", id("vpce")),
            49 => format!("CreateImage&InstanceId={}&Name=image-{b}", id("i")),
            50 => format!("DeregisterImage&ImageId={}", id("ami")),
            51 => format!("DeleteSnapshot&SnapshotId={}", id("snap")),
            52 => format!(
                "CreateLaunchTemplate&LaunchTemplateName=lt-{b}&LaunchTemplateData.ImageId={IMAGE}\
                 &LaunchTemplateData.InstanceType=t3.micro"
            ),
            53 => format!(
                "RunInstances&MinCount=1&MaxCount=1&LaunchTemplate.LaunchTemplateId={}&SubnetId={}",
                id("lt"),
                other("subnet")
            ),
            54 => {
                format!("ModifyVpcEndpoint&VpcEndpointId={}&AddRouteTableId.1={}", id("vpce"), other("rtb"))
            }
            55 => format!("DisassociateAddress&AssociationId={}", id("eipassoc")),
            56 => format!("ReleaseAddress&AllocationId={}", id("eipalloc")),
            57 => format!("DisassociateRouteTable&AssociationId={}", id("rtbassoc")),
            58 => format!(
                "ReplaceRouteTableAssociation&AssociationId={}&RouteTableId={}",
                id("rtbassoc"),
                other("rtb")
            ),
            59 => format!(
                "ReplaceRoute&RouteTableId={}&DestinationCidrBlock=0.0.0.0/0&NatGatewayId={}",
                id("rtb"),
                other("nat")
            ),
            60 => format!(
                "AssignPrivateIpAddresses&NetworkInterfaceId={}&SecondaryPrivateIpAddressCount=1",
                id("eni")
            ),
            61 => format!("CreateNetworkAcl&VpcId={}", id("vpc")),
            62 => format!("DeleteNetworkAcl&NetworkAclId={}", id("acl")),
            63 => format!(
                "ReplaceNetworkAclAssociation&AssociationId={}&NetworkAclId={}",
                id("aclassoc"),
                other("acl")
            ),
            64 => format!(
                "ModifyNetworkInterfaceAttribute&NetworkInterfaceId={}&SecurityGroupId.1={}",
                id("eni"),
                other("sg")
            ),
            42 => format!("DeleteDhcpOptions&DhcpOptionsId={}", id("dopt")),
            _ => format!("CreateTags&ResourceId.1={}&Tag.1.Key=k&Tag.1.Value=v", id("vpc")),
        }
    }

    /// Orders are reported in the background: waits until every one of them is in the records.
    async fn settle(&mut self) {
        for _ in 0..1000 {
            let volumes = self.call("DescribeVolumes").await.unwrap()
                + &self.call("DescribeNatGateways").await.unwrap()
                + &self.call("DescribeVpcEndpoints").await.unwrap()
                + &self.call("DescribeVpcPeeringConnections").await.unwrap()
                + &self.call("DescribeImages").await.unwrap();
            let instances = self.call("DescribeInstances").await.unwrap();
            let moving = [
                "creating",
                "deleting",
                "attaching",
                "detaching",
                "pending",
                "provisioning",
                "stopping",
                "shutting-down",
            ];
            if !moving.iter().any(|state| {
                let tag = format!(">{state}<");
                volumes.contains(&tag) || instances.contains(&tag)
            }) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        panic!("the orders were never reported");
    }

    /// Takes everything away that was ever made, dependents first. What is gone already is an error, and fine.
    async fn delete_everything(&mut self) {
        self.learn_all().await;
        let ids = self.ids.clone();
        let all = |prefix: &'static str| {
            ids.clone().into_iter().filter(move |id| id.rsplit_once('-').is_some_and(|(p, _)| p == prefix))
        };
        for id in all("i") {
            let _ = self.call(&format!("TerminateInstances&InstanceId.1={id}")).await;
        }
        for id in all("vpce") {
            let _ = self.call(&format!("DeleteVpcEndpoints&VpcEndpointId.1={id}")).await;
        }
        for id in all("nat") {
            let _ = self.call(&format!("DeleteNatGateway&NatGatewayId={id}")).await;
        }
        self.settle().await;
        for (prefix, query) in [
            ("eigw", "DeleteEgressOnlyInternetGateway&EgressOnlyInternetGatewayId="),
            ("eipassoc", "DisassociateAddress&AssociationId="),
            ("eipalloc", "ReleaseAddress&AllocationId="),
            ("eni", "DeleteNetworkInterface&NetworkInterfaceId="),
            ("vol", "DeleteVolume&VolumeId="),
            ("ami", "DeregisterImage&ImageId="),
            ("lt", "DeleteLaunchTemplate&LaunchTemplateId="),
            ("pcx", "DeleteVpcPeeringConnection&VpcPeeringConnectionId="),
            ("snap", "DeleteSnapshot&SnapshotId="),
            ("rtbassoc", "DisassociateRouteTable&AssociationId="),
            ("subnet", "DeleteSubnet&SubnetId="),
            ("rtb", "DeleteRouteTable&RouteTableId="),
            ("acl", "DeleteNetworkAcl&NetworkAclId="),
        ] {
            for id in all(prefix) {
                let _ = self.call(&format!("{query}{id}")).await;
            }
        }
        for gateway in all("igw") {
            for vpc in all("vpc") {
                let _ = self
                    .call(&format!("DetachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}"))
                    .await;
            }
            let _ = self.call(&format!("DeleteInternetGateway&InternetGatewayId={gateway}")).await;
        }
        // Groups may name each other: first the rules, then the groups.
        for group in all("sg") {
            for rule in all("sgr") {
                let query =
                    format!("RevokeSecurityGroupIngress&GroupId={group}&SecurityGroupRuleId.1={rule}");
                let _ = self.call(&query).await;
            }
        }
        for id in all("sg") {
            let _ = self.call(&format!("DeleteSecurityGroup&GroupId={id}")).await;
        }
        for id in all("vpc") {
            let _ = self.call(&format!("DeleteVpc&VpcId={id}")).await;
        }
        for id in all("dopt") {
            let _ = self.call(&format!("DeleteDhcpOptions&DhcpOptionsId={id}")).await;
        }
        self.settle().await;
    }

    async fn learn_all(&mut self) {
        for describe in [
            "DescribeNetworkAcls",
            "DescribeNetworkInterfaces",
            "DescribeSecurityGroups",
            "DescribeRouteTables",
            "DescribeSnapshots",
        ] {
            let text = self.call(describe).await.unwrap();
            self.learn(&text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_leaves_a_whole_world(steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..120)) {
        runtime().block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let mut world = World { engine: engine(dir.path()).await, ids: Vec::new() };
            // A start with something in it: from nothing most sequences would only collect refusals.
            for action in [0, 1, 5, 7, 8, 10, 11, 13, 15, 21, 22, 23] {
                let query = world.query(action, 0, 0);
                world.call(&query).await.unwrap();
            }
            for (action, a, b) in steps {
                let query = world.query(action, a, b);
                let before = world.engine.leftovers();
                if world.call(&query).await.is_err() && !query.contains("Instances") {
                    // Nothing of a refused change stays; background reports may only take volumes away.
                    let after = world.engine.leftovers();
                    assert!(after.iter().all(|left| before.contains(left)), "{query} left something");
                }
                assert_eq!(world.engine.dangling(), Vec::<String>::new(), "after {query}");
            }
            world.settle().await;
            let before = world.call("DescribeInstances").await.unwrap();
            // A restart reads the same world from the store.
            let ids = world.ids;
            drop(world.engine);
            let mut reopened = None;
            for _ in 0..100 {
                // The background task lets go of the engine a moment later.
                if EmbeddedRecords::open(&dir.path().join("store.redb"), Durability::Relaxed).is_ok() {
                    reopened = Some(engine(dir.path()).await);
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            let mut world = World { engine: reopened.expect("the store is free again"), ids };
            assert_eq!(world.call("DescribeInstances").await.unwrap(), before);
            world.delete_everything().await;
            assert_eq!(world.engine.leftovers(), []);
        });
    }
}
