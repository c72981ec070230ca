//! State machines with a node that can refuse, and with time from outside.

#![allow(clippy::unwrap_used)]

mod support;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use hive_ec2::core::id::Id;
use hive_ec2::model::vpc::Vpc;
use hive_ec2::node::{Report, Reports, Work};
use hive_ec2::{AccountId, Engine, Node, NodeId, RecordsNode};
use jiff::Timestamp;
use support::{call, engine_with, runtime, settled, texts};

const IMAGE: &str = "ami-00000000000000d01";

/// Carries out nothing whose name begins with one of the words it is told.
#[derive(Default)]
struct Refusing {
    id: Option<NodeId>,
    words: Mutex<&'static [&'static str]>,
    given: Mutex<Vec<String>>,
    /// What it has something of.
    networks: Vec<(AccountId, Id<Vpc>)>,
}

impl Refusing {
    fn new() -> Arc<Refusing> {
        Arc::new(Refusing { id: Some(NodeId::new("test")), ..Refusing::default() })
    }

    fn refuse(&self, words: &'static [&'static str]) {
        *self.words.lock().unwrap() = words;
    }

    async fn until_given_again(&self, order: &str) {
        for _ in 0..4_000 {
            if self.given.lock().unwrap().iter().filter(|given| *given == order).count() > 1 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("{order} was not given again");
    }
}

impl Node for Refusing {
    fn id(&self) -> &NodeId {
        self.id.as_ref().unwrap()
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }

    fn networks(&self) -> hive_ec2::node::Answer<'_, Vec<(AccountId, Id<Vpc>)>> {
        Box::pin(async { self.networks.clone() })
    }

    fn accept<'a>(
        &'a self,
        work: Work,
        reports: &'a Reports,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let order = format!("{:?}", work.order);
            let refused = self.words.lock().unwrap().iter().any(|word| order.starts_with(word));
            self.given.lock().unwrap().push(order);
            let result = if refused { Err("no memory".to_owned()) } else { Ok(()) };
            let _ = reports.send(Report { work, result });
        })
    }
}

async fn until(engine: &Arc<Engine>, query: &str, state: &str) -> String {
    until_element(engine, query, "name", state).await
}

/// Asks until the first element of a name has a value; "gone" is an element that is not there.
async fn until_element(engine: &Arc<Engine>, query: &str, element: &str, state: &str) -> String {
    for _ in 0..20_000 {
        let answer = call(engine, query).await.unwrap();
        if texts(&answer, element).first().map_or("gone", String::as_str) == state {
            return answer;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    panic!("{query} never was {state}");
}

async fn run_instance(engine: &Arc<Engine>) -> String {
    let query = format!("RunInstances&MinCount=1&MaxCount=1&ImageId={IMAGE}");
    texts(&call(engine, &query).await.unwrap(), "instanceId").remove(0)
}

#[test]
fn a_machine_that_cannot_be_started_again_is_stopped_and_one_that_never_ran_is_gone() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Refusing::new();
        let engine = engine_with(dir.path(), Arc::clone(&node) as _, Arc::new(Timestamp::now)).await;
        let id = run_instance(&engine).await;
        let describe = format!("DescribeInstances&InstanceId.1={id}");
        until(&engine, &describe, "running").await;
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        until(&engine, &describe, "stopped").await;
        node.refuse(&["StartInstance"]);
        call(&engine, &format!("StartInstances&InstanceId.1={id}")).await.unwrap();
        let stopped = until(&engine, &describe, "stopped").await;
        assert!(stopped.contains("no memory"), "{stopped}");
        let volumes = call(&engine, "DescribeVolumes").await.unwrap();
        assert_eq!(texts(&volumes, "volumeId").len(), 2, "the disk, and its attachment: {volumes}");
        let never = run_instance(&engine).await;
        until(&engine, &format!("DescribeInstances&InstanceId.1={never}"), "terminated").await;
    });
}

