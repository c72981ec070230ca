"""What every test of the contract uses: clients whose answers are held against the model, and helpers that clean up."""

import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from model import ModelChecker

CHECKER = ModelChecker()
CONFIG = Config(retries={"max_attempts": 1})
EC2 = CHECKER.watch(boto3.client("ec2", config=CONFIG))
STS = CHECKER.watch(boto3.client("sts", config=CONFIG))
FAST = {"Delay": 1, "MaxAttempts": 10}
IMAGE = "ami-00000000000000d01"
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

    def way_out(self, vpc):
        """An internet gateway, without which no elastic address is of use; goes with the VPC."""
        gateway = EC2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        EC2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)

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
        found = EC2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
        if found["State"]["Name"] == "terminated":
            return
        EC2.modify_instance_attribute(InstanceId=instance, DisableApiTermination={"Value": False})
        EC2.terminate_instances(InstanceIds=[instance])
        EC2.get_waiter("instance_terminated").wait(InstanceIds=[instance], WaiterConfig=FAST)
