"""Holds every answer against botocore's own model of the service: each element is known there and of its type.

The model says of no element of an answer that it is required. `elements.txt` has those that were in each answer of the
contract, so that one that vanishes is noticed; `HIVE_ELEMENTS=write` makes it anew from a run of the whole contract.

botocore's parser ignores what it does not know, so a misspelt element would look like a missing one; this looks at
the XML itself, through an event that botocore emits before it parses.
"""

import pathlib
import re
import xml.etree.ElementTree as ElementTree

# Where EC2 itself answers something else than its model says; clients rely on it.
KNOWN_DEVIATIONS = {
    "DescribeNetworkInterfaces.networkInterfaceSet[].interfaceType": {"nat_gateway"},
    "DescribeInternetGateways.internetGatewaySet[].attachmentSet[].state": {"available"},
    "DescribeVpcEndpoints.vpcEndpointSet[].state": {"pending", "available", "deleting", "failed"},
    "CreateVpcEndpoint.vpcEndpoint.state": {"pending"},
}
INTEGER = re.compile(r"-?\d+\Z")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")

ELEMENTS_FILE = pathlib.Path(__file__).with_name("elements.txt")


def read_elements():
    """Path of a structure, then its elements."""
    lines = ELEMENTS_FILE.read_text().splitlines() if ELEMENTS_FILE.exists() else []
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {path: set(names) for path, *names in rows}


ELEMENTS = read_elements()


class ModelChecker:
    """Notes which operations were answered and whatever was wrong with the answers."""

    def __init__(self):
        self.answered = set()
        self.problems = []
        # A structure's path, and the elements that each one there had.
        self.always = {}

    def watch(self, client):
        name = client.meta.service_model.service_id.hyphenize()
        client.meta.events.register(f"before-parse.{name}.*", self._check)
        return client

    def write_elements(self):
        rows = (f"{path} {' '.join(sorted(names))}\n" for path, names in sorted(self.always.items()) if names)
        ELEMENTS_FILE.write_text("# The elements that every answer has (model.py): a structure's path, then its own.\n" + "".join(rows))

    def _check(self, operation_model, response_dict, **_):
        if response_dict["status_code"] != 200:
            return
        operation = operation_model.name
        self.answered.add(operation)
        root = ElementTree.fromstring(response_dict["body"])
        if operation_model.metadata["protocol"] == "query":
            root = next(child for child in root if local(child) == f"{operation}Result")
        if operation_model.output_shape is not None:
            self._structure(operation_model.output_shape, root, operation, top=True)

    def _structure(self, shape, element, path, top=False):
        members = {member.serialization.get("name", name): member for name, member in shape.members.items()}
        seen = set()
        for child in element:
            name = local(child)
            if top and name in ("requestId", "return"):
                continue
            if name in seen:
                self.problems.append(f"{path}.{name} is there twice")
            seen.add(name)
            if name not in members:
                self.problems.append(f"{path}.{name} is unknown to the model of {shape.name}")
            else:
                self._value(members[name], child, f"{path}.{name}")
        before = self.always.get(path)
        self.always[path] = seen if before is None else before & seen
        for missing in sorted(ELEMENTS.get(path, set()) - seen):
            self.problems.append(f"{path}.{missing} is missing; {ELEMENTS_FILE.name} says that it is always there")

    def _value(self, shape, element, path):
        text = element.text or ""
        kind = shape.type_name
        if kind == "structure":
            self._structure(shape, element, path)
        elif kind == "list":
            # Other clients than botocore pass over what is named otherwise.
            name = shape.member.serialization.get("name", "member")
            for child in element:
                if local(child) != name:
                    self.problems.append(f"{path} holds {local(child)} instead of {name}")
                self._value(shape.member, child, f"{path}[]")
        elif len(element):
            self.problems.append(f"{path} is a {kind} and holds elements")
        elif kind == "boolean" and text not in ("true", "false"):
            self.problems.append(f"{path} is a boolean and says {text!r}")
        elif kind in ("integer", "long") and not INTEGER.match(text):
            self.problems.append(f"{path} is a number and says {text!r}")
        elif kind == "timestamp" and not TIMESTAMP.match(text):
            self.problems.append(f"{path} is a time and says {text!r}")
        elif kind == "string" and shape.enum and text and text not in shape.enum and text not in KNOWN_DEVIATIONS.get(path, ()):
            self.problems.append(f"{path} is {text!r}, which is not one of {shape.enum}")


def local(element):
    return element.tag.rsplit("}", 1)[-1]
