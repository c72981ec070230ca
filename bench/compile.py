"""Times the compiler on an estate of 1,000 names with needs, and the commands a person waits for."""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GROUPS = 250


def make_estate(eos, home, root):
    run([eos, "init", "shop"], home, root.parent)
    pillar = root / "pillar"
    (pillar / "hosts").mkdir()
    names = pillar / "infrastructure/production"
    # One real group tells what eos would write; the others are copies of it with other names.
    run([eos, "create", "host", "h0", "--address", "10.0.0.1"], home, root)
    run([eos, "create", "n8n", "app-0"], home, root)
    run([eos, "create", "grafana", "graph-0"], home, root)
    host = (pillar / "hosts/h0.sls").read_text()
    group = {name: (names / f"{name}.sls").read_text() for name in ("app-0", "postgres", "redis", "graph-0")}
    for index in range(GROUPS):
        words = {"h0": f"h{index}", "app-0": f"app-{index}", "graph-0": f"graph-{index}"}
        words |= {"postgres": f"db-{index}", "redis": f"cache-{index}"}
        address = f"address: 10.0.{index // 250}.{index % 250 + 1}"
        (pillar / f"hosts/h{index}.sls").write_text(replace(host, words).replace("address: 10.0.0.1", address))
        for name, text in group.items():
            (names / f"{words[name]}.sls").write_text(replace(text, words))
    for name in ("postgres", "redis"):
        (names / f"{name}.sls").unlink()
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "grow"], cwd=root, check=True)


def replace(text, words):
    kinds = ("kind: postgres", "kind: redis")
    for place, kind in enumerate(kinds):
        text = text.replace(kind, f"kind: \x00{place}")
    for old, new in words.items():
        text = text.replace(old, new)
    for place, kind in enumerate(kinds):
        text = text.replace(f"kind: \x00{place}", kind)
    return text


def run(command, home, cwd):
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "USER": "bench"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} failed\n{done.stdout}{done.stderr}")


def timed(command, home, cwd, rounds, before=None):
    times = []
    for _ in range(rounds):
        if before:
            before()
        start = time.perf_counter()
        run(command, home, cwd)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def main():
    eos = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        root = Path(folder, "shop")
        make_estate(eos, home, root)
        units = len(list((root / "pillar/infrastructure/production").glob("*.sls"))) - 1
        rows = []
        rows.append(("start of a process that does nothing (true)", timed(["true"], home, root, 20), "ms", ""))
        rows.append(("eos --help", timed([eos, "--help"], home, root, 20), "ms", "10"))
        rows.append(("completion of kinds", timed([eos, "__complete", "--", "create", "g"], home, Path(folder), 20), "ms", "10"))
        drop = lambda: shutil.rmtree(root / "build", ignore_errors=True)
        rows.append((f"compile {units} names, all files written", timed([eos, "compile", "--env", "production"], home, root, 5, drop), "ms", ""))
        rows.append((f"compile {units} names, nothing changed", timed([eos, "compile", "--env", "production"], home, root, 10), "ms", "30"))
        rows.append((f"compile --check of {units} names", timed([eos, "compile", "--check", "--env", "production"], home, root, 5), "ms", "100"))
        count = iter(range(1000))
        create = lambda: [eos, "create", "redis", f"new-{next(count)}", "--host", "h1"]
        times = []
        for _ in range(5):
            start = time.perf_counter()
            run(create(), home, root)
            times.append((time.perf_counter() - start) * 1000)
        rows.append((f"eos create on {units} names, with the commit", statistics.median(times), "ms", "200"))
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        rows.append(("most memory of any of these", memory, "MiB", "100"))
        rows.append(("binary", os.path.getsize(eos) / 1e6, "MB", "25"))
    print(f"{'what':<52}{'measured':>12}  {'aim':>8}")
    for what, value, unit, aim in rows:
        print(f"{what:<52}{value:>8.1f} {unit:<3}  {aim:>5} {unit if aim else ''}")


if __name__ == "__main__":
    main()
