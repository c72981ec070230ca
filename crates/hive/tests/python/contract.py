"""The EC2 contract as boto3 sees it. Every action of the table is called; every answer is held against the model.

The environment is what `eos hive env` prints; HIVE_ACTIONS names every action there is.
"""

import base64
import hashlib
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from model import ModelChecker

CHECKER = ModelChecker()
CONFIG = Config(retries={"max_attempts": 1})
EC2 = CHECKER.watch(boto3.client("ec2", config=CONFIG))
STS = CHECKER.watch(boto3.client("sts", config=CONFIG))
FAST = {"Delay": 1, "MaxAttempts": 10}
KEY = (
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDMJ9HdpKhNGpYYiyBOMyGjKFrfWPtRmGZ3iB9hQYvEVQsMjC4pDqJKqWUz1cz0LeuT1N"
    "sVhqKhPpwq4Zo4uG9WVyTmcVLYV8N9wTrcNaAbBPuGWHJQz7vqbS7SbsbhYBzsmmFMlbFjPXRdLw1U1LwJxwuQBIeSB1UKiRyQwGDnTw== test"
)


class Contract(unittest.TestCase):
    maxDiff = None

    def code(self, expected, call, **arguments):
        """The call fails with exactly this code."""
        with self.assertRaises(ClientError, msg=f"{call.__name__} {arguments}") as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["Error"]["Code"], expected)
        self.assertTrue(caught.exception.response["ResponseMetadata"]["RequestId"])
        return caught.exception.response["Error"]["Message"]

    def vpc(self, cidr="10.0.0.0/16", **more):
        vpc = EC2.create_vpc(CidrBlock=cidr, **more)["Vpc"]["VpcId"]
        self.addCleanup(self.clear, vpc)
        return vpc

    def clear(self, vpc):
        """Takes a VPC away with all that is in it, in the order of dependency."""
        here = [{"Name": "vpc-id", "Values": [vpc]}]
        instances = [i["InstanceId"] for r in EC2.describe_instances(Filters=here)["Reservations"] for i in r["Instances"]]
        if instances:
            EC2.terminate_instances(InstanceIds=instances)
            EC2.get_waiter("instance_terminated").wait(InstanceIds=instances, WaiterConfig=FAST)
        for interface in EC2.describe_network_interfaces(Filters=here)["NetworkInterfaces"]:
            EC2.delete_network_interface(NetworkInterfaceId=interface["NetworkInterfaceId"])
        for table in EC2.describe_route_tables(Filters=here)["RouteTables"]:
            if not any(a["Main"] for a in table["Associations"]):
                for association in table["Associations"]:
                    EC2.disassociate_route_table(AssociationId=association["RouteTableAssociationId"])
                EC2.delete_route_table(RouteTableId=table["RouteTableId"])
        for gateway in EC2.describe_internet_gateways(
            Filters=[{"Name": "attachment.vpc-id", "Values": [vpc]}]
        )["InternetGateways"]:
            EC2.detach_internet_gateway(InternetGatewayId=gateway["InternetGatewayId"], VpcId=vpc)
            EC2.delete_internet_gateway(InternetGatewayId=gateway["InternetGatewayId"])
        groups = [g for g in EC2.describe_security_groups(Filters=here)["SecurityGroups"] if g["GroupName"] != "default"]
        for group in groups:
            if group["IpPermissions"]:
                EC2.revoke_security_group_ingress(GroupId=group["GroupId"], IpPermissions=group["IpPermissions"])
        for group in groups:
            EC2.delete_security_group(GroupId=group["GroupId"])
        for subnet in EC2.describe_subnets(Filters=here)["Subnets"]:
            EC2.delete_subnet(SubnetId=subnet["SubnetId"])
        EC2.delete_vpc(VpcId=vpc)

    def instance(self, **more):
        arguments = {"ImageId": "ami-00000000000000d01", "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}
        instance = EC2.run_instances(**{**arguments, **more})["Instances"][0]["InstanceId"]
        EC2.get_waiter("instance_running").wait(InstanceIds=[instance], WaiterConfig=FAST)
        self.addCleanup(self.end, instance)
        return instance

    def end(self, instance):
        EC2.modify_instance_attribute(InstanceId=instance, DisableApiTermination={"Value": False})
        EC2.terminate_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_terminated").wait(InstanceIds=[instance], WaiterConfig=FAST)

    # --- account

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

    def test_sessions(self):
        account = STS.get_caller_identity()["Account"]
        role = STS.assume_role(RoleArn=f"arn:aws:iam::{account}:role/deploy", RoleSessionName="me")
        self.assertEqual(role["AssumedRoleUser"]["Arn"], f"arn:aws:sts::{account}:assumed-role/deploy/me")
        for answer in (role, STS.get_session_token(DurationSeconds=900)):
            keys = answer["Credentials"]
            session = boto3.Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
            self.assertEqual(session.client("sts", config=CONFIG).get_caller_identity()["Account"], account)
            self.assertTrue(session.client("ec2", config=CONFIG).describe_vpcs()["Vpcs"])
            self.code("AccessDenied", session.client("sts", config=CONFIG).get_session_token)
            forged = boto3.Session(keys["AccessKeyId"], keys["SecretAccessKey"], "x" + keys["SessionToken"])
            self.code("AuthFailure", forged.client("ec2", config=CONFIG).describe_vpcs)
        other = "arn:aws:iam::999999999999:role/deploy"
        self.code("AccessDenied", STS.assume_role, RoleArn=other, RoleSessionName="me")
        self.code("ValidationError", STS.get_session_token, DurationSeconds=129601)

    def test_presigned_requests(self):
        trust = ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])
        wanted = {"Filters": [{"Name": "is-default", "Values": ["true"]}]}
        url = EC2.generate_presigned_url("describe_vpcs", Params=wanted, HttpMethod="GET")
        with urllib.request.urlopen(url, context=trust) as answer:
            self.assertIn(b"<isDefault>true</isDefault>", answer.read())
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(url.replace("is-default", "state"), context=trust)
        self.assertIn(b"SignatureDoesNotMatch", caught.exception.read())

    def test_a_key_for_another_region_is_told_the_right_one(self):
        elsewhere = boto3.client("ec2", region_name="eu-north-1", config=CONFIG)
        self.assertIn(os.environ["AWS_REGION"], self.code("AuthFailure", elsewhere.describe_vpcs))

    def test_default_vpc(self):
        vpc = EC2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"][0]["VpcId"]
        subnets = EC2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"]
        self.assertEqual({s["DefaultForAz"] for s in subnets}, {True})
        self.assertEqual(len({s["AvailabilityZone"] for s in subnets}), 3)
        options = EC2.describe_dhcp_options()["DhcpOptions"][0]
        self.assertIn("domain-name-servers", [c["Key"] for c in options["DhcpConfigurations"]])

    # --- VPC

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

    def test_gateways_and_routes(self):
        vpc = self.vpc()
        gateway = EC2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        EC2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        self.code("Resource.AlreadyAssociated", EC2.attach_internet_gateway, InternetGatewayId=gateway, VpcId=vpc)
        self.code("DependencyViolation", EC2.delete_internet_gateway, InternetGatewayId=gateway)
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        table = EC2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        other = EC2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        EC2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
        association = EC2.associate_route_table(RouteTableId=table, SubnetId=subnet)["AssociationId"]
        self.code("DependencyViolation", EC2.delete_route_table, RouteTableId=table)
        moved = EC2.replace_route_table_association(AssociationId=association, RouteTableId=other)["NewAssociationId"]
        self.assertNotEqual(association, moved)
        self.code("InvalidAssociationID.NotFound", EC2.disassociate_route_table, AssociationId=association)
        EC2.disassociate_route_table(AssociationId=moved)
        interface = EC2.create_network_interface(SubnetId=subnet)["NetworkInterface"]["NetworkInterfaceId"]
        EC2.replace_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NetworkInterfaceId=interface)
        route = lambda: next(
            r for r in EC2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0]["Routes"]
            if r["DestinationCidrBlock"] == "0.0.0.0/0"
        )
        self.assertEqual(route()["State"], "blackhole")
        EC2.replace_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
        self.assertEqual(route()["State"], "active")
        EC2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        self.assertEqual(route()["State"], "blackhole")
        EC2.delete_internet_gateway(InternetGatewayId=gateway)
        EC2.delete_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0")
        self.code("InvalidRoute.NotFound", EC2.delete_route, RouteTableId=table, DestinationCidrBlock="0.0.0.0/0")

    def test_nat_and_egress_only_gateways(self):
        vpc = self.vpc(AmazonProvidedIpv6CidrBlock=True)
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        allocation = EC2.allocate_address(Domain="vpc")["AllocationId"]
        self.code("MissingParameter", EC2.create_nat_gateway, SubnetId=subnet)
        nat = EC2.create_nat_gateway(SubnetId=subnet, AllocationId=allocation)["NatGateway"]["NatGatewayId"]
        EC2.get_waiter("nat_gateway_available").wait(NatGatewayIds=[nat], WaiterConfig=FAST)
        interface = EC2.describe_nat_gateways(NatGatewayIds=[nat])["NatGateways"][0]["NatGatewayAddresses"][0]["NetworkInterfaceId"]
        self.code("OperationNotPermitted", EC2.delete_network_interface, NetworkInterfaceId=interface)
        outward = EC2.create_egress_only_internet_gateway(VpcId=vpc)["EgressOnlyInternetGateway"]["EgressOnlyInternetGatewayId"]
        table = EC2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        EC2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
        EC2.create_route(RouteTableId=table, DestinationIpv6CidrBlock="::/0", EgressOnlyInternetGatewayId=outward)
        states = lambda: {r["State"] for r in EC2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0]["Routes"]}
        self.assertEqual(states(), {"active"})
        EC2.delete_nat_gateway(NatGatewayId=nat)
        EC2.get_waiter("nat_gateway_deleted").wait(NatGatewayIds=[nat], WaiterConfig=FAST)
        self.assertEqual(states(), {"active", "blackhole"})
        EC2.release_address(AllocationId=allocation)
        self.assertIn(outward, self.code("DependencyViolation", EC2.delete_vpc, VpcId=vpc))
        EC2.describe_egress_only_internet_gateways(EgressOnlyInternetGatewayIds=[outward])
        EC2.delete_egress_only_internet_gateway(EgressOnlyInternetGatewayId=outward)

    def test_network_acls(self):
        vpc = self.vpc()
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        acl = EC2.create_network_acl(VpcId=vpc)["NetworkAcl"]["NetworkAclId"]
        entry = dict(NetworkAclId=acl, RuleNumber=10, Egress=False, Protocol="6", CidrBlock="10.0.0.0/8")
        self.code("InvalidParameterValue", EC2.create_network_acl_entry, RuleAction="allow", **entry)
        entry["PortRange"] = {"From": 80, "To": 81}
        EC2.create_network_acl_entry(RuleAction="allow", **entry)
        self.code("NetworkAclEntryAlreadyExists", EC2.create_network_acl_entry, RuleAction="deny", **entry)
        EC2.replace_network_acl_entry(RuleAction="deny", **entry)
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

    # --- key pairs

    def tool(self, command, text):
        """The output of a tool that reads a key from a file; None where the tool is not there."""
        if shutil.which(command.split()[0]) is None:
            return None
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text + "\n")
            file.flush()
            os.chmod(file.name, 0o600)
            done = subprocess.run(command.format(file.name), shell=True, capture_output=True, check=True)
            return done.stdout

    def test_keys_are_real_and_have_the_fingerprints_that_ec2_gives(self):
        for kind in ("rsa", "ed25519"):
            made = EC2.create_key_pair(KeyName=f"made-{kind}", KeyType=kind)
            self.addCleanup(EC2.delete_key_pair, KeyName=f"made-{kind}")
            found = EC2.describe_key_pairs(KeyNames=[f"made-{kind}"], IncludePublicKey=True)["KeyPairs"][0]
            self.assertEqual((found["KeyType"], found["KeyFingerprint"]), (kind, made["KeyFingerprint"]))
            public = self.tool("ssh-keygen -y -f {}", made["KeyMaterial"])
            if public is not None:
                self.assertEqual(public.decode().split()[:2], found["PublicKey"].split()[:2])
            if kind == "rsa":
                der = self.tool("openssl pkcs8 -in {} -inform PEM -outform DER -topk8 -nocrypt", made["KeyMaterial"])
                if der is not None:
                    self.assertEqual(hashlib.sha1(der).hexdigest(), made["KeyFingerprint"].replace(":", ""))
            else:
                blob = base64.b64decode(found["PublicKey"].split()[1])
                self.assertEqual(base64.b64encode(hashlib.sha256(blob).digest()).decode(), made["KeyFingerprint"])
        self.code("InvalidKeyPair.Duplicate", EC2.create_key_pair, KeyName="made-rsa")
        self.code("InvalidParameterValue", EC2.create_key_pair, KeyName="x", KeyType="dsa")
        self.code("DryRunOperation", EC2.create_key_pair, KeyName="x", DryRun=True)
        imported = EC2.import_key_pair(KeyName="imported", PublicKeyMaterial=KEY.encode())
        self.addCleanup(EC2.delete_key_pair, KeyName="imported")
        der = self.tool("ssh-keygen -e -m pkcs8 -f {} | openssl pkey -pubin -outform DER", KEY)
        if der is not None:
            self.assertEqual(hashlib.md5(der).hexdigest(), imported["KeyFingerprint"].replace(":", ""))

    # --- instances

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
        EC2.start_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_running").wait(InstanceIds=[instance], WaiterConfig=FAST)
        volume = found["BlockDeviceMappings"][0]["Ebs"]["VolumeId"]
        EC2.terminate_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_terminated").wait(InstanceIds=[instance], WaiterConfig=FAST)
        EC2.get_waiter("volume_deleted").wait(VolumeIds=[volume], WaiterConfig=FAST)
        self.code("IncorrectInstanceState", EC2.start_instances, InstanceIds=[instance])

    def test_instance_mistakes(self):
        run = lambda **more: dict({"ImageId": "ami-00000000000000d01", "MinCount": 1, "MaxCount": 1}, **more)
        self.code("InvalidAMIID.NotFound", EC2.run_instances, **run(ImageId="ami-0123456789abcdef0"))
        self.code("InvalidAMIID.Malformed", EC2.run_instances, **run(ImageId="nonsense"))
        self.code("InvalidKeyPair.NotFound", EC2.run_instances, **run(KeyName="nobody"))
        self.code("InvalidSubnetID.NotFound", EC2.run_instances, **run(SubnetId="subnet-0123456789abcdef0"))
        self.code("InvalidParameterValue", EC2.run_instances, **run(InstanceType="m1.huge"))
        self.code("InvalidParameterValue", EC2.run_instances, **run(InstanceType="t4g.micro"))
        self.code("InvalidInstanceID.NotFound", EC2.describe_instances, InstanceIds=["i-0123456789abcdef0"])
        self.code("InvalidInstanceID.Malformed", EC2.describe_instances, InstanceIds=["nonsense"])
        # Nothing of a failed launch stays: not the interface, not the volume.
        self.code("InvalidPlacementGroup.Unknown", EC2.run_instances, **run(Placement={"GroupName": "nobody"}))

    def test_catalogues(self):
        types = EC2.describe_instance_types(InstanceTypes=["t3.micro"])["InstanceTypes"][0]
        self.assertTrue(types["BurstablePerformanceSupported"])
        self.assertEqual((types["VCpuInfo"]["DefaultVCpus"], types["MemoryInfo"]["SizeInMiB"]), (2, 1024))
        self.code("InvalidInstanceType", EC2.describe_instance_types, InstanceTypes=["m1.huge"])
        offered = EC2.describe_instance_type_offerings(
            LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": ["t3.*"]}]
        )["InstanceTypeOfferings"]
        self.assertEqual(len(offered), 7 * 3)
        images = EC2.describe_images(Owners=["amazon"], Filters=[{"Name": "name", "Values": ["amzn2-ami-minimal-hvm-*"]}])
        self.assertEqual({i["Architecture"] for i in images["Images"]}, {"x86_64", "arm64"})
        self.assertEqual(EC2.describe_images(Owners=["self"])["Images"], [])

    # --- volumes

    def test_volumes(self):
        zone = EC2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
        volume = EC2.create_volume(AvailabilityZone=zone, Size=5, VolumeType="gp3")["VolumeId"]
        EC2.get_waiter("volume_available").wait(VolumeIds=[volume], WaiterConfig=FAST)
        self.assertEqual(EC2.describe_volume_status(VolumeIds=[volume])["VolumeStatuses"][0]["VolumeStatus"]["Status"], "ok")
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
        EC2.detach_volume(VolumeId=volume)
        EC2.get_waiter("volume_available").wait(VolumeIds=[volume], WaiterConfig=FAST)
        copy = EC2.create_volume(AvailabilityZone=zone, SnapshotId=snapshot)
        self.assertEqual(copy["Size"], 8)
        self.code("InvalidParameterValue", EC2.create_volume, AvailabilityZone=zone, SnapshotId=snapshot, Size=1)
        self.code("InvalidZone.NotFound", EC2.create_volume, AvailabilityZone="mars-1a", Size=1)
        twin = EC2.copy_snapshot(SourceRegion=os.environ["AWS_REGION"], SourceSnapshotId=snapshot, Encrypted=True)["SnapshotId"]
        self.assertTrue(EC2.describe_snapshots(SnapshotIds=[twin])["Snapshots"][0]["Encrypted"])
        EC2.delete_snapshot(SnapshotId=twin)
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

    # --- interfaces and addresses

    def test_interfaces_and_addresses(self):
        vpc = self.vpc()
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        instance = self.instance(SubnetId=subnet)
        interface = EC2.create_network_interface(SubnetId=subnet, PrivateIpAddress="10.0.1.9")["NetworkInterface"]["NetworkInterfaceId"]
        self.code("InvalidIPAddress.InUse", EC2.create_network_interface, SubnetId=subnet, PrivateIpAddress="10.0.1.9")
        self.code("InvalidParameterValue", EC2.create_network_interface, SubnetId=subnet, PrivateIpAddress="10.0.1.1")
        EC2.get_waiter("network_interface_available").wait(NetworkInterfaceIds=[interface], WaiterConfig=FAST)
        assigned = EC2.assign_private_ip_addresses(NetworkInterfaceId=interface, SecondaryPrivateIpAddressCount=2)
        more = [a["PrivateIpAddress"] for a in assigned["AssignedPrivateIpAddresses"]]
        EC2.unassign_private_ip_addresses(NetworkInterfaceId=interface, PrivateIpAddresses=more[:1])
        EC2.modify_network_interface_attribute(NetworkInterfaceId=interface, Description={"Value": "text"})
        described = EC2.describe_network_interface_attribute(NetworkInterfaceId=interface, Attribute="description")
        self.assertEqual(described["Description"]["Value"], "text")
        attachment = EC2.attach_network_interface(NetworkInterfaceId=interface, InstanceId=instance, DeviceIndex=1)["AttachmentId"]
        self.code("InvalidParameterValue", EC2.delete_network_interface, NetworkInterfaceId=interface)
        self.assertIn(interface, self.code("DependencyViolation", EC2.delete_subnet, SubnetId=subnet))
        address = EC2.allocate_address(Domain="vpc")
        allocation = address["AllocationId"]
        association = EC2.associate_address(AllocationId=allocation, InstanceId=instance)["AssociationId"]
        self.code("Resource.AlreadyAssociated", EC2.associate_address, AllocationId=allocation, NetworkInterfaceId=interface)
        found = EC2.describe_addresses(PublicIps=[address["PublicIp"]])["Addresses"][0]
        self.assertEqual((found["InstanceId"], found["AssociationId"]), (instance, association))
        self.assertEqual(EC2.describe_addresses_attribute(AllocationIds=[allocation])["Addresses"][0]["AllocationId"], allocation)
        self.code("InvalidIPAddress.InUse", EC2.release_address, AllocationId=allocation)
        EC2.disassociate_address(AssociationId=association)
        EC2.release_address(AllocationId=allocation)
        self.code("InvalidAllocationID.NotFound", EC2.describe_addresses, AllocationIds=[allocation])
        EC2.detach_network_interface(AttachmentId=attachment)
        EC2.delete_network_interface(NetworkInterfaceId=interface)

    def test_placement_groups(self):
        EC2.create_placement_group(GroupName="p", Strategy="partition", PartitionCount=3)
        self.code("InvalidPlacementGroup.Duplicate", EC2.create_placement_group, GroupName="p", Strategy="cluster")
        self.assertEqual(EC2.describe_placement_groups(GroupNames=["p"])["PlacementGroups"][0]["PartitionCount"], 3)
        instance = self.instance(Placement={"GroupName": "p"})
        self.code("InvalidPlacementGroup.InUse", EC2.delete_placement_group, GroupName="p")
        self.end(instance)
        EC2.delete_placement_group(GroupName="p")
        self.code("InvalidPlacementGroup.Unknown", EC2.describe_placement_groups, GroupNames=["p"])

    # --- what is the same for all

    def test_tags(self):
        vpc = self.vpc(TagSpecifications=[{"ResourceType": "vpc", "Tags": [{"Key": "Name", "Value": "a<b>&'\""}]}])
        self.assertEqual(EC2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["Tags"], [{"Key": "Name", "Value": "a<b>&'\""}])
        EC2.create_tags(Resources=[vpc], Tags=[{"Key": "x", "Value": "1"}, {"Key": "y", "Value": ""}])
        EC2.delete_tags(Resources=[vpc], Tags=[{"Key": "x", "Value": "other"}, {"Key": "y"}])
        here = [{"Name": "resource-id", "Values": [vpc]}]
        self.assertEqual([t["Key"] for t in EC2.describe_tags(Filters=here)["Tags"]], ["Name", "x"])
        self.code("InvalidParameterValue", EC2.create_tags, Resources=[vpc], Tags=[{"Key": "aws:x", "Value": "1"}])
        many = [{"Key": str(n), "Value": ""} for n in range(50)]
        self.code("TagLimitExceeded", EC2.create_tags, Resources=[vpc], Tags=many)
        self.assertEqual(len(EC2.describe_tags(Filters=here)["Tags"]), 2)
        self.code("InvalidVpcID.NotFound", EC2.create_tags, Resources=["vpc-0123456789abcdef0"], Tags=many[:1])
        for name, value in (("tag:Name", "a<*"), ("tag-key", "Na?e"), ("tag-value", "a<b>&'\"")):
            found = EC2.describe_vpcs(Filters=[{"Name": name, "Values": [value]}])["Vpcs"]
            self.assertEqual([v["VpcId"] for v in found], [vpc], name)

    def test_filters_are_never_ignored(self):
        self.code("InvalidParameterValue", EC2.describe_vpcs, Filters=[{"Name": "colour", "Values": ["red"]}])
        self.assertEqual(EC2.describe_vpcs(Filters=[{"Name": "cidr", "Values": ["nothing"]}])["Vpcs"], [])

    def test_client_token(self):
        vpc = self.vpc()
        first = EC2.create_route_table(VpcId=vpc, ClientToken="once")["RouteTable"]["RouteTableId"]
        again = EC2.create_route_table(VpcId=vpc, ClientToken="once")["RouteTable"]["RouteTableId"]
        self.assertEqual(first, again)
        tags = [{"ResourceType": "route-table", "Tags": [{"Key": "a", "Value": "b"}]}]
        self.code("IdempotentParameterMismatch", EC2.create_route_table, VpcId=vpc, ClientToken="once", TagSpecifications=tags)
        run = {"ImageId": "ami-00000000000000d01", "InstanceType": "t3.micro", "MinCount": 2, "MaxCount": 2, "ClientToken": "run"}
        ids = [[i["InstanceId"] for i in EC2.run_instances(**run)["Instances"]] for _ in range(2)]
        self.assertEqual(ids[0], ids[1])
        self.addCleanup(EC2.terminate_instances, InstanceIds=ids[0])

    def test_dry_run_changes_nothing(self):
        before = len(EC2.describe_vpcs()["Vpcs"])
        self.code("DryRunOperation", EC2.create_vpc, CidrBlock="10.0.0.0/16", DryRun=True)
        self.code("InvalidVpc.Range", EC2.create_vpc, CidrBlock="10.0.0.0/8", DryRun=True)
        self.assertEqual(len(EC2.describe_vpcs()["Vpcs"]), before)

    def test_every_describe_dry_runs_and_pages(self):
        vpc = self.vpc()
        for n in range(7):
            EC2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24")
            EC2.create_security_group(GroupName=f"g{n}", Description="x", VpcId=vpc)
            EC2.create_route_table(VpcId=vpc)
            EC2.create_tags(Resources=[vpc], Tags=[{"Key": str(n), "Value": ""}])
        needed = {"VpcId": vpc, "Attribute": "enableDnsSupport"}
        for name in sorted(n for n in os.environ["HIVE_ACTIONS"].split() if n.startswith("Describe")):
            call = getattr(EC2, snake(name))
            members = EC2.meta.service_model.operation_model(name).input_shape.members
            required = EC2.meta.service_model.operation_model(name).input_shape.required_members
            if name not in ("DescribeInstanceAttribute", "DescribeNetworkInterfaceAttribute"):
                arguments = {key: needed[key] for key in required}
                if "DryRun" in members:
                    self.code("DryRunOperation", call, DryRun=True, **arguments)
            if EC2.can_paginate(snake(name)) and "MaxResults" in members:
                paginator = EC2.get_paginator(snake(name))
                key = paginator.result_keys[0]
                whole = paginator.paginate().build_full_result()[key.expression]
                paged = paginator.paginate(PaginationConfig={"PageSize": 5}).build_full_result()[key.expression]
                if name == "DescribeInstances":
                    # A page may cut a reservation: what counts is each instance.
                    paged, whole = (sorted(i["InstanceId"] for r in rs for i in r["Instances"]) for rs in (paged, whole))
                self.assertEqual(paged, whole, name)
                self.code("InvalidNextToken", call, NextToken="nonsense")

    def test_pages_survive_change(self):
        vpc = self.vpc()
        made = [EC2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(12)]
        here = [{"Name": "vpc-id", "Values": [vpc]}]
        page = EC2.describe_route_tables(Filters=here, MaxResults=5)
        seen = [t["RouteTableId"] for t in page["RouteTables"]]
        gone = {next(t for t in made if t in seen), next(t for t in made if t not in seen)}
        for table in gone:
            EC2.delete_route_table(RouteTableId=table)
        while "NextToken" in page:
            page = EC2.describe_route_tables(Filters=here, MaxResults=5, NextToken=page["NextToken"])
            seen += [t["RouteTableId"] for t in page["RouteTables"]]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertLessEqual(set(made) - gone, set(seen))


