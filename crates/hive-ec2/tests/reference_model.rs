//! Random sequences against a model that is small enough to be read at once: which request is refused and with which
//! code, and what is there after each. And pages over a set that changes while they are turned.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use support::{call, engine, first, runtime, texts};

/// What an account holds beyond what it was born with.
#[derive(Default)]
struct Model {
    vpcs: BTreeSet<String>,
    /// VPC and third number of the block.
    subnets: BTreeMap<String, (String, u8)>,
    /// VPC and name.
    groups: BTreeMap<String, (String, u8)>,
    /// The VPC it is attached to.
    gateways: BTreeMap<String, Option<String>>,
    tags: BTreeMap<(String, u8), u8>,
    /// Also those that are gone.
    ever: Vec<String>,
}

#[derive(Debug, Clone)]
enum Step {
    CreateVpc,
    CreateSubnet { vpc: String, number: u8 },
    CreateGroup { vpc: String, name: u8 },
    CreateGateway,
    Attach { gateway: String, vpc: String },
    Detach { gateway: String, vpc: String },
    Delete { id: String },
    Tag { id: String, key: u8, value: u8 },
    Untag { id: String, key: u8 },
}

fn kind(id: &str) -> &str {
    id.split('-').next().unwrap_or_default()
}

fn not_found(kind: &str) -> &'static str {
    match kind {
        "vpc" => "InvalidVpcID.NotFound",
        "subnet" => "InvalidSubnetID.NotFound",
        "sg" => "InvalidGroup.NotFound",
        _ => "InvalidInternetGatewayID.NotFound",
    }
}

impl Model {
    fn pick(&self, kinds: &[&str], choice: u8) -> String {
        let known: Vec<&String> = self.ever.iter().filter(|id| kinds.contains(&kind(id))).collect();
        match known.len() {
            0 => format!("{}-00000000000000000", kinds[0]),
            count => known[choice as usize % count].clone(),
        }
    }

    fn step(&self, (what, a, b): (u8, u8, u8)) -> Step {
        let vpc = |choice| self.pick(&["vpc"], choice);
        let gateway = self.pick(&["igw"], a);
        let any = self.pick(&["vpc", "subnet", "sg", "igw"], a);
        match what % 13 {
            0 => Step::CreateVpc,
            1 | 2 => Step::CreateSubnet { vpc: vpc(a), number: b % 3 },
            3 => Step::CreateGroup { vpc: vpc(a), name: b % 2 },
            4 => Step::CreateGateway,
            5 | 6 => Step::Attach { gateway, vpc: vpc(b) },
            7 => Step::Detach { gateway, vpc: vpc(b) },
            8..=10 => Step::Delete { id: any },
            11 => Step::Tag { id: any, key: b % 3, value: b / 3 % 3 },
            _ => Step::Untag { id: any, key: b % 3 },
        }
    }

    fn is_there(&self, id: &str) -> bool {
        match kind(id) {
            "vpc" => self.vpcs.contains(id),
            "subnet" => self.subnets.contains_key(id),
            "sg" => self.groups.contains_key(id),
            _ => self.gateways.contains_key(id),
        }
    }

    /// The code with which EC2 refuses a step.
    fn refusal(&self, step: &Step) -> Option<&'static str> {
        let named: Vec<&String> = match step {
            Step::CreateVpc | Step::CreateGateway => vec![],
            Step::CreateSubnet { vpc, .. } | Step::CreateGroup { vpc, .. } => vec![vpc],
            Step::Attach { gateway, vpc } | Step::Detach { gateway, vpc } => vec![vpc, gateway],
            Step::Delete { id } | Step::Tag { id, .. } | Step::Untag { id, .. } => vec![id],
        };
        if let Some(missing) = named.into_iter().find(|id| !self.is_there(id)) {
            return Some(not_found(kind(missing)));
        }
        let refused = match step {
            Step::CreateSubnet { vpc, number } => {
                (self.subnets.values().any(|(v, n)| v == vpc && n == number), "InvalidSubnet.Conflict")
            }
            Step::CreateGroup { vpc, name } => {
                (self.groups.values().any(|(v, n)| v == vpc && n == name), "InvalidGroup.Duplicate")
            }
            Step::Attach { gateway, .. } if self.gateways[gateway].is_some() => {
                (true, "Resource.AlreadyAssociated")
            }
            Step::Attach { vpc, .. } => {
                (self.gateways.values().any(|v| v.as_ref() == Some(vpc)), "InvalidParameterValue")
            }
            Step::Detach { gateway, vpc } => {
                (self.gateways[gateway].as_ref() != Some(vpc), "Gateway.NotAttached")
            }
            Step::Delete { id } => (self.is_used(id), "DependencyViolation"),
            _ => (false, ""),
        };
        refused.0.then_some(refused.1)
    }

    fn is_used(&self, id: &str) -> bool {
        let attached = self.gateways.values().flatten().any(|vpc| vpc == id);
        attached
            || self.subnets.values().chain(self.groups.values()).any(|(vpc, _)| vpc == id)
            || self.gateways.get(id).is_some_and(Option::is_some)
    }

    /// Takes in a step that was done; `made` is the id of something new.
    fn done(&mut self, step: Step, made: Option<String>) {
        self.ever.extend(made.clone());
        match (step, made) {
            (Step::CreateVpc, Some(id)) => _ = self.vpcs.insert(id),
            (Step::CreateSubnet { vpc, number }, Some(id)) => _ = self.subnets.insert(id, (vpc, number)),
            (Step::CreateGroup { vpc, name }, Some(id)) => _ = self.groups.insert(id, (vpc, name)),
            (Step::CreateGateway, Some(id)) => _ = self.gateways.insert(id, None),
            (Step::Attach { gateway, vpc }, _) => _ = self.gateways.insert(gateway, Some(vpc)),
            (Step::Detach { gateway, .. }, _) => _ = self.gateways.insert(gateway, None),
            (Step::Tag { id, key, value }, _) => _ = self.tags.insert((id, key), value),
            (Step::Untag { id, key }, _) => _ = self.tags.remove(&(id, key)),
            (Step::Delete { id }, _) => {
                self.vpcs.remove(&id);
                self.subnets.remove(&id);
                self.groups.remove(&id);
                self.gateways.remove(&id);
                self.tags.retain(|(tagged, _), _| *tagged != id);
            }
            (step, None) => panic!("{step:?} named nothing new"),
        }
    }
}

