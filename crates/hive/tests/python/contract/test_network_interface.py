"""Network interfaces and elastic addresses."""

from contract.base import EC2, FAST, Contract


class NetworkInterface(Contract):
    def test_interfaces_and_addresses(self):
        vpc = self.vpc()
        subnet = EC2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        instance = self.instance(SubnetId=subnet, PrivateIpAddress="10.0.1.8")
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
        self.code("Gateway.NotAttached", EC2.associate_address, AllocationId=allocation, InstanceId=instance)
        self.way_out(vpc)
        association = EC2.associate_address(AllocationId=allocation, InstanceId=instance)["AssociationId"]
        self.code("Resource.AlreadyAssociated", EC2.associate_address, AllocationId=allocation, NetworkInterfaceId=interface, AllowReassociation=False)
        found = EC2.describe_addresses(PublicIps=[address["PublicIp"]])["Addresses"][0]
        self.assertEqual((found["InstanceId"], found["AssociationId"]), (instance, association))
        self.assertEqual(EC2.describe_addresses_attribute(AllocationIds=[allocation])["Addresses"][0]["AllocationId"], allocation)
        self.code("InvalidIPAddress.InUse", EC2.release_address, AllocationId=allocation)
        EC2.disassociate_address(AssociationId=association)
        EC2.release_address(AllocationId=allocation)
        self.code("InvalidAllocationID.NotFound", EC2.describe_addresses, AllocationIds=[allocation])
        EC2.detach_network_interface(AttachmentId=attachment)
        EC2.get_waiter("network_interface_available").wait(NetworkInterfaceIds=[interface], WaiterConfig=FAST)
        EC2.delete_network_interface(NetworkInterfaceId=interface)

    def test_a_primary_address_is_chosen_when_only_others_are_named(self):
        subnet = EC2.create_subnet(VpcId=self.vpc(), CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
        named = [{"PrivateIpAddress": f"10.0.1.{n}", "Primary": False} for n in (20, 21)]
        for addresses, count in ((named, 3), ([*named, {"PrivateIpAddress": "10.0.1.22", "Primary": True}], 3)):
            made = EC2.create_network_interface(SubnetId=subnet, PrivateIpAddresses=addresses)["NetworkInterface"]
            found = made["PrivateIpAddresses"]
            self.assertEqual(len(found), count)
            self.assertEqual([a["PrivateIpAddress"] for a in found[1:]], ["10.0.1.20", "10.0.1.21"])
            self.assertEqual([a["Primary"] for a in found], [True, False, False])
            EC2.delete_network_interface(NetworkInterfaceId=made["NetworkInterfaceId"])
