"""Network ACLs."""

from contract.base import EC2, Contract


class NetworkAcl(Contract):
    def test_network_acls(self):
        vpc = self.vpc()
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        acl = EC2.create_network_acl(VpcId=vpc)["NetworkAcl"]["NetworkAclId"]
        entry = dict(NetworkAclId=acl, RuleNumber=10, Egress=False, Protocol="6", CidrBlock="10.0.0.0/8")
        self.code("InvalidParameterValue", EC2.create_network_acl_entry, RuleAction="allow", **entry)
        entry["PortRange"] = {"From": 80, "To": 81}
        EC2.create_network_acl_entry(RuleAction="allow", **entry)
        self.code("NetworkAclEntryAlreadyExists", EC2.create_network_acl_entry, RuleAction="deny", **entry)
        EC2.replace_network_acl_entry(RuleAction="DENY", **entry)
        found = EC2.describe_network_acls(NetworkAclIds=[acl])["NetworkAcls"][0]["Entries"][0]
        self.assertEqual((found["RuleAction"], found["PortRange"]), ("deny", {"From": 80, "To": 81}))
        default = EC2.describe_network_acls(Filters=[{"Name": "association.subnet-id", "Values": [subnet]}])["NetworkAcls"][0]
        moved = EC2.replace_network_acl_association(
            AssociationId=default["Associations"][0]["NetworkAclAssociationId"], NetworkAclId=acl
        )["NewAssociationId"]
        self.assertIn(subnet, self.code("DependencyViolation", EC2.delete_network_acl, NetworkAclId=acl))
        EC2.replace_network_acl_association(AssociationId=moved, NetworkAclId=default["NetworkAclId"])
        EC2.delete_network_acl_entry(NetworkAclId=acl, RuleNumber=10, Egress=False)
        self.code("InvalidNetworkAclEntry.NotFound", EC2.delete_network_acl_entry, NetworkAclId=acl, RuleNumber=10, Egress=False)
        EC2.delete_network_acl(NetworkAclId=acl)
        self.code("InvalidParameterValue", EC2.delete_network_acl, NetworkAclId=default["NetworkAclId"])
