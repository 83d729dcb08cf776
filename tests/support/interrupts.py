"""Ctrl-C in a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

# The first line: where the tests run in the background of a script, they ignore SIGINT, and so would the program.
_BEFORE = """
import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
import sys, time, digram
"""


def end_by_ctrl_c(program: str, *arguments: str, after: float) -> None:
    """Runs a program that prints "ready" before its long call, and "interrupted" with the time when KeyboardInterrupt
    ended it; sends it Ctrl-C some seconds after the first line, and checks that it ended at once."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", _BEFORE + program, *arguments]
    child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    deadline = threading.Timer(60, child.kill)  # ends the lines that are waited for
    deadline.start()
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(after)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        word, when = child.stdout.readline().split()
        assert word == "interrupted"
        # Half a second is the aim; a loaded machine gets some slack.
        assert float(when) - sent < 1.5
        assert child.wait(10) == 0
    finally:
        deadline.cancel()
        child.kill()
        child.stdout.close()
        child.wait()
