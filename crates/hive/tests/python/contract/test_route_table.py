"""Internet gateways, route tables and where routes lead."""

from contract.base import EC2, Contract


class RouteTable(Contract):
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
