"""`trim.py SOURCE`: makes a copy of the provider's module build its acceptance tests of EC2 in minutes instead of an hour.

The provider registers its 260 services in one generated file and their clients in another. The tests of EC2 use eleven of them.
Both files lose the lines of the others; the provider's code for what is tested, and the tests, stay as they are in the module.
"""

import pathlib
import re
import sys

MODULE = "github.com/hashicorp/terraform-provider-aws/"
SERVICES = "internal/provider/sdkv2/service_packages_gen.go"
CLIENTS = "internal/conns/awsclient_gen.go"


def imported(source, package, tests):
    """The packages of the provider that one of its packages imports."""
    for file in (source / package).glob("*.go"):
        if tests or not file.name.endswith("_test.go"):
            for name in re.findall(rf'"{MODULE}([^"]+)"', file.read_text()):
                if str(file.relative_to(source)) != SERVICES:
                    yield name


def reached(source):
    """All packages of the provider that the tests of EC2 come to."""
    # The configurations of the tests name data sources of `meta`, aws_region among them; no code does.
    found, waiting = set(), ["internal/service/ec2", "internal/service/meta"]
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting += imported(source, package, tests=package == "internal/service/ec2")
    return found


def services(text, packages):
    names = {package.rsplit("/", 1)[1] for package in packages if package.startswith("internal/service/")}
    lines = []
    for line in text.splitlines():
        found = re.search(rf'"{MODULE}internal/service/(\w+)"', line) or re.fullmatch(r"\s*(\w+)\.ServicePackage\(ctx\),", line)
        if not found or found.group(1) in names:
            lines.append(line)
    return "\n".join(lines) + "\n"


def clients(text, source, packages):
    used = set()
    for package in packages:
        for file in (source / package).glob("*.go"):
            if str(file.relative_to(source)) != CLIENTS:
                used.update(re.findall(r"\b(\w+Client)\(ctx", file.read_text()))
    head, *functions = re.split(r"(?m)^(?=func \(c \*AWSClient\))", text)
    kept = [function for function in functions if re.match(r"func \(c \*AWSClient\) (\w+)", function).group(1) in used]
    types = set(re.findall(r"\*(\w+)\.Client", "".join(kept)))
    lines = []
    for line in head.splitlines():
        found = re.match(r'\s*(?:(\w+) )?"github.com/aws/aws-sdk-go-v2/service/([^"]+)"', line)
        if not found or (found.group(1) or found.group(2).rsplit("/", 1)[-1]) in types:
            lines.append(line)
    return "\n".join(lines) + "\n" + "".join(kept)


def main():
    source = pathlib.Path(sys.argv[1])
    packages = reached(source)
    written = {
        SERVICES: services((source / SERVICES).read_text(), packages),
        CLIENTS: clients((source / CLIENTS).read_text(), source, packages),
    }
    for name, text in written.items():
        (source / name).write_text(text)
    kept = sorted(package.rsplit("/", 1)[1] for package in packages if package.startswith("internal/service/"))
    print(f"    with these of the provider's services: {', '.join(kept)}")


main()
