r"""Showing tokens on a terminal: nothing that a token holds may reach it as anything but a visible character.

A token is shown so:

    white space       ␣ for a blank, ⇥ for a tab, ⏎ for a line feed
    \xNN              a byte that is no UTF-8 (a part of a character), or a control character
    \uNNNN            any other character without a picture of its own (a no-break space, U+200B, U+202E)
    \\                a backslash
"""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import IO, Any

from digram._text import escaped, printable

__all__ = ["colours", "dim", "paint", "printable", "visible", "width", "write"]

_MARKS = {" ": "␣", "\t": "⇥", "\n": "⏎", "␣": "\\u2423", "⇥": "\\u21e5", "⏎": "\\u23ce"}

# Light backgrounds of the 256-colour palette that black letters stand out on; a token has the colour of its id.
_BACKGROUNDS = (153, 222, 151, 217, 189, 186, 159, 223, 183, 194)
_SPECIAL = "\x1b[1;97;48;5;90m"
_RESET = "\x1b[0m"


def visible(token: bytes, limit: int | None = None) -> str:
    """A token as printable characters; above `limit` characters it ends in an ellipsis."""
    if limit is not None and len(token) > 4 * limit:
        token = token[: 4 * limit]  # enough for `limit` characters, and a token may be megabytes long
    text = token.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    shown = "".join(_MARKS.get(c) or escaped(c) for c in text)
    if shown and unicodedata.category(shown[0]).startswith("M"):
        shown = "◌" + shown  # a mark needs something to stand on, and it should not be what comes before the token
    return shown if limit is None or len(shown) <= limit else shown[: limit - 1] + "…"


def width(text: str) -> int:
    """How many columns printable text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def colours(wanted: bool | None, stream: IO[Any]) -> bool:
    """Whether to write colours: as wanted, or where the stream is a terminal and NO_COLOR is not set (no-color.org)."""
    if wanted is not None:
        return wanted
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def paint(text: str, id: int, special: bool) -> str:
    """`text`, already printable, in the colour of its id."""
    style = _SPECIAL if special else f"\x1b[30;48;5;{_BACKGROUNDS[id % len(_BACKGROUNDS)]}m"
    return f"{style}{text}{_RESET}"


def dim(text: str) -> str:
    """`text` in a weaker colour."""
    return f"\x1b[2m{text}{_RESET}"


def write(data: str | bytes) -> None:
    """Data on standard output: bytes as they are, str as UTF-8 (names of files as the system spells them)."""
    rest = memoryview(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    while rest:
        # Without a buffer (PYTHONUNBUFFERED) a write may take a part only: of more than 2 GB, or as a pipe closes.
        rest = rest[sys.stdout.buffer.write(rest) :]
