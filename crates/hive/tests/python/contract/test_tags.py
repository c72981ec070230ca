"""Tags on everything that has them."""

from contract.base import EC2, Contract


class Tags(Contract):
    def test_tags(self):
        vpc = self.vpc(TagSpecifications=[{"ResourceType": "vpc", "Tags": [{"Key": "Name", "Value": "a<b>&'\""}]}])
        self.assertEqual(EC2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["Tags"], [{"Key": "Name", "Value": "a<b>&'\""}])
        EC2.create_tags(Resources=[vpc], Tags=[{"Key": "x", "Value": "1"}, {"Key": "y", "Value": ""}])
        EC2.delete_tags(Resources=[vpc], Tags=[{"Key": "x", "Value": "other"}, {"Key": "y"}])
        here = [{"Name": "resource-id", "Values": [vpc]}]
        self.assertEqual([t["Key"] for t in EC2.describe_tags(Filters=here)["Tags"]], ["Name", "x"])
        self.code("InvalidParameterValue", EC2.create_tags, Resources=[vpc], Tags=[{"Key": "aws:x", "Value": "1"}])
        many = [{"Key": str(n), "Value": ""} for n in range(50)]
        self.code("TagLimitExceeded", EC2.create_tags, Resources=[vpc], Tags=many)
        self.assertEqual(len(EC2.describe_tags(Filters=here)["Tags"]), 2)
        self.code("InvalidVpcID.NotFound", EC2.create_tags, Resources=["vpc-0123456789abcdef0"], Tags=many[:1])
        found = EC2.describe_tags(Filters=[{"Name": "tag:Name", "Values": ["a<b>&'\""]}])["Tags"]
        self.assertEqual([(t["ResourceId"], t["Key"]) for t in found], [(vpc, "Name")])
        self.code("InvalidParameterValue", EC2.describe_tags, Filters=[{"Name": "tag-key", "Values": ["Name"]}])
        twice = [{"Key": "x", "Value": "1"}, {"Key": "x", "Value": "2"}]
        self.code("InvalidParameterValue", EC2.create_tags, Resources=[vpc], Tags=twice)
        for name, value in (("tag:Name", "a<*"), ("tag-key", "Na?e"), ("tag-value", "a<b>&'\"")):
            found = EC2.describe_vpcs(Filters=[{"Name": name, "Values": [value]}])["Vpcs"]
            self.assertEqual([v["VpcId"] for v in found], [vpc], name)
