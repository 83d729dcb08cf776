"""Random strings of the characters that tokenizers go wrong with, the same in every run of one Python."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence
from random import Random

# What `\s` matches, and what looks like it but is none.
SPACES = " \t\n\x0b\x0c\r\x85\xa0\u1680\u2000\u2003\u2009\u2028\u2029\u202f\u205f\u3000\u180e\u200b\u2060\ufeff\x1c\x1f"


@functools.cache
def _by_category() -> dict[str, list[str]]:
    """The characters of each general category, in this Python's Unicode; surrogates are no characters."""
    found: dict[str, list[str]] = {}
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        found.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    return found


def _of_category(prefix: str) -> list[str]:
    return [c for category, characters in _by_category().items() if category.startswith(prefix) for c in characters]


def _span(first: int, last: int) -> list[str]:
    return list(map(chr, range(first, last + 1)))


@functools.cache
def classes() -> tuple[tuple[int, Sequence[str]], ...]:
    """(weight, what to draw from). An item may be more than one character: a line end, a contraction, a sequence."""
    return (
        (6, [" ", " ", "  ", *SPACES]),
        (4, ["\n", "\r", "\r\n", "\n\n", " \n", "\x85", "\u2028"]),
        (6, ["'", "'", "\u2019", "\u02bc", *"sStTmMdD", "ll", "LL", "ve", "Ve", "re", "rE", "\u017f", "\u212a"]),
        (8, [chr(c) for c in range(0x20, 0x7F)]),
        (3, [chr(c) for c in range(0x20)] + ["\x00", "\x7f", "\x80", "\x9f"]),
        (4, ["\ufeff", "\u200d", "\u200c", "\ufe0f", "\u200e", "\u202e", "\u00ad", *_span(0xE0061, 0xE007F)]),
        (5, ["e\u0301", "a\u0323\u0307", *_span(0x300, 0x345), *_of_category("M")]),
        (4, [*"0123456789", "123", "1234", *_of_category("Nd")]),
        (2, [*_of_category("No"), *_of_category("Nl")]),
        (4, _of_category("Cn")),
        (2, ["\ufffe", "\uffff", "\U0001fffe", "\U0010ffff", "\ufdd0", *_span(0xE000, 0xE010), "\U000f0000"]),
        (4, [*_of_category("Lu"), *_of_category("Lt")]),
        (4, _of_category("Ll")),
        (2, _of_category("Lm")),
        (4, _of_category("Lo")),
        (3, [*_span(0x4E00, 0x4F00), *_span(0x3040, 0x30FF), *_span(0xFF00, 0xFFEF)]),
        (3, [*_span(0xAC00, 0xAD00), *_span(0x1100, 0x11FF), *_span(0xA960, 0xA97F), *_span(0xD7B0, 0xD7FB)]),
        (4, ["👍", "👍🏽", "👩\u200d💻", "🇫🇷", "❤\ufe0f", "1\ufe0f\u20e3", *_span(0x1F300, 0x1F700)]),
        (4, [*_of_category("P"), *_of_category("S")]),
        (2, [*_span(0, 0xD7FF), *_span(0xE000, 0xFFFF)]),
        (2, _span(0x10000, 0x10FFFF)),
    )


@functools.cache
def hostile_strings(count: int, seed: int = 3) -> list[str]:
    """`count` strings of 0 to 64 characters, each drawn from a few classes, now and then with runs.

    A shorter list is the beginning of a longer one.
    """
    weights, pools = zip(*classes(), strict=True)
    rng = Random(seed)
    strings = []
    for _ in range(count):
        length = rng.randrange(65)
        chosen = rng.choices(pools, weights, k=rng.randint(1, 5))
        parts: list[str] = []
        while len(parts) < length:
            part = rng.choice(rng.choice(chosen))
            parts += [part] * (rng.randint(2, 9) if rng.random() < 0.08 else 1)
        strings.append("".join(parts)[:length])
    return strings


def with_markers(strings: Sequence[str], markers: Sequence[str], seed: int = 4) -> list[str]:
    """The same strings, with one to three markers put into each: bare, or between spaces."""
    rng = Random(seed)
    marked = []
    for text in strings:
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(("", "", " ", "\n")) + rng.choice(markers) + rng.choice(("", " ")) + text[at:]
        marked.append(text)
    return marked
