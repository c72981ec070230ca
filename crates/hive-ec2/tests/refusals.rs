//! What was asked for and would not be done is refused, not dropped.

#![allow(clippy::unwrap_used)]

mod support;

use support::{call, engine, first, runtime, settled, texts};

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
            ("InvalidParameterValue", format!("{attach}/dev/sdb%2B1"), format!("{RUN}&{IMAGE}")),
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

/// Clients write parameters out that they do not use.
#[test]
fn what_asks_for_nothing_is_taken_where_ec2_knows_it() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let vpc = first(&engine, "CreateVpc&CidrBlock=10.0.0.0/16", "vpcId").await;
        let subnet = format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.1.0/24");
        for (code, more) in [
            ("UnsupportedOperation", "Ipv6Native=true"),
            ("UnknownParameter", "Colour="),
            ("UnknownParameter", "Ipv6Native=false&Colour=false"),
            ("UnknownParameter", "VpcId.Colour="),
        ] {
            assert_eq!(call(&engine, &format!("{subnet}&{more}")).await.unwrap_err().code, code, "{more}");
        }
        call(&engine, &format!("{subnet}&Ipv6Native=false&OutpostArn=")).await.unwrap();
        let template = "LaunchTemplateData.Monitoring.Enabled=true&LaunchTemplateData.EnclaveOptions.Enabled=false";
        let run = format!("{RUN}&{IMAGE}&Placement.HostId=&NetworkInterface.1.DeviceIndex=0&NetworkInterface.1.PrimaryIpv6=false");
        call(&engine, &format!("CreateLaunchTemplate&LaunchTemplateName=none&{template}")).await.unwrap();
        call(&engine, &run).await.unwrap();
    });
}

/// The provider sends what its user wrote.
#[test]
fn the_action_of_an_acl_entry_is_read_in_any_case_and_told_in_one() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let vpc = first(&engine, "CreateVpc&CidrBlock=10.0.0.0/16", "vpcId").await;
        let acl = first(&engine, &format!("CreateNetworkAcl&VpcId={vpc}"), "networkAclId").await;
        let entry =
            format!("CreateNetworkAclEntry&NetworkAclId={acl}&Protocol=-1&Egress=true&CidrBlock=10.0.0.0/8");
        for (number, action) in
            [(1, "ALLOW"), (2, "Allow"), (3, "allow"), (4, "DENY"), (5, "Deny"), (6, "deny")]
        {
            call(&engine, &format!("{entry}&RuleNumber={number}&RuleAction={action}")).await.unwrap();
        }
        let found = call(&engine, &format!("DescribeNetworkAcls&NetworkAclId.1={acl}")).await.unwrap();
        let (_, told) = found.split_once("<ruleNumber>1</ruleNumber>").unwrap();
        assert_eq!(texts(told, "ruleAction")[..6], ["allow", "allow", "allow", "deny", "deny", "deny"]);
        let wrong = call(&engine, &format!("{entry}&RuleNumber=7&RuleAction=permit")).await.unwrap_err();
        assert_eq!(wrong.code, "InvalidParameterValue");
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

#[test]
fn filters_find_what_is_there_and_others_are_refused() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let tags = "TagSpecification.1.ResourceType=vpc&TagSpecification.1.Tag.1.Key=Name\
                    &TagSpecification.1.Tag.1.Value=zed&TagSpecification.1.Tag.2.Key=Other";
        call(&engine, &format!("CreateVpc&CidrBlock=10.0.0.0/16&{tags}")).await.unwrap();
        let filter = |action: &str, name: &str, value: &str| {
            format!("{action}&Filter.1.Name={name}&Filter.1.Value.1={value}")
        };
        let found = call(&engine, &filter("DescribeTags", "tag:Name", "z*")).await.unwrap();
        assert_eq!(texts(&found, "key"), ["Name"]);
        let found = call(&engine, &filter("DescribeTags", "tag:Name", "other")).await.unwrap();
        assert_eq!(texts(&found, "key"), Vec::<String>::new());
        let made = call(&engine, "CreatePlacementGroup&GroupName=g&Strategy=cluster").await.unwrap();
        let arn = texts(&made, "groupArn").remove(0);
        let found = call(&engine, &filter("DescribePlacementGroups", "group-arn", &arn)).await.unwrap();
        assert_eq!(texts(&found, "groupName"), ["g"]);
        for action in [
            "DescribeAvailabilityZones",
            "DescribeInstanceTypeOfferings",
            "DescribeInstanceTypes",
            "DescribeManagedPrefixLists",
            "DescribePrefixLists",
            "DescribeRegions",
        ] {
            for name in ["tag:x", "tag-key", "tag-value"] {
                let query = filter(action, name, "*");
                assert_eq!(call(&engine, &query).await.unwrap_err().code, "InvalidParameterValue", "{query}");
            }
        }
    });
}

