"""Run a command at a terminal of its own and answer each of its questions with y.

usage: person.py COMMAND…

The exit status is that of the command; what the terminal showed is printed.
"""

import os
import pty
import sys

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:  # the command has ended
        break
    if not part:
        break
    shown += part
    if shown.endswith(b"N] "):
        os.write(terminal, b"y\n")
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
