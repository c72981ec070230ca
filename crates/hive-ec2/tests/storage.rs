//! Volumes, snapshots and images: who holds them, and what they keep of what they were made of.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use hive_ec2::Engine;
use support::{call, engine, first, runtime, settled, texts};

const RUN: &str = "RunInstances&MinCount=1&MaxCount=1&ImageId=ami-00000000000000d01";
const ZONE: &str = "AvailabilityZone=us-east-1a";
const KEY: &str = "arn:aws:kms:us-east-1:100000000001:key/11111111-1111-1111-1111-111111111111";

async fn code(engine: &Arc<Engine>, query: &str) -> String {
    call(engine, query).await.expect_err(query).code.into_owned()
}

/// Two running instances and a volume that both have.
async fn shared(engine: &Arc<Engine>) -> (String, String, String) {
    let run = format!("{RUN}&Placement.{ZONE}");
    let (one, other) = (first(engine, &run, "instanceId").await, first(engine, &run, "instanceId").await);
    let make = format!("CreateVolume&{ZONE}&Size=4&VolumeType=io2&Iops=100&MultiAttachEnabled=true");
    let volume = first(engine, &make, "volumeId").await;
    for instance in [&one, &other] {
        let attach = format!("AttachVolume&VolumeId={volume}&InstanceId={instance}&Device=/dev/sdf");
        call(engine, &attach).await.unwrap();
    }
    settled(engine).await;
    (one, other, volume)
}

#[test]
fn a_volume_goes_with_the_last_instance_that_has_it() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let (one, other, volume) = shared(&engine).await;
        for instance in [&one, &other] {
            let goes = format!(
                "ModifyInstanceAttribute&InstanceId={instance}&BlockDeviceMapping.1.DeviceName=/dev/sdf\
                 &BlockDeviceMapping.1.Ebs.DeleteOnTermination=true"
            );
            call(&engine, &goes).await.unwrap();
        }
        let attached = format!("DescribeVolumes&Filter.1.Name=volume-id&Filter.1.Value.1={volume}");
        for (instance, left) in [(&one, vec![other.clone()]), (&other, Vec::new())] {
            call(&engine, &format!("TerminateInstances&InstanceId.1={instance}")).await.unwrap();
            settled(&engine).await;
            let found = call(&engine, &attached).await.unwrap();
            assert_eq!(texts(&found, "instanceId"), left);
            assert_eq!(texts(&found, "volumeType").len(), left.len());
        }
    });
}

#[test]
fn a_volume_of_several_instances_is_taken_from_the_one_that_is_named() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let (one, other, volume) = shared(&engine).await;
        let alone = format!("ModifyVolume&VolumeId={volume}&MultiAttachEnabled=false");
        assert_eq!(code(&engine, &alone).await, "IncorrectState");
        let detach = format!("DetachVolume&VolumeId={volume}");
        assert_eq!(code(&engine, &detach).await, "MissingParameter");
        call(&engine, &format!("{detach}&InstanceId={one}")).await.unwrap();
        settled(&engine).await;
        let found = call(&engine, &format!("DescribeVolumes&VolumeId.1={volume}")).await.unwrap();
        assert_eq!(texts(&found, "instanceId"), [other]);
        call(&engine, &alone).await.unwrap();
    });
}

