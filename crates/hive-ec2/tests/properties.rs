//! Random sequences of actions: nothing is ever left dangling, no action fails by our fault, a restart changes
//! nothing, and deleting in the order of dependency always ends with nothing left.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use eos_store::{Durability, EmbeddedRecords};
use hive_api::ApiError;
use hive_ec2::{ACTIONS, Engine};
use proptest::prelude::*;
use support::requests::{Made, requests};
use support::{engine, runtime, settled};

/// The first request that begins like this.
fn request(beginning: &str) -> &'static str {
    let is_it = |what: &&str| {
        what.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with(['&', '=']))
    };
    requests().map(|(_, what)| what).find(is_it).unwrap()
}

/// Whatever changes something meets everything else: an action that is not in the table would be missed here.
#[test]
fn every_action_that_changes_something_is_in_the_sequences() {
    let known = |name: &str| requests().any(|(_, what)| what.split('&').next() == Some(name));
    let missing: Vec<_> =
        ACTIONS.iter().filter(|entry| !entry.is_read_only() && !known(entry.name)).map(|e| e.name).collect();
    assert_eq!(missing, Vec::<&str>::new(), "add them to support/requests.txt");
}

/// A start with something in it: from nothing most sequences would only collect refusals.
const START: &[&str] = &[
    "CreateVpc",
    "CreateSubnet",
    "CreateSecurityGroup",
    "CreateInternetGateway",
    "AttachInternetGateway",
    "CreateRouteTable",
    "AssociateRouteTable",
    "AssociateRouteTable&RouteTableId={a:rtb}&GatewayId",
    "CreateNetworkInterface",
    "RunInstances",
    "AllocateAddress",
    "AssociateAddress",
    "CreateVolume",
    "CreateKeyPair",
    "CreatePlacementGroup",
    "CreateVolume&AvailabilityZone=us-east-1a&Size=1{b}&VolumeType=io2",
];

struct World {
    engine: Arc<Engine>,
    /// What was ever made; some of it is gone by now, and that is meant.
    made: Made,
}

impl World {
    async fn call(&mut self, query: &str) -> Result<String, ApiError> {
        let answer = support::call(&self.engine, query).await;
        if let Ok(text) = &answer
            && !query.starts_with("Describe")
        {
            self.made.learn(text);
            if query.starts_with("CreateVpc&") {
                // What a VPC is born with is not in the answer, and rules name it too.
                for vpc in support::texts(text, "vpcId") {
                    let group = format!("DescribeSecurityGroups&Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}");
                    self.made.learn(&support::call(&self.engine, &group).await.unwrap());
                }
            }
        }
        answer
    }

    /// Takes everything away that was ever made, dependents first. What is gone already is an error, and fine.
    async fn delete_everything(&mut self) {
        self.learn_all().await;
        let ids = self.made.ids().to_vec();
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
        settled(&self.engine).await;
        for (prefix, query) in [
            ("eigw", "DeleteEgressOnlyInternetGateway&EgressOnlyInternetGatewayId="),
            ("eipassoc", "DisassociateAddress&AssociationId="),
            ("eipalloc", "ReleaseAddress&AllocationId="),
            ("eni", "DeleteNetworkInterface&NetworkInterfaceId="),
            ("vol", "DeleteVolume&VolumeId="),
            ("ami", "DeregisterImage&ImageId="),
            ("key", "DeleteKeyPair&KeyPairId="),
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
        for number in 0..3 {
            let _ = self.call(&format!("DeletePlacementGroup&GroupName=group-{number}")).await;
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
            for (rule, way) in all("sgr").flat_map(|rule| [(rule.clone(), "Ingress"), (rule, "Egress")]) {
                let query = format!("RevokeSecurityGroup{way}&GroupId={group}&SecurityGroupRuleId.1={rule}");
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
        settled(&self.engine).await;
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
            self.made.learn(&text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_leaves_a_whole_world(steps in proptest::collection::vec(any::<(u16, u8, u8)>(), 1..160)) {
        runtime().block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let engine_in = engine(dir.path()).await;
            let mut world = World { engine: engine_in, made: Made::default() };
            for action in START {
                let query = world.made.query(request(action), 0, 0);
                world.call(&query).await.unwrap();
            }
            let table: Vec<_> = requests().flat_map(|(often, what)| std::iter::repeat_n(what, often)).collect();
            for (choice, a, b) in steps {
                let query = world.made.query(table[usize::from(choice) % table.len()], a, b);
                let before = world.engine.leftovers();
                if world.call(&query).await.is_err() && !query.contains("Instances") {
                    // Nothing of a refused change stays; background reports may only take volumes away.
                    let after = world.engine.leftovers();
                    assert!(after.iter().all(|left| before.contains(left)), "{query} left something");
                }
                assert_eq!(world.engine.dangling(), Vec::<String>::new(), "after {query}");
            }
            settled(&world.engine).await;
            let before = world.call("DescribeInstances").await.unwrap();
            // A restart reads the same world from the store.
            let World { made, engine: old } = world;
            drop(old);
            let mut reopened = None;
            for _ in 0..100 {
                // The background task lets go of the engine a moment later.
                if EmbeddedRecords::open(&dir.path().join("store.redb"), Durability::Relaxed).is_ok() {
                    reopened = Some(engine(dir.path()).await);
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            let mut world = World { engine: reopened.expect("the store is free again"), made };
            assert_eq!(world.call("DescribeInstances").await.unwrap(), before);
            world.delete_everything().await;
            assert_eq!(world.engine.leftovers(), []);
        });
    }
}
