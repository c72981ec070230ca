//! What a launch may ask for, and where its instances lie.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use hive_ec2::{Engine, Environment, NodeId, RecordsNode};
use support::{call, engine, engine_of, runtime, settled, texts};

const RUN: &str = "RunInstances&ImageId=ami-00000000000000d01&InstanceType=m5.large";

async fn group(engine: &Arc<Engine>, name: &str, more: &str) -> String {
    let made = call(engine, &format!("CreatePlacementGroup&GroupName={name}&{more}")).await.unwrap();
    texts(&made, "groupId").remove(0)
}

async fn code(engine: &Arc<Engine>, query: &str) -> String {
    call(engine, query).await.expect_err(query).code.into_owned()
}

async fn until(engine: &Arc<Engine>, instance: &str, state: &str) {
    for _ in 0..4_000 {
        let found = call(engine, &format!("DescribeInstances&InstanceId.1={instance}")).await.unwrap();
        if texts(&found, "name").first().is_some_and(|name| name == state) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("{instance} never was {state}");
}

#[test]
fn a_group_in_use_stays_by_whichever_name() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let id = group(&engine, "used", "Strategy=cluster").await;
        let run = format!("{RUN}&MinCount=1&MaxCount=1&Placement.GroupName=used");
        call(&engine, &run).await.unwrap();
        // The provider reads which group it is from either.
        let placed = call(&engine, "DescribeInstances").await.unwrap();
        let placement = texts(&placed, "placement").remove(0);
        assert_eq!(
            (texts(&placement, "groupName"), texts(&placement, "groupId")),
            (vec!["used".to_owned()], vec![id.clone()])
        );
        for name in ["used", &id] {
            let delete = format!("DeletePlacementGroup&GroupName={name}");
            assert_eq!(code(&engine, &delete).await, "InvalidPlacementGroup.InUse");
        }
        let other = group(&engine, "free", "Strategy=cluster").await;
        call(&engine, &format!("DeletePlacementGroup&GroupName={other}")).await.unwrap();
        assert_eq!(
            code(&engine, &format!("DeletePlacementGroup&GroupName={other}")).await,
            "InvalidPlacementGroup.Unknown"
        );
    });
}

#[test]
fn a_cluster_lies_in_one_zone() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        group(&engine, "near", "Strategy=cluster").await;
        let run = |zone: &str| {
            format!("{RUN}&MinCount=1&MaxCount=1&Placement.GroupName=near&Placement.AvailabilityZone={zone}")
        };
        call(&engine, &run("us-east-1b")).await.unwrap();
        assert_eq!(code(&engine, &run("us-east-1a")).await, "InvalidPlacementGroup.InUse");
        call(&engine, &run("us-east-1b")).await.unwrap();
        group(&engine, "far", "Strategy=partition&PartitionCount=2").await;
        for zone in ["us-east-1a", "us-east-1b"] {
            call(&engine, &run(zone).replace("near", "far")).await.unwrap();
        }
    });
}

#[test]
fn as_many_are_launched_as_fit() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let vpc = texts(&call(&engine, "CreateVpc&CidrBlock=10.0.0.0/16").await.unwrap(), "vpcId").remove(0);
        let make = format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.1.0/28");
        let subnet = texts(&call(&engine, &make).await.unwrap(), "subnetId").remove(0);
        let all = format!("{RUN}&SubnetId={subnet}&MinCount=12&MaxCount=20");
        assert_eq!(code(&engine, &all).await, "InsufficientFreeAddressesInSubnet");
        let some = format!("{RUN}&SubnetId={subnet}&MinCount=1&MaxCount=20");
        let launched = call(&engine, &some).await.unwrap();
        assert_eq!(texts(&launched, "amiLaunchIndex").len(), 11);
        assert_eq!(code(&engine, &some).await, "InsufficientFreeAddressesInSubnet");
        // Two addresses each.
        let make = format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.2.0/28");
        let subnet = texts(&call(&engine, &make).await.unwrap(), "subnetId").remove(0);
        let pairs = format!(
            "{RUN}&MinCount=1&MaxCount=20&NetworkInterface.1.DeviceIndex=0&NetworkInterface.1.SubnetId={subnet}\
             &NetworkInterface.1.SecondaryPrivateIpAddressCount=1"
        );
        assert_eq!(texts(&call(&engine, &pairs).await.unwrap(), "amiLaunchIndex").len(), 5);
    });
}

