"""Texts, before any tokenizer sees them: their characters, and runs of characters that a reader takes for one thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from digram._text import whole_characters
from digram.report.characters import BLANK, DIGIT, LETTER, NAME, PUNCTUATION, SPACE, UNSPACED, Array, classes

__all__ = ["RUNS", "Runs", "Stretch", "Words", "as_bytes", "batches", "stretches"]

Words = Literal["spaces", "letters"]
Text = str | bytes

RUNS = ("words", "numbers", "identifiers", "punctuation", "indentation", "white space")
"""The kinds of runs:

    words        of characters that are no white space, as `str.split()` finds them; or of letters and marks
    numbers      of decimal digits, of any script
    identifiers  of ASCII letters, ASCII digits and underscores, where no digit comes first: the names in source code
    punctuation  of punctuation and symbols
    indentation  of blanks and tabs at the beginning of a line that is not empty
    white space  of all white space

A run is as long as can be, and lies in one document.
"""

# Documents are taken together up to this size, so that all threads have work; and looked at in stretches about as long.
_BATCH = 16 << 20
_STRETCH = 8 << 20

# A line end after a character that is not white space, or perhaps not: what is not ASCII may be a wide blank.
_LINE_END = re.compile(rb"[!-~\x80-\xff]\n")


def as_bytes(text: object, where: str) -> bytes:
    """A text as the tokenizers see it, in UTF-8."""
    if isinstance(text, str):
        return whole_characters(text).encode()
    if isinstance(text, bytes):
        return text
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"{where} must be str or bytes, not {type(text).__name__}")


def batches(texts: Text | Iterable[Text], name: str) -> Iterator[list[bytes]]:
    """The documents of a group in lists of about 16 MB; a TypeError names the item that is no text."""
    batch: list[bytes] = []
    held = 0
    for i, text in enumerate([texts] if isinstance(texts, (str, bytes, bytearray, memoryview)) else texts):
        batch.append(as_bytes(text, f"{name}: text {i}"))
        held += len(batch[-1]) + 64
        if held >= _BATCH:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


@dataclass(frozen=True)
class Runs:
    """Runs of one kind: where each starts and ends, in bytes of the stretch and in characters of it."""

    starts: Array
    ends: Array
    first: Array
    last: Array


@dataclass(frozen=True)
class Stretch:
    """Some megabytes of a batch of documents, `text`, which begins `at` so many bytes; no run crosses its ends.

    `documents` are the places in it at which a document begins, 0 among them only if one does.
    """

    at: int
    text: bytes
    documents: Array
    words: Words

    @cached_property
    def codes(self) -> Array:
        """The code points. Bytes that are no UTF-8 are a character each (a surrogate)."""
        decoded = self.text.decode("utf-8", "surrogateescape")
        return np.frombuffer(decoded.encode("utf-32-le", "surrogatepass"), "<u4")

    @cached_property
    def places(self) -> Array:
        """Where each character begins, in bytes, and the length of the text at the end."""
        codes = self.codes
        sizes = 1 + (codes >= 0x80).astype(np.int8) + (codes >= 0x800) + (codes >= 0x10000)
        sizes[(codes >= 0xDC80) & (codes < 0xDD00)] = 1
        places = np.zeros(len(codes) + 1, np.int32 if len(self.text) < 1 << 31 else np.int64)
        np.cumsum(sizes, out=places[1:])
        return places

    @cached_property
    def classes(self) -> Array:
        """The classes of each character, those of `digram.report.characters`."""
        return classes()[self.codes]

    @cached_property
    def breaks(self) -> Array:
        """The characters at which a document begins."""
        return np.searchsorted(self.places, self.documents)

    @cached_property
    def line_starts(self) -> Array:
        """The places in bytes at which a document or a line begins."""
        ends = np.flatnonzero(np.frombuffer(self.text, np.uint8) == 10) + 1
        return np.union1d(self.documents, ends[ends < len(self.text)])

    @cached_property
    def unspaced(self) -> tuple[int, int]:
        """(letters, those of them whose scripts put no white space between words); marks are no letters here."""
        found = self.classes
        return int((found & LETTER != 0).sum()), int((found & UNSPACED != 0).sum())

    @cached_property
    def runs(self) -> dict[str, Runs]:
        """The runs of each kind of `RUNS`."""
        found = self.classes
        words = found & SPACE == 0 if self.words == "spaces" else found & LETTER != 0
        names = self._runs(found & NAME != 0)
        codes = self.codes[names.first]
        blanks = self._runs(found & BLANK != 0)
        return {
            "words": self._runs(words),
            "numbers": self._runs(found & DIGIT != 0),
            "identifiers": _chosen(names, (codes < 48) | (codes > 57)),
            "punctuation": self._runs(found & PUNCTUATION != 0),
            "indentation": _chosen(blanks, self._indents(blanks)),
            "white space": self._runs(found & SPACE != 0),
        }

    def _runs(self, mask: Array) -> Runs:
        """The runs of characters that are in `mask`."""
        starts, ends = mask.copy(), mask.copy()
        starts[1:] &= ~mask[:-1]
        ends[:-1] &= ~mask[1:]
        breaks = self.breaks[self.breaks < len(mask)]
        starts[breaks] = mask[breaks]
        before = breaks[breaks > 0] - 1
        ends[before] = mask[before]
        first, last = np.flatnonzero(starts), np.flatnonzero(ends) + 1
        return Runs(self.places[first], self.places[last], first, last)

    def _indents(self, blanks: Runs) -> Array:
        """Which runs of blanks indent something."""
        codes = self.codes
        begins = np.zeros(len(codes) + 1, bool)
        begins[self.breaks] = True
        begins[1:] |= codes == 10
        followed = np.append((codes != 10) & (codes != 13), False)
        followed[self.breaks] = False
        return np.asarray(begins[blanks.first] & followed[blanks.last])


def _chosen(runs: Runs, which: Array) -> Runs:
    return Runs(runs.starts[which], runs.ends[which], runs.first[which], runs.last[which])


def stretches(joined: bytes, documents: Array, words: Words) -> Iterator[Stretch]:
    """The documents of a batch, end to end, in stretches: cut where a document begins, or before a line end that
    follows no white space. `documents` are the places at which they begin.
    """
    at = 0
    while at < len(joined):
        end = len(joined) if len(joined) - at <= _STRETCH else _cut(joined, documents, at + _STRETCH)
        first, last = np.searchsorted(documents, [at, end])
        yield Stretch(at, joined[at:end], np.unique(documents[first:last]) - at, words)
        at = end


def _cut(joined: bytes, documents: Array, end: int) -> int:
    """The first place from `end` on at which a stretch may end."""
    following = documents[documents >= end]
    bound = int(following[0]) if len(following) else len(joined)
    for found in _LINE_END.finditer(joined, end, bound):
        place = found.start() + 1
        if not joined[max(0, place - 4) : place].decode("utf-8", "ignore")[-1:].isspace():
            return place
    return bound