#[test]
fn an_image_keeps_what_a_request_does_not_change() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let device = "BlockDeviceMapping.1.DeviceName=/dev/sdf&BlockDeviceMapping.1.Ebs";
        let more = format!("{device}.VolumeType=io1&BlockDeviceMapping.1.Ebs.VolumeSize=10");
        let more =
            format!("{more}&BlockDeviceMapping.1.Ebs.Iops=200&BlockDeviceMapping.1.Ebs.Encrypted=true");
        let more = format!("{more}&BlockDeviceMapping.1.Ebs.DeleteOnTermination=false");
        let instance = first(&engine, &format!("{RUN}&{more}"), "instanceId").await;
        settled(&engine).await;
        let make = format!("CreateImage&InstanceId={instance}&Name=changed&{device}.VolumeSize=20");
        let image = first(&engine, &make, "imageId").await;
        let found = call(&engine, &format!("DescribeImages&ImageId.1={image}")).await.unwrap();
        let found = found.split("/dev/sdf").nth(1).unwrap();
        for (element, value) in [
            ("volumeSize", "20"),
            ("volumeType", "io1"),
            ("iops", "200"),
            ("encrypted", "true"),
            ("deleteOnTermination", "false"),
        ] {
            assert_eq!(texts(found, element)[0], value, "{element}");
        }
        settled(&engine).await;
        call(&engine, &format!("{RUN}&ImageId={image}").replace("&ImageId=ami-00000000000000d01", ""))
            .await
            .unwrap();
        // The speed of another type is none of this one's.
        let make = format!("CreateImage&InstanceId={instance}&Name=other&{device}.VolumeType=gp3");
        let image = first(&engine, &make, "imageId").await;
        let found = call(&engine, &format!("DescribeImages&ImageId.1={image}")).await.unwrap();
        assert_eq!(texts(found.split("/dev/sdf").nth(1).unwrap(), "iops"), Vec::<String>::new());
    });
}

#[test]
fn an_image_has_no_disk_that_no_machine_could_have() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let volume = first(&engine, &format!("CreateVolume&{ZONE}&Size=10"), "volumeId").await;
        settled(&engine).await;
        let snapshot = first(&engine, &format!("CreateSnapshot&VolumeId={volume}"), "snapshotId").await;
        let register = format!(
            "RegisterImage&RootDeviceName=/dev/sda1&BlockDeviceMapping.1.DeviceName=/dev/sda1\
             &BlockDeviceMapping.1.Ebs.SnapshotId={snapshot}&BlockDeviceMapping.1.Ebs.VolumeType=io1&Name="
        );
        assert_eq!(code(&engine, &format!("{register}one")).await, "MissingParameter");
        let much = format!("{register}two&BlockDeviceMapping.1.Ebs.Iops=501");
        assert_eq!(code(&engine, &much).await, "InvalidParameterValue");
        call(&engine, &format!("{register}two&BlockDeviceMapping.1.Ebs.Iops=500")).await.unwrap();
        for name in ["a*b%7Cc", "ab"] {
            let query = format!("{register}{name}&BlockDeviceMapping.1.Ebs.Iops=500");
            assert_eq!(code(&engine, &query).await, "InvalidAMIName.Malformed");
        }
        let name = "A (b) [c] d.e/f-g'h@i_j";
        call(&engine, &format!("{register}{name}&BlockDeviceMapping.1.Ebs.Iops=500")).await.unwrap();
    });
}

/// The provider's own tests register such an image.
#[test]
fn an_image_may_say_less_of_gp3_than_a_volume_has_and_then_does_not_start() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let volume = first(&engine, &format!("CreateVolume&{ZONE}&Size=10"), "volumeId").await;
        settled(&engine).await;
        let snapshot = first(&engine, &format!("CreateSnapshot&VolumeId={volume}"), "snapshotId").await;
        settled(&engine).await;
        let register = |name: &str, speed: &str| {
            let of = format!("Ebs.SnapshotId={snapshot}");
            let root = device(1, "/dev/sda1", &[&of, "Ebs.VolumeType=gp3", speed, "Ebs.Throughput=500"]);
            format!(
                "RegisterImage&Architecture=x86_64&EnaSupport=true&RootDeviceName=/dev/sda1&Name={name}{root}"
            )
        };
        assert_eq!(code(&engine, &register("much", "Ebs.Iops=5001")).await, "InvalidParameterValue");
        let (slow, fast) = (register("slow", "Ebs.Iops=100"), register("fast", "Ebs.Iops=4000"));
        let (slow, fast) = (first(&engine, &slow, "imageId").await, first(&engine, &fast, "imageId").await);
        settled(&engine).await;
        let told = call(&engine, &format!("DescribeImages&ImageId.1={slow}")).await.unwrap();
        assert_eq!(
            (texts(&told, "iops"), texts(&told, "throughput")),
            (vec!["100".into()], vec!["500".into()])
        );
        let run =
            |image: &str| format!("RunInstances&MinCount=1&MaxCount=1&InstanceType=t3.micro&ImageId={image}");
        assert_eq!(code(&engine, &run(&slow)).await, "InvalidParameterValue");
        let started = first(&engine, &run(&fast), "instanceId").await;
        let of = format!("DescribeVolumes&Filter.1.Name=attachment.instance-id&Filter.1.Value.1={started}");
        let disk = call(&engine, &of).await.unwrap();
        assert_eq!(
            (texts(&disk, "iops"), texts(&disk, "throughput")),
            (vec!["4000".into()], vec!["500".into()])
        );
    });
}