#[test]
fn what_ended_is_described_for_an_hour_and_a_token_is_known_for_a_day() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let seconds = Arc::new(AtomicI64::new(1_800_000_000));
        let clock = {
            let seconds = Arc::clone(&seconds);
            Arc::new(move || Timestamp::from_second(seconds.load(Ordering::Relaxed)).unwrap())
        };
        let node = Arc::new(RecordsNode::new(NodeId::new("test")));
        let engine = engine_with(dir.path(), node, clock).await;
        let make = "CreateVolume&AvailabilityZone=us-east-1a&Size=1&ClientToken=again";
        let first = texts(&call(&engine, make).await.unwrap(), "volumeId");
        let id = run_instance(&engine).await;
        let describe = format!("DescribeInstances&InstanceId.1={id}");
        until(&engine, &describe, "running").await;
        call(&engine, &format!("TerminateInstances&InstanceId.1={id}")).await.unwrap();
        until(&engine, &describe, "terminated").await;
        let later = |after: i64| {
            seconds.fetch_add(after, Ordering::Relaxed);
            engine.sweep()
        };
        later(3_600).await.unwrap();
        until(&engine, &describe, "terminated").await;
        later(1).await.unwrap();
        assert_eq!(call(&engine, &describe).await.unwrap_err().code, "InvalidInstanceID.NotFound");
        assert_eq!(texts(&call(&engine, make).await.unwrap(), "volumeId"), first);
        later(86_400).await.unwrap();
        assert_ne!(texts(&call(&engine, make).await.unwrap(), "volumeId"), first);
    });
}

#[test]
fn a_request_to_peer_that_nobody_answers_expires() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let seconds = Arc::new(AtomicI64::new(1_800_000_000));
        let clock = {
            let seconds = Arc::clone(&seconds);
            Arc::new(move || Timestamp::from_second(seconds.load(Ordering::Relaxed)).unwrap())
        };
        let node = Arc::new(RecordsNode::new(NodeId::new("test")));
        let engine = engine_with(dir.path(), node, clock).await;
        let vpc = async |number: u8| {
            let made = call(&engine, &format!("CreateVpc&CidrBlock=10.{number}.0.0/16")).await.unwrap();
            texts(&made, "vpcId").remove(0)
        };
        let make = format!("CreateVpcPeeringConnection&VpcId={}&PeerVpcId={}", vpc(1).await, vpc(2).await);
        let id = texts(&call(&engine, &make).await.unwrap(), "vpcPeeringConnectionId").remove(0);
        let filter = |state: &str| {
            format!("DescribeVpcPeeringConnections&Filter.1.Name=status-code&Filter.1.Value.1={state}")
        };
        let found = async |state: &str| {
            let answer = call(&engine, &filter(state)).await.unwrap();
            texts(&answer, "vpcPeeringConnectionId") == [id.clone()]
        };
        const WEEK: i64 = 7 * 24 * 3600;
        seconds.fetch_add(WEEK - 1, Ordering::Relaxed);
        engine.sweep().await.unwrap();
        assert!(found("pending-acceptance").await);
        // At once, whether or not it was written down.
        seconds.fetch_add(1, Ordering::Relaxed);
        for _ in 0..2 {
            assert!(found("expired").await && !found("pending-acceptance").await);
            let accept = format!("AcceptVpcPeeringConnection&VpcPeeringConnectionId={id}");
            assert_eq!(call(&engine, &accept).await.unwrap_err().code, "InvalidStateTransition");
            engine.sweep().await.unwrap();
        }
        // The same two may try again, and after two days nobody sees the first attempt.
        let again = texts(&call(&engine, &make).await.unwrap(), "vpcPeeringConnectionId");
        assert_ne!(again[0], id);
        seconds.fetch_add(2 * 24 * 3600 + 1, Ordering::Relaxed);
        engine.sweep().await.unwrap();
        assert!(!found("expired").await);
    });
}

