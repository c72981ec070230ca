"""Hive beside its peers, in one run: the same signed requests, one server after the other in turns, ratios and figures.

`bench/hive.py HIVE LOAD EOS` takes the release binaries. Peers come from the tool cache; the first time they are installed
there, moto from PyPI, fakecloud built from crates.io (half an hour of two cores). A peer that cannot be had is said so, in
the table too, and left out. Nothing here asserts a time; the aims stand beside the figures.
"""

import json
import os
import pathlib
import shutil
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HIVE, LOAD, EOS = (str(pathlib.Path(program).resolve()) for program in sys.argv[1:4])
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "eos" / "bench"
FAKECLOUD = "0.51.0"
SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
VOLUMES = int(os.environ.get("BENCH_VOLUMES", "90000"))
IMAGE = "ami-00000000000000d01"
ROWS = []


class Server:
    """A server process on a free port; ended and cleaned up whatever happens."""

    def __init__(self, name, command, directory, key=("test", "test")):
        self.name, self.key, self.directory = name, key, directory
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_CA_BUNDLE") and k != "SSL_CERT_FILE"}
        self.log = open(directory / "log", "w+")
        began = time.monotonic()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment, cwd=directory)
        self.port = None
        self.began = began

    def ready(self, port):
        """Waits until the port answers; the seconds that took."""
        self.port = port
        for _ in range(6000):
            if subprocess.run([LOAD, str(port), *self.key, "1", "x1", "DescribeVpcs"], capture_output=True).returncode == 0:
                return time.monotonic() - self.began
            self.alive()
            time.sleep(0.01)
        raise RuntimeError(f"{self.name} never answered")

    def alive(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended: {(self.directory / 'log').read_text()[-400:]}")

    def load(self, connections, amount, *queries):
        done = subprocess.run(
            [LOAD, str(self.port), *self.key, str(connections), str(amount), *queries], capture_output=True, text=True
        )
        self.alive()
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr}")
        answer = json.loads(done.stdout)
        if answer["failed"] * 20 > answer["requests"]:
            raise RuntimeError(f"{self.name} refuses {queries}: {answer['sample']}")
        return answer

    def mebibytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def hive(root, *arguments):
    directory = pathlib.Path(tempfile.mkdtemp(dir=root))
    began = time.monotonic()
    server = Server("hive", [HIVE, "--data", str(directory / "data"), "--port", "0", "--plain-http", "--limit", "all=none", *arguments], directory)
    for _ in range(1000):
        text = (directory / "log").read_text()
        if "localhost:" in text:
            server.start_seconds = time.monotonic() - began
            break
        server.alive()
        time.sleep(0.002)
    else:
        raise RuntimeError(f"hive never said its address: {text[-400:]}")
    key = json.loads((directory / "data" / "credentials.json").read_text())["keys"][0]
    server.key = (key["access_key_id"], key["secret_access_key"])
    server.ready(int(text.split("localhost:")[1].split()[0].split("(")[0]))
    return server