#[test]
fn a_spread_group_has_seven_in_a_zone() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        group(&engine, "apart", "Strategy=spread").await;
        let run = format!("{RUN}&Placement.GroupName=apart");
        assert_eq!(
            code(&engine, &format!("{run}&MinCount=8&MaxCount=8")).await,
            "InsufficientInstanceCapacity"
        );
        let launched = call(&engine, &format!("{run}&MinCount=1&MaxCount=8")).await.unwrap();
        let instances = texts(&launched, "instanceId");
        assert_eq!(texts(&launched, "amiLaunchIndex").len(), 7);
        let one = format!("{run}&MinCount=1&MaxCount=1");
        assert_eq!(code(&engine, &one).await, "InsufficientInstanceCapacity");
        call(&engine, &format!("{one}&Placement.AvailabilityZone=us-east-1b")).await.unwrap();
        // A stopped one leaves its place, which another may have when it wants to start again.
        until(&engine, &instances[0], "running").await;
        call(&engine, &format!("StopInstances&InstanceId.1={}", instances[0])).await.unwrap();
        until(&engine, &instances[0], "stopped").await;
        call(&engine, &one).await.unwrap();
        let start = format!("StartInstances&InstanceId.1={}", instances[0]);
        assert_eq!(code(&engine, &start).await, "InsufficientInstanceCapacity");
    });
}

#[test]
fn partitions_are_filled_evenly_and_none_is_made_up() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        group(&engine, "parts", "Strategy=partition&PartitionCount=3").await;
        group(&engine, "near", "Strategy=cluster").await;
        let run = format!("{RUN}&Placement.GroupName=parts");
        let second = format!("{run}&MinCount=1&MaxCount=1&Placement.PartitionNumber=2");
        assert_eq!(texts(&call(&engine, &second).await.unwrap(), "partitionNumber"), ["2"]);
        let launched = call(&engine, &format!("{run}&MinCount=5&MaxCount=5")).await.unwrap();
        let mut found = texts(&launched, "partitionNumber");
        found.sort_unstable();
        assert_eq!(found, ["1", "1", "2", "3", "3"]);
        for number in ["0", "4", "99"] {
            let query = format!("{run}&MinCount=1&MaxCount=1&Placement.PartitionNumber={number}");
            assert_eq!(code(&engine, &query).await, "InvalidParameterValue");
        }
        for place in ["Placement.GroupName=near&", ""] {
            let query = format!("{RUN}&MinCount=1&MaxCount=1&{place}Placement.PartitionNumber=1");
            assert_eq!(code(&engine, &query).await, "InvalidParameterCombination");
        }
    });
}

#[test]
fn what_the_type_cannot_have_is_refused_at_launch_and_later() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let run = "RunInstances&ImageId=ami-00000000000000d01&MinCount=1&MaxCount=1";
        for (expected, more) in [
            (
                "InvalidParameterValue",
                "InstanceType=m5.large&CpuOptions.CoreCount=999&CpuOptions.ThreadsPerCore=7",
            ),
            ("InvalidParameterValue", "InstanceType=m5.large&CpuOptions.ThreadsPerCore=3"),
            ("InvalidParameterValue", "InstanceType=m5.2xlarge&CpuOptions.CoreCount=3"),
            ("UnsupportedOperation", "InstanceType=t2.micro&CpuOptions.CoreCount=1"),
            (
                "InvalidParameterValue",
                "CapacityReservationSpecification.CapacityReservationPreference=banana",
            ),
            (
                "ReservationCapacityExceeded",
                "CapacityReservationSpecification.CapacityReservationPreference=capacity-reservations-only",
            ),
            ("InsufficientHostCapacity", "Placement.Tenancy=host"),
        ] {
            assert_eq!(code(&engine, &format!("{run}&{more}")).await, expected, "{more}");
        }
        let fits =
            format!("{run}&InstanceType=m5.2xlarge&CpuOptions.CoreCount=2&CpuOptions.ThreadsPerCore=1");
        let launched = call(&engine, &fits).await.unwrap();
        assert_eq!(texts(&launched, "coreCount"), ["2"]);
        let id = texts(&launched, "instanceId").remove(0);
        until(&engine, &id, "running").await;
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        until(&engine, &id, "stopped").await;
        let modify = format!("ModifyInstanceCpuOptions&InstanceId={id}&ThreadsPerCore=2&CoreCount=");
        assert_eq!(code(&engine, &format!("{modify}3")).await, "InvalidParameterValue");
        call(&engine, &format!("{modify}4")).await.unwrap();
        let modify = format!(
            "ModifyInstanceCapacityReservationAttributes&InstanceId={id}\
             &CapacityReservationSpecification.CapacityReservationPreference="
        );
        assert_eq!(code(&engine, &format!("{modify}banana")).await, "InvalidParameterValue");
        call(&engine, &format!("{modify}none")).await.unwrap();
    });
}