#[test]
fn an_address_stays_with_its_nat_gateway_and_its_interface_as_it_is() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Arc::new(RecordsNode::new(NodeId::new("test")));
        let engine = engine_with(dir.path(), node, Arc::new(Timestamp::now)).await;
        let subnets = call(&engine, "DescribeSubnets").await.unwrap();
        let subnet = texts(&subnets, "subnetId").remove(0);
        let allocation = texts(&call(&engine, "AllocateAddress").await.unwrap(), "allocationId").remove(0);
        let make = format!("CreateNatGateway&SubnetId={subnet}&AllocationId={allocation}");
        call(&engine, &make).await.unwrap();
        let interface = format!("CreateNetworkInterface&SubnetId={subnet}");
        let interface = texts(&call(&engine, &interface).await.unwrap(), "networkInterfaceId").remove(0);
        let addresses = call(&engine, "DescribeAddresses").await.unwrap();
        let association = texts(&addresses, "associationId").remove(0);
        let gateways = call(&engine, "DescribeNatGateways").await.unwrap();
        let its = texts(&gateways, "networkInterfaceId").remove(0);
        let other = texts(&call(&engine, "AllocateAddress").await.unwrap(), "allocationId").remove(0);
        for query in [
            format!("AssociateAddress&AllocationId={other}&NetworkInterfaceId={its}"),
            format!("DisassociateAddress&AssociationId={association}"),
            format!("AssociateAddress&AllocationId={allocation}&NetworkInterfaceId={interface}"),
            format!("AssignPrivateIpAddresses&NetworkInterfaceId={its}&SecondaryPrivateIpAddressCount=1"),
            format!("UnassignPrivateIpAddresses&NetworkInterfaceId={its}&PrivateIpAddress.1=172.31.0.9"),
            format!("ModifyNetworkInterfaceAttribute&NetworkInterfaceId={its}&Description.Value=mine"),
        ] {
            assert_eq!(call(&engine, &query).await.unwrap_err().code, "AuthFailure", "{query}");
        }
    });
}

#[test]
fn what_could_not_be_stopped_or_taken_away_is_tried_again() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Refusing::new();
        let engine = engine_with(dir.path(), Arc::clone(&node) as _, Arc::new(Timestamp::now)).await;
        let id = run_instance(&engine).await;
        let describe = format!("DescribeInstances&InstanceId.1={id}");
        until(&engine, &describe, "running").await;
        let make = "CreateVolume&AvailabilityZone=us-east-1a&Size=1";
        let volume = texts(&call(&engine, make).await.unwrap(), "volumeId").remove(0);
        let volumes = format!("DescribeVolumes&Filter.1.Name=volume-id&Filter.1.Value.1={volume}");
        until_element(&engine, &volumes, "status", "available").await;
        node.refuse(&["StopInstance", "DeleteVolume"]);
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        call(&engine, &format!("DeleteVolume&VolumeId={volume}")).await.unwrap();
        node.until_given_again(&format!("StopInstance({id})")).await;
        let stuck = until(&engine, &describe, "stopping").await;
        assert_eq!(texts(&stuck, "message"), ["no memory"]);
        assert_eq!(texts(&stuck, "reason"), ["Server.InternalError: no memory"]);
        until_element(&engine, &volumes, "status", "deleting").await;
        node.refuse(&[]);
        let stopped = until(&engine, &describe, "stopped").await;
        assert_eq!(texts(&stopped, "message"), ["User initiated shutdown"]);
        until_element(&engine, &volumes, "status", "gone").await;
    });
}

#[test]
fn a_restart_is_ordered_until_it_is_done() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Refusing::new();
        let engine = engine_with(dir.path(), Arc::clone(&node) as _, Arc::new(Timestamp::now)).await;
        let id = run_instance(&engine).await;
        let describe = format!("DescribeInstances&InstanceId.1={id}");
        until(&engine, &describe, "running").await;
        node.refuse(&["RebootInstance"]);
        call(&engine, &format!("RebootInstances&InstanceId.1={id}")).await.unwrap();
        let restart = format!("RebootInstance({id})");
        node.until_given_again(&restart).await;
        assert_eq!(texts(&until(&engine, &describe, "running").await, "message"), ["no memory"]);
        node.refuse(&[]);
        until_element(&engine, &describe, "message", "gone").await;
        let before = node.given.lock().unwrap().iter().filter(|given| **given == restart).count();
        assert!(before > 2, "{before}");

        // One that is on its way down is not restarted any more.
        node.refuse(&["RebootInstance", "StopInstance"]);
        call(&engine, &format!("RebootInstances&InstanceId.1={id}")).await.unwrap();
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        node.given.lock().unwrap().clear();
        node.until_given_again(&format!("StopInstance({id})")).await;
        assert!(!node.given.lock().unwrap().contains(&restart));
    });
}

