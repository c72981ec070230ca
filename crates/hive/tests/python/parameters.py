"""`parameters.py COVERAGE_PAGE`: what AWS' own actions take, by botocore's model, for crates/hive-ec2/src/data/ec2-parameters.txt.

A parameter that has a choice of values has them behind it. Without what is taken on every action in the same way, which no action can miss.
"""

import re
import sys

import botocore.session

EVERYWHERE = {"ClientToken", "DryRun", "Filter", "MaxResults", "NextToken", "TagSpecification"}


def name_of(member, name, service):
    if service == "sts":
        return name
    name = member.serialization.get("queryName") or member.serialization.get("name", name)
    return name[0].upper() + name[1:]


def choice(shape):
    """The values of an enum, if they are few: an instance type is one of a thousand."""
    values = getattr(shape, "enum", [])
    return "=" + "|".join(values) if 0 < len(values) <= 40 and not any(" " in value for value in values) else ""


def paths(shape, service, before="", seen=()):
    for name, member in shape.members.items():
        path = before + name_of(member, name, service)
        if path in EVERYWHERE:
            continue
        while member.type_name == "list":
            member = member.member
        yield path + choice(member)
        if member.type_name == "structure" and member.name not in seen:
            yield from paths(member, service, path + ".", (*seen, member.name))


if __name__ == "__main__":
    for service, action in re.findall(r"^## (ec2|sts) (\w+)$", open(sys.argv[1]).read(), re.M):
        operation = botocore.session.get_session().get_service_model(service).operation_model(action)
        names = list(paths(operation.input_shape, service)) if operation.input_shape else []
        if names:
            print(action, *names)
