//! What cannot be done yet, or no more: with a node that takes orders and never says what became of them.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use hive_ec2::node::{Answer, Reports, Work};
use hive_ec2::{Node, NodeId};
use jiff::Timestamp;
use support::{call, engine, engine_with, first, runtime, settled};

struct Silent(NodeId);

impl Node for Silent {
    fn id(&self) -> &NodeId {
        &self.0
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }

    fn accept<'a>(&'a self, _: Work, _: &'a Reports) -> Answer<'a, ()> {
        Box::pin(async {})
    }
}

const RUN: &str = "RunInstances&MinCount=1&MaxCount=1&ImageId=ami-00000000000000d01";

#[test]
fn what_is_not_made_yet_cannot_be_stopped_kept_or_changed() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Arc::new(Silent(NodeId::new("test")));
        let engine = engine_with(dir.path(), node, Arc::new(Timestamp::now)).await;
        let instance = first(&engine, RUN, "instanceId").await;
        let volume =
            first(&engine, "CreateVolume&AvailabilityZone=us-east-1a&Size=1&VolumeType=gp3", "volumeId")
                .await;
        let stop = call(&engine, &format!("StopInstances&InstanceId.1={instance}")).await.unwrap_err();
        assert_eq!(stop.code, "IncorrectInstanceState");
        assert!(stop.message.ends_with("it has never reached the 'running' state."), "{}", stop.message);
        let snapshot = format!("CreateSnapshot&VolumeId={volume}");
        let modify = format!("ModifyVolume&VolumeId={volume}&Size=2");
        for query in [&snapshot, &modify] {
            let refused = call(&engine, query).await.unwrap_err();
            assert_eq!((&*refused.code, refused.message.contains("'creating'")), ("IncorrectState", true));
        }
        call(&engine, &format!("DeleteVolume&VolumeId={volume}")).await.unwrap();
        for query in [&snapshot, &modify] {
            let refused = call(&engine, query).await.unwrap_err();
            assert_eq!((&*refused.code, refused.message.contains("'deleting'")), ("IncorrectState", true));
        }
    });
}

#[test]
fn a_refusal_says_what_cannot_be_done_and_what_the_instance_is() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let instance = first(&engine, RUN, "instanceId").await;
        settled(&engine).await;
        call(&engine, &format!("TerminateInstances&InstanceId.1={instance}")).await.unwrap();
        settled(&engine).await;
        for (action, what) in
            [("StartInstances", "started"), ("StopInstances", "stopped"), ("RebootInstances", "rebooted")]
        {
            let refused = call(&engine, &format!("{action}&InstanceId.1={instance}")).await.unwrap_err();
            let told = format!("The instance '{instance}' is not in a state from which it can be {what}");
            assert_eq!(refused.message, format!("{told}: it is terminated."), "{action}");
        }
    });
}