#[test]
fn the_restart_that_an_image_needs_is_ordered_until_it_is_done() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Refusing::new();
        let engine = engine_with(dir.path(), Arc::clone(&node) as _, Arc::new(Timestamp::now)).await;
        let id = run_instance(&engine).await;
        let describe = format!("DescribeInstances&InstanceId.1={id}");
        until(&engine, &describe, "running").await;
        node.refuse(&["RebootInstance"]);
        let restart = format!("RebootInstance({id})");
        call(&engine, &format!("CreateImage&InstanceId={id}&Name=calm&NoReboot=true")).await.unwrap();
        assert!(!node.given.lock().unwrap().contains(&restart));
        call(&engine, &format!("CreateImage&InstanceId={id}&Name=still")).await.unwrap();
        node.until_given_again(&restart).await;
        node.refuse(&[]);
        until_element(&engine, &describe, "message", "gone").await;
    });
}

#[test]
fn a_changed_volume_a_plugged_interface_and_what_is_gone_are_the_nodes_affair() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Refusing::new();
        let engine = engine_with(dir.path(), Arc::clone(&node) as _, Arc::new(Timestamp::now)).await;
        let id = run_instance(&engine).await;
        let instance = call(&engine, &format!("DescribeInstances&InstanceId.1={id}")).await.unwrap();
        let subnet = texts(&instance, "subnetId").remove(0);
        let volume = texts(&instance, "volumeId").remove(0);

        settled(&engine).await;
        node.refuse(&["ModifyVolume", "AttachInterface", "DetachInterface", "DeleteSnapshot"]);
        let modify = format!("ModifyVolume&VolumeId={volume}&Size=20");
        let changes = format!("DescribeVolumesModifications&VolumeId.1={volume}");
        assert_eq!(texts(&call(&engine, &modify).await.unwrap(), "modificationState"), ["modifying"]);
        until_element(&engine, &changes, "modificationState", "failed").await;
        let volumes = format!("DescribeVolumes&VolumeId.1={volume}");
        assert_ne!(texts(&call(&engine, &volumes).await.unwrap(), "size"), ["20"]);
        node.refuse(&["AttachInterface", "DetachInterface", "DeleteSnapshot"]);
        call(&engine, &modify).await.unwrap();
        until_element(&engine, &changes, "modificationState", "completed").await;
        assert_eq!(texts(&call(&engine, &volumes).await.unwrap(), "size"), ["20"]);

        let make = format!("CreateNetworkInterface&SubnetId={subnet}");
        let interface = texts(&call(&engine, &make).await.unwrap(), "networkInterfaceId").remove(0);
        let interfaces = format!("DescribeNetworkInterfaces&NetworkInterfaceId.1={interface}");
        let attach =
            format!("AttachNetworkInterface&InstanceId={id}&DeviceIndex=1&NetworkInterfaceId={interface}");
        call(&engine, &attach).await.unwrap();
        until_element(&engine, &interfaces, "status", "available").await;
        node.refuse(&["DetachInterface", "DeleteSnapshot"]);
        let attachment = texts(&call(&engine, &attach).await.unwrap(), "attachmentId").remove(0);
        let plugged = format!("{interfaces}&Filter.1.Name=attachment.status&Filter.1.Value.1=");
        until_element(&engine, &format!("{plugged}attached"), "status", "in-use").await;
        call(&engine, &format!("DetachNetworkInterface&AttachmentId={attachment}")).await.unwrap();
        until_element(&engine, &format!("{plugged}detaching"), "status", "in-use").await;

        let make = format!("CreateSnapshot&VolumeId={volume}");
        let snapshot = texts(&call(&engine, &make).await.unwrap(), "snapshotId").remove(0);
        call(&engine, &format!("DeleteSnapshot&SnapshotId={snapshot}")).await.unwrap();
        let gone = call(&engine, &format!("DescribeSnapshots&SnapshotId.1={snapshot}")).await;
        assert_eq!(gone.unwrap_err().code, "InvalidSnapshot.NotFound");
        // Until the node has done it, it is told again.
        node.until_given_again(&format!("DeleteSnapshot({snapshot})")).await;
        node.refuse(&[]);
        until_element(&engine, &interfaces, "status", "available").await;
        assert_eq!(engine.dangling(), Vec::<String>::new());
    });
}