#[test]
fn a_resource_name_is_the_instances_own() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let one = format!("{RUN}&MinCount=1&MaxCount=1");
        let named = |answer: &str| {
            let (id, name) =
                (texts(answer, "instanceId").remove(0), texts(answer, "privateDnsName").remove(0));
            name == format!("{id}.ec2.internal")
        };
        let plain = call(&engine, &one).await.unwrap();
        assert!(texts(&plain, "privateDnsName")[0].starts_with("ip-172-31-"), "{plain}");
        let own = format!("{one}&PrivateDnsNameOptions.HostnameType=resource-name");
        assert!(named(&call(&engine, &own).await.unwrap()));
        // The subnet says it where the request does not.
        let subnet = texts(&plain, "subnetId").remove(0);
        let modify =
            format!("ModifySubnetAttribute&SubnetId={subnet}&PrivateDnsHostnameTypeOnLaunch=resource-name");
        call(&engine, &modify).await.unwrap();
        assert!(named(&call(&engine, &format!("{one}&SubnetId={subnet}")).await.unwrap()));
    });
}

/// What its launch permissions say of an image holds: whoever has one sees it and starts machines from it, nobody else does.
#[test]
fn an_image_is_shared_with_whom_it_says() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let (friend, stranger) = ("100000000002", "100000000003");
        let run = "RunInstances&MinCount=1&MaxCount=1&ImageId=";
        let instance = support::first(&engine, &format!("{run}ami-00000000000000d01"), "instanceId").await;
        until(&engine, &instance, "running").await;
        let tags = "TagSpecification.1.ResourceType=image&TagSpecification.1.Tag.1.Key=k&TagSpecification.1.Tag.1.Value=v";
        let create = format!("CreateImage&InstanceId={instance}&Name=shared&{tags}");
        let image = support::first(&engine, &create, "imageId").await;
        support::settled(&engine).await;
        let as_one = async |who: &str, query: String| support::call_as(&engine, who, &query).await;
        let sees = async |who: &str, more: &str| {
            let listed = as_one(who, format!("DescribeImages{more}")).await.unwrap();
            texts(&listed, "imageId").contains(&image)
        };
        let modify = format!("ModifyImageAttribute&ImageId={image}&LaunchPermission");
        assert!(!sees(friend, "").await);
        call(&engine, &format!("{modify}.Add.1.UserId={friend}")).await.unwrap();
        for (who, there) in [(friend, true), (stranger, false)] {
            for more in ["", "&Owner.1=100000000001", "&Filter.1.Name=is-public&Filter.1.Value.1=false"] {
                assert_eq!(sees(who, more).await, there, "{who} {more}");
            }
            assert!(!sees(who, "&Owner.1=self").await && !sees(who, "&ExecutableBy.1=all").await);
            assert_eq!(sees(who, "&ExecutableBy.1=self").await, there, "{who}");
            let named = as_one(who, format!("DescribeImages&ImageId.1={image}")).await;
            assert_eq!(named.is_ok(), there, "{named:?}");
            // Accounts that were never started with have no default VPC.
            let vpc = as_one(who, "CreateVpc&CidrBlock=10.0.0.0/16".to_owned()).await.unwrap();
            let subnet = format!("CreateSubnet&VpcId={}&CidrBlock=10.0.0.0/24", texts(&vpc, "vpcId")[0]);
            let subnet = texts(&as_one(who, subnet).await.unwrap(), "subnetId").remove(0);
            let started = as_one(who, format!("{run}{image}&SubnetId={subnet}")).await;
            let code = started.as_ref().err().map(|error| error.code.as_ref());
            assert_eq!(code, (!there).then_some("InvalidAMIID.NotFound"), "{started:?}");
        }
        let seen = as_one(friend, format!("DescribeImages&ImageId.1={image}")).await.unwrap();
        assert_eq!(texts(&seen, "imageOwnerId"), ["100000000001"]);
        assert!(!seen.contains("<key>k</key>"), "tags are their owner's alone: {seen}");
        // Whom else it is lent to, its owner alone knows.
        let third = "100000000004";
        call(&engine, &format!("{modify}.Add.1.UserId={third}")).await.unwrap();
        let by_third = format!("&ExecutableBy.1={third}");
        assert!(sees(support::ACCOUNT, &by_third).await && !sees(friend, &by_third).await);
        assert!(sees(friend, &format!("&ExecutableBy.1={friend}")).await);
        // It is lent, not given.
        for (query, code) in [
            (format!("{modify}.Add.1.Group=all"), "AuthFailure"),
            (format!("DeregisterImage&ImageId={image}"), "AuthFailure"),
            (format!("CopyImage&SourceRegion=us-east-1&SourceImageId={image}&Name=mine"), "InvalidRequest"),
        ] {
            assert_eq!(as_one(friend, query.clone()).await.unwrap_err().code, code, "{query}");
        }
        call(&engine, &format!("{modify}.Add.1.Group=all")).await.unwrap();
        assert!(sees(stranger, "&ExecutableBy.1=all").await && sees(friend, "").await);
        call(&engine, &format!("ResetImageAttribute&ImageId={image}&Attribute=launchPermission")).await.unwrap();
        assert!(!sees(stranger, "").await && !sees(friend, "").await && sees(support::ACCOUNT, "").await);
        assert_eq!(engine.dangling(), Vec::<String>::new());
    });
}

