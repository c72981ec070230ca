"""The EC2 contract as boto3 sees it: one file a resource."""
