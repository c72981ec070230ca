"""A request that says when it was signed in HTTP's own header alone."""

import datetime
import email.utils
import hashlib
import hmac
import os
import ssl
import urllib.error
import urllib.request

from contract.base import Contract


def ask(date, moment):
    """DescribeVpcs, signed by hand at a moment; gives the status of the answer."""
    endpoint, region = os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_REGION"]
    host, body = endpoint.split("//")[1], b"Action=DescribeVpcs&Version=2016-11-15"
    stamp = moment.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{stamp[:8]}/{region}/ec2/aws4_request"
    request = f"POST\n/\n\ndate:{date}\nhost:{host}\n\ndate;host\n{hashlib.sha256(body).hexdigest()}"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = b"AWS4" + os.environ["AWS_SECRET_ACCESS_KEY"].encode()
    for part in [*scope.split("/"), text]:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    credential = f"{os.environ['AWS_ACCESS_KEY_ID']}/{scope}"
    headers = {
        "date": date,
        "authorization": f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=date;host, Signature={key.hex()}",
    }
    trusted = ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])
    try:
        return urllib.request.urlopen(urllib.request.Request(endpoint, body, headers), context=trusted).status
    except urllib.error.HTTPError as answer:
        return answer.read().decode()


class SignedDates(Contract):
    def test_http_has_a_date_of_its_own(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        self.assertEqual(ask(now.strftime("%Y%m%dT%H%M%SZ"), now), 200)
        self.assertEqual(ask(email.utils.format_datetime(now, usegmt=True), now), 200)
        self.assertIn("IncompleteSignature", ask("yesterday", now))
        then = now - datetime.timedelta(hours=1)
        self.assertIn("RequestExpired", ask(email.utils.format_datetime(then, usegmt=True), then))
