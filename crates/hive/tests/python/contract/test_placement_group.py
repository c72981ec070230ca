"""Placement groups."""

from contract.base import EC2, Contract


class PlacementGroup(Contract):
    def test_placement_groups(self):
        EC2.create_placement_group(GroupName="p", Strategy="partition", PartitionCount=3)
        self.code("InvalidPlacementGroup.Duplicate", EC2.create_placement_group, GroupName="p", Strategy="cluster")
        self.assertEqual(EC2.describe_placement_groups(GroupNames=["p"])["PlacementGroups"][0]["PartitionCount"], 3)
        instance = self.instance(Placement={"GroupName": "p"})
        found = EC2.describe_placement_groups(GroupNames=["p"])["PlacementGroups"][0]
        self.assertEqual(EC2.describe_placement_groups(Filters=[{"Name": "group-arn", "Values": [found["GroupArn"]]}])["PlacementGroups"], [found])
        for name in ("p", found["GroupId"]):
            self.code("InvalidPlacementGroup.InUse", EC2.delete_placement_group, GroupName=name)
        placed = EC2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]["Placement"]
        self.assertEqual((placed["PartitionNumber"], placed["GroupId"]), (1, found["GroupId"]))
        self.end(instance)
        EC2.delete_placement_group(GroupName="p")
        self.code("InvalidPlacementGroup.Unknown", EC2.describe_placement_groups, GroupNames=["p"])