class ZEverything(unittest.TestCase):
    """Runs last: what all the tests before have seen."""

    def test_every_action_was_answered_as_the_model_says(self):
        self.assertEqual(sorted(set(CHECKER.problems)), [])
        self.assertEqual(set(os.environ["HIVE_ACTIONS"].split()) - CHECKER.answered, set())


class Parameters(unittest.TestCase):
    """A misspelt parameter would never be sent, and nobody would notice: every name is one that clients know."""

    def test_every_parameter_is_one_of_the_models(self):
        unknown = []
        for row in json.loads(os.environ["HIVE_COVERAGE"]):
            client = STS if row["service"] == "sts" else EC2
            shape = client.meta.service_model.operation_model(row["action"]).input_shape
            known = {query_name(name, member) for name, member in shape.members.items()}
            unknown += [f"{row['action']}.{name}" for name in row["parameters"] if name not in known]
        # Some actions have no DryRun in the model; taking it everywhere does no harm.
        self.assertEqual([name for name in unknown if not name.endswith(".DryRun")], [])


def query_name(name, member):
    """As the EC2 protocol spells a member: its queryName, or its locationName with a capital."""
    spelt = member.serialization.get("queryName") or member.serialization.get("name", name)
    return spelt[0].upper() + spelt[1:]


def snake(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
