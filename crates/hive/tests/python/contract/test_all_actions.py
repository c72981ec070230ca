"""What is the same for all actions: filters, tokens, dry runs, pages."""

from contract.base import EC2, Contract


class AllActions(Contract):
    def test_filters_are_never_ignored(self):
        self.code("InvalidParameterValue", EC2.describe_vpcs, Filters=[{"Name": "colour", "Values": ["red"]}])
        self.assertEqual(EC2.describe_vpcs(Filters=[{"Name": "cidr", "Values": ["nothing"]}])["Vpcs"], [])

    def test_some_actions_are_refused_by_name(self):
        call = EC2.assign_ipv6_addresses
        why = self.code("UnsupportedOperation", call, NetworkInterfaceId="eni-0123456789abcdef0", Ipv6AddressCount=1)
        self.assertIn("AssignIpv6Addresses", why)

    def test_no_virtual_private_gateway_is_ever_found(self):
        table = EC2.create_route_table(VpcId=self.vpc())["RouteTable"]["RouteTableId"]
        for call in (EC2.enable_vgw_route_propagation, EC2.disable_vgw_route_propagation):
            self.code("InvalidGatewayID.NotFound", call, RouteTableId=table, GatewayId="vgw-0123456789abcdef0")
            gone = {"RouteTableId": "rtb-0123456789abcdef0", "GatewayId": "vgw-0123456789abcdef0"}
            self.code("InvalidRouteTableID.NotFound", call, **gone)

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