#[test]
fn a_templates_interfaces_and_a_subnet_of_the_request_do_not_go_together() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let data = "LaunchTemplateData.ImageId=ami-00000000000000d01&LaunchTemplateData.NetworkInterface.1";
        let make = format!("CreateLaunchTemplate&LaunchTemplateName=own&{data}.DeviceIndex=0");
        call(&engine, &make).await.unwrap();
        let subnet = call(&engine, "DescribeSubnets").await.unwrap();
        let subnet = texts(&subnet, "subnetId").remove(0);
        let groups = call(&engine, "DescribeSecurityGroups").await.unwrap();
        let group = texts(&groups, "groupId").remove(0);
        let run = "RunInstances&MinCount=1&MaxCount=1&LaunchTemplate.LaunchTemplateName=own";
        for (more, what) in [
            (format!("SubnetId={subnet}"), "subnet ID"),
            (format!("SecurityGroupId.1={group}"), "security groups"),
            ("PrivateIpAddress=172.31.0.9".to_owned(), "private IP address"),
        ] {
            let refused = call(&engine, &format!("{run}&{more}")).await.expect_err(&more);
            assert_eq!(refused.code, "InvalidParameterCombination", "{more}");
            assert_eq!(
                refused.message,
                format!(
                    "Network interfaces and an instance-level {what} may not be specified on the same request"
                )
            );
        }
        let interface = "NetworkInterface.1.DeviceIndex=0&NetworkInterface.1.SubnetId";
        call(&engine, &format!("{run}&{interface}={subnet}")).await.unwrap();
    });
}

#[test]
fn the_table_has_the_types_that_people_ask_for() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        for (name, vcpus, memory) in [
            ("m5.metal", "96", "393216"),
            ("m7g.16xlarge", "64", "262144"),
            ("m8g.large", "2", "8192"),
            ("c7a.large", "2", "4096"),
            ("c5n.18xlarge", "72", "196608"),
            ("g4dn.xlarge", "4", "16384"),
            ("p4d.24xlarge", "96", "1179648"),
            ("i3.large", "2", "15616"),
            ("m4.large", "2", "8192"),
            ("m7i-flex.large", "2", "8192"),
            ("t2.nano", "1", "512"),
        ] {
            let found = call(&engine, &format!("DescribeInstanceTypes&InstanceType.1={name}")).await.unwrap();
            assert_eq!(texts(&found, "defaultVCpus"), [vcpus], "{name}");
            // That of a GPU comes behind it.
            assert_eq!(texts(&found, "sizeInMiB")[0], memory, "{name}");
        }
        let metal = "DescribeInstanceTypes&Filter.1.Name=bare-metal&Filter.1.Value.1=true&Filter.2.Name=instance-type";
        let metal = call(&engine, &format!("{metal}&Filter.2.Value.1=m5.*")).await.unwrap();
        assert_eq!(texts(&metal, "instanceType"), ["m5.metal"]);
        assert_eq!(texts(&metal, "hypervisor"), Vec::<String>::new());
        group(&engine, "near", "Strategy=cluster").await;
        let run = "RunInstances&ImageId=ami-00000000000000d01&MinCount=1&MaxCount=1&Placement.GroupName=near";
        let query = format!("{run}&InstanceType=t3.micro");
        assert_eq!(code(&engine, &query).await, "InvalidParameterCombination");
        call(&engine, &format!("{run}&InstanceType=c5.large")).await.unwrap();
    });
}

