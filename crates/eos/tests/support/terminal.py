"""Runs a command on a terminal of its own and types answers: terminal.py ANSWERS COMMAND...

ANSWERS is a JSON list of [what is waited for, what is typed then]. Tells as JSON what the terminal showed, how the command
ended, and whether the terminal was left as it was.
"""
import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time

answers = json.loads(sys.argv[1])
ours, theirs = pty.openpty()
before = termios.tcgetattr(theirs)
command = subprocess.Popen(
    sys.argv[2:], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
shown, looked_at = b"", 0
deadline = time.monotonic() + 60
while True:
    ended = command.poll() is not None
    if time.monotonic() > deadline:
        command.kill()
    if select.select([ours], [], [], 0.02)[0]:
        shown += os.read(ours, 4096)
        while answers and (at := shown.find(answers[0][0].encode(), looked_at)) >= 0:
            looked_at = at + len(answers[0][0].encode())
            os.write(ours, answers.pop(0)[1].encode())
    elif ended:
        break
after = termios.tcgetattr(theirs)
print(json.dumps({"shown": shown.decode(), "code": command.returncode, "as_before": before == after, "left": answers}))