/// The request, and which element of the answer names something new.
fn query(step: &Step) -> (String, &'static str) {
    match step {
        Step::CreateVpc => ("CreateVpc&CidrBlock=10.0.0.0/16".to_owned(), "vpcId"),
        Step::CreateSubnet { vpc, number } => {
            (format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.{number}.0/24"), "subnetId")
        }
        Step::CreateGroup { vpc, name } => {
            (format!("CreateSecurityGroup&GroupName=g{name}&GroupDescription=d&VpcId={vpc}"), "groupId")
        }
        Step::CreateGateway => ("CreateInternetGateway".to_owned(), "internetGatewayId"),
        Step::Attach { gateway, vpc } => {
            (format!("AttachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}"), "")
        }
        Step::Detach { gateway, vpc } => {
            (format!("DetachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}"), "")
        }
        Step::Tag { id, key, value } => {
            (format!("CreateTags&ResourceId.1={id}&Tag.1.Key=k{key}&Tag.1.Value=v{value}"), "")
        }
        Step::Untag { id, key } => (format!("DeleteTags&ResourceId.1={id}&Tag.1.Key=k{key}"), ""),
        Step::Delete { id } => {
            let query = match kind(id) {
                "vpc" => "DeleteVpc&VpcId=",
                "subnet" => "DeleteSubnet&SubnetId=",
                "sg" => "DeleteSecurityGroup&GroupId=",
                _ => "DeleteInternetGateway&InternetGatewayId=",
            };
            (format!("{query}{id}"), "")
        }
    }
}

/// What has pages: how one is made and called in that answer, how all are listed and each is called there, a filter that
/// all pass, and how one goes. `#` is another number each time.
struct Set {
    create: &'static str,
    made: &'static str,
    describe: &'static str,
    element: &'static str,
    filter: &'static str,
    delete: &'static str,
}

const TAGGED: &str = "CreateInternetGateway&TagSpecification.1.ResourceType=internet-gateway\
                      &TagSpecification.1.Tag.1.Key=k&TagSpecification.1.Tag.1.Value=value";

const SETS: &[Set] = &[
    Set {
        create: TAGGED,
        made: "internetGatewayId",
        describe: "DescribeInternetGateways",
        element: "internetGatewayId",
        filter: "&Filter.1.Name=tag:k&Filter.1.Value.1=val*",
        delete: "DeleteInternetGateway&InternetGatewayId=",
    },
    // Tags have no id: what they are on stands for them.
    Set {
        create: TAGGED,
        made: "internetGatewayId",
        describe: "DescribeTags",
        element: "resourceId",
        filter: "&Filter.1.Name=key&Filter.1.Value.1=k",
        delete: "DeleteTags&Tag.1.Key=k&ResourceId.1=",
    },
    Set {
        create: "AuthorizeSecurityGroupIngress&GroupId={group}&IpPermissions.1.IpProtocol=tcp\
                 &IpPermissions.1.FromPort=#&IpPermissions.1.ToPort=#&IpPermissions.1.IpRanges.1.CidrIp=0.0.0.0/0",
        made: "securityGroupRuleId",
        describe: "DescribeSecurityGroupRules",
        element: "securityGroupRuleId",
        filter: "&Filter.1.Name=security-group-rule-id&Filter.1.Value.1=sgr-*",
        delete: "RevokeSecurityGroupIngress&GroupId={group}&SecurityGroupRuleId.1=",
    },
];

async fn listed(engine: &std::sync::Arc<hive_ec2::Engine>, query: &str, element: &str) -> BTreeSet<String> {
    texts(&call(engine, query).await.unwrap(), element).into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_the_model_says(steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..150)) {
        runtime().block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let engine = engine(dir.path()).await;
            let lists = [
                ("DescribeVpcs", "vpcId"),
                ("DescribeSubnets", "subnetId"),
                // Each VPC has one more, which goes with it.
                ("DescribeSecurityGroups&Filter.1.Name=group-name&Filter.1.Value.1=g?", "groupId"),
                ("DescribeInternetGateways", "internetGatewayId"),
            ];
            let mut born = BTreeSet::new();
            for (describe, element) in lists {
                born.extend(listed(&engine, describe, element).await);
            }
            let mut model = Model::default();
            for step in [(0, 0, 0), (0, 0, 0), (4, 0, 0), (4, 0, 0)].into_iter().chain(steps) {
                let step = model.step(step);
                let (query, element) = query(&step);
                let answer = call(&engine, &query).await;
                let code = answer.as_ref().err().map(|error| error.code.as_ref());
                assert_eq!(code, model.refusal(&step), "{query}: {answer:?}");
                if let Ok(text) = answer {
                    model.done(step, texts(&text, element).into_iter().next());
                }
                let mut found = BTreeSet::new();
                for (describe, element) in lists {
                    found.extend(listed(&engine, describe, element).await);
                }
                let vpcs = model.vpcs.iter().chain(model.subnets.keys());
                let there: BTreeSet<&String> =
                    vpcs.chain(model.groups.keys()).chain(model.gateways.keys()).collect();
                assert_eq!(found.difference(&born).collect::<BTreeSet<_>>(), there, "after {query}");
                let default = "DescribeSecurityGroups&Filter.1.Name=group-name&Filter.1.Value.1=default";
                // The account was born with a VPC.
                let wanted = model.vpcs.len() + 1;
                assert_eq!(listed(&engine, default, "groupId").await.len(), wanted, "after {query}");
                for (key, wanted) in (0..3).map(|key| (key, model.tags.iter().filter(move |((_, k), _)| *k == key))) {
                    for value in 0..3 {
                        let wanted = wanted.clone().filter(|(_, v)| **v == value).map(|((id, _), _)| id.clone());
                        let query = format!(
                            "DescribeTags&Filter.1.Name=key&Filter.1.Value.1=k{key}\
                             &Filter.2.Name=value&Filter.2.Value.1=v{value}"
                        );
                        assert_eq!(listed(&engine, &query, "resourceId").await, wanted.collect(), "{query}");
                    }
                }
            }
        });
    }

    /// Those that were there from the first page to the last are given exactly once, no other more than once.
    #[test]
    fn pages_of_a_changing_set(
        start in 0_usize..40,
        size in 5_usize..9,
        filter in any::<bool>(),
        set in 0_usize..SETS.len(),
        changes in proptest::collection::vec((any::<bool>(), any::<u16>()), 0..40),
    ) {
        runtime().block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let engine = engine(dir.path()).await;
            let set = &SETS[set];
            let group = first(&engine, "DescribeSecurityGroups", "groupId").await;
            let describe = format!("{}&MaxResults={size}{}", set.describe, if filter { set.filter } else { "" });
            let mut port = 0;
            let mut create = || {
                port += 1;
                set.create.replace('#', &port.to_string()).replace("{group}", &group)
            };
            let mut there: Vec<String> = Vec::new();
            for _ in 0..start {
                there.push(first(&engine, &create(), set.made).await);
            }
            let mut survivors: BTreeSet<String> = there.iter().cloned().collect();
            let (mut seen, mut token) = (Vec::new(), String::new());
            let mut changes = changes.into_iter();
            loop {
                let page = call(&engine, &format!("{describe}{token}")).await.unwrap();
                let ids = texts(&page, set.element);
                assert!(ids.len() <= size);
                seen.extend(ids);
                assert!(seen.len() <= 100, "the pages have no end");
                let Some(next) = texts(&page, "nextToken").pop() else { break };
                token = format!("&NextToken={next}");
                for (make, choice) in changes.by_ref().take(3) {
                    if make || there.is_empty() {
                        there.push(first(&engine, &create(), set.made).await);
                    } else {
                        let gone = there.swap_remove(usize::from(choice) % there.len());
                        let delete = set.delete.replace("{group}", &group);
                        call(&engine, &format!("{delete}{gone}")).await.unwrap();
                        survivors.remove(&gone);
                    }
                }
            }
            let once: BTreeSet<String> = seen.iter().cloned().collect();
            assert_eq!(once.len(), seen.len(), "one was given twice");
            // Some are there by themselves: the default VPC's gateway, and its group's rules.
            assert!(once.is_superset(&survivors), "missing: {:?}", survivors.difference(&once));
        });
    }
}