#[test]
fn a_machine_does_not_start_without_its_root() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let launched = call(&engine, &format!("{RUN}&MinCount=1&MaxCount=1")).await.unwrap();
        let id = texts(&launched, "instanceId").remove(0);
        until(&engine, &id, "running").await;
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        until(&engine, &id, "stopped").await;
        let found = call(&engine, &format!("DescribeInstances&InstanceId.1={id}")).await.unwrap();
        let volume = texts(&found, "volumeId").remove(0);
        call(&engine, &format!("DetachVolume&VolumeId={volume}")).await.unwrap();
        support::settled(&engine).await;
        let start = format!("StartInstances&InstanceId.1={id}");
        assert_eq!(code(&engine, &start).await, "InvalidParameterValue");
        call(&engine, &format!("AttachVolume&VolumeId={volume}&InstanceId={id}&Device=/dev/xvda"))
            .await
            .unwrap();
        call(&engine, &start).await.unwrap();
    });
}

#[test]
fn without_a_default_network_a_launch_names_one() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        assert_eq!(code(&engine, "CreateDefaultVpc").await, "DefaultVpcAlreadyExists");
        let found = call(&engine, "DescribeSubnets").await.unwrap();
        for subnet in texts(&found, "subnetId") {
            call(&engine, &format!("DeleteSubnet&SubnetId={subnet}")).await.unwrap();
        }
        let run = format!("{RUN}&MinCount=1&MaxCount=1");
        assert_eq!(code(&engine, &run).await, "MissingInput");
        let gateways = call(&engine, "DescribeInternetGateways").await.unwrap();
        let (gateway, vpc) = (&texts(&gateways, "internetGatewayId")[0], &texts(&gateways, "vpcId")[0]);
        call(&engine, &format!("DetachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}"))
            .await
            .unwrap();
        call(&engine, &format!("DeleteVpc&VpcId={vpc}")).await.unwrap();
        assert_eq!(code(&engine, &run).await, "VPCIdNotSpecified");
        let made = call(&engine, "CreateDefaultVpc").await.unwrap();
        assert_eq!(
            (&texts(&made, "isDefault")[0][..], &texts(&made, "cidrBlock")[0][..]),
            ("true", "172.31.0.0/16")
        );
        call(&engine, &run).await.unwrap();
    });
}

#[test]
fn an_interface_that_exists_is_taken_as_it_is() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let subnets = "DescribeSubnets&Filter.1.Name=availability-zone&Filter.1.Value.1=us-east-1b";
        let subnet = support::first(&engine, subnets, "subnetId").await;
        let make = format!("CreateNetworkInterface&SubnetId={subnet}");
        let interface = support::first(&engine, &make, "networkInterfaceId").await;
        let group = support::first(&engine, "DescribeSecurityGroups", "groupId").await;
        let plug = "NetworkInterface.1";
        let run =
            format!("{RUN}&MinCount=1&MaxCount=1&{plug}.DeviceIndex=0&{plug}.NetworkInterfaceId={interface}");
        for more in [
            format!("SecurityGroupId.1={group}"),
            format!("SubnetId={subnet}"),
            "SubnetId=subnet-0123456789abcdef0".to_owned(),
            "Description=mine".to_owned(),
            "PrivateIpAddress=172.31.0.9".to_owned(),
            "PrivateIpAddresses.1.PrivateIpAddress=172.31.0.9".to_owned(),
            "SecondaryPrivateIpAddressCount=1".to_owned(),
            "AssociatePublicIpAddress=true".to_owned(),
            "AssociatePublicIpAddress=false".to_owned(),
        ] {
            let query = format!("{run}&{plug}.{more}");
            assert_eq!(code(&engine, &query).await, "InvalidParameterCombination", "{query}");
        }
        let elsewhere = format!("{run}&Placement.AvailabilityZone=us-east-1a");
        assert_eq!(code(&engine, &elsewhere).await, "InvalidParameterValue");
        let here = format!("{run}&{plug}.DeleteOnTermination=true&Placement.AvailabilityZone=us-east-1b");
        call(&engine, &here).await.unwrap();
    });
}

