//! State machines with a node that can refuse, and with time from outside.

#![allow(clippy::unwrap_used)]

mod support;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use hive_ec2::node::{Order, Report, Reports, Work};
use hive_ec2::{Engine, Node, NodeId, RecordsNode};
use jiff::Timestamp;
use support::{call, engine_with, runtime, texts};

const IMAGE: &str = "ami-00000000000000d01";

/// Starts no machine while it is told to refuse.
struct Refusing {
    id: NodeId,
    refuses: AtomicBool,
}

impl Node for Refusing {
    fn id(&self) -> &NodeId {
        &self.id
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }

    fn accept<'a>(
        &'a self,
        work: Work,
        reports: &'a Reports,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let refused =
                matches!(work.order, Order::StartInstance(_)) && self.refuses.load(Ordering::Relaxed);
            let result = if refused { Err("no memory".to_owned()) } else { Ok(()) };
            let _ = reports.send(Report { work, result });
        })
    }
}

async fn until(engine: &Arc<Engine>, query: &str, state: &str) -> String {
    for _ in 0..5_000 {
        let answer = call(engine, query).await.unwrap();
        if texts(&answer, "name").first().is_some_and(|name| name == state) {
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
        let node = Arc::new(Refusing { id: NodeId::new("test"), refuses: AtomicBool::new(false) });
        let engine = engine_with(dir.path(), Arc::clone(&node) as _, Arc::new(Timestamp::now)).await;
        let id = run_instance(&engine).await;
        let describe = format!("DescribeInstances&InstanceId.1={id}");
        until(&engine, &describe, "running").await;
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        until(&engine, &describe, "stopped").await;
        node.refuses.store(true, Ordering::Relaxed);
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
fn an_address_stays_with_its_nat_gateway() {
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
        ] {
            assert_eq!(call(&engine, &query).await.unwrap_err().code, "AuthFailure", "{query}");
        }
    });
}
