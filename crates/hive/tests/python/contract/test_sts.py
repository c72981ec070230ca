"""Temporary keys, and keys for another region."""

import os

import boto3

from contract.base import CONFIG, STS, Contract


class Sts(Contract):
    def test_sessions(self):
        account = STS.get_caller_identity()["Account"]
        role = STS.assume_role(RoleArn=f"arn:aws:iam::{account}:role/deploy", RoleSessionName="me")
        self.assertEqual(role["AssumedRoleUser"]["Arn"], f"arn:aws:sts::{account}:assumed-role/deploy/me")
        for answer in (role, STS.get_session_token(DurationSeconds=900)):
            keys = answer["Credentials"]
            session = boto3.Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
            self.assertEqual(session.client("sts", config=CONFIG).get_caller_identity()["Account"], account)
            self.assertTrue(session.client("ec2", config=CONFIG).describe_vpcs()["Vpcs"])
            self.code("AccessDenied", session.client("sts", config=CONFIG).get_session_token)
            forged = boto3.Session(keys["AccessKeyId"], keys["SecretAccessKey"], "x" + keys["SessionToken"])
            self.code("AuthFailure", forged.client("ec2", config=CONFIG).describe_vpcs)
        again = STS.assume_role(RoleArn=f"arn:aws:iam::{account}:role/path/deploy", RoleSessionName="me")
        self.assertRegex(role["AssumedRoleUser"]["AssumedRoleId"], "^AROA[A-Z0-9]{17}:me$")
        self.assertEqual(again["AssumedRoleUser"]["AssumedRoleId"], role["AssumedRoleUser"]["AssumedRoleId"])
        for wrong in ("deploy-the-thing-now", f"arn:aws:iam::{account}:user/deploy", "arn:aws:iam::12:role/deploy", f"arn:aws:iam::{account}:role/"):
            self.code("ValidationError", STS.assume_role, RoleArn=wrong, RoleSessionName="me")
        other = "arn:aws:iam::999999999999:role/deploy"
        self.code("AccessDenied", STS.assume_role, RoleArn=other, RoleSessionName="me")
        self.code("ValidationError", STS.get_session_token, DurationSeconds=129601)
        own = {"RoleArn": f"arn:aws:iam::{account}:role/deploy", "RoleSessionName": "me"}
        STS.assume_role(**own, ExternalId="someone", Tags=[{"Key": "a", "Value": "b"}])
        deny = '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}'
        self.code("UnsupportedOperation", STS.assume_role, **own, Policy=deny)
        # A role takes on another, for an hour at most.
        keys = STS.assume_role(**own)["Credentials"]
        first = boto3.Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
        first = first.client("sts", config=CONFIG)
        second = {"RoleArn": f"arn:aws:iam::{account}:role/operate", "RoleSessionName": "then"}
        self.code("ValidationError", first.assume_role, **second, DurationSeconds=3601)
        keys = first.assume_role(**second)["Credentials"]
        chained = boto3.Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
        who = chained.client("sts", config=CONFIG).get_caller_identity()["Arn"]
        self.assertEqual(who, f"arn:aws:sts::{account}:assumed-role/operate/then")
        nobody = boto3.Session("AKIAIOSFODNN7EXAMPLE", "wrong").client("sts", config=CONFIG)
        self.code("InvalidClientTokenId", nobody.get_caller_identity)

    def test_a_key_for_another_region_is_told_the_right_one(self):
        elsewhere = boto3.client("ec2", region_name="eu-north-1", config=CONFIG)
        self.assertIn(os.environ["AWS_REGION"], self.code("AuthFailure", elsewhere.describe_vpcs))
        elsewhere = boto3.client("sts", region_name="eu-north-1", config=CONFIG)
        self.assertIn(os.environ["AWS_REGION"], self.code("SignatureDoesNotMatch", elsewhere.get_caller_identity))
