"""What an account is told about itself and where it is."""

import os

from contract.base import EC2, STS, Contract


class Account(Contract):
    def test_account(self):
        identity = STS.get_caller_identity()
        self.assertRegex(identity["Account"], r"^\d{12}$")
        attributes = {a["AttributeName"]: a for a in EC2.describe_account_attributes()["AccountAttributes"]}
        self.assertRegex(attributes["default-vpc"]["AttributeValues"][0]["AttributeValue"], "^vpc-")
        self.code("InvalidParameterValue", EC2.describe_account_attributes, AttributeNames=["nope"])
        region = os.environ["AWS_REGION"]
        self.assertEqual([r["RegionName"] for r in EC2.describe_regions()["Regions"]], [region])
        zones = EC2.describe_availability_zones(Filters=[{"Name": "opt-in-status", "Values": ["opt-in-not-required"]}])
        self.assertEqual(len(zones["AvailabilityZones"]), 3)