/// An address that came with an instance goes with it, and with its interface's attachment.
#[test]
fn a_public_address_does_not_outlive_its_attachment() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let subnet = support::first(&engine, "DescribeSubnets", "subnetId").await;
        let plug = |number: u8, more: &str| {
            let plug = format!("&NetworkInterface.{number}");
            format!("{plug}.DeviceIndex={}{plug}.SubnetId={subnet}{plug}.{more}", number - 1)
        };
        let run = format!("{RUN}&MinCount=1&MaxCount=1");
        for public in ["AssociatePublicIpAddress=true", "AssociatePublicIpAddress=false"] {
            for (first, second) in [("Description=a", public), (public, "Description=a")] {
                let query = format!("{run}{}{}", plug(1, first), plug(2, second));
                assert_eq!(code(&engine, &query).await, "InvalidParameterCombination", "{query}");
            }
        }
        let own = plug(1, "AssociatePublicIpAddress=true") + "&NetworkInterface.1.DeleteOnTermination=false";
        let launched = call(&engine, &format!("{run}{own}")).await.unwrap();
        let id = texts(&launched, "instanceId").remove(0);
        let interface = texts(&launched, "networkInterfaceId").remove(0);
        until(&engine, &id, "running").await;
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        until(&engine, &id, "stopped").await;
        call(&engine, &format!("TerminateInstances&InstanceId.1={id}")).await.unwrap();
        until(&engine, &id, "terminated").await;
        let again = "NetworkInterface.1.DeviceIndex=0&NetworkInterface.1.NetworkInterfaceId";
        let id = support::first(&engine, &format!("{run}&{again}={interface}"), "instanceId").await;
        until(&engine, &id, "running").await;
        let found =
            call(&engine, &format!("DescribeNetworkInterfaces&NetworkInterfaceId.1={interface}")).await;
        assert_eq!(texts(&found.unwrap(), "publicIp"), Vec::<String>::new());
    });
}

#[test]
fn a_machine_keeps_its_architecture_when_its_image_is_gone() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let id = support::first(&engine, &format!("{RUN}&MinCount=1&MaxCount=1"), "instanceId").await;
        until(&engine, &id, "running").await;
        let create = format!("CreateImage&InstanceId={id}&Name=image");
        let image = support::first(&engine, &create, "imageId").await;
        support::settled(&engine).await;
        let run = format!("RunInstances&ImageId={image}&MinCount=1&MaxCount=1");
        let id = support::first(&engine, &run, "instanceId").await;
        until(&engine, &id, "running").await;
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        until(&engine, &id, "stopped").await;
        let modify = format!("ModifyInstanceAttribute&InstanceId={id}&InstanceType.Value");
        assert_eq!(code(&engine, &format!("{modify}=t4g.micro")).await, "InvalidParameterValue");
        call(&engine, &format!("DeregisterImage&ImageId={image}")).await.unwrap();
        assert_eq!(code(&engine, &format!("{modify}=t4g.micro")).await, "InvalidParameterValue");
        call(&engine, &format!("{modify}=m5.xlarge")).await.unwrap();
    });
}

#[test]
fn instances_of_a_dedicated_network_are_dedicated() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        for (tenancy, asked, told) in [
            ("dedicated", "", "dedicated"),
            ("dedicated", "&Placement.Tenancy=default", "dedicated"),
            ("default", "", "default"),
            ("default", "&Placement.Tenancy=dedicated", "dedicated"),
        ] {
            let vpc = format!("CreateVpc&CidrBlock=10.0.0.0/16&InstanceTenancy={tenancy}");
            let vpc = texts(&call(&engine, &vpc).await.unwrap(), "vpcId").remove(0);
            let subnet = format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/24");
            let subnet = texts(&call(&engine, &subnet).await.unwrap(), "subnetId").remove(0);
            let run = format!("{RUN}&MinCount=1&MaxCount=1&SubnetId={subnet}{asked}");
            assert_eq!(texts(&call(&engine, &run).await.unwrap(), "tenancy"), [told], "{tenancy}{asked}");
        }
    });
}