#[test]
fn a_gp3_volume_is_as_large_and_fast_as_ec2s() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let volume = format!("CreateVolume&{ZONE}&VolumeType=gp3");
        call(&engine, &format!("{volume}&Size=65536&Iops=80000&Throughput=2000")).await.unwrap();
        for more in ["Size=65537", "Size=65536&Iops=80001", "Size=65536&Iops=80000&Throughput=2001"] {
            assert_eq!(code(&engine, &format!("{volume}&{more}")).await, "InvalidParameterValue", "{more}");
        }
    });
}

#[test]
fn what_is_made_of_something_encrypted_has_its_key() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let make = format!("CreateVolume&{ZONE}&Size=1&Encrypted=true&KmsKeyId={KEY}");
        let volume = first(&engine, &make, "volumeId").await;
        settled(&engine).await;
        let snapshot = first(&engine, &format!("CreateSnapshot&VolumeId={volume}"), "snapshotId").await;
        settled(&engine).await;
        let of_snapshot = format!("CreateVolume&{ZONE}&SnapshotId={snapshot}");
        assert_eq!(first(&engine, &of_snapshot, "kmsKeyId").await, KEY);
        let device = "BlockDeviceMapping.1.DeviceName=/dev/sdf&BlockDeviceMapping.1.Ebs";
        let device = format!("{device}.SnapshotId={snapshot}");
        let instance = first(&engine, &format!("{RUN}&{device}"), "instanceId").await;
        settled(&engine).await;
        let make = format!("CreateImage&InstanceId={instance}&Name=image");
        let image = first(&engine, &make, "imageId").await;
        let found = call(&engine, &format!("DescribeImages&ImageId.1={image}")).await.unwrap();
        let of_image = texts(found.split("/dev/sdf").nth(1).unwrap(), "snapshotId").remove(0);
        let of_image = format!("DescribeSnapshots&SnapshotId.1={of_image}");
        assert_eq!(first(&engine, &of_image, "kmsKeyId").await, KEY);
    });
}

#[test]
fn where_encryption_is_the_default_copies_are_encrypted() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let volume = first(&engine, &format!("CreateVolume&{ZONE}&Size=1"), "volumeId").await;
        settled(&engine).await;
        let snapshot = first(&engine, &format!("CreateSnapshot&VolumeId={volume}"), "snapshotId").await;
        let instance = first(&engine, RUN, "instanceId").await;
        settled(&engine).await;
        let image = first(&engine, &format!("CreateImage&InstanceId={instance}&Name=image"), "imageId").await;
        call(&engine, "EnableEbsEncryptionByDefault").await.unwrap();
        let copy = format!("CopySnapshot&SourceRegion=us-east-1&SourceSnapshotId={snapshot}");
        let copy = first(&engine, &copy, "snapshotId").await;
        let found = call(&engine, &format!("DescribeSnapshots&SnapshotId.1={copy}")).await.unwrap();
        assert_eq!(texts(&found, "encrypted"), ["true"]);
        let copy = format!("CopyImage&SourceRegion=us-east-1&SourceImageId={image}&Name=copy");
        let copy = first(&engine, &copy, "imageId").await;
        let found = call(&engine, &format!("DescribeImages&ImageId.1={copy}")).await.unwrap();
        assert_eq!(texts(&found, "encrypted"), ["true"]);
    });
}

