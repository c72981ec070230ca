"""What can be set on an instance that has more to it than a switch: its profile, its processors."""

from contract.base import EC2, FAST, STS, Contract


class InstanceOptions(Contract):
    def test_profile(self):
        profiles = f"arn:aws:iam::{STS.get_caller_identity()['Account']}:instance-profile/"
        instance = self.instance(IamInstanceProfile={"Name": "one"})
        here = [{"Name": "instance-id", "Values": [instance]}]
        associations = lambda: EC2.describe_iam_instance_profile_associations(Filters=here)["IamInstanceProfileAssociations"]
        first = associations()[0]
        self.assertEqual((first["IamInstanceProfile"]["Arn"], first["State"]), (profiles + "one", "associated"))
        busy = {"InstanceId": instance, "IamInstanceProfile": {"Name": "two"}}
        self.code("IncorrectState", EC2.associate_iam_instance_profile, **busy)
        second = EC2.replace_iam_instance_profile_association(
            AssociationId=first["AssociationId"], IamInstanceProfile={"Arn": profiles + "two"}
        )["IamInstanceProfileAssociation"]
        self.code("NoSuchAssociation", EC2.disassociate_iam_instance_profile, AssociationId=first["AssociationId"])
        found = EC2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
        self.assertEqual(found["IamInstanceProfile"]["Arn"], profiles + "two")
        EC2.disassociate_iam_instance_profile(AssociationId=second["AssociationId"])
        self.assertEqual(associations(), [])
        EC2.associate_iam_instance_profile(**busy)
        self.assertEqual(len(associations()), 1)
        other = {"InstanceId": instance, "IamInstanceProfile": {"Arn": "arn:aws:iam::999999999999:instance-profile/x"}}
        self.code("IncorrectState", EC2.associate_iam_instance_profile, **other)

    def test_processors_and_capacity(self):
        instance = self.instance(InstanceType="m5.large")
        asked = {"InstanceId": instance, "CoreCount": 1, "ThreadsPerCore": 1}
        self.code("IncorrectInstanceState", EC2.modify_instance_cpu_options, **asked)
        EC2.stop_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_stopped").wait(InstanceIds=[instance], WaiterConfig=FAST)
        EC2.modify_instance_cpu_options(**asked)
        self.code("InvalidParameterValue", EC2.modify_instance_cpu_options, **{**asked, "CoreCount": 64})
        preference = {"CapacityReservationPreference": "none"}
        EC2.modify_instance_capacity_reservation_attributes(InstanceId=instance, CapacityReservationSpecification=preference)
        target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}}
        self.code("InvalidCapacityReservationId.NotFound", EC2.modify_instance_capacity_reservation_attributes,
                  InstanceId=instance, CapacityReservationSpecification=target)
        found = EC2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
        self.assertEqual(found["CpuOptions"]["ThreadsPerCore"], 1)
        self.assertEqual(found["CapacityReservationSpecification"], preference)

    def test_every_attribute_is_answered(self):
        instance = self.instance()
        for name in EC2.meta.service_model.shape_for("InstanceAttributeName").enum:
            EC2.describe_instance_attribute(InstanceId=instance, Attribute=name)
