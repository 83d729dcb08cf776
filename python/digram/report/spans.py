"""Where the tokens of a batch of documents begin and end, in bytes of the text as it was given."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Protocol

import numpy as np

from digram.definition import Definition
from digram.report.characters import Array
from digram.report.texts import Stretch
from digram.tokenizer import Tokenizer

__all__ = ["Places", "encoded"]

# How many tokens are looked at in one go.
_TOKENS = 1 << 20


class Places(Protocol):
    """Tokens of a stretch: how many begin before a place, and how many lie over a run."""

    def before(self, places: Array) -> Array:
        """How many tokens begin before each of these places; at the end of the stretch, all of its tokens."""

    def over(self, starts: Array, ends: Array) -> Array:
        """How many tokens hold something of each run."""


class _Adjoining:
    """Tokens that lie end to end: where each begins says all."""

    def __init__(self, starts: Array, length: int) -> None:
        # begun[x]: how many tokens begin before x
        self._begun = np.zeros(length + 2, np.int64)
        np.cumsum(np.bincount(starts, minlength=length), out=self._begun[1:-1])
        self._begun[-1] = self._begun[-2]

    def before(self, places: Array) -> Array:
        return np.asarray(self._begun[places])

    def over(self, starts: Array, ends: Array) -> Array:
        # The one that holds the first byte, and those that begin later.
        return np.asarray(1 + self._begun[ends] - self._begun[starts + 1])


class _Spans:
    """Tokens with a span each, which may overlap (bytes of a character that was changed) or leave gaps."""

    def __init__(self, starts: Array, ends: Array, at: int, length: int) -> None:
        first, last = np.searchsorted(starts, [at, at + length])
        self._begun = np.zeros(length + 2, np.int64)
        np.cumsum(np.bincount(starts[first:last] - at, minlength=length), out=self._begun[1:-1])
        self._begun[-1] = self._begun[-2]
        self._earlier = int(first)
        # ended[x]: how many tokens end at x or before it
        gone, last = np.searchsorted(ends, [at, at + length], "right")
        self._ended = int(gone) + np.cumsum(np.bincount(ends[gone:last] - at, minlength=length + 1))

    def before(self, places: Array) -> Array:
        return np.asarray(self._begun[places])

    def over(self, starts: Array, ends: Array) -> Array:
        return np.asarray(self._earlier + self._begun[ends] - self._ended[starts])


Reader = Callable[[Stretch], Places]


def encoded(
    tokenizer: Tokenizer, texts: list[bytes], lengths: Array, threads: int | None
) -> tuple[Array, Callable[[], Reader]]:
    """(ids of all texts one after the other, what makes a reader).

    A reader is called with the stretches of the batch, in their order, and gives the places of the tokens in each.
    `lengths` are those of the tokens of the vocabulary.
    """
    if _spells(tokenizer._definition) and (not tokenizer._definition.normalizer or all(map(_composed, texts))):
        flat, offsets = tokenizer._encoder.encode_batch_flat(texts, threads=threads)
        ids = np.frombuffer(memoryview(flat), np.uint32)
        # A vocabulary that changes the text after all would be found out here.
        ends = np.frombuffer(offsets, np.uint64).astype(np.int64)
        if _sums(ids, lengths, ends) == list(map(len, texts)):
            return ids, lambda: _adjoining(ids, lengths)
    parts, starts, stops, at = [], [], [], 0
    for text in texts:
        found, first, last, _ = tokenizer._encoder.encode_with_spans(text, characters=False)
        parts.append(np.array(found, np.uint32))
        starts.append(np.frombuffer(first, np.uint64).astype(np.int64) + at)
        stops.append(np.frombuffer(last, np.uint64).astype(np.int64) + at)
        at += len(text)
    ids = np.concatenate(parts)
    # What stands after the last byte is counted with it.
    begun, ended = np.minimum(np.concatenate(starts), max(0, at - 1)), np.concatenate(stops)
    return ids, lambda: lambda stretch: _Spans(begun, ended, stretch.at, len(stretch.text))


def _spells(definition: Definition) -> bool:
    """Whether the bytes of tokens, joined, are the text, where the normal form of the text is its own."""
    return (
        definition.normalizer in ((), (("nfc",),))
        and not definition.byte_ids
        and not definition.byte_characters
        and definition.unknown_id is None
        and definition.unknown == "error"
        and all(step[0] == "cut" and step[3] != "removed" for step in definition.steps)
        and not any(token.lstrip or token.rstrip or token.normalized for token in definition.added_tokens)
    )


def _composed(text: bytes) -> bool:
    return text.isascii() or unicodedata.is_normalized("NFC", text.decode("utf-8", "surrogateescape"))


def _sums(ids: Array, lengths: Array, ends: Array) -> list[int]:
    """How many bytes the tokens of each text have; the tokens of text i end at `ends[i]`."""
    total = np.zeros(len(ends) + 1, np.int64)
    carried = at = 0
    for begin in range(0, max(1, len(ids)), _TOKENS):
        sums = np.cumsum(np.append(0, lengths[ids[begin : begin + _TOKENS]]))
        last = int(np.searchsorted(ends, begin + len(sums) - 1, "right"))
        total[at + 1 : last + 1] = carried + sums[ends[at:last] - begin]
        carried, at = carried + int(sums[-1]), last
    sums_of_texts: list[int] = np.diff(total).tolist()
    return sums_of_texts


def _adjoining(ids: Array, lengths: Array) -> Reader:
    """Reads tokens one after the other, as far as the stretch goes."""
    at = place = 0  # the next token, and where it begins

    def read(stretch: Stretch) -> Places:
        nonlocal at, place
        end, found = stretch.at + len(stretch.text), []
        while place < end:
            sizes = lengths[ids[at : at + _TOKENS]]
            starts = place - sizes + np.cumsum(sizes)
            inside = int(np.searchsorted(starts, end))
            found.append(starts[:inside] - stretch.at)
            at += inside
            place = int(starts[inside - 1] + sizes[inside - 1])
        starts = np.concatenate(found) if found else np.zeros(0, np.int64)
        return _Adjoining(starts, len(stretch.text))

    return read
