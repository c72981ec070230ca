"""What units published, as pillar: `terraform_outputs: {<environment>: {<unit>: {<output>: value}}}`.

After a unit is applied eos writes its outputs, those that are not sensitive, to `<folder>/<environment>/<unit>.json` as
`{"outputs": {name: value}}`. Name that folder in the master's configuration, or in a masterless minion's:

    ext_pillar:
      - terraform_outputs: /srv/shop/.eos/state/outputs

A folder that is not there yet gives nothing. A file that cannot be read fails the pillar, which Salt tells under `_errors`:
states that count on a value must not be run without it.
"""

import json
import os


def ext_pillar(minion_id, pillar, folder):
    outputs = {}
    wrong = []
    for environment in _names(folder):
        place = os.path.join(folder, environment)
        for name in _names(place):
            if not name.endswith(".json"):
                continue
            path = os.path.join(place, name)
            try:
                units = outputs.setdefault(environment, {})
                units[name[: -len(".json")]] = _read(path)
            except FileNotFoundError:
                # Destroyed in this very moment.
                continue
            except (OSError, ValueError) as error:
                wrong.append(f"{path}: {error}")
    if wrong:
        raise ValueError("; ".join(wrong))
    return {"terraform_outputs": outputs}


def _names(folder):
    """Entries in a fixed order; names that start with a dot are files being written."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if not name.startswith("."))


def _read(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if not isinstance(document, dict) or not isinstance(document.get("outputs"), dict):
        raise ValueError('it is not of the form {"outputs": {name: value}}')
    return document["outputs"]
