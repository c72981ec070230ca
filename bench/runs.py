"""Times runs over 50 units of terraform_data against the same tofu calls by xargs, in the same run.

Bare tofu gets what a person's script would: a folder a unit, `init`, `plan -out`, `apply`, two at a time on two cores.
The state of both is encrypted in the same way, by the same key program. Eos and xargs take turns, so that what else the
machine does falls on both alike; medians of three rounds are printed.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

UNITS = 50
ROUNDS = 3
COMPONENT = """#!yaml
format: 1
kind: block
summary: Something for tofu to do
proof: validates
settings:
  text: {type: string, default: x, help: Anything}
cloud:
  resources:
    terraform_data:
      a: {input: "@{setting.text}"}
      b: {input: "${terraform_data.a.output}"}
outputs:
  text: "${terraform_data.b.output}"
"""


def call(command, environment, cwd, codes=(0,)):
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"{command} failed with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def watched(command, environment, cwd, codes=(0,)):
    """Runs it; gives the seconds it took and the most memory, in KiB, that the process itself had."""
    with tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        most = 0
        while child.poll() is None:
            try:
                found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{child.pid}/status").read_text())
            except OSError:
                found = None
            most = max(most, int(found[1]) if found else 0)
            time.sleep(0.01)
        took = time.perf_counter() - start
        if child.returncode not in codes:
            said.seek(0)
            sys.exit(f"{command} failed with {child.returncode}\n{said.read()}")
    return took, most


def handshake(eos, folder):
    """Seconds from the start of eos as a provider to the line that tofu waits for; the median of many."""
    certificate = Path(folder, "client.pem")
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    call([*make, "-keyout", os.devnull, "-out", str(certificate), "-days", "1", "-subj", "/CN=localhost"], None, folder)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": folder,
        "TMPDIR": folder,
        "TF_PLUGIN_MAGIC_COOKIE": "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
        "PLUGIN_PROTOCOL_VERSIONS": "6",
        "PLUGIN_CLIENT_CERT": certificate.read_text(),
    }
    times = []
    for _ in range(21):
        start = time.perf_counter()
        provider = subprocess.Popen([eos], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        line = provider.stdout.readline()
        times.append(time.perf_counter() - start)
        provider.kill()
        provider.wait()
        if not line.startswith(b"1|6|unix|"):
            sys.exit(f"this is no handshake: {line!r}")
    return statistics.median(times)


def main():
    eos = str(Path(sys.argv[1]).resolve())
    journal = str(Path(sys.argv[2]).resolve())
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "USER": "bench", "XDG_CACHE_HOME": cache}
        tofu = call([eos, "tools", "path", "tofu"], environment, folder).stdout.strip()
        call([eos, "init", "shop"], environment, folder)
        root = Path(folder, "shop")
        own = root / "catalog/block"
        own.mkdir(parents=True)
        (own / "component.yaml").write_text(COMPONENT)
        git = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org"]
        call([*git, "add", "-A"], environment, root)
        call([*git, "commit", "-qm", "a kind of our own"], environment, root)
        for number in range(UNITS):
            call([eos, "create", "block", f"unit-{number}", "--no-apply"], environment, root)

        bare = Path(folder, "bare")
        for number in range(UNITS):
            source = root / f"build/production/unit-{number}"
            target = bare / "build/production" / f"unit-{number}"
            target.mkdir(parents=True)
            for name in ("main.tf.json", "inputs.auto.tfvars.json"):
                shutil.copy(source / name, target / name)
        shutil.copytree(root / "secrets", bare / "secrets")
        encryption = {
            "key_provider": {"external": {"eos": {"command": [eos, "__state-key", "--estate", str(bare)]}}},
            "method": {"aes_gcm": {"eos": {"keys": "key_provider.external.eos"}}},
            "state": {"method": "method.aes_gcm.eos"},
            "plan": {"method": "method.aes_gcm.eos"},
        }
        plain = environment | {"TF_ENCRYPTION": json.dumps(encryption), "CHECKPOINT_DISABLE": "1"}
        cores = str(os.cpu_count())

        def by_xargs(place, script):
            units = sorted(path for path in (place / "build/production").iterdir())
            words = "\n".join(str(path) for path in units)
            done = subprocess.run(
                ["xargs", "-P", cores, "-I{}", "sh", "-c", f'cd "{{}}" && {script} >log 2>&1 || {{ cat log; exit 1; }}'],
                input=words, env=plain, text=True, capture_output=True,
            )
            if done.returncode != 0:
                sys.exit(done.stdout + done.stderr)

        memory = {"plan": 0, "apply": 0}

        def by_eos(estate, *words):
            took, most = watched([eos, *words], environment, estate)
            memory[words[0]] = max(memory[words[0]], most)
            return took

        def turns(one, other):
            """Medians of both, who take turns."""
            pairs = [(one(round), other(round)) for round in range(ROUNDS)]
            return [statistics.median(times) for times in zip(*pairs)]

        # Each round applies to a copy that knows of no apply yet.
        estates = [shutil.copytree(root, Path(folder, f"estate-{round}")) for round in range(ROUNDS)]
        bares = [shutil.copytree(bare, Path(folder, f"bare-{round}")) for round in range(ROUNDS)]
        whole = f"{tofu} init -input=false && {tofu} plan -out=p -input=false && {tofu} apply -input=false p"
        again = f"{tofu} plan -detailed-exitcode -out=p -input=false"
        applied = turns(
            lambda round: by_eos(estates[round], "apply", "--yes"),
            lambda round: seconds(lambda: by_xargs(bares[round], whole)),
        )
        planned = turns(
            lambda round: by_eos(estates[0], "plan"),
            lambda round: seconds(lambda: by_xargs(bares[0], again)),
        )
        without = statistics.median(by_eos(estates[0], "plan", "--no-refresh") for _ in range(ROUNDS))
        rows = [
            ("apply of 50 new units", *applied, "1.1"),
            ("plan with nothing to do", *planned, "1.1"),
            ("the same with --no-refresh", without, planned[1], "0.1"),
        ]

        width = len("provider, from its start to the handshake")
        print(f"{'':{width}}      eos     xargs   ratio   aim")
        for name, ours, peer, aim in rows:
            print(f"{name:{width}}  {ours:6.2f} s  {peer:6.2f} s  {ours / peer:6.2f}  {aim:>4}")
        for verb, most in memory.items():
            print(f"{f'memory of eos itself at eos {verb}':{width}}  {most / 1024:5.0f} MiB{'':19}{'50':>4}")
        print(f"{'provider, from its start to the handshake':{width}}  {handshake(eos, folder) * 1000:5.1f} ms{'':20}{'30':>4}")
        # On the disk that estates are on, which a folder for temporary files may not be.
        with tempfile.TemporaryDirectory(dir=Path.home()) as disk:
            appends, syncs = map(float, call([journal, disk, "500"], environment, folder).stdout.split())
        print(f"{'journal, appends against fdatasync':{width}}  {appends:5.0f} /s  {syncs:5.0f} /s  {appends / syncs:6.2f}  {'0.9':>4}")


main()