#[test]
fn what_is_made_of_something_encrypted_is_encrypted() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let volume = first(&engine, &format!("CreateVolume&{ZONE}&Size=1&Encrypted=true"), "volumeId").await;
        settled(&engine).await;
        let snapshot = first(&engine, &format!("CreateSnapshot&VolumeId={volume}"), "snapshotId").await;
        settled(&engine).await;
        let of_snapshot = format!("CreateVolume&{ZONE}&SnapshotId={snapshot}");
        assert_eq!(code(&engine, &format!("{of_snapshot}&Encrypted=false")).await, "InvalidParameterCombination");
        assert_eq!(first(&engine, &of_snapshot, "encrypted").await, "true");
        let copy = "CopyImage&SourceRegion=us-east-1&SourceImageId=ami-00000000000000d01&Name=copy&Encrypted=true";
        let image = first(&engine, copy, "imageId").await;
        settled(&engine).await;
        let root = "BlockDeviceMapping.1.DeviceName=/dev/xvda&BlockDeviceMapping.1.Ebs.Encrypted";
        let run = format!("RunInstances&MinCount=1&MaxCount=1&ImageId={image}&{root}");
        assert_eq!(code(&engine, &format!("{run}=false")).await, "InvalidParameterCombination");
        call(&engine, &format!("{run}=true")).await.unwrap();
        call(&engine, &format!("{RUN}&{root}=false")).await.unwrap();
        let register = format!(
            "RegisterImage&Name=own&RootDeviceName=/dev/xvda&BlockDeviceMapping.1.Ebs.SnapshotId={snapshot}&{root}"
        );
        assert_eq!(code(&engine, &format!("{register}=false")).await, "InvalidParameterCombination");
        call(&engine, &format!("{register}=true")).await.unwrap();
    });
}

/// A device of a request, with everything that is said of it.
fn device(number: u8, name: &str, says: &[&str]) -> String {
    let device = format!("&BlockDeviceMapping.{number}");
    let says = says.iter().map(|text| format!("{device}.{text}")).collect::<String>();
    format!("{device}.DeviceName={name}{says}")
}

#[test]
fn no_device_is_dropped_in_silence() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let instance = first(&engine, RUN, "instanceId").await;
        settled(&engine).await;
        let create = format!("CreateImage&InstanceId={instance}&Name=image");
        let volume = first(&engine, &format!("DescribeInstances&InstanceId.1={instance}"), "volumeId").await;
        settled(&engine).await;
        let snapshot = first(&engine, &format!("CreateSnapshot&VolumeId={volume}"), "snapshotId").await;
        let of_snapshot = format!("Ebs.SnapshotId={snapshot}");
        let register = format!(
            "RegisterImage&Name=registered&RootDeviceName=/dev/xvda{}",
            device(9, "/dev/xvda", &[&of_snapshot])
        );
        let (large, larger) = ("Ebs.VolumeSize=10", "Ebs.VolumeSize=20");
        let twice = device(1, "/dev/sdf", &[large]) + &device(2, "/dev/sdf", &[larger]);
        let both = device(1, "/dev/sdf", &["VirtualName=ephemeral0", large]);
        for query in [RUN, &create, &register] {
            for more in [&twice, &both, &device(1, "banana", &[large])] {
                assert_eq!(
                    code(&engine, &format!("{query}{more}")).await,
                    "InvalidBlockDeviceMapping",
                    "{query}{more}"
                );
            }
        }
        for query in [RUN, &create] {
            for more in [
                device(1, "/dev/xvda", &[large]) + &device(2, "/dev/xvda", &[larger]),
                device(1, "/dev/xvda", &["NoDevice="]),
                device(1, "/dev/xvda", &["VirtualName=ephemeral0"]),
            ] {
                assert_eq!(
                    code(&engine, &format!("{query}{more}")).await,
                    "InvalidBlockDeviceMapping",
                    "{query}{more}"
                );
            }
        }
        // A device of which nothing is said is as it would be.
        let image = first(&engine, &format!("{create}{}", device(1, "/dev/xvda", &[])), "imageId").await;
        let found = call(&engine, &format!("DescribeImages&ImageId.1={image}")).await.unwrap();
        assert_eq!(texts(&found, "snapshotId").len(), 1, "{found}");
    });
}

