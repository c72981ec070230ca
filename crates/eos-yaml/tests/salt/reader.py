"""Reads YAML as Salt's pillar does, for the tests: a JSON line in, a JSON line out.

In:  {"text": ..., "jinja": bool}; with jinja the text goes through Salt's Jinja renderer first, as a pillar
     file without a renderer line would.
Out: {"value": ...} with every value tagged by its type, or {"error": ...}.
"""

import json
import logging
import sys

import salt.renderers.yaml
import salt.utils.templates

logging.disable(logging.CRITICAL)
salt.renderers.yaml.__opts__ = {}


def tagged(value):
    if value is None:
        return ["null"]
    if isinstance(value, bool):
        return ["bool", value]
    if isinstance(value, int):
        return ["int", str(value)]
    if isinstance(value, float):
        return ["float", repr(value)]
    if isinstance(value, str):
        return ["text", value]
    if isinstance(value, list):
        return ["list", [tagged(item) for item in value]]
    if isinstance(value, dict):
        return ["map", [[tagged(key), tagged(item)] for key, item in value.items()]]
    return ["other", repr(value)]


def read(request):
    text = request["text"]
    if request["jinja"]:
        context = {"opts": {"cachedir": "", "file_client": "local"}, "saltenv": None, "sls": ""}
        text = salt.utils.templates.render_jinja_tmpl(text, context)
    return tagged(salt.renderers.yaml.render(text))


for line in sys.stdin:
    try:
        answer = {"value": read(json.loads(line))}
    except BaseException as problem:  # whatever stops Salt is an answer
        answer = {"error": f"{type(problem).__name__}: {problem}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
