"""Launch templates: versions, and launches from them."""

from contract.base import EC2, IMAGE, Contract


class LaunchTemplate(Contract):
    def template(self, name, **data):
        made = EC2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)["LaunchTemplate"]
        self.addCleanup(EC2.delete_launch_template, LaunchTemplateId=made["LaunchTemplateId"])
        return made["LaunchTemplateId"]

    def test_versions(self):
        template = self.template("versions", ImageId=IMAGE, InstanceType="t3.micro")
        second = EC2.create_launch_template_version(
            LaunchTemplateId=template, SourceVersion="1", VersionDescription="two", LaunchTemplateData={"InstanceType": "t3.small"}
        )["LaunchTemplateVersion"]
        self.assertEqual(second["LaunchTemplateData"], {"ImageId": IMAGE, "InstanceType": "t3.small"})
        EC2.create_launch_template_version(LaunchTemplateName="versions", LaunchTemplateData={"KeyName": "k"})
        EC2.modify_launch_template(LaunchTemplateId=template, DefaultVersion="2")
        found = EC2.describe_launch_templates(LaunchTemplateNames=["versions"])["LaunchTemplates"][0]
        self.assertEqual((found["DefaultVersionNumber"], found["LatestVersionNumber"]), (2, 3))
        versions = lambda **more: [
            v["VersionNumber"]
            for v in EC2.describe_launch_template_versions(LaunchTemplateId=template, **more)["LaunchTemplateVersions"]
        ]
        self.assertEqual(versions(), [1, 2, 3])
        self.assertEqual(versions(Versions=["$Default", "$Latest"]), [2, 3])
        self.assertEqual(versions(MinVersion="2", MaxVersion="2"), [2])
        deleted = EC2.delete_launch_template_versions(LaunchTemplateId=template, Versions=["1", "2", "9"])
        self.assertEqual([v["VersionNumber"] for v in deleted["SuccessfullyDeletedLaunchTemplateVersions"]], [1])
        self.assertEqual(len(deleted["UnsuccessfullyDeletedLaunchTemplateVersions"]), 2)
        self.code("InvalidLaunchTemplateId.VersionNotFound", EC2.describe_launch_template_versions, LaunchTemplateId=template, Versions=["1"])
        taken = {"LaunchTemplateName": "versions", "LaunchTemplateData": {"ImageId": IMAGE}}
        self.code("InvalidLaunchTemplateName.AlreadyExistsException", EC2.create_launch_template, **taken)
        self.code("InvalidLaunchTemplateName.NotFoundException", EC2.describe_launch_templates, LaunchTemplateNames=["none"])
        self.code("InvalidLaunchTemplateId.NotFound", EC2.describe_launch_templates, LaunchTemplateIds=["lt-0123456789abcdef0"])

    def test_everything_in_a_template_is_told_again(self):
        data = {
            "BlockDeviceMappings": [{"DeviceName": "/dev/sdf", "Ebs": {"VolumeSize": 4, "VolumeType": "gp3", "Encrypted": True}}],
            "NetworkInterfaces": [{"DeviceIndex": 0, "AssociatePublicIpAddress": False, "Groups": ["sg-1"],
                                   "PrivateIpAddresses": [{"Primary": True, "PrivateIpAddress": "10.0.0.9"}]}],
            "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "b"}]}],
            "SecurityGroupIds": ["sg-1", "sg-2"],
            "InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": {"MaxPrice": "0.5"}},
            "InstanceRequirements": {"VCpuCount": {"Min": 1, "Max": 4}, "MemoryMiB": {"Min": 512}, "CpuManufacturers": ["intel"]},
            "LicenseSpecifications": [{"LicenseConfigurationArn": "arn:x"}],
            "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
            "CpuOptions": {"CoreCount": 1, "ThreadsPerCore": 2},
            "Placement": {"AvailabilityZone": "us-east-1a", "Tenancy": "default"},
            "Monitoring": {"Enabled": True},
            "DisableApiStop": True,
        }
        template = self.template("everything", **data)
        found = EC2.describe_launch_template_versions(LaunchTemplateId=template)["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        self.assertEqual(found, data)

    def test_launch(self):
        tags = [{"ResourceType": kind, "Tags": [{"Key": "from", "Value": "template"}]} for kind in ("instance", "volume")]
        template = self.template("launch", ImageId=IMAGE, InstanceType="t3.small", TagSpecifications=tags, Monitoring={"Enabled": True})
        named = {"LaunchTemplateId": template, "Version": "$Latest"}
        launched = EC2.run_instances(LaunchTemplate=named, InstanceType="t3.micro", MinCount=1, MaxCount=1)["Instances"][0]
        self.addCleanup(self.end, launched["InstanceId"])
        self.assertEqual((launched["InstanceType"], launched["Monitoring"]["State"]), ("t3.micro", "enabled"))
        told = {t["Key"]: t["Value"] for t in launched["Tags"]}
        self.assertEqual(told, {"from": "template", "aws:ec2launchtemplate:id": template, "aws:ec2launchtemplate:version": "1"})
        EC2.delete_tags(Resources=[launched["InstanceId"]])
        here = [{"Name": "resource-id", "Values": [launched["InstanceId"]]}, {"Name": "key", "Values": ["aws:*"]}]
        self.assertEqual(len(EC2.describe_tags(Filters=here)["Tags"]), 2)
        missing = {"LaunchTemplate": {"LaunchTemplateName": "none"}, "MinCount": 1, "MaxCount": 1}
        self.code("InvalidLaunchTemplateName.NotFoundException", EC2.run_instances, **missing)
