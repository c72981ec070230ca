"""What EC2 does not take, each with its code."""

from contract.base import EC2, Contract


class Refusals(Contract):
    def test_descriptions(self):
        vpc = self.vpc()
        for text in ("", "x" * 256, "gr\u00fcn"):
            self.code("InvalidParameterValue", EC2.create_security_group, VpcId=vpc, GroupName="g", Description=text)
        group = EC2.create_security_group(VpcId=vpc, GroupName="g", Description="x" * 255)["GroupId"]
        rule = lambda text: [{"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "IpRanges": [{"CidrIp": "0.0.0.0/0", "Description": text}]}]
        for text in ("x" * 256, "gr\u00fcn"):
            self.code("InvalidParameterValue", EC2.authorize_security_group_ingress, GroupId=group, IpPermissions=rule(text))
        EC2.authorize_security_group_ingress(GroupId=group, IpPermissions=rule("a-b_c (d): e/f, [g] + {h}!"))

    def test_a_route_inside_the_vpc_does_not_lead_out(self):
        vpc = self.vpc()
        table = EC2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        self.way_out(vpc)
        gateway = EC2.describe_internet_gateways(Filters=[{"Name": "attachment.vpc-id", "Values": [vpc]}])
        gateway = gateway["InternetGateways"][0]["InternetGatewayId"]
        for block, code in (("10.0.0.0/16", "RouteAlreadyExists"), ("10.0.3.0/24", "InvalidParameterValue")):
            self.code(code, EC2.create_route, RouteTableId=table, DestinationCidrBlock=block, GatewayId=gateway)
        self.code("InvalidParameterValue", EC2.delete_route, RouteTableId=table, DestinationCidrBlock="10.0.0.0/16")
        self.code("InvalidGatewayID.NotFound", EC2.create_route, RouteTableId=table, DestinationCidrBlock="10.0.3.0/24", GatewayId="local")
        EC2.create_route(RouteTableId=table, DestinationCidrBlock="10.0.0.0/8", GatewayId=gateway)

    def test_names_and_counts(self):
        self.code("InvalidParameterValue", EC2.create_placement_group, GroupName="x" * 256, Strategy="cluster")
        run = {"ImageId": "ami-00000000000000d01", "MinCount": 2, "MaxCount": 2, "PrivateIpAddress": "172.31.0.9"}
        self.code("InvalidParameterCombination", EC2.run_instances, **run)

    def test_dry_runs_refuse_what_the_request_would(self):
        self.code("InvalidParameterValue", EC2.create_key_pair, KeyName="k", KeyFormat="ppk", DryRun=True)
        self.code("DryRunOperation", EC2.create_key_pair, KeyName="k", KeyFormat="pem", DryRun=True)
        zone = EC2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
        volume = EC2.create_volume(AvailabilityZone=zone, Size=1, ClientToken="dry")["VolumeId"]
        self.addCleanup(EC2.delete_volume, VolumeId=volume)
        again = {"AvailabilityZone": zone, "ClientToken": "dry", "DryRun": True}
        self.code("DryRunOperation", EC2.create_volume, Size=1, **again)
        self.code("IdempotentParameterMismatch", EC2.create_volume, Size=2, **again)
