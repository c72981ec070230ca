"""Requests that carry their signature in the address."""

import os
import ssl
import urllib.error
import urllib.request

from contract.base import EC2, Contract


class PresignedRequests(Contract):
    def test_presigned_requests(self):
        trust = ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])
        wanted = {"Filters": [{"Name": "is-default", "Values": ["true"]}]}
        url = EC2.generate_presigned_url("describe_vpcs", Params=wanted, HttpMethod="GET")
        with urllib.request.urlopen(url, context=trust) as answer:
            self.assertIn(b"<isDefault>true</isDefault>", answer.read())
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(url.replace("is-default", "state"), context=trust)
        self.assertIn(b"SignatureDoesNotMatch", caught.exception.read())
