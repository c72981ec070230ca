"""NAT and egress-only gateways."""

from contract.base import EC2, FAST, Contract


class NatGateway(Contract):
    def test_nat_and_egress_only_gateways(self):
        vpc = self.vpc(AmazonProvidedIpv6CidrBlock=True)
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        allocation = EC2.allocate_address(Domain="vpc")["AllocationId"]
        self.code("MissingParameter", EC2.create_nat_gateway, SubnetId=subnet)
        self.way_out(vpc)
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