#[test]
fn what_ec2_checks_is_checked() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let vpc = texts(&call(&engine, "CreateVpc&CidrBlock=10.0.0.0/16").await.unwrap(), "vpcId").remove(0);
        let launched = call(&engine, &format!("{RUN}&{IMAGE}")).await.unwrap();
        let instance = texts(&launched, "instanceId").remove(0);
        let volume = "CreateVolume&AvailabilityZone=us-east-1a&Size=";
        let dhcp = |key: &str, values: &[&str]| {
            let values = values.iter().enumerate();
            let values = values.map(|(n, v)| format!("&DhcpConfiguration.1.Value.{}={v}", n + 1));
            format!("CreateDhcpOptions&DhcpConfiguration.1.Key={key}{}", values.collect::<String>())
        };
        let snapshot = format!("{volume}1");
        let snapshot = texts(&call(&engine, &snapshot).await.unwrap(), "volumeId").remove(0);
        settled(&engine).await;
        let snapshot = format!("CreateSnapshot&VolumeId={snapshot}");
        let snapshot = texts(&call(&engine, &snapshot).await.unwrap(), "snapshotId").remove(0);
        let register = format!(
            "RegisterImage&RootDeviceName=/dev/sda1&BlockDeviceMapping.1.DeviceName=/dev/sda1\
             &BlockDeviceMapping.1.Ebs.SnapshotId={snapshot}&Name="
        );
        let modify = format!("ModifyInstanceAttribute&InstanceId={instance}");
        for (code, refused, taken) in [
            (
                "InvalidParameterValue",
                format!("CreateSecurityGroup&VpcId={vpc}&GroupDescription=x&GroupName=%E2%98%83"),
                format!("CreateSecurityGroup&VpcId={vpc}&GroupDescription=x&GroupName=a-b.c"),
            ),
            (
                "InvalidParameterValue",
                format!("{volume}4&VolumeType=io1&Iops=1"),
                format!("{volume}4&VolumeType=io1&Iops=100"),
            ),
            (
                "InvalidParameterValue",
                format!("{volume}4&VolumeType=io1&Iops=201"),
                format!("{volume}4&VolumeType=io1&Iops=200"),
            ),
            (
                "InvalidParameterValue",
                format!("{volume}16384&VolumeType=io1&Iops=2000000000"),
                format!("{volume}16384&VolumeType=io1&Iops=64000"),
            ),
            (
                "InvalidParameterValue",
                format!("{volume}4&VolumeType=io2&Iops=4001"),
                format!("{volume}4&VolumeType=io2&Iops=4000"),
            ),
            (
                "InvalidParameterValue",
                format!("{volume}1&VolumeType=gp3&Iops=16000"),
                format!("{volume}32&VolumeType=gp3&Iops=16000"),
            ),
            (
                "InvalidParameterValue",
                format!("{volume}1&VolumeType=gp3&Throughput=751"),
                format!("{volume}1&VolumeType=gp3&Throughput=750"),
            ),
            (
                "InvalidParameterValue",
                dhcp("domain-name-servers", &["not-an-ip"; 9]),
                dhcp("domain-name-servers", &["10.0.0.2", "10.0.0.3"]),
            ),
            (
                "InvalidParameterValue",
                dhcp("domain-name-servers", &["10.0.0.2"; 5]),
                dhcp("domain-name-servers", &["AmazonProvidedDNS"]),
            ),
            (
                "InvalidParameterValue",
                dhcp("ntp-servers", &["banana"]),
                dhcp("ntp-servers", &["10.0.0.2,10.0.0.3"]),
            ),
            ("InvalidParameterValue", dhcp("netbios-node-type", &["3"]), dhcp("netbios-node-type", &["2"])),
            ("InvalidParameterValue", dhcp("colour", &["red"]), dhcp("domain-name", &["example.org"])),
            (
                "InvalidParameterValue",
                format!("{register}one&BootMode=banana"),
                format!("{register}one&BootMode=uefi"),
            ),
            (
                "InvalidParameterCombination",
                format!("{register}two&TpmSupport=v2.0"),
                format!("{register}two&TpmSupport=v2.0&BootMode=uefi"),
            ),
            ("InvalidParameterCombination", modify.clone(), format!("{modify}&DisableApiStop.Value=false")),
            (
                "InvalidParameterCombination",
                "TerminateInstances".to_owned(),
                format!("MonitorInstances&InstanceId.1={instance}"),
            ),
            ("InvalidParameterCombination", "RebootInstances".to_owned(), "DescribeInstances".to_owned()),
            ("InvalidParameterCombination", "MonitorInstances".to_owned(), "DescribeInstances".to_owned()),
            (
                "InvalidNetworkInterfaceAttachmentId.Malformed",
                "DetachNetworkInterface&AttachmentId=attachment".to_owned(),
                "DescribeInstances".to_owned(),
            ),
            (
                "MissingParameter",
                format!("{modify}&Attribute=disableApiStop"),
                format!("{modify}&Attribute=disableApiStop&Value=false"),
            ),
            (
                "MissingParameter",
                format!("{modify}&Value=true"),
                format!("{modify}&SourceDestCheck.Value=false"),
            ),
            (
                "InvalidParameterValue",
                format!("CreateTags&ResourceId.1={vpc}&Tag.1.Key=a&Tag.1.Value=1&Tag.2.Key=a&Tag.2.Value=2"),
                format!("CreateTags&ResourceId.1={vpc}&Tag.1.Key=a&Tag.1.Value=1&Tag.2.Key=A&Tag.2.Value=2"),
            ),
            (
                "InvalidParameterValue",
                "CreateKeyPair&KeyName=k&KeyFormat=ppk&DryRun=true".to_owned(),
                "CreateKeyPair&KeyName=k&KeyType=ed25519&KeyFormat=pem".to_owned(),
            ),
        ] {
            assert_eq!(call(&engine, &refused).await.unwrap_err().code, code, "{refused}");
            call(&engine, &taken).await.unwrap();
        }
        let found = call(&engine, &dhcp("ntp-servers", &["10.0.0.2, 10.0.0.3"])).await.unwrap();
        assert_eq!(texts(&found, "value"), ["10.0.0.2", "10.0.0.3"]);
    });
}

