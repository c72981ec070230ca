"""Filters on what an answer says: what is found by a value has it, and another value finds nothing."""

import jmespath

from contract.base import EC2, Contract

INSTANCE = "Reservations[].Instances[]"
# The operation, the list in its answer, and filters with their place in an item.
SHOWN = {
    ("describe_instances", INSTANCE): {
        "availability-zone-id": "Placement.AvailabilityZoneId",
        "block-device-mapping.status": "BlockDeviceMappings[0].Ebs.Status",
        "metadata-options.http-tokens": "MetadataOptions.HttpTokens",
        "metadata-options.http-put-response-hop-limit": "MetadataOptions.HttpPutResponseHopLimit",
        "instance.group-name": "SecurityGroups[0].GroupName",
        "launch-index": "AmiLaunchIndex",
        "network-interface.addresses.private-ip-address": "NetworkInterfaces[0].PrivateIpAddress",
        "network-interface.attachment.device-index": "NetworkInterfaces[0].Attachment.DeviceIndex",
        "network-interface.mac-address": "NetworkInterfaces[0].MacAddress",
        "private-dns-name": "PrivateDnsName",
        "source-dest-check": "SourceDestCheck",
        "state-reason-message": "StateReason.Message",
        "virtualization-type": "VirtualizationType",
    },
    ("describe_network_interfaces", "NetworkInterfaces"): {
        "addresses.primary": "PrivateIpAddresses[0].Primary",
        "availability-zone-id": "AvailabilityZoneId",
        "private-dns-name": "PrivateDnsName",
    },
    ("describe_volumes", "Volumes"): {"availability-zone-id": "AvailabilityZoneId"},
    ("describe_subnets", "Subnets"): {
        "subnet-arn": "SubnetArn",
        "private-dns-name-options-on-launch.hostname-type": "PrivateDnsNameOptionsOnLaunch.HostnameType",
    },
    ("describe_security_groups", "SecurityGroups"): {
        "ip-permission.user-id": "IpPermissions[0].UserIdGroupPairs[0].UserId",
    },
    ("describe_instance_types", "InstanceTypes"): {
        "network-info.maximum-network-interfaces": "NetworkInfo.MaximumNetworkInterfaces",
        "supported-boot-mode": "SupportedBootModes[0]",
        "vcpu-info.default-cores": "VCpuInfo.DefaultCores",
    },
    ("describe_images", "Images"): {
        "block-device-mapping.volume-size": "BlockDeviceMappings[0].Ebs.VolumeSize",
        "manifest-location": "ImageLocation",
    },
}
NONE = {"describe_instances": ["instance-lifecycle", "platform"], "describe_images": ["kernel-id"]}


class Filters(Contract):
    def test_filters_on_what_is_answered(self):
        instance = self.instance()
        named = lambda name, value: {"Filters": [{"Name": name, "Values": [value]}]}
        # Other tests leave things behind that have less to say.
        own = {
            "describe_instances": {"InstanceIds": [instance]},
            "describe_network_interfaces": named("attachment.instance-id", instance),
            "describe_security_groups": named("group-name", "default"),
        }
        for (operation, items), filters in SHOWN.items():
            describe = getattr(EC2, operation)
            first = jmespath.search(items, describe(**own.get(operation, {})))[0]
            for name, place in filters.items():
                value = jmespath.search(place, first)
                self.assertIsNotNone(value, name)
                text = str(value).lower() if isinstance(value, bool) else str(value)
                found = lambda wanted: jmespath.search(items, describe(**named(name, wanted)))
                self.assertIn(first, found(text), (operation, name, text))
                self.assertEqual(found("no such value"), [], (operation, name))
        for operation, names in NONE.items():
            for name in names:
                answer = getattr(EC2, operation)(Filters=[{"Name": name, "Values": ["*"]}])
                self.assertFalse(answer.get("Reservations") or answer.get("Images"), (operation, name))
        self.code("InvalidParameterValue", EC2.describe_instances, Filters=[{"Name": "tpm-support", "Values": ["x"]}])
