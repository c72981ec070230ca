"""`run.py TEST_BINARY HIVE TESTS PAGE`: each test of the list against one gateway, the outcome of all as a page."""

import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

BINARY, HIVE, TESTS, PAGE = sys.argv[1:5]
REGION = "us-west-2"
MINUTES = 15
AT_ONCE = int(os.environ.get("ACCEPTANCE_AT_ONCE", "2"))


def gateway(directory):
    log = open(directory / "hive.log", "w+")
    process = subprocess.Popen(
        [HIVE, "--data", str(directory / "data"), "--port", "0", "--plain-http", "--limit", "all=none", "--region", REGION], stdout=log, stderr=log
    )
    for _ in range(500):
        text = (directory / "hive.log").read_text()
        if found := re.search(r"http://[\w.]+:\d+", text):
            key = json.loads((directory / "data" / "credentials.json").read_text())["keys"][0]
            return process, found.group(0), key
        time.sleep(0.02)
    process.kill()
    sys.exit(f"the gateway did not start: {text}")


def terraform():
    """What the tests drive the provider with, and how that calls the provider: terraform, or tofu from the tool cache."""
    found = shutil.which("terraform")
    if found:
        return {"TF_ACC_TERRAFORM_PATH": found}
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "eos" / "tools" / "tofu"
    found = shutil.which("tofu") or next((str(path) for path in sorted(cache.glob("*/bin/tofu"), reverse=True)), None)
    if not found:
        sys.exit("the tests need terraform or tofu: eos tools install tofu")
    host = {"TF_ACC_PROVIDER_HOST": "registry.opentofu.org", "TF_ACC_PROVIDER_NAMESPACE": "hashicorp"}
    return {"TF_ACC_TERRAFORM_PATH": found, **host}


def environment(endpoint, key):
    wanted = {"PATH", "HOME", "TMPDIR"}
    return {
        **{name: value for name, value in os.environ.items() if name in wanted},
        **terraform(),
        "TF_ACC": "1",
        "CHECKPOINT_DISABLE": "1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": key["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": key["secret_access_key"],
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def why(text):
    """The line that says most about a failure."""
    for pattern in (r"api error \w+[^\n]*", r"Error: [^\n]*", r"Check \d+/\d+ error: [^\n]*", r"panic: [^\n]*"):
        found = re.search(pattern, text)
        if found:
            return found.group(0)[:200].replace("|", "\\|")
    return "see the output"


def run(name, settings, directory):
    command = [BINARY, "-test.run", f"^{name}$", "-test.v", "-test.timeout", f"{MINUTES}m"]
    output = directory / f"{name}.log"
    with open(output, "w") as file:
        return subprocess.Popen(command, stdout=file, stderr=file, env=settings, cwd=directory), output


def outcome(name, text):
    found = re.search(rf"--- (PASS|FAIL|SKIP): {name} ", text)
    verdict = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}.get(found.group(1) if found else "", "failed")
    return verdict, "" if verdict == "passed" else why(text)


def main():
    tested = commit()
    rows = [line.split() for line in pathlib.Path(TESTS).read_text().splitlines() if line and not line.startswith("#")]
    directory = pathlib.Path(tempfile.mkdtemp(prefix="acceptance-"))
    process, endpoint, key = gateway(directory)
    settings, waiting, running, results = environment(endpoint, key), list(rows), {}, {}
    try:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                _, name = waiting.pop(0)
                running[name] = run(name, settings, directory)
            for name, (child, output) in list(running.items()):
                if child.poll() is not None:
                    results[name] = outcome(name, output.read_text())
                    print(f"{results[name][0]:8} {name} {results[name][1]}", flush=True)
                    del running[name]
            time.sleep(0.1)
    finally:
        for child, _ in running.values():
            child.kill()
        process.terminate()
        process.wait()
        # Also what was stopped half-way; but not a list of one's own.
        if pathlib.Path(TESTS).resolve() == pathlib.Path(__file__).with_name("tests.txt").resolve():
            write(rows, results, tested)
    broken = [name for kind, name in rows if kind == "gate" and results[name][0] != "passed"]
    if not broken:
        shutil.rmtree(directory, ignore_errors=True)
        return
    sys.exit(f"of the gate not passed: {', '.join(broken)}; output in {directory}")


def commit():
    """What was tested; a change that is not committed says so."""
    describe = ["git", "describe", "--always", "--dirty"]
    said = subprocess.run(describe, cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "an unknown commit"


def write(rows, results, tested):
    results = {name: results.get(name, ("not run", "")) for _, name in rows}
    count = lambda verdict: sum(1 for _, name in rows if results[name][0] == verdict)
    text = f"""# The AWS provider's own acceptance tests

Written by `make acceptance` on {datetime.date.today()} at {tested}; do not edit. {len(rows)} tests: {count("passed")} passed, {count("failed")} failed, \
{count("skipped")} skipped by themselves, {count("not run")} not run. Those of the gate must pass; the others are reported.

| test | | outcome | why not |
|---|---|---|---|
"""
    for kind, name in rows:
        text += f"| {name} | {'gate' if kind == 'gate' else ''} | {results[name][0]} | {results[name][1]} |\n"
    pathlib.Path(PAGE).write_text(text)


if __name__ == "__main__":
    main()