#[test]
fn an_instance_that_is_gone_is_not_changed() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let launched = call(&engine, &format!("{RUN}&{IMAGE}")).await.unwrap();
        let id = texts(&launched, "instanceId").remove(0);
        call(&engine, &format!("TerminateInstances&InstanceId.1={id}")).await.unwrap();
        for query in [
            format!("ModifyInstanceMetadataOptions&InstanceId={id}&HttpTokens=required"),
            format!("ModifyInstanceMaintenanceOptions&InstanceId={id}&AutoRecovery=disabled"),
            format!("ModifyPrivateDnsNameOptions&InstanceId={id}&PrivateDnsHostnameType=ip-name"),
            format!("MonitorInstances&InstanceId.1={id}"),
            format!("UnmonitorInstances&InstanceId.1={id}"),
        ] {
            assert_eq!(call(&engine, &query).await.unwrap_err().code, "IncorrectInstanceState", "{query}");
        }
        let credit = "ModifyInstanceCreditSpecification&InstanceCreditSpecification.1";
        let query = format!("{credit}.CpuCredits=standard&InstanceCreditSpecification.1.InstanceId={id}");
        assert_eq!(texts(&call(&engine, &query).await.unwrap(), "code"), ["IncorrectInstanceState"]);
    });
}

/// A dry run answers what the request itself would.
#[test]
fn a_dry_run_knows_the_tokens_that_were_used() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let run = format!("{RUN}&{IMAGE}&ClientToken=once");
        call(&engine, &run).await.unwrap();
        for (code, more) in [
            ("DryRunOperation", "&DryRun=true"),
            ("IdempotentParameterMismatch", "&DryRun=true&EbsOptimized=true"),
            ("IdempotentParameterMismatch", "&EbsOptimized=true"),
        ] {
            assert_eq!(call(&engine, &format!("{run}{more}")).await.unwrap_err().code, code, "{more}");
        }
    });
}

