"""Real Salt, kept warm: one JSON request a line on stdin, one JSON answer a line on stdout.

  {"ask": "pillar", "pillar": DIR, "environment": ENV, "folder": DIR}   pillar.items of a minion with that grain
  {"ask": "states", "files": [FILE, ...], "folder": DIR}                state.show_sls of each file, and what is wrong
  {"ask": "apply", "files": [FILE, ...], "folder": DIR}                 state.apply of each file, on this machine

Masterless, in a root directory of its own; nothing outside `folder` is written but by `apply`.
"""

import copy
import functools
import importlib
import inspect
import json
import os
import pkgutil
import shutil
import sys

ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever Salt prints must not mix with the answers

import salt.client
import salt.config
import salt.state
import salt.states
import salt.utils.yaml

# What Salt itself takes out of a state's arguments before the function sees them.
OWN_WORDS = set(salt.state.STATE_INTERNAL_KEYWORDS) | {"name", "state", "fun", "order"}


def caller(folder, pillar, states, environment):
    root = os.path.join(folder, "root")
    os.makedirs(root, exist_ok=True)
    config = {
        "id": "local",
        "root_dir": root,
        "file_client": "local",
        "master_type": "disable",
        "file_roots": {"base": [states]},
        "pillar_roots": {"base": [pillar]},
        "grains": {"environment": environment},
        "pillar_mask_output": False,
        "log_level": "error",
        "enable_gpu_grains": False,
        "enable_fqdns_grains": False,
        "disable_grains": ["metadata_gce", "metadata_azure", "metadata_server"],
    }
    path = os.path.join(folder, "minion")
    with open(path, "w") as file:
        json.dump(config, file)
    return salt.client.Caller(path)


def pillar(request):
    folder = request["folder"]
    states = os.path.join(folder, "no-states")
    os.makedirs(states, exist_ok=True)
    minion = caller(folder, request["pillar"], states, request["environment"])
    return {"pillar": minion.cmd("pillar.items")}


def module_named(name):
    """The module of a state whether Salt would load it here or not: lvm counts on a machine without LVM."""
    usual = {"salt": "saltmod"}.get(name, name)
    try:
        module = importlib.import_module("salt.states." + usual)
        if getattr(module, "__virtualname__", usual) == name:
            return module
    except ImportError:
        pass
    for other in pkgutil.iter_modules(salt.states.__path__):
        try:
            module = importlib.import_module("salt.states." + other.name)
        except Exception:
            continue
        if getattr(module, "__virtualname__", other.name) == name:
            return module
    return None


@functools.cache
def signature(name, function):
    module = module_named(name)
    names = {alias: real for real, alias in getattr(module, "__func_alias__", {}).items()}
    code = getattr(module, names.get(function, function), None)
    return inspect.signature(code) if inspect.isfunction(code) else None


def wrong_arguments(state):
    """Arguments a state's function does not know, and those it misses."""
    name = state["state"] + "." + state["fun"]
    takes = signature(state["state"], state["fun"])
    if takes is None:
        return [f"{name} is not in Salt"]
    parameters = takes.parameters.values()
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    known = {p.name for p in parameters}
    given = {key for key in state if not key.startswith("__")}
    wrong = [] if open_ended else [f"{name} takes no {key}" for key in sorted(given - known - OWN_WORDS)]
    missing = {p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return wrong + [f"{name} needs {key}" for key in sorted(missing - given)]


def lost_requisites(chunks):
    lost = []
    for chunk in chunks:
        for kind in ("require", "watch", "onchanges", "onfail", "prereq", "listen"):
            for requisite in chunk.get(kind, []):
                for module, name in requisite.items() if isinstance(requisite, dict) else [(None, requisite)]:
                    if not any(module in (None, other["state"]) and name in (other["__id__"], other["name"]) for other in chunks):
                        lost.append(f"{chunk['__id__']} has {kind} {module}: {name}, which is not there")
    return lost


def minion_with(request):
    """Files are copied under names of their own: an sls is found by name, and units may have the same ones."""
    folder = request["folder"]
    root = os.path.join(folder, "states")
    empty = os.path.join(folder, "no-pillar")
    os.makedirs(root)
    os.makedirs(empty)
    for number, file in enumerate(request["files"]):
        shutil.copyfile(file, os.path.join(root, f"s{number}.sls"))
    return caller(folder, empty, root, "production")


def apply(request):
    minion = minion_with(request)
    return {"applied": [minion.cmd("state.apply", f"s{number}") for number, _ in enumerate(request["files"])]}


def states(request):
    minion = minion_with(request)
    compiler = salt.state.HighState(copy.deepcopy(minion.opts)).state
    answers = []
    for number, _ in enumerate(request["files"]):
        high = minion.cmd("state.show_sls", f"s{number}")
        if not isinstance(high, dict):
            answers.append({"high": high, "wrong": high})
            continue
        chunks = compiler.compile_high_data(copy.deepcopy(high))
        chunks = chunks[0] if isinstance(chunks, tuple) else chunks
        wrong = [problem for chunk in chunks for problem in wrong_arguments(chunk)] + lost_requisites(chunks)
        answers.append({"high": high, "wrong": wrong})
    return {"states": answers}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = {"apply": apply, "pillar": pillar, "states": states}[asked["ask"]](asked)
    except Exception as problem:  # the test prints it
        answer = {"error": f"{type(problem).__name__}: {problem}"}
    print(json.dumps(answer), file=ANSWERS, flush=True)
