"""Subnets."""

from contract.base import EC2, Contract


class Subnet(Contract):
    def test_subnets(self):
        vpc = self.vpc()
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]
        self.assertEqual(subnet["AvailableIpAddressCount"], 251)
        self.code("InvalidSubnet.Conflict", EC2.create_subnet, VpcId=vpc, CidrBlock="10.0.1.128/25")
        self.code("InvalidSubnet.Range", EC2.create_subnet, VpcId=vpc, CidrBlock="10.1.0.0/24")
        EC2.modify_subnet_attribute(SubnetId=subnet["SubnetId"], MapPublicIpOnLaunch={"Value": True})
        EC2.get_waiter("subnet_available").wait(SubnetIds=[subnet["SubnetId"]])
        self.assertTrue(EC2.describe_subnets(SubnetIds=[subnet["SubnetId"]])["Subnets"][0]["MapPublicIpOnLaunch"])
        self.assertIn(subnet["SubnetId"], self.code("DependencyViolation", EC2.delete_vpc, VpcId=vpc))