#[test]
fn a_launch_has_the_last_word_on_an_images_devices() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let large = "Ebs.VolumeSize=10";
        let instance =
            first(&engine, &format!("{RUN}{}", device(1, "/dev/sdc", &[large])), "instanceId").await;
        settled(&engine).await;
        let own = device(1, "/dev/sdb", &["VirtualName=ephemeral0"]);
        let create = format!("CreateImage&InstanceId={instance}&Name=image{own}");
        let image = first(&engine, &create, "imageId").await;
        settled(&engine).await;
        let run = format!("RunInstances&MinCount=1&MaxCount=1&ImageId={image}");
        for (more, devices) in [
            (String::new(), vec!["/dev/xvda", "/dev/sdc"]),
            (device(1, "/dev/sdb", &[large]), vec!["/dev/xvda", "/dev/sdc", "/dev/sdb"]),
            (device(1, "/dev/sdc", &["VirtualName=ephemeral0"]), vec!["/dev/xvda"]),
            (device(1, "/dev/sdc", &["NoDevice="]), vec!["/dev/xvda"]),
        ] {
            let launched = call(&engine, &format!("{run}{more}")).await.unwrap();
            assert_eq!(texts(&launched, "deviceName"), devices, "{more}");
        }
    });
}

#[test]
fn a_status_says_what_was_looked_at() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let run = "RunInstances&MinCount=1&MaxCount=1&ImageId=ami-00000000000000a03&InstanceType=t3.micro";
        let instance = first(&engine, run, "instanceId").await;
        settled(&engine).await;
        let status = format!("DescribeInstanceStatus&IncludeAllInstances=true&InstanceId.1={instance}");
        let of = |what: &str, told: &str| {
            let details = "<details><item><name>reachability</name><status>passed</status></item></details>";
            format!(
                "<{what}><status>{told}</status>{}</{what}>",
                if told == "ok" { details } else { "<details></details>" }
            )
        };
        let kinds = ["instanceStatus", "systemStatus", "attachedEbsStatus"];
        let answer = call(&engine, &status).await.unwrap();
        assert!(kinds.iter().all(|kind| answer.contains(&of(kind, "ok"))), "{answer}");
        call(&engine, &format!("StopInstances&InstanceId.1={instance}")).await.unwrap();
        settled(&engine).await;
        let answer = call(&engine, &status).await.unwrap();
        assert!(kinds.iter().all(|kind| answer.contains(&of(kind, "not-applicable"))), "{answer}");
        let volume = first(&engine, "DescribeVolumes", "volumeId").await;
        let status = format!("DescribeVolumeStatus&VolumeId.1={volume}");
        let answer = call(&engine, &status).await.unwrap();
        assert_eq!(texts(&answer, "name"), ["io-enabled", "io-performance"]);
        assert_eq!(texts(&answer, "status"), ["ok", "passed", "normal"]);
        assert!(answer.contains("<actionsSet></actionsSet><eventsSet></eventsSet>"), "{answer}");
    });
}
