"""What kind of character each code point is, as a table that numpy looks up: made once, of `unicodedata`."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import numpy as np

__all__ = ["BLANK", "DIGIT", "LETTER", "NAME", "PUNCTUATION", "SPACE", "UNSPACED", "Array", "classes", "kind"]

Array = np.ndarray[Any, Any]

SPACE = 1
"""White space, as `str.isspace` says."""
DIGIT = 2
"""Decimal digits of any script (category Nd)."""
LETTER = 4
"""Letters and marks (categories L and M), and the joiners U+200C and U+200D, which stand inside of words."""
PUNCTUATION = 8
"""Punctuation and symbols (categories P and S) but for the underscore."""
NAME = 16
"""What names are made of in most programming languages: ASCII letters, ASCII digits and the underscore."""
BLANK = 32
"""Blanks and tabs, which indent a line."""
UNSPACED = 64
"""Letters of scripts that put no white space between words."""

_LAST = 0x110000
# No code point from here to the private ones has a name, but for the tags and variation selectors.
_ASSIGNED = (range(0x32400), range(0xE0000, 0xE01F0))

# Chinese, Japanese, Thai, Lao, Tibetan, Burmese, Khmer, the scripts of Tai languages, Yi, Javanese and Balinese.
# (Korean is written with spaces.)
_UNSPACED = (
    (0x0E01, 0x0E5A),
    (0x0E81, 0x0F00),
    (0x0F00, 0x1000),
    (0x1000, 0x10A0),
    (0x1780, 0x1800),
    (0x1950, 0x1A00),
    (0x1A20, 0x1AB0),
    (0x1B00, 0x1B80),
    (0x3005, 0x3008),
    (0x3041, 0x3100),
    (0x3105, 0x3130),
    (0x31A0, 0x3200),
    (0x3400, 0x4DC0),
    (0x4E00, 0xA4D0),
    (0xA980, 0xAA00),
    (0xAA60, 0xAAE0),
    (0xF900, 0xFB00),
    (0xFF66, 0xFFA0),
    (0x1AFF0, 0x1B170),
    (0x20000, 0x32400),
)


@cache
def classes() -> Array:
    """A byte for each code point: the sum of the classes above that it is in."""
    table = np.zeros(_LAST, np.uint8)
    for span in _ASSIGNED:
        for code in span:
            character = chr(code)
            category = unicodedata.category(character)
            found = 0
            if category[0] in "LM" or code in (0x200C, 0x200D):
                found = LETTER
            elif category == "Nd":
                found = DIGIT
            elif category[0] in "PS" and character != "_":
                found = PUNCTUATION
            if character.isspace():
                found |= SPACE
            table[code] = found
    for first, end in _UNSPACED:
        part = table[first:end]
        part[part & LETTER != 0] |= UNSPACED
    for character in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_":
        table[ord(character)] |= NAME
    table[[ord(" "), ord("\t")]] |= BLANK
    return table


def kind(token: bytes) -> str:
    """What a token is made of: "letters", "digits", "punctuation", "white space" or "mixed" of characters that are
    none of these too; "not utf-8" where it is no whole characters. White space that it begins with counts only where
    nothing follows. The empty token is "mixed".
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "not utf-8"
    if text.isspace():
        return "white space"
    table = classes()
    found = {int(table[ord(c)]) & (LETTER | DIGIT | PUNCTUATION) for c in text.lstrip()}
    return {LETTER: "letters", DIGIT: "digits", PUNCTUATION: "punctuation"}.get(
        found.pop() if len(found) == 1 else 0, "mixed"
    )