/// What `docs/adr/hive-narrower-than-aws.md` says is refused, by which request and with which code.
#[test]
fn what_only_a_network_could_keep_is_refused() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let made = support::everything(&engine).await;
        let (subnet, table) = (made.get("subnet"), made.get("table"));
        let interface = format!("NetworkInterfaceId={}", made.get("interface"));
        let create = format!("CreateNetworkInterface&SubnetId={subnet}");
        let modify = format!("ModifyNetworkInterfaceAttribute&{interface}");
        let run = format!("{RUN}&{IMAGE}&SubnetId={subnet}");
        let new =
            format!("{RUN}&{IMAGE}&NetworkInterface.1.DeviceIndex=0&NetworkInterface.1.SubnetId={subnet}");
        let unsupported = "UnsupportedOperation";
        let mut cases = vec![
            (format!("AssignIpv6Addresses&{interface}&Ipv6AddressCount=1"), unsupported),
            (format!("UnassignIpv6Addresses&{interface}&Ipv6Addresses.1=2001:db8::1"), unsupported),
            (format!("AssignPrivateIpAddresses&{interface}&Ipv4PrefixCount=1"), unsupported),
            (format!("AssignPrivateIpAddresses&{interface}&Ipv4Prefix.1=10.0.0.16/28"), unsupported),
            (format!("UnassignPrivateIpAddresses&{interface}&Ipv4Prefix.1=10.0.0.16/28"), unsupported),
            (format!("{modify}&EnablePrimaryIpv6=true"), unsupported),
            (format!("{run}&Ipv6AddressCount=1"), unsupported),
            (format!("{run}&Ipv6Address.1.Ipv6Address=2001:db8::1"), unsupported),
            (format!("{run}&EnablePrimaryIpv6=true"), unsupported),
            (
                format!(
                    "CreateRoute&RouteTableId={table}&DestinationCidrBlock=10.6.0.0/16&VpcEndpointId={}",
                    made.get("endpoint")
                ),
                unsupported,
            ),
            (
                format!("EnableVgwRoutePropagation&RouteTableId={table}&GatewayId=vgw-0123456789abcdef0"),
                "InvalidGatewayID.NotFound",
            ),
            (
                format!("DisableVgwRoutePropagation&RouteTableId={table}&GatewayId=vgw-0123456789abcdef0"),
                "InvalidGatewayID.NotFound",
            ),
        ];
        for more in [
            "Ipv6AddressCount=1",
            "Ipv6Addresses.1.Ipv6Address=2001:db8::1",
            "Ipv4PrefixCount=1",
            "Ipv4Prefix.1.Ipv4Prefix=10.0.0.16/28",
            "Ipv6PrefixCount=1",
            "Ipv6Prefix.1.Ipv6Prefix=2001:db8::/80",
        ] {
            cases.push((format!("{create}&{more}"), unsupported));
            cases.push((format!("{new}&NetworkInterface.1.{more}"), unsupported));
        }
        let template = "CreateLaunchTemplate&LaunchTemplateName=six";
        let data = format!("LaunchTemplateData.{IMAGE}&LaunchTemplateData.NetworkInterface.1.DeviceIndex=0");
        let six = "LaunchTemplateData.NetworkInterface.1.Ipv6AddressCount=1";
        call(&engine, &format!("{template}&{data}&{six}")).await.unwrap();
        cases.push((format!("{RUN}&LaunchTemplate.LaunchTemplateName=six"), unsupported));
        support::settled(&engine).await;
        let before = call(&engine, "DescribeNetworkInterfaces").await.unwrap();
        for (query, code) in cases {
            let refused = call(&engine, &query).await.expect_err(&query);
            assert_eq!(refused.code, code, "{query}: {}", refused.message);
        }
        assert_eq!(call(&engine, "DescribeNetworkInterfaces").await.unwrap(), before);
    });
}

