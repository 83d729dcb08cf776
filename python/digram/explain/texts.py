"""What happens to a text: its pieces, and the merges of each in the order in which they happen."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import TYPE_CHECKING, Any

from digram._text import utf8

if TYPE_CHECKING:
    from digram import _native
    from digram.cutting import Specials
    from digram.tokenizer import Text, Tokenizer

__all__ = ["Explanation", "Marker", "Piece", "StandIn", "Step", "explain", "piece", "steps_of"]


@dataclass(frozen=True, slots=True)
class Step:
    """One merge: the neighbours `left` and `right` become `id`.

    `rank` is what decided: of all pairs of neighbours that have a rule the lowest rank goes first, the leftmost of
    equals. It is the place of the merge in learned order, the id of a ranked token (.tiktoken), or the entry of an
    ordered token list. The new symbol covers the first symbols of the piece from `start` up to `end`, of which the
    right part begins at `middle`.
    """

    rank: int
    left: int
    right: int
    id: int
    start: int
    middle: int
    end: int


@dataclass(frozen=True, slots=True)
class StandIn:
    """A first symbol that stands for bytes of the piece without a token of their own: an unknown or a byte token."""

    at: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is merged by itself.

    `start` and `end` are its bytes in the text; `piece` is what is merged, which the vocabulary may spell otherwise
    (Unicode forms, U+2581 for a space). `symbols` are the ids it begins with, `steps` its merges in order, `ids` what
    `encode` gives for it. `whole` where that is not what the merges lead to: the piece is itself a token, and the
    vocabulary takes such a piece whole, before any merge.
    """

    start: int
    end: int
    piece: bytes
    symbols: tuple[int, ...]
    steps: tuple[Step, ...]
    ids: tuple[int, ...]
    stand_ins: tuple[StandIn, ...] = ()
    whole: bool = False

    def states(self) -> Iterator[tuple[int, ...]]:
        """The ids before the first merge, and after each."""
        symbols: list[int | None] = [*self.symbols]
        yield self.symbols
        for step in self.steps:
            symbols[step.start], symbols[step.middle] = step.id, None
            yield tuple(id for id in symbols if id is not None)

    @property
    def merged(self) -> tuple[int, ...]:
        """What the merges end in: `ids`, but where the piece was taken whole."""
        return _last(self.symbols, self.steps)

    def as_dict(self) -> dict[str, Any]:
        """The piece as plain data, for JSON."""
        return {
            "start": self.start,
            "end": self.end,
            "piece": self.piece.decode("utf-8", "replace"),
            "hex": self.piece.hex(),
            "symbols": list(self.symbols),
            "stand_ins": [{"at": one.at, "start": one.start, "end": one.end} for one in self.stand_ins],
            "steps": [{name: getattr(step, name) for name in Step.__slots__} for step in self.steps],
            "ids": list(self.ids),
            "whole": self.whole,
        }


@dataclass(frozen=True, slots=True)
class Marker:
    """A token that was cut out of the text before it was split: a special token that the call allowed, or one that the
    vocabulary's file adds; also, with nothing between `start` and `end`, what is put around a text."""

    start: int
    end: int
    id: int

    @property
    def ids(self) -> tuple[int, ...]:
        """The one id."""
        return (self.id,)

    def as_dict(self) -> dict[str, Any]:
        """The token as plain data, for JSON."""
        return {"start": self.start, "end": self.end, "token": self.id, "ids": [self.id]}


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the ids of a text come about: its parts in order. `text` is in UTF-8, and positions count its bytes."""

    tokenizer: Tokenizer = field(repr=False)
    text: bytes
    parts: tuple[Piece | Marker, ...]

    @property
    def ids(self) -> list[int]:
        """The ids that `encode` gives."""
        return [id for part in self.parts for id in part.ids]

    @property
    def steps(self) -> Iterator[tuple[Piece, Step]]:
        """All merges with their pieces, piece by piece."""
        return ((part, step) for part in self.parts if isinstance(part, Piece) for step in part.steps)

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data, for JSON."""
        return {"parts": [part.as_dict() for part in self.parts], "bytes": len(self.text)}

    def __repr__(self) -> str:
        from digram.showing import explanation_lines

        return "\n".join(explanation_lines(self))

    def _repr_html_(self) -> str:
        from digram.showing import explanation_html

        return explanation_html(self)


