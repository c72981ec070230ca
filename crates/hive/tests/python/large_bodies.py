"""What boto3 and a plain HTTP client are told when they send more than is read of them."""
import http.client
import os
import ssl
import urllib.parse

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError


def ask(name, megabytes, **keys):
    once = Config(retries={"total_max_attempts": 1})
    long = [{"Name": "vpc-id", "Values": ["v" * int(megabytes * 1_000_000)]}]
    try:
        said = boto3.client("ec2", config=once, **keys).describe_vpcs(Filters=long)
    except ClientError as error:
        said = f"{error.response['ResponseMetadata']['HTTPStatusCode']} {error.response['Error']['Code']}"
    print(f"{name}, {megabytes} MB: {said}")


ask("own key", 1.2)
ask("own key", 20)
nobody = {"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": "nobody's"}
ask("unknown key", 0.1, **nobody)
ask("unknown key", 0.9, **nobody)

where = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL"]).netloc
trusted = ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])
connection = http.client.HTTPSConnection(where, context=trusted)
connection.request("POST", "/", body=(b"a" * 100_000 for _ in range(200)), encode_chunked=True,
                   headers={"transfer-encoding": "chunked"})
print("in chunks, unsigned, 20 MB:", connection.getresponse().status)