#[test]
fn an_attribute_is_changed_by_itself() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let launched = call(&engine, &format!("{RUN}&{IMAGE}")).await.unwrap();
        let modify = format!("ModifyInstanceAttribute&InstanceId={}", texts(&launched, "instanceId")[0]);
        for two in [
            "DisableApiTermination.Value=true&SourceDestCheck.Value=false",
            "DisableApiTermination.Value=true&Attribute=disableApiStop&Value=true",
            "DisableApiStop.Value=true&BlockDeviceMapping.1.DeviceName=/dev/xvda\
             &BlockDeviceMapping.1.Ebs.DeleteOnTermination=false",
        ] {
            let refused = call(&engine, &format!("{modify}&{two}")).await.expect_err(two);
            assert_eq!(refused.code, "InvalidParameterCombination", "{two}: {}", refused.message);
        }
        for one in ["DisableApiTermination.Value=true", "Attribute=disableApiStop&Value=true"] {
            call(&engine, &format!("{modify}&{one}")).await.unwrap();
        }
    });
}

/// What sets one thing takes one, and what has one of a kind takes no second.
#[test]
fn nothing_to_do_and_too_much_at_once_are_refused() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let subnet = first(&engine, "DescribeSubnets&Filter.1.Name=cidr-block&Filter.1.Value.1=172.31.0.0/20", "subnetId").await;
        let make = format!("CreateNetworkInterface&SubnetId={subnet}");
        let interface = first(&engine, &make, "networkInterfaceId").await;
        let change = format!("ModifyNetworkInterfaceAttribute&NetworkInterfaceId={interface}");
        let volume = first(&engine, "CreateVolume&Size=1&AvailabilityZone=us-east-1a", "volumeId").await;
        settled(&engine).await;
        let address = |n: u8, primary: bool| {
            format!("&PrivateIpAddresses.{n}.PrivateIpAddress=172.31.0.2{n}&PrivateIpAddresses.{n}.Primary={primary}")
        };
        let run = format!("{RUN}&{IMAGE}");
        let two = format!("{make}{}{}", address(1, true), address(2, true));
        for (code, refused, taken) in [
            ("MissingParameter", change.clone(), format!("{change}&Description.Value=a")),
            (
                "InvalidParameterCombination",
                format!("{change}&Description.Value=a&SourceDestCheck.Value=false"),
                format!("{change}&SourceDestCheck.Value=false"),
            ),
            (
                "MissingParameter",
                format!("UnassignPrivateIpAddresses&NetworkInterfaceId={interface}"),
                format!("AssignPrivateIpAddresses&NetworkInterfaceId={interface}&SecondaryPrivateIpAddressCount=1"),
            ),
            (
                "MissingParameter",
                format!("ModifyVolume&VolumeId={volume}"),
                format!("ModifyVolume&VolumeId={volume}&Size=2"),
            ),
            ("InvalidParameterCombination", two, format!("{make}{}{}", address(1, true), address(2, false))),
            (
                "InvalidParameterCombination",
                format!("{make}&PrivateIpAddress=172.31.0.30{}", address(3, true)),
                format!("{make}&PrivateIpAddress=172.31.0.30{}", address(3, false)),
            ),
            (
                "UnsupportedHibernationConfiguration",
                format!("{run}&HibernationOptions.Configured=true"),
                format!("{run}&HibernationOptions.Configured=false"),
            ),
            (
                "UnsupportedOperation",
                format!("{run}&InstanceType=t3.micro&EnclaveOptions.Enabled=true"),
                format!("{run}&InstanceType=m5.xlarge&EnclaveOptions.Enabled=true"),
            ),
        ] {
            assert_eq!(call(&engine, &refused).await.unwrap_err().code, code, "{refused}");
            call(&engine, &taken).await.unwrap_or_else(|error| panic!("{taken}: {error}"));
        }
    });
}

