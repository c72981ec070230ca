"""`instance_types.py INSTANCE_TYPES_JSON`: the table crates/hive-ec2/src/data/instance-types.txt, from what DescribeInstanceTypes answers at EC2.

The answers are in the package `moto` of PyPI, which collects them region by region: `pip download --no-deps moto==5.2.5`, then
`moto/ec2/resources/instance_types.json.gz` in the wheel. Left out are types that need a host of their own (mac) and those of the first
generations that start paravirtual machines too.
"""

import gzip
import json
import sys

HEAD = (
    "# name architecture vcpus cores memory-mib interfaces addresses-per-interface hypervisor flags valid-cores ebs-optimized disks gpus;\n"
    "# sorted by name. Flags: b burstable, c fit for a cluster, e enclaves, f of the free tier, n ENA, p of a previous generation,\n"
    "# r recovers by itself. Disks: how many, GB, kind, and behind a slash what they require, n NVMe, e encryption; GPUs: how many,\n"
    "# maker, name, MiB of each. - is none. Written by tests/python/instance_types.py."
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


def disks(kind):
    """`2x1900ssd/ne`"""
    if not kind["InstanceStorageSupported"]:
        return "-"
    storage = kind["InstanceStorageInfo"]
    requires = {"n": storage["NvmeSupport"] == "required", "e": storage["EncryptionSupport"] == "required"}
    (disk,) = storage["Disks"]
    return f"{disk['Count']}x{disk['SizeInGB']}{disk['Type']}/" + "".join(letter for letter, is_so in requires.items() if is_so)


def gpus(kind):
    """`4xNVIDIA:T4:16384`, with _ for each space; the parts of one that is divided count as their memory does."""
    if "GpuInfo" not in kind:
        return "-"
    (gpu,) = kind["GpuInfo"]["Gpus"]
    count, size = gpu["Count"], gpu["MemoryInfo"]["SizeInMiB"]
    return f"{count}x{gpu['Manufacturer']}:{gpu['Name']}:{size}".replace(" ", "_")


def line(kind):
    processors, network = kind["VCpuInfo"], kind["NetworkInfo"]
    flags = {
        "b": kind["BurstablePerformanceSupported"],
        "c": "cluster" in kind["PlacementGroupInfo"]["SupportedStrategies"],
        "e": kind.get("NitroEnclavesSupport") == "supported",
        "f": kind["FreeTierEligible"],
        "n": network["EnaSupport"] != "unsupported",
        "p": is_previous(kind),
        "r": kind["AutoRecoverySupported"],
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
        kind["EbsInfo"]["EbsOptimizedSupport"],
        disks(kind),
        gpus(kind),
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
