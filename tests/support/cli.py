"""The command `digram` as tests call it: in this process, in one of its own, on a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
from typing import IO

from click.testing import CliRunner

from digram.cli import main

SUBCOMMANDS = [
    "train",
    "count-pieces",
    "merge-counts",
    "encode",
    "decode",
    "count",
    "truncate",
    "show",
    "serve",
    "inspect",
    "report",
    "compare",
    "convert",
    "extend",
    "prune",
    "fetch",
]
ESCAPE_SEQUENCES = ["\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "\r\x08\x7f", "\u202eback", "a\x00b"]


def run(*arguments: object, stdin: bytes = b"") -> tuple[int, str, list[str]]:
    """(exit code, standard output, lines of standard error), in this process."""
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout_bytes.decode(), result.stderr_bytes.decode().splitlines()


def command(*arguments: object) -> list[str]:
    """What starts `digram` with this Python."""
    return [sys.executable, "-m", "digram", *map(str, arguments)]


def process(*arguments: object, stdin: bytes = b"") -> tuple[int, bytes, str]:
    """(exit code, standard output, standard error) of a process of its own."""
    done = subprocess.run(command(*arguments), input=stdin, capture_output=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode()


def on_terminal(
    *arguments: object, stdout: int | IO[bytes] | None = None, interrupt_at: bytes | None = None, **environment: str
) -> tuple[int, str]:
    """(exit code, all that a terminal got): standard error, and standard output unless `stdout` says otherwise."""
    parent, child = pty.openpty()
    termios.tcsetwinsize(child, (24, 80))
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
    env |= {"TERM": "xterm-256color", "COLUMNS": "80"} | environment
    running = subprocess.Popen(
        command(*arguments),
        stdin=subprocess.DEVNULL,
        stdout=stdout or child,
        stderr=child,
        env=env,
    )
    os.close(child)
    got = b""
    try:
        while select.select([parent], [], [], 60)[0]:
            try:
                got += os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if interrupt_at is not None and interrupt_at in got:
                running.send_signal(signal.SIGINT)
                interrupt_at = None
        return running.wait(60), got.decode().replace("\r\n", "\n")
    finally:
        running.kill()
        running.wait()
        os.close(parent)