#[test]
fn an_instance_starts_as_its_image_asks_and_its_type_can() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let register = "RegisterImage&RootDeviceName=/dev/xvda&BlockDeviceMapping.1.DeviceName=/dev/xvda\
                        &BlockDeviceMapping.1.Ebs.SnapshotId=snap-00000000000000d01";
        let old = call(&engine, &format!("{register}&Name=old&Architecture=x86_64")).await.unwrap();
        let bios = format!("{register}&Name=bios&Architecture=x86_64&BootMode=legacy-bios&EnaSupport=true");
        let bios = call(&engine, &bios).await.unwrap();
        let (old, bios) = (texts(&old, "imageId").remove(0), texts(&bios, "imageId").remove(0));
        settled(&engine).await;
        let both = "ami-00000000000000d01";
        for (image, kind, asked, current, ena) in [
            (both, "t3.micro", Some("uefi-preferred"), "uefi", "true"),
            (both, "t2.micro", Some("uefi-preferred"), "legacy-bios", "true"),
            ("ami-00000000000000d02", "t4g.micro", Some("uefi"), "uefi", "true"),
            (&bios, "t3.micro", Some("legacy-bios"), "legacy-bios", "true"),
            (&old, "t2.micro", None, "legacy-bios", "false"),
        ] {
            let run = format!("RunInstances&MinCount=1&MaxCount=1&ImageId={image}&InstanceType={kind}");
            let id = texts(&call(&engine, &run).await.unwrap(), "instanceId").remove(0);
            let filter = |number: u32, name: &str, value: &str| {
                format!("&Filter.{number}.Name={name}&Filter.{number}.Value.1={value}")
            };
            let mut found = format!("DescribeInstances&InstanceId.1={id}");
            found += &filter(1, "current-instance-boot-mode", current);
            found += &filter(2, "ena-support", ena);
            found += &asked.map(|mode| filter(3, "boot-mode", mode)).unwrap_or_default();
            let found = call(&engine, &found).await.unwrap();
            assert_eq!(texts(&found, "bootMode"), Vec::from_iter(asked), "{image} {kind}");
            assert_eq!(texts(&found, "currentInstanceBootMode"), [current], "{image} {kind}");
            assert_eq!(texts(&found, "enaSupport"), [ena], "{image} {kind}");
            let attribute = format!("DescribeInstanceAttribute&InstanceId={id}&Attribute=enaSupport");
            assert_eq!(texts(&call(&engine, &attribute).await.unwrap(), "value"), [ena], "{image} {kind}");
        }
    });
}

#[test]
fn a_type_that_needs_ena_takes_no_image_without_it() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let old = "RegisterImage&Name=old&Architecture=x86_64&RootDeviceName=/dev/xvda\
                   &BlockDeviceMapping.1.DeviceName=/dev/xvda&BlockDeviceMapping.1.Ebs.SnapshotId=snap-00000000000000d01";
        let old = texts(&call(&engine, old).await.unwrap(), "imageId").remove(0);
        settled(&engine).await;
        let run = format!("RunInstances&MinCount=1&MaxCount=1&ImageId={old}");
        for (kind, needs) in
            [("", "t3.micro"), ("&InstanceType=m5.large", "m5.large"), ("&InstanceType=m5.metal", "m5.metal")]
        {
            for dry in ["", "&DryRun=true"] {
                let refused = call(&engine, &format!("{run}{kind}{dry}")).await.unwrap_err();
                let message = format!(
                    "Enhanced networking with the Elastic Network Adapter (ENA) is required for the '{needs}' instance \
                     type. Ensure that you are using an AMI that is enabled for ENA."
                );
                assert_eq!((&*refused.code, refused.message), ("InvalidParameterCombination", message));
            }
        }
        // On Xen there is either no such adapter or another beside it; an instance keeps what its image said.
        call(&engine, &format!("{run}&InstanceType=i3.large")).await.unwrap();
        let launched = call(&engine, &format!("{run}&InstanceType=t2.micro")).await.unwrap();
        let id = texts(&launched, "instanceId").remove(0);
        settled(&engine).await;
        call(&engine, &format!("DeregisterImage&ImageId={old}")).await.unwrap();
        call(&engine, &format!("StopInstances&InstanceId.1={id}")).await.unwrap();
        settled(&engine).await;
        let change = |kind: &str| format!("ModifyInstanceAttribute&InstanceId={id}&InstanceType.Value={kind}");
        let refused = call(&engine, &change("t3.micro")).await.unwrap_err();
        assert_eq!(&*refused.code, "InvalidParameterCombination");
        assert!(refused.message.ends_with("Ensure that your instance is enabled for ENA."), "{}", refused.message);
        call(&engine, &change("t2.small")).await.unwrap();
        // An image that is made of it has no ENA either.
        let made = call(&engine, &format!("CreateImage&InstanceId={id}&Name=again")).await.unwrap();
        let made = texts(&made, "imageId").remove(0);
        settled(&engine).await;
        let again = format!("RunInstances&MinCount=1&MaxCount=1&ImageId={made}&InstanceType=t3.micro");
        assert_eq!(&*call(&engine, &again).await.unwrap_err().code, "InvalidParameterCombination");
    });
}

