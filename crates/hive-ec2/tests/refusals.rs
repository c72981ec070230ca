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
