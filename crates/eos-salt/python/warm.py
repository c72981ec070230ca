"""Salt kept warm for eos: runs states on this machine, one run after the other.

Started as `python3 -I -B warm.py FOLDER [SOCKET]` by the process that owns it, whose end of a socket pair is our
standard input. Everything is written below FOLDER, which goes when we go.

One JSON document a line. Asked:    {"run": {"minion": {...}, "sls": "...", "pillar": {...}, "test": false,
                                   "at_work": "/path/of/a/lock"}}
                          answered: {"return": ..., "stopped": false} or {"error": "..."}
                          while it runs, {"stop": true} ends it after the state that is being applied.
Whoever connects is greeted by {"ready": 1} once they can be served.
Whoever closes their connection wants to be stopped as well. With SOCKET others may connect there; when the owner goes,
nobody new is let in, and what was asked is finished.
"""

import fcntl
import json
import os
import queue
import shutil
import socket
import struct
import sys
import tempfile
import threading
import traceback
from datetime import datetime

PROTOCOL = 1
# msgpack of {"__all__": {"kill": True}}: what `state.soft_kill` writes.
END_AFTER_THIS_STATE = b"\x81\xa7__all__\x81\xa4kill\xc3"


class Connection:
    """Somebody who asks. Lines are read on a thread of their own, so that a stop is seen while Salt works."""

    def __init__(self, stream, requests):
        self.stream = stream
        self.closed = False
        self.requests = requests
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.pause_file = None

    def listen(self):
        self.answer({"ready": PROTOCOL})
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            with self.stream.makefile("rb") as lines:
                for line in lines:
                    message = json.loads(line)
                    if "run" in message:
                        self.stopped.clear()
                        self.requests.put((self, message["run"]))
                    elif message.get("stop"):
                        self._stop()
        except (OSError, ValueError):
            pass
        self.closed = True
        self._stop()
        self.requests.put((self, None))

    def _stop(self):
        with self.lock:
            self.stopped.set()
            if self.pause_file:
                self._ask_salt_to_end()

    def _ask_salt_to_end(self):
        os.makedirs(os.path.dirname(self.pause_file), exist_ok=True)
        # Salt may look at any moment: never a half-written file.
        with open(self.pause_file + ".new", "wb") as file:
            file.write(END_AFTER_THIS_STATE)
        os.replace(self.pause_file + ".new", self.pause_file)

    def begin(self, pause_file):
        with self.lock:
            self.pause_file = pause_file
            if self.stopped.is_set():
                self._ask_salt_to_end()

    def end(self):
        with self.lock:
            if self.pause_file and os.path.exists(self.pause_file):
                os.remove(self.pause_file)
            self.pause_file = None

    def answer(self, message):
        try:
            self.stream.sendall(json.dumps(message, default=str).encode() + b"\n")
        except OSError:
            pass


class Minion:
    """Salt for one minion id and one configuration."""

    def __init__(self, folder, modules, settings):
        import salt.client
        import salt.config

        self.files = os.path.join(folder, "files")
        os.makedirs(self.files)
        settings = dict(settings)
        settings["root_dir"] = os.path.join(folder, "root")
        settings["file_roots"] = {"base": [self.files]}
        settings["module_dirs"] = [modules] + settings.get("module_dirs", [])
        path = os.path.join(folder, "minion")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(settings, file)
        self.options = salt.config.minion_config(path)
        # Salt keeps what states said and what they were; both may hold secrets, and nobody reads it.
        os.makedirs(self.options["cachedir"], exist_ok=True)
        for name in ["sls.p", "highstate.cache.p"]:
            os.symlink(os.devnull, os.path.join(self.options["cachedir"], name))
        self.caller = salt.client.Caller(mopts=self.options)
        self.runs = 0

    def run(self, request, connection):
        # A name of its own each time: Salt remembers for a while which files there are.
        self.runs += 1
        name = f"run{self.runs}"
        jid = datetime.now().strftime("%Y%m%d%H%M%S%f")
        path = os.path.join(self.files, name + ".sls")
        with open(path, "w", encoding="utf-8") as file:
            file.write(request["sls"])
        self.caller.sminion.functions.pack["__context__"].pop("retcode", None)
        connection.begin(os.path.join(self.options["cachedir"], "state_pause", jid))
        # Held as long as Salt works, whatever becomes of who asked.
        at_work = open(request["at_work"], "ab")
        fcntl.flock(at_work, fcntl.LOCK_EX)
        try:
            if connection.stopped.is_set():
                return {"return": {}, "stopped": True}
            returned = self.caller.cmd(
                "state.apply", name, test=bool(request.get("test")), pillar=request.get("pillar") or {}, __pub_jid=jid
            )
            return {"return": returned, "stopped": connection.stopped.is_set()}
        finally:
            at_work.close()
            connection.end()
            self._forget(path, name)

    def _forget(self, path, name):
        # Salt keeps copies of states in its cache.
        cache = self.options["cachedir"]
        for left in [
            path,
            os.path.join(cache, "files", "base", name + ".sls"),
            os.path.join(cache, "roots", "hash", "base", name + ".sls.hash.sha256"),
        ]:
            try:
                os.remove(left)
            except FileNotFoundError:
                pass