def explain(
    tokenizer: Tokenizer,
    text: Text,
    allowed_special: Specials = (),
    disallowed_special: Specials = (),
    add_special_tokens: bool = False,
) -> Explanation:
    """How the ids of a text come about. Arguments and errors are those of `Tokenizer.encode`."""
    encoder = tokenizer._encoder
    data = utf8(text)
    found: list[Piece | Marker] = []
    merges: dict[bytes, tuple[Step, ...]] = {}
    specials = tokenizer._specials(allowed_special, disallowed_special)
    for start, end, spelt, symbols, stand_ins, ids in encoder.parts(data, *specials, add_special_tokens):
        if spelt is None:
            found.append(Marker(start, end, ids[0]))
            continue
        if spelt not in merges:
            merges[spelt] = tuple(steps_of(encoder, symbols))
        found.append(_piece((start, end), spelt, symbols, merges[spelt], stand_ins, ids))
    return Explanation(tokenizer, data, tuple(found))


def piece(tokenizer: Tokenizer, data: bytes) -> Piece:
    """How bytes are merged as one piece, wherever the split would cut them. Errors are those of `Tokenizer.encode`."""
    encoder = tokenizer._encoder
    symbols, stand_ins = encoder.symbols(data)
    steps = tuple(steps_of(encoder, symbols))
    return _piece((0, len(data)), data, symbols, steps, stand_ins, encoder.encode_piece(data))


def _piece(
    span: tuple[int, int],
    spelt: bytes,
    symbols: Sequence[int],
    steps: tuple[Step, ...],
    stand_ins: Sequence[tuple[int, int, int]],
    ids: Sequence[int],
) -> Piece:
    whole = len(symbols) - len(steps) != len(ids) or _last(symbols, steps) != tuple(ids)
    return Piece(*span, spelt, tuple(symbols), steps, tuple(ids), tuple(starmap(StandIn, stand_ins)), whole)


def steps_of(encoder: _native.Encoder, symbols: Sequence[int]) -> Iterator[Step]:
    """The merges of a piece, from its first symbols on: of the pairs that wait the one of lowest rank, then the
    leftmost. n log n."""
    ids = list(symbols)
    n = len(ids)
    left, right = list(range(-1, n - 1)), list(range(1, n + 1))
    waiting: list[tuple[int, int, int, int, int]] = []

    def wait(at: int, after: int, reached: int) -> None:
        found = encoder.rule(ids[at], ids[after], reached)
        if found is not None:
            heapq.heappush(waiting, (found[0], at, ids[at], ids[after], found[1]))

    for at in range(n - 1):
        wait(at, at + 1, 0)
    while waiting:
        rank, at, first, second, new = heapq.heappop(waiting)
        middle = right[at]
        if ids[at] != first or middle >= n or ids[middle] != second:
            continue  # one of the two was merged with another since
        end = right[middle]
        yield Step(rank, first, second, new, at, middle, end)
        ids[at], ids[middle] = new, -1
        right[at] = end
        if end < n:
            left[end] = at
            wait(at, end, rank + 1)
        if left[at] >= 0:
            wait(left[at], at, rank + 1)


def _last(symbols: Sequence[int], steps: Sequence[Step]) -> tuple[int, ...]:
    """What the merges end in."""
    ids: list[int | None] = [*symbols]
    for step in steps:
        ids[step.start], ids[step.middle] = step.id, None
    return tuple(id for id in ids if id is not None)