#[test]
fn no_machine_hibernates_and_one_that_is_named_twice_ends_once() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let id = first(&engine, &format!("{RUN}&{IMAGE}"), "instanceId").await;
        let stop = format!("StopInstances&InstanceId.1={id}&Hibernate=true");
        assert_eq!(call(&engine, &stop).await.unwrap_err().code, "UnsupportedHibernationConfiguration");
        let end = format!("TerminateInstances&InstanceId.1={id}&InstanceId.2={id}");
        assert_eq!(texts(&call(&engine, &end).await.unwrap(), "instanceId"), [id]);
    });
}

/// Clients tell profiles apart by their ids.
#[test]
fn each_instance_profile_has_an_id_of_its_own() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let mut ids = Vec::new();
        for name in ["web", "batch", "web"] {
            let id = first(&engine, &format!("{RUN}&{IMAGE}"), "instanceId").await;
            let associate =
                format!("AssociateIamInstanceProfile&InstanceId={id}&IamInstanceProfile.Name={name}");
            ids.push(first(&engine, &associate, "id").await);
        }
        assert!(ids.iter().all(|id| id.len() == 21 && id.starts_with("AIPA")), "{ids:?}");
        assert!(ids[0] == ids[2] && ids[0] != ids[1], "{ids:?}");
    });
}

#[test]
fn what_says_too_little_or_nothing_sensible_is_refused() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let found = "DescribeSubnets&Filter.1.Name=cidr-block&Filter.1.Value.1=172.31.0.0/20";
        let subnet = first(&engine, found, "subnetId").await;
        let vpc = first(&engine, "CreateVpc&CidrBlock=10.0.0.0/16", "vpcId").await;
        let group = first(&engine, "CreateSecurityGroup&GroupName=g&GroupDescription=x", "groupId").await;
        let instance = first(&engine, &format!("{RUN}&{IMAGE}&SubnetId={subnet}"), "instanceId").await;
        let image = first(&engine, &format!("CreateImage&InstanceId={instance}&Name=image"), "imageId").await;
        let image = format!("ModifyImageAttribute&ImageId={image}");
        let modify = format!("ModifyInstanceAttribute&InstanceId={instance}");
        let tag = format!("CreateTags&ResourceId.1={vpc}&Tag.1.Value=1&Tag.1.Key");
        for taken in [format!("{modify}&SourceDestCheck.Value=false"), format!("{modify}&GroupId.1={group}")]
        {
            call(&engine, &taken).await.unwrap();
        }
        support::settled(&engine).await;
        let interface = format!("CreateNetworkInterface&SubnetId={subnet}");
        let interface = first(&engine, &interface, "networkInterfaceId").await;
        let attach = format!("AttachNetworkInterface&NetworkInterfaceId={interface}&DeviceIndex=1");
        call(&engine, &format!("{attach}&InstanceId={instance}")).await.unwrap();
        let acl = first(&engine, "DescribeNetworkAcls", "networkAclId").await;
        let icmp = |kind: i32, code: i32| {
            format!(
                "CreateNetworkAclEntry&NetworkAclId={acl}&RuleNumber=7&Egress=false&RuleAction=allow&CidrBlock=10.0.0.0/8\
                 &Protocol=1&Icmp.Type={kind}&Icmp.Code={code}"
            )
        };
        for (code, query) in [
            ("InvalidParameterCombination", image.clone()),
            ("InvalidParameterValue", format!("{image}&ImdsSupport.Value=v9")),
            ("InvalidParameterValue", format!("{image}&Attribute=imdsSupport&Value=v9")),
            ("InvalidInstanceID", format!("{modify}&SourceDestCheck.Value=true")),
            ("InvalidInstanceID", format!("{modify}&GroupId.1={group}")),
            ("MissingParameter", format!("ModifySecurityGroupRules&GroupId={group}")),
            ("InvalidParameterValue", format!("{tag}=AWS:x")),
            ("InvalidParameterValue", format!("{tag}=aws:x")),
            ("UnsupportedOperation", format!("CreateNatGateway&VpcId={vpc}&AvailabilityMode=regional")),
            ("MissingParameter", "CreateNatGateway&ConnectivityType=private".to_owned()),
            (
                "InvalidSecurityGroupRuleId.NotFound",
                "CreateTags&ResourceId.1=sgr-0123456789abcdef0&Tag.1.Key=k&Tag.1.Value=v".to_owned(),
            ),
            ("InvalidParameterValue", icmp(99_999, 0)),
            ("InvalidParameterValue", icmp(8, -77)),
            ("InvalidParameterValue", icmp(-1, 0)),
        ] {
            let refused = call(&engine, &query).await.expect_err(&query);
            assert_eq!(refused.code, code, "{query}: {}", refused.message);
        }
        call(&engine, &format!("{image}&ImdsSupport.Value=v2.0")).await.unwrap();
        call(&engine, &format!("{tag}=awsome:x")).await.unwrap();
        call(&engine, &icmp(8, -1)).await.unwrap();
    });
}

