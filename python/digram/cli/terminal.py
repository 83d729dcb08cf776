"""What the command writes to a terminal: data as it is, the rest in visible characters (`digram.showing`)."""

from __future__ import annotations

import re
import sys

from digram._text import escaped, printable
from digram.showing.marks import visible, width
from digram.showing.terminal import coloured as colours

__all__ = ["colours", "printable", "visible", "width", "write", "write_text"]

# What steers a terminal, or turns its text around: controls but for tab and line feed, and bidirectional ones.
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def write(data: str | bytes) -> None:
    """Data on standard output: bytes as they are, str as UTF-8 (names of files as the system spells them)."""
    rest = memoryview(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    while rest:
        # Without a buffer (PYTHONUNBUFFERED) a write may take a part only: of more than 2 GB, or as a pipe closes.
        rest = rest[sys.stdout.buffer.write(rest) :]


def write_text(text: bytes) -> None:
    """Text of anybody's on standard output: as it is, but that on a terminal what would steer it is escaped."""
    if sys.stdout.isatty():
        shown = text.decode("utf-8", "backslashreplace")
        write(_STEERS.sub(lambda found: escaped(found[0]), shown))
    else:
        write(text)
