"""`parameters.py COVERAGE_PAGE`: what AWS' own actions take, by botocore's model, for crates/hive-ec2/src/data/ec2-parameters.txt.

Without what is taken on every action in the same way, which no action can miss.
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


def paths(shape, service, before="", seen=()):
    for name, member in shape.members.items():
        path = before + name_of(member, name, service)
        if path in EVERYWHERE:
            continue
        yield path
        while member.type_name == "list":
            member = member.member
        if member.type_name == "structure" and member.name not in seen:
            yield from paths(member, service, path + ".", (*seen, member.name))


for service, action in re.findall(r"^## (ec2|sts) (\w+)$", open(sys.argv[1]).read(), re.M):
    operation = botocore.session.get_session().get_service_model(service).operation_model(action)
    names = list(paths(operation.input_shape, service)) if operation.input_shape else []
    if names:
        print(action, *names)