#[test]
fn a_permission_that_is_named_twice_is_refused_as_such() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let group = first(&engine, "CreateSecurityGroup&GroupName=g&GroupDescription=d", "groupId").await;
        let permission = |number: u32| {
            let at = format!("&IpPermissions.{number}");
            format!("{at}.IpProtocol=tcp{at}.FromPort=1{at}.ToPort=1{at}.IpRanges.1.CidrIp=10.0.0.0/8")
        };
        let once = format!("AuthorizeSecurityGroupIngress&GroupId={group}{}", permission(1));
        let twice = format!("{once}{}", permission(2));
        let refused = call(&engine, &twice).await.unwrap_err();
        let message = "The same permission must not appear multiple times";
        assert_eq!((&*refused.code, &*refused.message), ("InvalidParameterValue", message));
        call(&engine, &once).await.unwrap();
        assert_eq!(call(&engine, &once).await.unwrap_err().code, "InvalidPermission.Duplicate");
        assert_eq!(call(&engine, &twice).await.unwrap_err().code, "InvalidParameterValue");
    });
}

#[test]
fn a_vpc_has_only_blocks_that_go_together_and_that_a_network_can_have() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        for never in ["0.0.0.0/16", "127.0.0.0/16", "169.254.0.0/16", "224.0.0.0/16", "255.255.0.0/16"] {
            let refused = call(&engine, &format!("CreateVpc&CidrBlock={never}")).await.unwrap_err();
            assert_eq!(refused.code, "InvalidVpc.Range", "{never}");
        }
        for (own, others) in [
            ("10.60.0.0/16", ["192.168.0.0/16", "172.16.0.0/16", "169.254.0.0/16"]),
            ("172.30.0.0/16", ["10.0.0.0/16", "192.168.0.0/24", "127.0.0.0/16"]),
            ("192.168.0.0/20", ["10.0.0.0/16", "172.31.0.0/16", "224.0.0.0/16"]),
        ] {
            let vpc = first(&engine, &format!("CreateVpc&CidrBlock={own}"), "vpcId").await;
            let add = |block: &str| format!("AssociateVpcCidrBlock&VpcId={vpc}&CidrBlock={block}");
            for other in others {
                assert_eq!(call(&engine, &add(other)).await.unwrap_err().code, "InvalidVpc.Range", "{other}");
            }
            let near = own.replace(".60.", ".61.").replace(".30.", ".29.").replace(".168.0.0", ".168.16.0");
            for fine in [&near, "100.64.0.0/16", "203.0.112.0/20"] {
                call(&engine, &add(fine)).await.unwrap();
            }
        }
    });
}