#[test]
fn two_accounts_never_have_the_same_public_address() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Refusing::new();
        // Room for eleven addresses: with random choices two accounts would meet.
        let engine = support::engine_in(dir.path(), node, Arc::new(Timestamp::now), 28).await;
        let mut addresses = std::collections::BTreeSet::new();
        for turn in 0..11 {
            let account = ["100000000001", "100000000002"][turn % 2];
            let answer = support::call_as(&engine, account, "AllocateAddress").await.unwrap();
            assert!(addresses.insert(texts(&answer, "publicIp").remove(0)), "{answer}");
        }
        let full = support::call_as(&engine, "100000000002", "AllocateAddress").await.unwrap_err();
        assert_eq!(full.code, "InsufficientAddressCapacity");
    });
}

#[test]
fn one_report_that_cannot_be_written_keeps_no_other_back() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = support::engine_in(dir.path(), Refusing::new(), Arc::new(Timestamp::now), 28).await;
        let run = format!("RunInstances&ImageId={IMAGE}&InstanceType=t3.micro&MinCount=3&MaxCount=3");
        let ids = texts(&call(&engine, &run).await.unwrap(), "instanceId");
        let all: String =
            ids.iter().enumerate().map(|(n, id)| format!("&InstanceId.{}={id}", n + 1)).collect();
        let states = async |name: &str, count: usize| {
            for _ in 0..4_000 {
                let answer = call(&engine, &format!("DescribeInstances{all}")).await.unwrap();
                if texts(&answer, "name").iter().filter(|state| *state == name).count() == count {
                    return answer;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            panic!("there are never {count} instances {name}");
        };
        states("running", 3).await;
        call(&engine, &format!("StopInstances{all}")).await.unwrap();
        states("stopped", 3).await;
        // Of the pool's eleven addresses one is left, and each of the three wants one when it starts.
        for _ in 0..10 {
            call(&engine, "AllocateAddress").await.unwrap();
        }
        call(&engine, &format!("StartInstances{all}")).await.unwrap();
        states("running", 1).await;
        for _ in 0..1_000 {
            let answer = states("pending", 2).await;
            if answer.matches("There are no free public addresses").count() >= 2 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("nothing says why two are pending");
    });
}

#[test]
fn an_elastic_address_needs_an_internet_gateway() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine_with(dir.path(), Refusing::new(), Arc::new(Timestamp::now)).await;
        let vpc = call(&engine, "CreateVpc&CidrBlock=10.0.0.0/16").await.unwrap();
        let vpc = texts(&vpc, "vpcId").remove(0);
        let make = format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.1.0/24");
        let subnet = texts(&call(&engine, &make).await.unwrap(), "subnetId");
        let make = format!("CreateNetworkInterface&SubnetId={}", subnet[0]);
        let interface = texts(&call(&engine, &make).await.unwrap(), "networkInterfaceId").remove(0);
        let allocation = texts(&call(&engine, "AllocateAddress").await.unwrap(), "allocationId").remove(0);
        let tie = format!("AssociateAddress&AllocationId={allocation}&NetworkInterfaceId={interface}");
        assert_eq!(call(&engine, &tie).await.unwrap_err().code, "Gateway.NotAttached");
        let nat = format!("CreateNatGateway&SubnetId={}&AllocationId={allocation}", subnet[0]);
        let failed = texts(&call(&engine, &nat).await.unwrap(), "natGatewayId").remove(0);
        let answer = call(&engine, &format!("DescribeNatGateways&NatGatewayId.1={failed}")).await.unwrap();
        assert_eq!(texts(&answer, "state"), ["failed"]);
        assert_eq!(texts(&answer, "failureCode"), ["Gateway.NotAttached"]);
        call(&engine, &format!("DeleteNatGateway&NatGatewayId={failed}")).await.unwrap();
        let gateway =
            texts(&call(&engine, "CreateInternetGateway").await.unwrap(), "internetGatewayId").remove(0);
        call(&engine, &format!("AttachInternetGateway&VpcId={vpc}&InternetGatewayId={gateway}"))
            .await
            .unwrap();
        // What failed keeps nothing.
        call(&engine, &tie).await.unwrap();
        assert_eq!(engine.dangling(), Vec::<String>::new());
    });
}