def first_answer_of_eos(root):
    """Seconds from the start of `eos hive up` in an empty folder, with its own CA, to a first answer over TLS."""
    data, port = pathlib.Path(tempfile.mkdtemp(dir=root)), free_port()
    began = time.monotonic()
    process = subprocess.Popen([EOS, "hive", "up", "--data", str(data), "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while time.monotonic() - began < 20:
            try:
                context = ssl.create_default_context(cafile=data / "ca.pem")
                urllib.request.urlopen(f"https://localhost:{port}/", context=context, timeout=5)
            except urllib.error.HTTPError:
                # Nothing was signed, and that is the answer.
                return time.monotonic() - began
            except OSError:
                time.sleep(0.001)
        raise RuntimeError("eos hive up never answered")
    finally:
        process.terminate()
        process.wait()


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fakecloud(root):
    home = CACHE / "fakecloud"
    program = home / "bin" / "fakecloud"
    if not program.exists():
        print("building fakecloud (once; half an hour)", file=sys.stderr)
        build = ["cargo", "install", "--quiet", "--locked", "--version", FAKECLOUD, "--root", str(home)]
        subprocess.run([*build, "--target-dir", str(home / "build"), "fakecloud"], check=True)
        shutil.rmtree(home / "build")
    directory, port = pathlib.Path(tempfile.mkdtemp(dir=root)), free_port()
    server = Server("fakecloud", [str(program), "--addr", f"127.0.0.1:{port}"], directory)
    server.ready(port)
    return server


def moto(root):
    home = CACHE / "moto"
    if not (home / "bin" / "moto_server").exists():
        print("installing moto (once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(home / "bin" / "pip"), "install", "-q", "moto[ec2,server]"], check=True)
    directory, port = pathlib.Path(tempfile.mkdtemp(dir=root)), free_port()
    server = Server("moto", [str(home / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(port)], directory)
    server.ready(port)
    return server


def peers(root):
    found = []
    for make in (fakecloud, moto):
        if make.__name__ in os.environ.get("BENCH_WITHOUT", "").split(","):
            continue
        try:
            found.append(make(root))
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            row(f"without {make.__name__}", str(error).replace(str(pathlib.Path.home()), "~"))
    return found


def row(what, measured, aim=""):
    ROWS.append((what, measured, aim))
    print(f"  {what}: {measured}", file=sys.stderr)


def in_turns(servers, connections, amount, *queries):
    """Each server's median rate and p99 in milliseconds over some rounds, the servers taking turns."""
    taken = {server.name: [] for server in servers}
    for _ in range(ROUNDS):
        for server in servers:
            # A query of one's own: images are not called the same everywhere.
            own = [query.replace("{image}", server.image) for query in queries]
            taken[server.name].append(server.load(connections, amount, *own))
    median = lambda name, key: statistics.median(answer[key] for answer in taken[name])
    return {name: (median(name, "per_second"), median(name, "p99_us") / 1000) for name in taken}


def compare(what, aim, results, name="hive"):
    rate, p99 = results[name]
    text = f"{rate:,.0f}/s, p99 {p99:.2f} ms"
    for other, (others, late) in results.items():
        if other != name:
            text += f"; {rate / others:.1f} × {other} ({others:,.0f}/s, p99 {late:.1f} ms)"
    row(what, text, aim)


def image_of(server):
    """An image that this server starts machines from."""
    if server.name == "hive":
        return IMAGE
    return "ami-12c6146b"


def filters_of(action):
    """The filters that an action knows, from Hive's own page."""
    page = subprocess.run([HIVE, "--coverage"], capture_output=True, text=True, check=True).stdout
    section = page.split(f"## ec2 {action}\n")[1].split("\n#")[0]
    line = next(line for line in section.splitlines() if line.startswith("Filters: "))
    return [name.strip("` ") for name in line.removeprefix("Filters: ").split(",")]


def disk_rate(root, count=200):
    """How often a second this disk makes a small write durable."""
    with open(pathlib.Path(root) / "probe", "wb", buffering=0) as file:
        file.write(b"\0" * 4096)
        os.fsync(file.fileno())
        began = time.monotonic()
        for number in range(count):
            os.pwrite(file.fileno(), bytes([number % 256]) * 4096, 0)
            os.fdatasync(file.fileno())
        return count / (time.monotonic() - began)


def small(server):
    """The median microseconds of requests whose answer is small, however much there is."""
    nothing = "Filter.1.Name=tag:n&Filter.1.Value.1=none"
    queries = ("DescribeVpcs", f"DescribeVolumes&{nothing}", f"DescribeInstances&{nothing}", "CreateInternetGateway")
    return {query.split("&")[0]: server.load(1, "x300", query)["p50_us"] for query in queries}


def first_use(server, query):
    """The median milliseconds of a request right after something changed, so that nothing can be remembered."""
    taken = []
    for _ in range(5):
        server.load(1, "x1", "CreateInternetGateway")
        taken.append(server.load(1, "x1", query)["p50_us"] / 1000)
    return statistics.median(taken)


def main():
    root = tempfile.mkdtemp(prefix="bench-hive-")
    running = []
    try:
        own = hive(root)
        running.append(own)
        starts = [own.start_seconds]
        for _ in range(4):
            again = hive(root)
            starts.append(again.start_seconds)
            again.end()
        row("start until it says its address (median of 5)", f"{statistics.median(starts) * 1000:.0f} ms", "100 ms")
        with_tls = statistics.median(first_answer_of_eos(root) for _ in range(5))
        row("eos hive up, new CA, until a first answer over TLS (median of 5)", f"{with_tls * 1000:.0f} ms", "100 ms")
        others = peers(root)
        running += others
        everyone = [own, *others]
        for server in everyone:
            server.image = image_of(server)
        compare("DescribeVpcs, 8 connections", "≥ 1.4 × fakecloud, p99 2 ms", in_turns(everyone, 8, SECONDS, "DescribeVpcs"))
        for server in everyone:
            server.load(4, "x199", "CreateVpc&CidrBlock=10.0.0.0/16")
        compare("DescribeVpcs, 200 VPCs", "≥ 5 × fakecloud", in_turns(everyone, 8, SECONDS, "DescribeVpcs"))
        run = "RunInstances&ImageId={image}&InstanceType=t3.micro&MinCount=1&MaxCount=1"
        compare("RunInstances, 32 connections, durable", "≥ 1 × fakecloud", in_turns(everyone, 32, "x600", run))
        relaxed = hive(root, "--relaxed")
        relaxed.image = IMAGE
        running.append(relaxed)
        compare("RunInstances, 32 connections, relaxed", "≥ 2 × fakecloud", in_turns([relaxed, *others], 32, "x600", run))
        for server in others:
            server.end()
            running.remove(server)
        ratios = []
        for _ in range(ROUNDS):
            disk = disk_rate(root)
            # Not the rate: between two requests the client takes its time to sign.
            mean = own.load(1, "x200", "CreatePlacementGroup&GroupName={n}-%d" % len(ratios))["mean_us"]
            ratios.append(1_000_000 / mean / disk)
        row("durable writes, one after the other", f"{statistics.median(ratios) * 100:.0f} % of fdatasync ({disk:,.0f}/s)", "≥ 50 %")
        grouped = []
        for _ in range(ROUNDS):
            disk = disk_rate(root)
            grouped.append(own.load(32, "x2000", "CreatePlacementGroup&GroupName=g{n}-%d" % len(grouped))["per_second"] / disk)
        row("durable writes, 32 connections", f"{statistics.median(grouped):.1f} × fdatasync ({disk:,.0f}/s)", "> 1 ×: they share it")
        durable = hive(root)
        running.append(durable)
        durable.load(32, "x3333", run.replace("{image}", IMAGE))
        at_once = durable.mebibytes()
        # The last half megabyte is on its way from the log into the file.
        time.sleep(3)
        told = f"{at_once:.1f} MiB, {durable.mebibytes():.1f} MiB three seconds later"
        row("memory after 10,000 resources, every answer durable", told, "40 MiB")
        fresh = hive(root, "--relaxed")
        running.append(fresh)
        empty = small(fresh)
        fresh.load(32, "x3333", run.replace("{image}", IMAGE))
        row("memory after 10,000 resources, relaxed", f"{fresh.mebibytes():.1f} MiB", "40 MiB")
        volume = (
            "CreateVolume&AvailabilityZone=us-east-1a&Size=1&TagSpecification.1.ResourceType=volume"
            "&TagSpecification.1.Tag.1.Key=n&TagSpecification.1.Tag.1.Value={n}"
        )
        fresh.load(32, f"x{VOLUMES}", volume)
        for what, micros in small(fresh).items():
            text = f"{micros / empty[what]:.2f} × ({micros / 1000:.2f} ms, {empty[what] / 1000:.2f} ms)"
            row(f"{what} with a small answer, 100,000 resources against none", text, "about 1 ×")
        for what, query in (
            ("a tag", "Filter.1.Name=tag:n&Filter.1.Value.1=777"),
            ("a pattern", "Filter.1.Name=tag:n&Filter.1.Value.1=7777*"),
            ("two that nothing has both of", "Filter.1.Name=status&Filter.1.Value.1=available&Filter.2.Name=attachment.status&Filter.2.Value.1=attached"),
        ):
            taken = fresh.load(1, "x50", f"DescribeVolumes&{query}")
            row(f"filter by {what} on 100,000 resources", f"{taken['p50_us'] / 1000:.2f} ms, p99 {taken['p99_us'] / 1000:.2f} ms", "5 ms")
        for action in (
            "DescribeVolumes",
            "DescribeVolumeStatus",
            "DescribeVolumesModifications",
            "DescribeInstances",
            "DescribeInstanceStatus",
            "DescribeNetworkInterfaces",
            "DescribeTags",
        ):
            slow = {name: first_use(fresh, f"{action}&Filter.1.Name={name}&Filter.1.Value.1=none") for name in filters_of(action)}
            worst = max(slow, key=slow.get)
            row(f"{action}, the slowest of {len(slow)} filters on 100,000 resources", f"{slow[worst]:.2f} ms ({worst})", "5 ms")
        row("memory after 100,000 resources", f"{fresh.mebibytes():.1f} MiB")
    finally:
        for server in running:
            server.end()
        shutil.rmtree(root, ignore_errors=True)
    print(f"\n| what | measured | aim |\n|---|---|---|")
    for what, measured, aim in ROWS:
        print(f"| {what} | {measured} | {aim} |")


if __name__ == "__main__":
    main()