#[test]
fn two_interfaces_in_one_place_are_refused_by_what_was_asked() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let twice = "&NetworkInterface.1.DeviceIndex=0&NetworkInterface.2.DeviceIndex=0";
        let refused = call(&engine, &format!("{RUN}&MinCount=1&MaxCount=1{twice}")).await.unwrap_err();
        let message = "Each network interface requires a unique device index.";
        assert_eq!((&*refused.code, &*refused.message), ("InvalidParameterValue", message));
    });
}

#[test]
fn a_type_has_the_disks_gpus_and_offers_of_ec2s() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let of = async |kind: &str| {
            call(&engine, &format!("DescribeInstanceTypes&InstanceType.1={kind}")).await.unwrap()
        };
        for (kind, storage, total, gpus, ebs, free) in [
            ("t3.micro", "false", None, None, "default", "true"),
            ("m5d.large", "true", Some("75"), None, "default", "false"),
            ("i3.16xlarge", "true", Some("15200"), None, "default", "false"),
            ("g4dn.12xlarge", "true", Some("900"), Some("65536"), "default", "false"),
            ("t2.micro", "false", None, None, "unsupported", "false"),
            ("t8i.micro", "false", None, None, "default", "true"),
            ("c9gd.large", "true", Some("118"), None, "default", "false"),
            ("g7.12xlarge", "true", Some("1900"), Some("65536"), "default", "false"),
        ] {
            let found = of(kind).await;
            assert_eq!(texts(&found, "instanceStorageSupported"), [storage], "{kind}");
            assert_eq!(texts(&found, "totalSizeInGB"), Vec::from_iter(total), "{kind}");
            assert_eq!(texts(&found, "totalGpuMemoryInMiB"), Vec::from_iter(gpus), "{kind}");
            assert_eq!(texts(&found, "ebsOptimizedSupport"), [ebs], "{kind}");
            assert_eq!(texts(&found, "freeTierEligible"), [free], "{kind}");
        }
        assert_eq!(texts(&of("i3.16xlarge").await, "nvmeSupport"), ["required", "supported"]);
        let free =
            call(&engine, "DescribeInstanceTypes&Filter.1.Name=free-tier-eligible&Filter.1.Value.1=true");
        assert!(texts(&free.await.unwrap(), "instanceType").contains(&"t3.micro".to_owned()));
    });
}

#[test]
fn as_many_are_launched_as_the_store_takes_at_once() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let node = Arc::new(RecordsNode::new(NodeId::new("test")));
        let mut environment = Environment::new("us-east-1", NodeId::new("test"));
        // An instance, its interface and its disk each.
        environment.largest_change = Some(eos_store::LargestBatch { changes: 3 + 3 * 7, bytes: 30_000 });
        let engine = engine_of(dir.path(), node, Arc::new(jiff::Timestamp::now), environment).await;
        let launched = call(&engine, &format!("{RUN}&MinCount=1&MaxCount=20")).await.unwrap();
        assert_eq!(texts(&launched, "amiLaunchIndex").len(), 7);
        let kept = format!("{RUN}&MinCount=1&MaxCount=20&ClientToken=kept");
        let launched = call(&engine, &kept).await.unwrap();
        assert!(launched.len() < 30_000 && !texts(&launched, "amiLaunchIndex").is_empty());
        // What has to be is tried, and what comes of it is the store's to say.
        let launched = call(&engine, &format!("{RUN}&MinCount=9&MaxCount=20")).await.unwrap();
        assert_eq!(texts(&launched, "amiLaunchIndex").len(), 9);
    });
}

/// Clients pass over elements that are not called as AWS calls them.
#[test]
fn a_template_names_the_groups_of_its_interfaces() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let data = "LaunchTemplateData.NetworkInterface.1";
        let make = format!(
            "CreateLaunchTemplate&LaunchTemplateName=card&{data}.DeviceIndex=0\
             &{data}.SecurityGroupId.1=sg-1&{data}.SecurityGroupId.2=sg-2"
        );
        let template = texts(&call(&engine, &make).await.unwrap(), "launchTemplateId").remove(0);
        let describe = format!("DescribeLaunchTemplateVersions&LaunchTemplateId={template}");
        let found = call(&engine, &describe).await.unwrap();
        assert_eq!(texts(&found, "groupSet"), ["<groupId>sg-1</groupId><groupId>sg-2</groupId>"]);
    });
}
