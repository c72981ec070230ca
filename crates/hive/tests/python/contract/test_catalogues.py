"""Instance types and offerings, and the images that everyone sees."""

from contract.base import EC2, Contract


class Catalogues(Contract):
    def test_catalogues(self):
        types = EC2.describe_instance_types(InstanceTypes=["t3.micro"])["InstanceTypes"][0]
        self.assertTrue(types["BurstablePerformanceSupported"])
        self.assertEqual((types["VCpuInfo"]["DefaultVCpus"], types["MemoryInfo"]["SizeInMiB"]), (2, 1024))
        self.code("InvalidInstanceType", EC2.describe_instance_types, InstanceTypes=["m1.huge"])
        offered = EC2.describe_instance_type_offerings(
            LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": ["t3.*"]}]
        )["InstanceTypeOfferings"]
        self.assertEqual(len(offered), 7 * 3)
        images = EC2.describe_images(Owners=["amazon"], Filters=[{"Name": "name", "Values": ["amzn2-ami-minimal-hvm-*"]}])
        self.assertEqual({i["Architecture"] for i in images["Images"]}, {"x86_64", "arm64"})
        self.assertEqual(EC2.describe_images(Owners=["self"])["Images"], [])
