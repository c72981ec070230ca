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
        for name in ("availability-zone-id", "availabilityZoneId"):
            found = EC2.describe_subnets(Filters=[{"Name": name, "Values": [subnet["AvailabilityZoneId"]]}])["Subnets"]
            self.assertIn(subnet["SubnetId"], [s["SubnetId"] for s in found])
        self.assertIn(subnet["SubnetId"], self.code("DependencyViolation", EC2.delete_vpc, VpcId=vpc))

    def test_default_subnet(self):
        of_zone = [{"Name": "default-for-az", "Values": ["true"]}]
        old = EC2.describe_subnets(Filters=of_zone)["Subnets"][0]
        zone = old["AvailabilityZone"]
        self.code("DefaultSubnetAlreadyExistsInAvailabilityZone", EC2.create_default_subnet, AvailabilityZone=zone)
        EC2.delete_subnet(SubnetId=old["SubnetId"])
        new = EC2.create_default_subnet(AvailabilityZone=zone)["Subnet"]
        self.assertEqual((new["CidrBlock"], new["DefaultForAz"], new["MapPublicIpOnLaunch"]), (old["CidrBlock"], True, True))

    def test_ipv6_block(self):
        vpc = self.vpc(AmazonProvidedIpv6CidrBlock=True)
        block = EC2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"]
        here, other = (block.replace("00::/56", f"0{n}::/64") for n in (1, 2))
        subnets = [EC2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24")["Subnet"]["SubnetId"] for n in (1, 2)]
        made = EC2.associate_subnet_cidr_block(SubnetId=subnets[0], Ipv6CidrBlock=here)["Ipv6CidrBlockAssociation"]
        self.assertEqual(made["Ipv6CidrBlock"], here)
        self.code("InvalidParameterValue", EC2.associate_subnet_cidr_block, SubnetId=subnets[0], Ipv6CidrBlock=other)
        self.code("InvalidSubnet.Conflict", EC2.associate_subnet_cidr_block, SubnetId=subnets[1], Ipv6CidrBlock=here)
        self.code("InvalidSubnet.Range", EC2.associate_subnet_cidr_block, SubnetId=subnets[1], Ipv6CidrBlock="2001:db8::/64")
        by_id = [{"Name": "ipv6-cidr-block-association.association-id", "Values": [made["AssociationId"]]}]
        self.assertEqual([s["SubnetId"] for s in EC2.describe_subnets(Filters=by_id)["Subnets"]], subnets[:1])
        EC2.disassociate_subnet_cidr_block(AssociationId=made["AssociationId"])
        self.code(
            "InvalidSubnetCidrBlockAssociationID.NotFound", EC2.disassociate_subnet_cidr_block, AssociationId=made["AssociationId"]
        )
        EC2.associate_subnet_cidr_block(SubnetId=subnets[1], Ipv6CidrBlock=here)
