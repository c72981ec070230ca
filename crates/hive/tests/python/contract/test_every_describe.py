"""What every Describe has: dry runs, pages and waiters, over all that boto3 knows."""

import os

from botocore.exceptions import ClientError

from contract.base import EC2, FAST, IMAGE, KEY, Contract
from contract.names import snake

MODEL = EC2.meta.service_model
ACTIONS = set(os.environ["HIVE_ACTIONS"].split())


class EveryDescribe(Contract):
    def setUp(self):
        """Six of everything, one more than the smallest page that EC2 allows, so that there are pages to turn."""
        later = self.addCleanup
        self.ids = ids = {}
        vpcs = [self.vpc(f"10.{n}.0.0/16", AmazonProvidedIpv6CidrBlock=True) for n in range(1, 8)]
        ids["vpc"], zone = vpcs[0], EC2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
        for n in range(1, 7):
            ids["subnet"] = EC2.create_subnet(VpcId=vpcs[0], CidrBlock=f"10.1.{n}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
            ids["group"] = EC2.create_security_group(GroupName=f"g{n}", Description="x", VpcId=vpcs[0])["GroupId"]
            EC2.create_tags(Resources=[vpcs[0]], Tags=[{"Key": str(n), "Value": ""}])
            ids["gateway"] = EC2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
            later(EC2.delete_internet_gateway, InternetGatewayId=ids["gateway"])
            EC2.create_route_table(VpcId=vpcs[0])
            acl = EC2.create_network_acl(VpcId=vpcs[0])["NetworkAcl"]["NetworkAclId"]
            later(EC2.delete_network_acl, NetworkAclId=acl)
            address = EC2.allocate_address(Domain="vpc")["AllocationId"]
            later(EC2.release_address, AllocationId=address)
            outward = EC2.create_egress_only_internet_gateway(VpcId=vpcs[0])["EgressOnlyInternetGateway"]
            later(EC2.delete_egress_only_internet_gateway, EgressOnlyInternetGatewayId=outward["EgressOnlyInternetGatewayId"])
            nat = EC2.create_nat_gateway(SubnetId=ids["subnet"], ConnectivityType="private")["NatGateway"]
            ids["nat"] = nat["NatGatewayId"]
            later(EC2.delete_nat_gateway, NatGatewayId=ids["nat"])
            options = EC2.create_dhcp_options(DhcpConfigurations=[{"Key": "domain-name", "Values": [f"d{n}"]}])["DhcpOptions"]
            later(EC2.delete_dhcp_options, DhcpOptionsId=options["DhcpOptionsId"])
            peering = EC2.create_vpc_peering_connection(VpcId=vpcs[0], PeerVpcId=vpcs[n])["VpcPeeringConnection"]
            ids["peering"] = peering["VpcPeeringConnectionId"]
            later(self.ignoring, EC2.delete_vpc_peering_connection, VpcPeeringConnectionId=ids["peering"])
            service = f"com.amazonaws.{os.environ['AWS_REGION']}.{('s3', 'dynamodb')[n % 2]}"
            endpoint = EC2.create_vpc_endpoint(VpcId=vpcs[n], ServiceName=service)["VpcEndpoint"]
            later(EC2.delete_vpc_endpoints, VpcEndpointIds=[endpoint["VpcEndpointId"]])
            template = EC2.create_launch_template(LaunchTemplateName=f"every{n}", LaunchTemplateData={"ImageId": IMAGE})
            later(EC2.delete_launch_template, LaunchTemplateId=template["LaunchTemplate"]["LaunchTemplateId"])
            EC2.import_key_pair(KeyName=f"every{n}", PublicKeyMaterial=KEY.encode())
            later(EC2.delete_key_pair, KeyName=f"every{n}")
            ids["interface"] = EC2.create_network_interface(SubnetId=ids["subnet"])["NetworkInterface"]["NetworkInterfaceId"]
            ids["instance"] = self.instance(IamInstanceProfile={"Name": f"p{n}"})
            volume = EC2.describe_volumes(Filters=[{"Name": "attachment.instance-id", "Values": [ids["instance"]]}])["Volumes"][0]
            ids["used"] = volume["VolumeId"]
            EC2.modify_volume(VolumeId=ids["used"], Size=10 + n)
            group = EC2.create_placement_group(GroupName=f"every{n}", Strategy="cluster")["PlacementGroup"]["GroupName"]
            later(EC2.delete_placement_group, GroupName=group)
            ids["image"] = EC2.create_image(InstanceId=ids["instance"], Name=f"every{n}")["ImageId"]
            later(EC2.deregister_image, ImageId=ids["image"], DeleteAssociatedSnapshots=True)
        ids["volume"] = EC2.create_volume(AvailabilityZone=zone, Size=1)["VolumeId"]
        later(self.ignoring, EC2.delete_volume, VolumeId=ids["volume"])
        ids["snapshot"] = EC2.create_snapshot(VolumeId=ids["used"])["SnapshotId"]
        later(EC2.delete_snapshot, SnapshotId=ids["snapshot"])

    def ignoring(self, call, **arguments):
        """For what a test may have taken away itself."""
        try:
            call(**arguments)
        except ClientError:
            pass

    def arguments(self, name):
        """What a Describe cannot do without."""
        needed = {
            "DescribeVpcAttribute": {"VpcId": self.ids["vpc"], "Attribute": "enableDnsSupport"},
            "DescribeImageAttribute": {"ImageId": self.ids["image"], "Attribute": "description"},
            "DescribeSnapshotAttribute": {"SnapshotId": self.ids["snapshot"], "Attribute": "createVolumePermission"},
            "DescribeVolumeAttribute": {"VolumeId": self.ids["volume"], "Attribute": "autoEnableIO"},
            "DescribeInstanceAttribute": {"InstanceId": self.ids["instance"], "Attribute": "instanceType"},
            "DescribeNetworkInterfaceAttribute": {"NetworkInterfaceId": self.ids["interface"], "Attribute": "description"},
            "DescribeLaunchTemplateVersions": {"Versions": ["$Latest"]},
            "DescribeInstanceStatus": {"IncludeAllInstances": True},
        }
        return needed.get(name, {})

    def test_dry_runs_pages_and_waiters(self):
        """One test: making all of this takes longer than to look at it."""
        for name in sorted(action for action in ACTIONS if action.startswith("Describe")):
            with self.subTest(name):
                self.dry_run(name)
                if EC2.can_paginate(snake(name)) and "MaxResults" in MODEL.operation_model(name).input_shape.members:
                    self.pages(name)
        self.pages_of_ids()
        self.waiters()

    def dry_run(self, name):
        call, arguments = getattr(EC2, snake(name)), self.arguments(name)
        call(**arguments)
        if "DryRun" in MODEL.operation_model(name).input_shape.members:
            self.code("DryRunOperation", call, DryRun=True, **arguments)

    def pages(self, name):
        arguments = self.arguments(name)
        paginator, shape = EC2.get_paginator(snake(name)), MODEL.operation_model(name).input_shape.members["MaxResults"]
        key, size = paginator.result_keys[0].expression, shape.metadata.get("min", 1)
        whole = paginator.paginate(**arguments).build_full_result()[key]
        pages = [page.get(key, []) for page in paginator.paginate(PaginationConfig={"PageSize": size}, **arguments)]
        paged = [item for page in pages for item in page]
        if name == "DescribeInstances":
            # A page may cut a reservation: what counts is each instance.
            paged, whole = (sorted(i["InstanceId"] for r in rs for i in r["Instances"]) for rs in (paged, whole))
        self.assertEqual(paged, whole, name)
        self.assertLessEqual(max(map(len, pages)), size, name)
        self.assertGreater(len(pages), 1, f"{name}: {len(whole)} on pages of {size}")
        self.code("InvalidNextToken", getattr(EC2, snake(name)), NextToken="nonsense", **arguments)

    def pages_of_ids(self):
        """Ids may be paged, but where EC2's documentation of MaxResults forbids it."""
        forbidding = []
        for name in sorted(action for action in ACTIONS if action.startswith("Describe")):
            maximum = MODEL.operation_model(name).input_shape.members.get("MaxResults")
            if maximum is not None and "You cannot specify this parameter and the" in maximum.documentation:
                forbidding.append(name)
        ids = {
            "DescribeInstances": ("InstanceIds", "instance"), "DescribeInstanceStatus": ("InstanceIds", "instance"),
            "DescribeInstanceCreditSpecifications": ("InstanceIds", "instance"),
            "DescribeNetworkInterfaces": ("NetworkInterfaceIds", "interface"),
            "DescribeSubnets": ("SubnetIds", "subnet"), "DescribeVolumes": ("VolumeIds", "used"), "DescribeVpcs": ("VpcIds", "vpc"),
        }
        self.assertEqual(forbidding, sorted(set(ids) - {"DescribeSubnets", "DescribeVolumes", "DescribeVpcs"}))
        for name, (parameter, key) in ids.items():
            call, arguments = getattr(EC2, snake(name)), {parameter: [self.ids[key]], "MaxResults": 5}
            if name in forbidding:
                self.code("InvalidParameterCombination", call, **arguments)
            else:
                self.assertEqual(1, len(call(**arguments)[name.removeprefix("Describe")]), name)
        everything = [vpc["VpcId"] for vpc in EC2.describe_vpcs()["Vpcs"]]
        pages = list(EC2.get_paginator("describe_vpcs").paginate(VpcIds=everything, PaginationConfig={"PageSize": 5}))
        self.assertEqual(sorted(everything), sorted(vpc["VpcId"] for page in pages for vpc in page["Vpcs"]))
        self.assertGreater(len(pages), 1)

    def waiters(self):
        """Every waiter on an action that there is comes to its end. Those that wait for an end come last."""
        ids, named = self.ids, lambda key, *names: {key: list(names)}
        snapshot = EC2.create_snapshot(VolumeId=ids["volume"])["SnapshotId"]
        self.addCleanup(EC2.delete_snapshot, SnapshotId=snapshot)
        stopped = self.instance()
        table = {
            "image_available": (None, named("ImageIds", IMAGE)),
            "image_exists": (None, named("ImageIds", IMAGE)),
            "instance_exists": (None, named("InstanceIds", ids["instance"])),
            "instance_running": (None, named("InstanceIds", ids["instance"])),
            "instance_status_ok": (None, named("InstanceIds", ids["instance"])),
            "system_status_ok": (None, named("InstanceIds", ids["instance"])),
            "internet_gateway_exists": (None, named("InternetGatewayIds", ids["gateway"])),
            "key_pair_exists": (None, named("KeyNames", "every1")),
            "nat_gateway_available": (None, named("NatGatewayIds", ids["nat"])),
            "network_interface_available": (None, named("NetworkInterfaceIds", ids["interface"])),
            "security_group_exists": (None, named("GroupIds", ids["group"])),
            "snapshot_completed": (None, named("SnapshotIds", snapshot)),
            "subnet_available": (None, named("SubnetIds", ids["subnet"])),
            "volume_available": (None, named("VolumeIds", ids["volume"])),
            "volume_in_use": (None, named("VolumeIds", ids["used"])),
            "vpc_available": (None, named("VpcIds", ids["vpc"])),
            "vpc_exists": (None, named("VpcIds", ids["vpc"])),
            "vpc_peering_connection_exists": (None, named("VpcPeeringConnectionIds", ids["peering"])),
            "instance_stopped": (EC2.stop_instances, named("InstanceIds", stopped)),
            "instance_terminated": (EC2.terminate_instances, named("InstanceIds", stopped)),
            "volume_deleted": (lambda VolumeIds: EC2.delete_volume(VolumeId=VolumeIds[0]), named("VolumeIds", ids["volume"])),
            "vpc_peering_connection_deleted": (
                lambda VpcPeeringConnectionIds: EC2.delete_vpc_peering_connection(VpcPeeringConnectionId=VpcPeeringConnectionIds[0]),
                named("VpcPeeringConnectionIds", ids["peering"]),
            ),
            "nat_gateway_deleted": (
                lambda NatGatewayIds: EC2.delete_nat_gateway(NatGatewayId=NatGatewayIds[0]),
                named("NatGatewayIds", EC2.create_nat_gateway(SubnetId=ids["subnet"], ConnectivityType="private")["NatGateway"]["NatGatewayId"]),
            ),
        }
        # No machine runs, so there is never a password; and nothing is imported.
        never = {"password_data_available", "snapshot_imported"}
        waiters = {name: EC2.get_waiter(name) for name in EC2.waiter_names}
        ours = {name for name, waiter in waiters.items() if waiter.config.operation in ACTIONS}
        self.assertEqual(ours - never, set(table))
        for name, (end, arguments) in table.items():
            with self.subTest(name):
                if end:
                    end(**arguments)
                waiters[name].wait(WaiterConfig=FAST, **arguments)
