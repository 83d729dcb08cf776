r"""How a token is written where it is shown, and in which colour.

Nothing that a token holds may reach a terminal or a page as anything but a visible character:

    white space       ␣ for a blank, ⇥ for a tab, ⏎ for a line feed
    \xNN              a byte that is no UTF-8 (a part of a character), or a control character
    \uNNNN            any other character without a picture of its own (a no-break space, U+200B, U+202E)
    \\                a backslash
"""

from __future__ import annotations

import unicodedata

from digram._text import escaped

__all__ = ["COLOURS", "colour_of", "visible", "width"]

_MARKS = {" ": "␣", "\t": "⇥", "\n": "⏎", "␣": "\\u2423", "⇥": "\\u21e5", "⏎": "\\u23ce"}

# Masataka Okabe and Kei Ito, "Color Universal Design" (2008): eight colours that people with any of the usual kinds of
# colour vision tell apart. Here without black; light tints of them are behind black letters.
COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
"""The colours of tokens, for borders; backgrounds are tints of them."""


def colour_of(id: int, colours: int = len(COLOURS)) -> int:
    """Which of so many colours the token `id` has: the same in every run, and another one than the ids next to it."""
    return id % colours


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
