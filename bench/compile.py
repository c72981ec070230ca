"""Times the compiler on an estate of 1,000 names with needs, and the commands a person waits for.

Two figures a row: how long it took, and how much processor time it used (user and system), which says more on a machine
that does other things too.
"""

import os
import resource
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
    secrets = root / "secrets/production"
    own = {name: list((secrets / name).glob("*.age")) for name in group}
    for index in range(GROUPS):
        words = {"h0": f"h{index}", "app-0": f"app-{index}", "graph-0": f"graph-{index}"}
        words |= {"postgres": f"db-{index}", "redis": f"cache-{index}"}
        address = f"address: 10.0.{index // 250}.{index % 250 + 1}"
        (pillar / f"hosts/h{index}.sls").write_text(replace(host, words).replace("address: 10.0.0.1", address))
        for name, text in group.items():
            (names / f"{words[name]}.sls").write_text(replace(text, words))
            (secrets / words[name]).mkdir(exist_ok=True)
            for file in own[name]:
                (secrets / words[name] / file.name).write_bytes(file.read_bytes())
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
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "USER": "bench", "EOS_APPLY": "no"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} failed\n{done.stdout}{done.stderr}")


def timed(home, cwd, rounds, command, before=None):
    """Medians of wall and processor time in ms; a command may be a function that gives the next one."""
    walls, processor = [], []
    for _ in range(rounds):
        if before:
            before()
        used, start = children(), time.perf_counter()
        run(command() if callable(command) else command, home, cwd)
        walls.append((time.perf_counter() - start) * 1000)
        processor.append((children() - used) * 1000)
    return statistics.median(walls), statistics.median(processor)


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    eos = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        root = Path(folder, "shop")
        make_estate(eos, home, root)
        units = len(list((root / "pillar/infrastructure/production").glob("*.sls"))) - 1
        # Moved away, not deleted: ext4 does not give out a file's number again for seconds after it was deleted, and
        # looks for another one a thousand times.
        old = (Path(folder, f"build-{count}") for count in range(1000))
        drop = lambda: (root / "build").exists() and (root / "build").rename(next(old))
        new = (f"new-{count}" for count in range(1000))
        create = lambda: [eos, "create", "redis", next(new), "--host", "h1"]
        compile = [eos, "compile", "--env", "production"]
        # In turns with a program that only copies the same files: what is left of the ratio is not the file system's.
        copies = (str(Path(folder, f"copy-{count}")) for count in range(1000))
        copy = lambda: ["cp", "-r", "build/production", next(copies)]
        pairs = [(timed(home, root, 1, compile, drop), timed(home, root, 1, copy)) for _ in range(7)]
        written, copied = (tuple(statistics.median(figures) for figures in zip(*side)) for side in zip(*pairs))
        ratio = statistics.median(ours[0] / theirs[0] for ours, theirs in pairs)
        rows = [
            ("start of a process that does nothing (true)", timed(home, root, 20, ["true"]), ""),
            ("eos --help", timed(home, root, 20, [eos, "--help"]), "10"),
            ("completion of kinds", timed(home, Path(folder), 20, [eos, "__complete", "--", "create", "g"]), "10"),
            (f"compile {units} names, all files written", written, "100"),
            (f"cp -r of these files; eos takes {ratio:.2f} times as long", copied, ""),
            (f"compile {units} names, nothing changed", timed(home, root, 20, compile), "30"),
            (f"compile --check of {units} names", timed(home, root, 20, [*compile, "--check"]), "100"),
            (f"eos create on {units} names, with the commit", timed(home, root, 7, create), "200"),
        ]
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{'what':<52}{'wall':>9}{'processor':>14}{'aim':>9}")
    for what, (wall, processor), aim in rows:
        print(f"{what:<52}{wall:>6.1f} ms{processor:>11.1f} ms{aim:>6} {'ms' if aim else ''}")
    print(f"{'most memory of any of these':<52}{memory:>5.1f} MiB{'100 MiB':>23}")
    print(f"{'binary':<52}{os.path.getsize(eos) / 1e6:>6.1f} MB{'25 MB':>22}")


if __name__ == "__main__":
    main()