def handle(folder, minions, connection, request, again=False):
    # What was said belongs to the run that is asked for now.
    os.ftruncate(2, 0)
    key = json.dumps(request["minion"], sort_keys=True)
    try:
        if key not in minions:
            # Salt knows one configuration at a time: what it loaded for one minion looks into the files of the next.
            minions.clear()
            minions[key] = Minion(tempfile.mkdtemp("", "minion", folder), os.path.join(folder, "modules"), request["minion"])
        return minions[key].run(request, connection)
    except Exception as error:  # pylint: disable=broad-except
        traceback.print_exc()
        # What raises here is Salt itself, whose loader may have lost a function of its own: the next run gets a new one.
        # A look changes nothing and is taken once more at once.
        minions.pop(key, None)
        if request.get("test") and not again:
            return handle(folder, minions, connection, request, again=True)
        if isinstance(error, KeyError):
            return {"error": f"Salt does not find its own {error.args[0]}"}
        return {"error": str(error) or type(error).__name__}


def look_for_checks_only_where_they_are():
    """Of each state with `onlyif` or `unless` Salt asks whether its module has a `mod_run_check`. What a module has not is
    looked for in all others, some 500 are loaded for it, and each run begins anew: more than a second of work. Only the
    state's own module can have it."""
    from salt.loader.lazy import LazyLoader

    search = LazyLoader._load

    def load(self, key):
        module, _, function = key.rpartition(".")
        if function != "mod_run_check":
            return search(self, key)
        return module in self.file_mapping and bool(self._load_module(module)) and key in self._dict

    LazyLoader._load = load


class Door:
    """Lets others in while the owner is there."""

    def __init__(self, path, requests):
        self.requests = requests
        self.inside = []
        self.open = True
        self.lock = threading.Lock()
        before = os.umask(0o177)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        self.listener.listen(64)
        os.umask(before)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:
                return
            credentials = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            with self.lock:
                if self.open and struct.unpack("3i", credentials)[1] in (os.getuid(), 0):
                    connection = Connection(stream, self.requests)
                    self.inside.append(connection)
                    connection.listen()
                else:
                    stream.close()

    def close(self):
        with self.lock:
            self.open = False

    def empty(self):
        with self.lock:
            self.inside = [connection for connection in self.inside if not connection.closed]
            return not self.inside


def serve(folder, owner, door, requests):
    minions = {}
    while True:
        connection, request = requests.get()
        if request is not None:
            connection.answer(handle(folder, minions, connection, request))
        elif connection is not owner:
            connection.stream.close()
        if owner.closed:
            if door is None:
                return
            door.close()
            if door.empty() and requests.empty():
                return


def main():
    folder = sys.argv[1]
    path = sys.argv[2] if len(sys.argv) > 2 else None
    # As a minion's: the states are meant for the machine, whoever started us.
    os.umask(0o022)
    # As long as one of us holds this, nobody sweeps the folder away.
    lock = open(os.path.join(folder, "owner"), "rb")
    fcntl.flock(lock, fcntl.LOCK_SH)
    stream = socket.socket(fileno=os.dup(0))
    # States and the programs they start neither read our requests nor write into our answers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.argv = ["warm.py"]
    # Most of the time to get warm goes here.
    import salt.client

    look_for_checks_only_where_they_are()
    requests = queue.Queue()
    owner = Connection(stream, requests)
    try:
        door = Door(path, requests) if path else None
        owner.listen()
        serve(folder, owner, door, requests)
    finally:
        if path:
            try:
                os.remove(path)
            except OSError:
                pass
        shutil.rmtree(folder, ignore_errors=True)


main()