#[test]
fn an_instance_says_when_its_owner_shut_it_down() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let seconds = Arc::new(AtomicI64::new(1_800_000_000));
        let clock = {
            let seconds = Arc::clone(&seconds);
            Arc::new(move || Timestamp::from_second(seconds.load(Ordering::Relaxed)).unwrap())
        };
        let node = Arc::new(RecordsNode::new(NodeId::new("test")));
        let engine = engine_with(dir.path(), node, clock).await;
        let id = run_instance(&engine).await;
        let describe = format!("DescribeInstances&InstanceId.1={id}");
        let reason = |answer: &str| texts(answer, "reason");
        assert_eq!(reason(&until(&engine, &describe, "running").await), [""]);
        for (action, state, wanted) in [
            ("Stop", "stopped", "User initiated (2027-01-15 08:00:05 GMT)"),
            ("Start", "running", ""),
            ("Terminate", "terminated", "User initiated (2027-01-15 08:00:15 GMT)"),
        ] {
            seconds.fetch_add(5, Ordering::Relaxed);
            call(&engine, &format!("{action}Instances&InstanceId.1={id}")).await.unwrap();
            assert_eq!(reason(&until(&engine, &describe, state).await), [wanted], "{action}");
        }
    });
}

#[test]
fn the_route_of_an_endpoint_is_found_by_what_is_shown_of_it() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Refusing::new();
        node.refuse(&["CreateEndpoint"]);
        let engine = engine_with(dir.path(), Arc::clone(&node) as _, Arc::new(Timestamp::now)).await;
        let vpc = support::first(&engine, "CreateVpc&CidrBlock=10.0.0.0/16", "vpcId").await;
        let make = format!("CreateRouteTable&VpcId={vpc}");
        let table = support::first(&engine, &make, "routeTableId").await;
        support::first(&engine, &make, "routeTableId").await;
        let service = "com.amazonaws.us-east-1.s3";
        let create = format!("CreateVpcEndpoint&VpcId={vpc}&ServiceName={service}&RouteTableId.1={table}");
        let endpoint = support::first(&engine, &create, "vpcEndpointId").await;
        until_element(&engine, "DescribeVpcEndpoints", "state", "failed").await;
        for (name, value) in [
            ("gateway-id", endpoint.as_str()),
            ("gateway-id", "vpce-*"),
            ("gateway-id", "*pce-*"),
            ("origin", "CreateRoute"),
            ("state", "blackhole"),
        ] {
            let filter = format!("Filter.1.Name=route.{name}&Filter.1.Value.1={value}");
            // That of the default VPC leads to a gateway.
            let here = format!("Filter.2.Name=vpc-id&Filter.2.Value.1={vpc}");
            let found = call(&engine, &format!("DescribeRouteTables&{filter}&{here}")).await.unwrap();
            assert_eq!(texts(&found, "routeTableId"), [table.as_str()], "{name}={value}");
        }
    });
}

/// What a gateway did not live to tell its node, the next one tells: of a VPC that is there, and of one that is not.
#[test]
fn at_a_start_a_node_is_told_of_every_network_that_there_is_or_was() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine_with(dir.path(), Refusing::new(), Arc::new(Timestamp::now)).await;
        let there = support::first(&engine, "CreateVpc&CidrBlock=10.0.0.0/16", "vpcId").await;
        let gone = support::first(&engine, "CreateVpc&CidrBlock=10.1.0.0/16", "vpcId").await;
        call(&engine, &format!("DeleteVpc&VpcId={gone}")).await.unwrap();
        drop(engine);
        // The tasks of the first one let its store go.
        let again = loop {
            let networks =
                [&there, &gone].map(|vpc| (AccountId::new(support::ACCOUNT), Id::new(vpc.as_str())));
            let node = Arc::new(Refusing {
                networks: networks.to_vec(),
                ..Arc::into_inner(Refusing::new()).unwrap()
            });
            if eos_store::EmbeddedRecords::open(
                &dir.path().join("store.redb"),
                eos_store::Durability::Relaxed,
            )
            .is_ok()
            {
                break node;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        };
        let _engine = engine_with(dir.path(), Arc::clone(&again) as _, Arc::new(Timestamp::now)).await;
        let given = again.given.lock().unwrap().clone();
        for vpc in [there, gone] {
            assert_eq!(given.iter().filter(|order| order.contains(&vpc)).count(), 1, "{vpc}: {given:?}");
        }
    });
}
