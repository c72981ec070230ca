//! What was asked for and would not be done is refused, not dropped.

#![allow(clippy::unwrap_used)]

mod support;

use support::{call, engine, runtime, texts};

const RUN: &str = "RunInstances&MinCount=1&MaxCount=1";
const IMAGE: &str = "ImageId=ami-00000000000000d01";

#[test]
fn what_a_template_asks_for_beyond_a_launch_is_refused_by_name() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let data = "LaunchTemplateData";
        let requirements = format!(
            "{data}.InstanceRequirements.VCpuCount.Min=1&{data}.InstanceRequirements.MemoryMiB.Min=1"
        );
        for (name, more) in [
            ("InstanceRequirements", requirements),
            ("RamDiskId", format!("{data}.RamDiskId=ari-1")),
            ("KernelId", format!("{data}.KernelId=aki-1")),
        ] {
            let make =
                format!("CreateLaunchTemplate&LaunchTemplateName={name}&LaunchTemplateData.{IMAGE}&{more}");
            call(&engine, &make).await.unwrap();
            let run = format!("{RUN}&LaunchTemplate.LaunchTemplateName={name}");
            let refused = call(&engine, &run).await.unwrap_err();
            assert_eq!(refused.code, "UnsupportedOperation");
            assert!(refused.message.contains(name), "{}", refused.message);
        }
        let none = call(&engine, "DescribeInstances").await.unwrap();
        assert_eq!(texts(&none, "instanceId"), Vec::<String>::new());
    });
}

#[test]
fn what_contradicts_itself_or_is_out_of_bounds_is_refused() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let vpc = texts(&call(&engine, "CreateVpc&CidrBlock=10.0.0.0/16").await.unwrap(), "vpcId").remove(0);
        let subnet = format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.1.0/24&AvailabilityZone=us-east-1a");
        let volume = "CreateVolume&Size=1&AvailabilityZone=us-east-1a";
        let launched = call(&engine, &format!("{RUN}&{IMAGE}")).await.unwrap();
        let instance = texts(&launched, "instanceId").remove(0);
        let made = texts(&call(&engine, volume).await.unwrap(), "volumeId").remove(0);
        let attach = format!("AttachVolume&InstanceId={instance}&VolumeId={made}&Device=");
        let device =
            format!("{RUN}&{IMAGE}&BlockDeviceMapping.1.Ebs.VolumeSize=1&BlockDeviceMapping.1.DeviceName=");
        let hops = format!("{RUN}&{IMAGE}&MetadataOptions.HttpPutResponseHopLimit=");
        for (code, refused, taken) in [
            (
                "InvalidParameterCombination",
                format!("{volume}&Iops=3000"),
                format!("{volume}&VolumeType=gp3&Iops=3000"),
            ),
            (
                "InvalidParameterCombination",
                format!("{volume}&AvailabilityZoneId=use1-az2"),
                format!("{volume}&AvailabilityZoneId=use1-az1"),
            ),
            (
                "InvalidParameterCombination",
                format!("{subnet}&AvailabilityZoneId=use1-az2"),
                format!("{subnet}&AvailabilityZoneId=use1-az1"),
            ),
            ("InvalidParameterValue", format!("{attach}foo"), format!("{attach}xvdba")),
            ("InvalidParameterValue", format!("{attach}/dev/sda16"), format!("{RUN}&{IMAGE}")),
            ("InvalidBlockDeviceMapping", format!("{device}foo"), format!("{device}/dev/sdf1")),
            ("InvalidParameterValue", format!("{hops}900"), format!("{hops}64")),
            ("InvalidParameterValue", format!("{hops}0"), format!("{hops}1")),
        ] {
            assert_eq!(call(&engine, &refused).await.unwrap_err().code, code, "{refused}");
            call(&engine, &taken).await.unwrap();
        }
        for (action, smallest, largest) in [
            ("DescribeVpcs", 5, 1000),
            ("DescribeRouteTables", 5, 100),
            ("DescribeLaunchTemplates", 1, 200),
            ("DescribeVolumes", 1, 1000),
        ] {
            for (size, fits) in
                [(smallest - 1, false), (smallest, true), (largest, true), (largest + 1, false), (-5, false)]
            {
                let answer = call(&engine, &format!("{action}&MaxResults={size}")).await;
                assert_eq!(answer.is_ok(), fits, "{action} {size}");
            }
        }
    });
}

/// The speed of a gp2 volume is in the image that is made of it, and is nothing that the next launch asks for.
#[test]
fn an_image_of_a_gp2_disk_starts() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let root = "BlockDeviceMapping.1.DeviceName=/dev/xvda&BlockDeviceMapping.1.Ebs.VolumeType=gp2";
        let launched = call(&engine, &format!("{RUN}&{IMAGE}&{root}")).await.unwrap();
        let instance = texts(&launched, "instanceId").remove(0);
        let make = format!("CreateImage&InstanceId={instance}&Name=gp2");
        let image = texts(&call(&engine, &make).await.unwrap(), "imageId").remove(0);
        for _ in 0..4_000 {
            let found = call(&engine, &format!("DescribeImages&ImageId.1={image}")).await.unwrap();
            if texts(&found, "imageState") == ["available"] {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        call(&engine, &format!("{RUN}&ImageId={image}")).await.unwrap();
    });
}
