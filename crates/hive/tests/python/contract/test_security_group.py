"""Security groups and their rules."""

from contract.base import EC2, Contract


class SecurityGroup(Contract):
    def test_security_groups(self):
        vpc = self.vpc()
        group = EC2.create_security_group(GroupName="web", Description="web", VpcId=vpc)["GroupId"]
        peer = EC2.create_security_group(GroupName="peer", Description="peer", VpcId=vpc)["GroupId"]
        self.code("InvalidGroup.Duplicate", EC2.create_security_group, GroupName="web", Description="x", VpcId=vpc)
        tcp = {"IpProtocol": "6", "FromPort": 80, "ToPort": 80, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}
        rules = EC2.authorize_security_group_ingress(
            GroupId=group,
            IpPermissions=[tcp, {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": peer}]}],
            TagSpecifications=[{"ResourceType": "security-group-rule", "Tags": [{"Key": "a", "Value": "b"}]}],
        )["SecurityGroupRules"]
        self.assertEqual({r["IpProtocol"] for r in rules}, {"tcp", "-1"})
        self.code("InvalidPermission.Duplicate", EC2.authorize_security_group_ingress, GroupId=group, IpPermissions=[tcp])
        unknown = {"IpProtocol": "tpc", "FromPort": 1, "ToPort": 1, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
        self.code("InvalidParameterValue", EC2.authorize_security_group_ingress, GroupId=group, IpPermissions=[unknown])
        web = next(r["SecurityGroupRuleId"] for r in rules if r["IpProtocol"] == "tcp")
        EC2.update_security_group_rule_descriptions_ingress(
            GroupId=group, SecurityGroupRuleDescriptions=[{"SecurityGroupRuleId": web, "Description": "text"}]
        )
        found = EC2.describe_security_group_rules(SecurityGroupRuleIds=[web])["SecurityGroupRules"][0]
        self.assertEqual((found["Description"], found["Tags"]), ("text", [{"Key": "a", "Value": "b"}]))
        EC2.modify_security_group_rules(
            GroupId=group,
            SecurityGroupRules=[
                {"SecurityGroupRuleId": web, "SecurityGroupRule": {"IpProtocol": "tcp", "FromPort": 81, "ToPort": 81, "CidrIpv6": "::/0"}}
            ],
        )
        found = EC2.describe_security_group_rules(SecurityGroupRuleIds=[web])["SecurityGroupRules"][0]
        self.assertEqual((found["FromPort"], found["CidrIpv6"]), (81, "::/0"))
        out = {"IpProtocol": "udp", "FromPort": 53, "ToPort": 53, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
        EC2.authorize_security_group_egress(GroupId=group, IpPermissions=[out])
        out["IpRanges"][0]["Description"] = "names"
        EC2.update_security_group_rule_descriptions_egress(GroupId=group, IpPermissions=[out])
        EC2.revoke_security_group_egress(GroupId=group, IpPermissions=[out])
        self.code("InvalidPermission.NotFound", EC2.revoke_security_group_egress, GroupId=group, IpPermissions=[out])
        self.assertIn(group, self.code("DependencyViolation", EC2.delete_security_group, GroupId=peer))
        EC2.revoke_security_group_ingress(GroupId=group, SecurityGroupRuleIds=[r["SecurityGroupRuleId"] for r in rules])
        EC2.delete_security_group(GroupId=peer)
        default = EC2.describe_security_groups(
            Filters=[{"Name": "vpc-id", "Values": [vpc]}, {"Name": "group-name", "Values": ["default"]}]
        )["SecurityGroups"][0]["GroupId"]
        self.code("CannotDelete", EC2.delete_security_group, GroupId=default)
