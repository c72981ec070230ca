"""Volumes and snapshots."""

import os

from contract.base import EC2, FAST, Contract


class Volume(Contract):
    def test_volumes(self):
        zone = EC2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
        volume = EC2.create_volume(AvailabilityZone=zone, Size=5, VolumeType="gp3")["VolumeId"]
        EC2.get_waiter("volume_available").wait(VolumeIds=[volume], WaiterConfig=FAST)
        self.assertEqual(EC2.describe_volume_status(VolumeIds=[volume])["VolumeStatuses"][0]["VolumeStatus"]["Status"], "ok")
        on_its_own = lambda: EC2.describe_volume_attribute(VolumeId=volume, Attribute="autoEnableIO")["AutoEnableIO"]["Value"]
        self.assertFalse(on_its_own())
        EC2.modify_volume_attribute(VolumeId=volume, AutoEnableIO={"Value": True})
        self.assertTrue(on_its_own())
        self.assertEqual(EC2.describe_volume_attribute(VolumeId=volume, Attribute="productCodes")["ProductCodes"], [])
        self.code("MissingParameter", EC2.modify_volume_attribute, VolumeId=volume)
        instance = self.instance()
        EC2.attach_volume(VolumeId=volume, InstanceId=instance, Device="/dev/sdf")
        EC2.get_waiter("volume_in_use").wait(VolumeIds=[volume], WaiterConfig=FAST)
        self.code("VolumeInUse", EC2.attach_volume, VolumeId=volume, InstanceId=instance, Device="/dev/sdg")
        self.assertIn(instance, self.code("VolumeInUse", EC2.delete_volume, VolumeId=volume))
        self.code("InvalidVolumeModification.NotFound", EC2.describe_volumes_modifications, VolumeIds=[volume])
        EC2.modify_volume(VolumeId=volume, Size=8, Iops=4000)
        self.code("InvalidParameterValue", EC2.modify_volume, VolumeId=volume, Size=4)
        change = EC2.describe_volumes_modifications(VolumeIds=[volume])["VolumesModifications"][0]
        self.assertEqual((change["OriginalSize"], change["TargetSize"]), (5, 8))
        snapshot = EC2.create_snapshot(VolumeId=volume, Description="kept")["SnapshotId"]
        EC2.get_waiter("snapshot_completed").wait(SnapshotIds=[snapshot], WaiterConfig=FAST)
        self.code("InvalidAttachment.NotFound", EC2.detach_volume, VolumeId=volume, Device="/dev/sdz")
        EC2.detach_volume(VolumeId=volume)
        EC2.get_waiter("volume_available").wait(VolumeIds=[volume], WaiterConfig=FAST)
        copy = EC2.create_volume(AvailabilityZone=zone, SnapshotId=snapshot)
        self.assertEqual(copy["Size"], 8)
        self.code("InvalidParameterValue", EC2.create_volume, AvailabilityZone=zone, SnapshotId=snapshot, Size=1)
        self.code("InvalidZone.NotFound", EC2.create_volume, AvailabilityZone="mars-1a", Size=1)
        twin = EC2.copy_snapshot(SourceRegion=os.environ["AWS_REGION"], SourceSnapshotId=snapshot, Encrypted=True)["SnapshotId"]
        self.assertTrue(EC2.describe_snapshots(SnapshotIds=[twin])["Snapshots"][0]["Encrypted"])
        self.code("OperationNotPermitted", EC2.modify_snapshot_attribute, SnapshotId=twin, UserIds=["123456789012"])
        EC2.delete_snapshot(SnapshotId=twin)
        allowed = lambda: EC2.describe_snapshot_attribute(SnapshotId=snapshot, Attribute="createVolumePermission")["CreateVolumePermissions"]
        EC2.modify_snapshot_attribute(SnapshotId=snapshot, CreateVolumePermission={"Add": [{"UserId": "123456789012"}, {"Group": "all"}]})
        self.assertEqual(allowed(), [{"Group": "all"}, {"UserId": "123456789012"}])
        EC2.modify_snapshot_attribute(SnapshotId=snapshot, Attribute="createVolumePermission", OperationType="remove", GroupNames=["all"])
        self.assertEqual(allowed(), [{"UserId": "123456789012"}])
        EC2.reset_snapshot_attribute(SnapshotId=snapshot, Attribute="createVolumePermission")
        self.assertEqual(allowed(), [])
        codes = EC2.describe_snapshot_attribute(SnapshotId=snapshot, Attribute="productCodes")
        self.assertEqual((codes["SnapshotId"], codes["ProductCodes"]), (snapshot, []))
        EC2.delete_snapshot(SnapshotId=snapshot)
        self.assertFalse(EC2.get_ebs_encryption_by_default()["EbsEncryptionByDefault"])
        EC2.enable_ebs_encryption_by_default()
        secret = EC2.create_volume(AvailabilityZone=zone, Size=1)
        self.assertEqual(secret["KmsKeyId"], EC2.get_ebs_default_kms_key_id()["KmsKeyId"])
        EC2.disable_ebs_encryption_by_default()
        for gone in (volume, copy["VolumeId"], secret["VolumeId"]):
            EC2.delete_volume(VolumeId=gone)
            EC2.get_waiter("volume_deleted").wait(VolumeIds=[gone], WaiterConfig=FAST)
        self.code("InvalidVolume.NotFound", EC2.describe_volumes, VolumeIds=[volume])
