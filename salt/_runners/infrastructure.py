"""Applies units of an estate on the master, for `build/<environment>/orchestrate.sls` and by hand:

    salt-run infrastructure.apply unit=grafana environment=production

The master's configuration says where the estate is, and eos where it is not on the PATH:

    infrastructure:
      estate: /srv/shop
      eos: /usr/local/bin/eos

eos starts tofu; Salt only starts eos, with the rights and the home of the master's user.
"""

import os
import shutil
import subprocess

from salt.exceptions import CommandExecutionError


def apply(unit, environment, estate=None):
    """Applies one unit as it is compiled now. A unit that cannot be applied fails, and with it whatever requires it."""
    config = __opts__.get("infrastructure") or {}
    folder = estate or config.get("estate")
    if not folder or not os.path.isdir(folder):
        raise CommandExecutionError(
            f"there is no estate at {folder!r}: name its folder in the master's configuration, infrastructure: {{estate: …}}"
        )
    eos = config.get("eos") or shutil.which("eos")
    if not eos:
        raise CommandExecutionError(
            "eos is not on the master's PATH: name it in its configuration, infrastructure: {eos: …}"
        )
    # One word each, so that no name can be taken for another flag.
    command = [eos, "apply", f"--only={unit}", f"--env={environment}", "--yes"]
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise CommandExecutionError(f"{eos} cannot be started: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise CommandExecutionError(f"{' '.join(command)} ended with exit code {done.returncode}:\n{said}")
    return {"exit_code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
