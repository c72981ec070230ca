"""Extra pillar of one run, from memory that only the run has: arguments of a process could be read by anybody, and a
file would stay when the run is killed."""

import json

_VALUES = {}


def ext_pillar(minion_id, pillar, path):
    # Opened anew, it is read from its beginning; once read it is kept, for whoever has closed what it did not know.
    if path not in _VALUES:
        with open(path, encoding="utf-8") as file:
            _VALUES[path] = json.load(file)
    return json.loads(json.dumps(_VALUES[path]))
