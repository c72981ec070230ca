"""Key pairs: the material is real."""

import base64
import hashlib
import os
import shutil
import subprocess
import tempfile

from contract.base import EC2, KEY, Contract


class KeyPair(Contract):
    def tool(self, command, text):
        """The output of a tool that reads a key from a file; None, said aloud, where a tool is not there."""
        for part in command.split("|"):
            if shutil.which(part.split()[0]) is None:
                print(f"SKIPPED {self.id()}: {part.split()[0]} is not there, so nobody looks at the key's material")
                return None
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text + "\n")
            file.flush()
            os.chmod(file.name, 0o600)
            done = subprocess.run(command.format(file.name), shell=True, capture_output=True, check=True)
            return done.stdout

    def test_keys_are_real_and_have_the_fingerprints_that_ec2_gives(self):
        for kind in ("rsa", "ed25519"):
            made = EC2.create_key_pair(KeyName=f"made-{kind}", KeyType=kind)
            self.addCleanup(EC2.delete_key_pair, KeyName=f"made-{kind}")
            found = EC2.describe_key_pairs(KeyNames=[f"made-{kind}"], IncludePublicKey=True)["KeyPairs"][0]
            self.assertEqual((found["KeyType"], found["KeyFingerprint"]), (kind, made["KeyFingerprint"]))
            public = self.tool("ssh-keygen -y -f {}", made["KeyMaterial"])
            if public is not None:
                self.assertEqual(public.decode().split()[:2], found["PublicKey"].split()[:2])
            if kind == "rsa":
                der = self.tool("openssl pkcs8 -in {} -inform PEM -outform DER -topk8 -nocrypt", made["KeyMaterial"])
                if der is not None:
                    self.assertEqual(hashlib.sha1(der).hexdigest(), made["KeyFingerprint"].replace(":", ""))
            else:
                blob = base64.b64decode(found["PublicKey"].split()[1])
                self.assertEqual(base64.b64encode(hashlib.sha256(blob).digest()).decode(), made["KeyFingerprint"])
        self.code("InvalidKeyPair.Duplicate", EC2.create_key_pair, KeyName="made-rsa")
        self.code("InvalidParameterValue", EC2.create_key_pair, KeyName="x", KeyType="dsa")
        self.code("DryRunOperation", EC2.create_key_pair, KeyName="x", DryRun=True)
        imported = EC2.import_key_pair(KeyName="imported", PublicKeyMaterial=KEY.encode())
        self.addCleanup(EC2.delete_key_pair, KeyName="imported")
        der = self.tool("ssh-keygen -e -m pkcs8 -f {} | openssl pkey -pubin -outform DER", KEY)
        if der is not None:
            self.assertEqual(hashlib.md5(der).hexdigest(), imported["KeyFingerprint"].replace(":", ""))
