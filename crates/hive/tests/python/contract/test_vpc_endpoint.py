"""VPC endpoints: by routes and by interfaces."""

import os

from contract.base import EC2, FAST, Contract

SERVICE = f"com.amazonaws.{os.environ['AWS_REGION']}."


class VpcEndpoint(Contract):
    def endpoint(self, **arguments):
        endpoint = EC2.create_vpc_endpoint(**arguments)["VpcEndpoint"]["VpcEndpointId"]
        for _ in range(100):
            if self.found(endpoint)["State"] == "available":
                return endpoint
        self.fail(f"{endpoint} is never available")

    def found(self, endpoint):
        return EC2.describe_vpc_endpoints(VpcEndpointIds=[endpoint])["VpcEndpoints"][0]

    def gone(self, endpoint):
        self.assertEqual(EC2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])["Unsuccessful"], [])
        for _ in range(100):
            if not EC2.describe_vpc_endpoints(Filters=[{"Name": "vpc-endpoint-id", "Values": [endpoint]}])["VpcEndpoints"]:
                break
        self.code("InvalidVpcEndpointId.NotFound", EC2.describe_vpc_endpoints, VpcEndpointIds=[endpoint])

    def test_gateway(self):
        vpc = self.vpc()
        table = EC2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        endpoint = self.endpoint(VpcId=vpc, ServiceName=SERVICE + "s3")
        EC2.modify_vpc_endpoint(VpcEndpointId=endpoint, AddRouteTableIds=[table], PolicyDocument='{"Statement":[]}')
        self.assertEqual(self.found(endpoint)["PolicyDocument"], '{"Statement":[]}')
        prefixes = EC2.describe_prefix_lists(Filters=[{"Name": "prefix-list-name", "Values": [SERVICE + "s3"]}])["PrefixLists"]
        managed = EC2.describe_managed_prefix_lists(PrefixListIds=[prefixes[0]["PrefixListId"]])["PrefixLists"]
        self.assertEqual((managed[0]["PrefixListName"], managed[0]["OwnerId"]), (SERVICE + "s3", "AWS"))
        entries = EC2.get_managed_prefix_list_entries(PrefixListId=prefixes[0]["PrefixListId"])["Entries"]
        self.assertEqual([entry["Cidr"] for entry in entries], prefixes[0]["Cidrs"])
        self.code("InvalidPrefixListID.NotFound", EC2.describe_managed_prefix_lists, PrefixListIds=["pl-0123456789abcdef0"])
        self.code("InvalidPrefixListID.NotFound", EC2.get_managed_prefix_list_entries, PrefixListId="pl-0123456789abcdef0")
        route = EC2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0]["Routes"][-1]
        self.assertEqual((route["GatewayId"], route["DestinationPrefixListId"]), (endpoint, prefixes[0]["PrefixListId"]))
        EC2.modify_vpc_endpoint(VpcEndpointId=endpoint, RemoveRouteTableIds=[table], ResetPolicy=True)
        self.assertEqual(self.found(endpoint)["RouteTableIds"], [])
        self.assertIn(endpoint, self.code("DependencyViolation", EC2.delete_vpc, VpcId=vpc))
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        self.code("InvalidParameter", EC2.modify_vpc_endpoint, VpcEndpointId=endpoint, AddSubnetIds=[subnet])
        self.gone(endpoint)

    def test_interface(self):
        vpc = self.vpc()
        subnets = [EC2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24")["Subnet"]["SubnetId"] for n in range(2)]
        group = EC2.create_security_group(GroupName="door", Description="x", VpcId=vpc)["GroupId"]
        arguments = {"VpcId": vpc, "VpcEndpointType": "Interface", "ServiceName": SERVICE + "ssm", "SubnetIds": subnets[:1]}
        self.code("InvalidParameter", EC2.create_vpc_endpoint, PrivateDnsEnabled=True, **arguments)
        EC2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
        endpoint = self.endpoint(PrivateDnsEnabled=True, SecurityGroupIds=[group], ClientToken="door", **arguments)
        made = self.found(endpoint)
        self.assertEqual((made["SubnetIds"], [g["GroupId"] for g in made["Groups"]]), (subnets[:1], [group]))
        interface = EC2.describe_network_interfaces(NetworkInterfaceIds=made["NetworkInterfaceIds"])["NetworkInterfaces"][0]
        self.assertEqual((interface["InterfaceType"], interface["Groups"][0]["GroupId"]), ("vpc_endpoint", group))
        self.code("OperationNotPermitted", EC2.delete_network_interface, NetworkInterfaceId=interface["NetworkInterfaceId"])
        self.code("DependencyViolation", EC2.delete_security_group, GroupId=group)
        EC2.modify_vpc_endpoint(VpcEndpointId=endpoint, AddSubnetIds=subnets[1:], RemoveSubnetIds=subnets[:1], PrivateDnsEnabled=False)
        self.assertEqual(self.found(endpoint)["SubnetIds"], subnets[1:])
        self.gone(endpoint)

    def test_services(self):
        details = EC2.describe_vpc_endpoint_services(Filters=[{"Name": "service-type", "Values": ["Gateway"]}])
        self.assertEqual(details["ServiceNames"], [SERVICE + "dynamodb", SERVICE + "s3"])
        self.code("InvalidServiceName", EC2.describe_vpc_endpoint_services, ServiceNames=["com.example.none"])
        vpc = self.vpc()
        self.code("InvalidServiceName", EC2.create_vpc_endpoint, VpcId=vpc, ServiceName=SERVICE + "none")
        refused = EC2.delete_vpc_endpoints(VpcEndpointIds=["vpce-0123456789abcdef0"])["Unsuccessful"]
        self.assertEqual(refused[0]["Error"]["Code"], "InvalidVpcEndpoint.NotFound")
