"""`instance_types.py INSTANCE_TYPES_JSON`: the table crates/hive-ec2/src/data/instance-types.txt, from what DescribeInstanceTypes answers at EC2.

The answers are in the package `moto` of PyPI, which collects them region by region: `pip download --no-deps moto`, then
`moto/ec2/resources/instance_types.json.gz` in the wheel. Left out are types that need a host of their own (mac) and those of the first
generations that start paravirtual machines too.
"""

import gzip
import json
import sys

HEAD = (
    "# name architecture vcpus cores memory-mib interfaces addresses-per-interface hypervisor flags valid-cores; sorted by name.\n"
    "# Flags: b burstable, c fit for a cluster, e enclaves, n ENA, p of a previous generation. Written by tests/python/instance_types.py."
)


def ranges(numbers):
    """`1-4,8-24/4`: first, last and step of each run."""
    runs = []
    while numbers:
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        count = 1
        while count < len(numbers) and numbers[count] - numbers[count - 1] == step:
            count += 1
        if count == 2 and len(numbers) > 2 and step != 1:
            count = 1  # Rather one number and a long run than two short ones.
        first, last = numbers[0], numbers[count - 1]
        runs.append(str(first) if count == 1 else f"{first}-{last}" + ("" if step == 1 else f"/{step}"))
        numbers = numbers[count:]
    return ",".join(runs) or "-"


def is_previous(kind):
    """moto's data calls m5, m6i and even r7g previous, but not r6g. EC2's own tests of m5 (the AWS provider's) say current: of what is
    not on Xen, A1 alone is taken for previous."""
    return not kind["CurrentGeneration"] and (kind.get("Hypervisor") == "xen" or kind["InstanceType"].startswith("a1."))


def line(kind):
    processors, network = kind["VCpuInfo"], kind["NetworkInfo"]
    flags = {
        "b": kind["BurstablePerformanceSupported"],
        "c": "cluster" in kind["PlacementGroupInfo"]["SupportedStrategies"],
        "e": kind.get("NitroEnclavesSupport") == "supported",
        "n": network["EnaSupport"] != "unsupported",
        "p": is_previous(kind),
    }
    return (
        kind["InstanceType"],
        kind["ProcessorInfo"]["SupportedArchitectures"][-1],
        processors["DefaultVCpus"],
        processors["DefaultCores"],
        kind["MemoryInfo"]["SizeInMiB"],
        network["MaximumNetworkInterfaces"],
        network["Ipv4AddressesPerInterface"],
        "metal" if kind["BareMetal"] else kind["Hypervisor"],
        "".join(letter for letter, has in flags.items() if has) or "-",
        ranges(processors.get("ValidCores", [])),
    )


def is_ours(kind):
    architectures = kind["ProcessorInfo"]["SupportedArchitectures"]
    return kind["SupportedVirtualizationTypes"] == ["hvm"] and not any("mac" in one for one in architectures)


if __name__ == "__main__":
    opener = gzip.open if sys.argv[1].endswith(".gz") else open
    with opener(sys.argv[1], "rt") as file:
        kinds = json.load(file).values()
    print(HEAD)
    for fields in sorted(line(kind) for kind in kinds if is_ours(kind)):
        print(*fields)
