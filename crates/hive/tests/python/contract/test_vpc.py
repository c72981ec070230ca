"""VPCs, with what they are born with."""

from contract.base import EC2, Contract


class Vpc(Contract):
    def test_default_vpc(self):
        vpc = EC2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"][0]["VpcId"]
        subnets = EC2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"]
        self.assertEqual({s["DefaultForAz"] for s in subnets}, {True})
        self.assertEqual(len({s["AvailabilityZone"] for s in subnets}), 3)
        options = EC2.describe_dhcp_options()["DhcpOptions"][0]
        self.assertIn("domain-name-servers", [c["Key"] for c in options["DhcpConfigurations"]])

    def test_default_vpc_can_be_made_again(self):
        self.code("DefaultVpcAlreadyExists", EC2.create_default_vpc)
        self.clear(EC2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"][0]["VpcId"])
        self.code("VPCIdNotSpecified", EC2.create_security_group, GroupName="g", Description="x")
        vpc = EC2.create_default_vpc()["Vpc"]
        self.assertEqual((vpc["IsDefault"], vpc["CidrBlock"]), (True, "172.31.0.0/16"))
        self.test_default_vpc()

    def test_vpc_is_born_with_its_companions_and_takes_them_along(self):
        vpc = EC2.create_vpc(CidrBlock="10.1.2.3/16")["Vpc"]
        here = [{"Name": "vpc-id", "Values": [vpc["VpcId"]]}]
        self.assertEqual(vpc["CidrBlock"], "10.1.0.0/16")
        self.assertEqual([g["GroupName"] for g in EC2.describe_security_groups(Filters=here)["SecurityGroups"]], ["default"])
        acl = EC2.describe_network_acls(Filters=[*here, {"Name": "default", "Values": ["true"]}])["NetworkAcls"]
        self.assertEqual(len(acl[0]["Entries"]), 4)
        main = EC2.describe_route_tables(Filters=[*here, {"Name": "association.main", "Values": ["true"]}])["RouteTables"]
        self.assertEqual(main[0]["Routes"][0]["GatewayId"], "local")
        EC2.delete_vpc(VpcId=vpc["VpcId"])
        for describe, key in (
            (EC2.describe_security_groups, "SecurityGroups"),
            (EC2.describe_network_acls, "NetworkAcls"),
            (EC2.describe_route_tables, "RouteTables"),
        ):
            self.assertEqual(describe(Filters=here)[key], [])
        self.code("InvalidVpcID.NotFound", EC2.describe_vpcs, VpcIds=[vpc["VpcId"]])

    def test_vpc_attributes_blocks_and_tenancy(self):
        vpc = self.vpc(InstanceTenancy="dedicated", AmazonProvidedIpv6CidrBlock=True)
        self.assertEqual(EC2.describe_vpc_attribute(VpcId=vpc, Attribute="enableDnsSupport")["EnableDnsSupport"], {"Value": True})
        EC2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
        self.assertTrue(EC2.describe_vpc_attribute(VpcId=vpc, Attribute="enableDnsHostnames")["EnableDnsHostnames"]["Value"])
        EC2.modify_vpc_tenancy(VpcId=vpc, InstanceTenancy="default")
        added = EC2.associate_vpc_cidr_block(VpcId=vpc, CidrBlock="10.9.0.0/16")["CidrBlockAssociation"]["AssociationId"]
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.9.1.0/24")["Subnet"]["SubnetId"]
        self.assertIn(subnet, self.code("DependencyViolation", EC2.disassociate_vpc_cidr_block, AssociationId=added))
        EC2.delete_subnet(SubnetId=subnet)
        EC2.disassociate_vpc_cidr_block(AssociationId=added)
        self.assertEqual(len(EC2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["CidrBlockAssociationSet"]), 1)
        self.code("InvalidVpc.Range", EC2.create_vpc, CidrBlock="10.0.0.0/8")
        self.assertEqual(EC2.describe_vpc_endpoints()["VpcEndpoints"], [])
