"""Images: of an instance, of a snapshot, of another image; who may use them."""

import os

from contract.base import EC2, FAST, IMAGE, STS, Contract


class Image(Contract):
    def available(self, image):
        EC2.get_waiter("image_available").wait(ImageIds=[image], WaiterConfig=FAST)
        return EC2.describe_images(ImageIds=[image])["Images"][0]

    def test_of_an_instance_and_back(self):
        instance = self.instance(BlockDeviceMappings=[{"DeviceName": "/dev/sdf", "Ebs": {"VolumeSize": 3}}])
        tags = [{"ResourceType": kind, "Tags": [{"Key": "of", "Value": "i"}]} for kind in ("image", "snapshot")]
        image = EC2.create_image(InstanceId=instance, Name="of-instance", TagSpecifications=tags)["ImageId"]
        made = self.available(image)
        self.assertEqual([d["DeviceName"] for d in made["BlockDeviceMappings"]], ["/dev/xvda", "/dev/sdf"])
        self.assertEqual((made["OwnerId"], made["SourceInstanceId"]), (STS.get_caller_identity()["Account"], instance))
        self.code("InvalidAMIName.Duplicate", EC2.create_image, InstanceId=instance, Name="of-instance")
        snapshots = [d["Ebs"]["SnapshotId"] for d in made["BlockDeviceMappings"]]
        self.assertIn(image, self.code("InvalidSnapshot.InUse", EC2.delete_snapshot, SnapshotId=snapshots[0]))
        started = self.instance(ImageId=image)
        volumes = EC2.describe_volumes(Filters=[{"Name": "attachment.instance-id", "Values": [started]}])["Volumes"]
        self.assertEqual({v["SnapshotId"] for v in volumes}, set(snapshots))
        answer = EC2.deregister_image(ImageId=image, DeleteAssociatedSnapshots=True)
        self.assertEqual({r["SnapshotId"] for r in answer["DeleteSnapshotResults"]}, set(snapshots))
        self.code("InvalidAMIID.NotFound", EC2.describe_images, ImageIds=[image])
        self.assertEqual(EC2.describe_images(Owners=["self"])["Images"], [])

    def test_registered_copied_and_shared(self):
        zone = EC2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
        volume = EC2.create_volume(AvailabilityZone=zone, Size=1)["VolumeId"]
        EC2.get_waiter("volume_available").wait(VolumeIds=[volume], WaiterConfig=FAST)
        EC2.get_waiter("volume_available").wait(VolumeIds=[volume], WaiterConfig=FAST)
        snapshot = EC2.create_snapshot(VolumeId=volume)["SnapshotId"]
        EC2.delete_volume(VolumeId=volume)
        speed = {"Iops": 3000, "Throughput": 200}
        root = {"DeviceName": "/dev/xvda", "Ebs": {"SnapshotId": snapshot, "VolumeType": "gp3", **speed}}
        arguments = {"Name": "registered", "Architecture": "x86_64", "RootDeviceName": "/dev/xvda"}
        self.code("InvalidBlockDeviceMapping", EC2.register_image, **arguments)
        image = EC2.register_image(BlockDeviceMappings=[root], EnaSupport=True, BootMode="uefi", **arguments)["ImageId"]
        ebs = self.available(image)["BlockDeviceMappings"][0]["Ebs"]
        self.assertEqual((ebs["VolumeSize"], ebs["Iops"], ebs["Throughput"]), (1, *speed.values()))
        started = self.instance(ImageId=image)
        volume = EC2.describe_volumes(Filters=[{"Name": "attachment.instance-id", "Values": [started]}])["Volumes"][0]
        self.assertEqual((volume["Iops"], volume["Throughput"]), tuple(speed.values()))
        EC2.modify_image_attribute(ImageId=image, Description={"Value": "text"})
        described = EC2.describe_image_attribute(ImageId=image, Attribute="description")
        self.assertEqual(described["Description"]["Value"], "text")
        allowed = lambda: EC2.describe_image_attribute(ImageId=image, Attribute="launchPermission")["LaunchPermissions"]
        EC2.modify_image_attribute(ImageId=image, LaunchPermission={"Add": [{"UserId": "123456789012"}, {"Group": "all"}]})
        self.assertEqual(allowed(), [{"Group": "all"}, {"UserId": "123456789012"}])
        EC2.modify_image_attribute(ImageId=image, Attribute="launchPermission", OperationType="remove", UserGroups=["all"])
        self.assertEqual(allowed(), [{"UserId": "123456789012"}])
        EC2.reset_image_attribute(ImageId=image, Attribute="launchPermission")
        self.assertEqual(allowed(), [])
        self.code("AuthFailure", EC2.modify_image_attribute, ImageId=IMAGE, Description={"Value": "mine"})
        self.code("AuthFailure", EC2.deregister_image, ImageId=IMAGE)
        copy = EC2.copy_image(SourceImageId=image, SourceRegion=os.environ["AWS_REGION"], Name="copied", Encrypted=True)["ImageId"]
        ebs = self.available(copy)["BlockDeviceMappings"][0]["Ebs"]
        self.assertTrue(ebs["Encrypted"])
        self.assertNotEqual(ebs["SnapshotId"], snapshot)
        for gone in (image, copy):
            EC2.deregister_image(ImageId=gone, DeleteAssociatedSnapshots=True)

    def test_of_everyone_with_snapshots_of_everyone(self):
        public = EC2.describe_images(ImageIds=[IMAGE])["Images"][0]
        ebs = public["BlockDeviceMappings"][0]["Ebs"]
        named = EC2.describe_snapshots(SnapshotIds=[ebs["SnapshotId"]])["Snapshots"]
        self.assertEqual([(s["OwnerId"], s["OwnerAlias"], s["VolumeSize"]) for s in named], [(public["OwnerId"], "amazon", 8)])
        listed = lambda **how: {s["SnapshotId"] for s in EC2.describe_snapshots(**how)["Snapshots"]}
        self.assertLessEqual({ebs["SnapshotId"]}, listed())
        self.assertEqual(listed(OwnerIds=["self"]), set())
        self.assertEqual(listed(OwnerIds=["amazon"], RestorableByUserIds=["all"]), listed(OwnerIds=[public["OwnerId"]]))
        pages = EC2.get_paginator("describe_snapshots").paginate(PaginationConfig={"PageSize": 2})
        self.assertEqual([s["SnapshotId"] for page in pages for s in page["Snapshots"]], sorted(listed()))
        self.code("UnauthorizedOperation", EC2.delete_snapshot, SnapshotId=ebs["SnapshotId"])
        instance = self.instance()
        mine = [{"Name": "attachment.instance-id", "Values": [instance]}]
        self.assertEqual([v["SnapshotId"] for v in EC2.describe_volumes(Filters=mine)["Volumes"]], [ebs["SnapshotId"]])
        copy = EC2.copy_snapshot(SourceRegion=os.environ["AWS_REGION"], SourceSnapshotId=ebs["SnapshotId"])["SnapshotId"]
        self.assertEqual(listed(OwnerIds=["self"]), {copy})
        EC2.delete_snapshot(SnapshotId=copy)
