"""Instances from launch to termination."""

from contract.base import EC2, FAST, KEY, Contract


class Instance(Contract):
    def test_instance_life(self):
        key = EC2.import_key_pair(KeyName="life", PublicKeyMaterial=KEY.encode())
        self.addCleanup(EC2.delete_key_pair, KeyName="life")
        self.assertRegex(key["KeyFingerprint"], "^([0-9a-f]{2}:){15}[0-9a-f]{2}$")
        self.code("InvalidKeyPair.Duplicate", EC2.import_key_pair, KeyName="life", PublicKeyMaterial=KEY.encode())
        self.code("InvalidKey.Format", EC2.import_key_pair, KeyName="bad", PublicKeyMaterial=b"nonsense")
        self.assertEqual(EC2.describe_key_pairs(KeyNames=["life"], IncludePublicKey=True)["KeyPairs"][0]["PublicKey"], KEY)
        instance = self.instance(KeyName="life", UserData="#!/bin/sh", DisableApiTermination=True)
        self.code("OperationNotPermitted", EC2.terminate_instances, InstanceIds=[instance])
        EC2.modify_instance_attribute(InstanceId=instance, DisableApiTermination={"Value": False})
        found = EC2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
        self.assertIn("records only", found["StateReason"]["Message"])
        self.assertEqual(found["PublicIpAddress"], found["NetworkInterfaces"][0]["Association"]["PublicIp"])
        attribute = lambda name: EC2.describe_instance_attribute(InstanceId=instance, Attribute=name)
        self.assertEqual(attribute("userData")["UserData"]["Value"], "IyEvYmluL3No")
        for name in ("instanceType", "disableApiStop", "instanceInitiatedShutdownBehavior", "rootDeviceName",
                     "blockDeviceMapping", "sourceDestCheck", "groupSet", "ebsOptimized", "enaSupport", "enclaveOptions"):
            attribute(name)
        self.assertNotIn("Output", EC2.get_console_output(InstanceId=instance))
        self.assertEqual(EC2.get_password_data(InstanceId=instance)["PasswordData"], "")
        EC2.monitor_instances(InstanceIds=[instance])
        EC2.unmonitor_instances(InstanceIds=[instance])
        EC2.reboot_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_status_ok").wait(InstanceIds=[instance], WaiterConfig=FAST)
        EC2.modify_instance_metadata_options(InstanceId=instance, HttpTokens="required", HttpPutResponseHopLimit=2)
        EC2.modify_instance_maintenance_options(InstanceId=instance, AutoRecovery="disabled")
        EC2.modify_private_dns_name_options(InstanceId=instance, PrivateDnsHostnameType="resource-name")
        EC2.modify_instance_credit_specification(
            InstanceCreditSpecifications=[{"InstanceId": instance, "CpuCredits": "standard"}]
        )
        credits = EC2.describe_instance_credit_specifications(InstanceIds=[instance])["InstanceCreditSpecifications"]
        self.assertEqual(credits[0]["CpuCredits"], "standard")
        self.code("IncorrectInstanceState", EC2.modify_instance_attribute, InstanceId=instance, InstanceType={"Value": "t3.small"})
        EC2.stop_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_stopped").wait(InstanceIds=[instance], WaiterConfig=FAST)
        EC2.modify_instance_attribute(InstanceId=instance, InstanceType={"Value": "t3.small"})
        self.code("InvalidParameterValue", EC2.modify_instance_attribute, InstanceId=instance, InstanceType={"Value": "t4g.micro"})
        # A public address that is not elastic goes with the stop, and another comes with the start.
        now = lambda: EC2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
        self.assertNotIn("PublicIpAddress", now())
        EC2.start_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_running").wait(InstanceIds=[instance], WaiterConfig=FAST)
        self.assertNotEqual(now()["PublicIpAddress"], found["PublicIpAddress"])
        volume = found["BlockDeviceMappings"][0]["Ebs"]["VolumeId"]
        EC2.terminate_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_terminated").wait(InstanceIds=[instance], WaiterConfig=FAST)
        EC2.get_waiter("volume_deleted").wait(VolumeIds=[volume], WaiterConfig=FAST)
        self.code("IncorrectInstanceState", EC2.start_instances, InstanceIds=[instance])
        self.code("IncorrectInstanceState", EC2.modify_instance_attribute, InstanceId=instance, DisableApiStop={"Value": True})

    def test_instance_mistakes(self):
        run = lambda **more: dict({"ImageId": "ami-00000000000000d01", "MinCount": 1, "MaxCount": 1}, **more)
        self.code("InvalidAMIID.NotFound", EC2.run_instances, **run(ImageId="ami-0123456789abcdef0"))
        self.code("InvalidAMIID.Malformed", EC2.run_instances, **run(ImageId="nonsense"))
        self.code("InvalidKeyPair.NotFound", EC2.run_instances, **run(KeyName="nobody"))
        self.code("InvalidSubnetID.NotFound", EC2.run_instances, **run(SubnetId="subnet-0123456789abcdef0"))
        self.code("InvalidParameterValue", EC2.run_instances, **run(InstanceType="m1.huge"))
        self.code("InvalidParameterValue", EC2.run_instances, **run(InstanceType="t4g.micro"))
        self.code("InvalidParameterValue", EC2.run_instances, **run(UserData="x" * (16 * 1024 + 1)))
        self.code("InvalidInstanceID.NotFound", EC2.describe_instances, InstanceIds=["i-0123456789abcdef0"])
        self.code("InvalidInstanceID.Malformed", EC2.describe_instances, InstanceIds=["nonsense"])
        # Nothing of a failed launch stays: not the interface, not the volume.
        self.code("InvalidPlacementGroup.Unknown", EC2.run_instances, **run(Placement={"GroupName": "nobody"}))
