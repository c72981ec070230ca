"""VPC peering: asked for, agreed to, routed over, ended."""

from contract.base import EC2, FAST, STS, Contract


class VpcPeeringConnection(Contract):
    def ask(self, ours, theirs):
        return EC2.create_vpc_peering_connection(VpcId=ours, PeerVpcId=theirs)["VpcPeeringConnection"]["VpcPeeringConnectionId"]

    def status(self, connection):
        return EC2.describe_vpc_peering_connections(VpcPeeringConnectionIds=[connection])["VpcPeeringConnections"][0]["Status"]

    def state(self, connection):
        return self.status(connection)["Code"]

    def until(self, connection, state):
        waiter = EC2.get_waiter("vpc_peering_connection_exists")
        waiter.wait(
            Filters=[{"Name": "status-code", "Values": [state]}, {"Name": "vpc-peering-connection-id", "Values": [connection]}],
            WaiterConfig=FAST,
        )
        for _ in range(50):
            if self.state(connection) == state:
                return
        self.fail(f"{connection} is {self.state(connection)}, not {state}")

    def test_a_connection_from_request_to_end(self):
        ours, theirs = self.vpc("10.1.0.0/16"), self.vpc("10.2.0.0/16")
        connection = self.ask(ours, theirs)
        self.assertEqual(self.state(connection), "pending-acceptance")
        self.code("VpcPeeringConnectionAlreadyExists", EC2.create_vpc_peering_connection, VpcId=theirs, PeerVpcId=ours)
        self.code("OperationNotPermitted", EC2.modify_vpc_peering_connection_options, VpcPeeringConnectionId=connection,
                  AccepterPeeringConnectionOptions={"AllowDnsResolutionFromRemoteVpc": True})
        EC2.accept_vpc_peering_connection(VpcPeeringConnectionId=connection)
        self.until(connection, "active")
        self.code("InvalidStateTransition", EC2.accept_vpc_peering_connection, VpcPeeringConnectionId=connection)
        options = EC2.modify_vpc_peering_connection_options(
            VpcPeeringConnectionId=connection, RequesterPeeringConnectionOptions={"AllowDnsResolutionFromRemoteVpc": True}
        )
        self.assertTrue(options["RequesterPeeringConnectionOptions"]["AllowDnsResolutionFromRemoteVpc"])
        here = [{"Name": "requester-vpc-info.vpc-id", "Values": [ours]}, {"Name": "status-code", "Values": ["active"]}]
        found = EC2.describe_vpc_peering_connections(Filters=here)["VpcPeeringConnections"]
        self.assertEqual([c["AccepterVpcInfo"]["CidrBlock"] for c in found], ["10.2.0.0/16"])
        table = EC2.create_route_table(VpcId=ours)["RouteTable"]["RouteTableId"]
        EC2.create_route(RouteTableId=table, DestinationCidrBlock="10.2.0.0/16", VpcPeeringConnectionId=connection)
        route = lambda: EC2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0]["Routes"][-1]
        self.assertEqual((route()["VpcPeeringConnectionId"], route()["State"]), (connection, "active"))
        EC2.delete_vpc_peering_connection(VpcPeeringConnectionId=connection)
        EC2.get_waiter("vpc_peering_connection_deleted").wait(VpcPeeringConnectionIds=[connection], WaiterConfig=FAST)
        self.assertEqual(route()["State"], "blackhole")
        account = STS.get_caller_identity()["Account"]
        self.assertEqual(self.status(connection), {"Code": "deleted", "Message": f"Deleted by {account}"})
        # The provider takes it for gone by the end of this message.
        message = self.code("InvalidStateTransition", EC2.delete_vpc_peering_connection, VpcPeeringConnectionId=connection)
        self.assertTrue(message.endswith("from deleted to deleting"), message)

    def test_what_is_declined_or_cannot_be(self):
        ours, theirs, same = self.vpc("10.1.0.0/16"), self.vpc("10.2.0.0/16"), self.vpc("10.1.0.0/16")
        connection = self.ask(ours, theirs)
        EC2.reject_vpc_peering_connection(VpcPeeringConnectionId=connection)
        account = STS.get_caller_identity()["Account"]
        self.assertEqual(self.status(connection), {"Code": "rejected", "Message": f"Rejected by {account}"})
        self.assertEqual(self.state(self.ask(ours, same)), "failed")
        self.code("InvalidParameterValue", EC2.create_vpc_peering_connection, VpcId=ours, PeerVpcId=ours)
        self.code("OperationNotPermitted", EC2.create_vpc_peering_connection, VpcId=ours, PeerVpcId=theirs, PeerOwnerId="999999999999")
        self.code("InvalidVpcID.NotFound", EC2.create_vpc_peering_connection, VpcId=ours, PeerVpcId="vpc-0123456789abcdef0")
        missing = {"VpcPeeringConnectionId": "pcx-0123456789abcdef0"}
        self.code("InvalidVpcPeeringConnectionID.NotFound", EC2.accept_vpc_peering_connection, **missing)

    def test_a_vpc_takes_its_connections_along(self):
        ours, theirs = self.vpc("10.1.0.0/16"), EC2.create_vpc(CidrBlock="10.2.0.0/16")["Vpc"]["VpcId"]
        connection = self.ask(ours, theirs)
        EC2.delete_vpc(VpcId=theirs)
        self.assertEqual(self.state(connection), "deleted")
