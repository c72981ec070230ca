"""DHCP options."""

from contract.base import EC2, Contract


class DhcpOptions(Contract):
    def test_dhcp_options(self):
        vpc = self.vpc()
        wanted = [{"Key": "domain-name", "Values": ["example.internal"]}]
        options = EC2.create_dhcp_options(DhcpConfigurations=wanted)["DhcpOptions"]["DhcpOptionsId"]
        self.code("InvalidParameterValue", EC2.create_dhcp_options, DhcpConfigurations=[{"Key": "colour", "Values": ["red"]}])
        EC2.associate_dhcp_options(DhcpOptionsId=options, VpcId=vpc)
        self.assertIn(vpc, self.code("DependencyViolation", EC2.delete_dhcp_options, DhcpOptionsId=options))
        EC2.associate_dhcp_options(DhcpOptionsId="default", VpcId=vpc)
        EC2.delete_dhcp_options(DhcpOptionsId=options)
        self.code("InvalidDhcpOptionID.NotFound", EC2.describe_dhcp_options, DhcpOptionsIds=[options])
