"""How ids come about: the pieces of a text, the merges of each in the order in which they happen, the parts of a token.

    >>> import digram
    >>> tok = digram.train("aaabdaaabac", 259, split=None)
    >>> [(step.rank, step.left, step.right, step.id) for step in tok.explain("aab").parts[0].steps]
    [(0, 97, 97, 256)]
    >>> parts(tok, 258)
    (256, 257)

Data alone; `digram.showing` draws it. What is told is what happens: each merge asks the engine for its rule, and the
ids of an explanation are those that `encode` gives.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import starmap
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from digram._text import utf8
from digram.errors import UnknownTokenError, VocabularyError

if TYPE_CHECKING:
    from digram import _native
    from digram.cutting import Specials
    from digram.tokenizer import Text, Tokenizer

__all__ = [
    "Explanation",
    "Marker",
    "Node",
    "Piece",
    "StandIn",
    "Step",
    "explain",
    "merges",
    "parts",
    "rank",
    "spelling",
    "tree",
]

# A token of more bytes that is not canonical is not spelt out to find its parts.
_LONGEST = 1 << 20


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
        symbols: list[int | None] = [*self.symbols]
        for step in self.steps:
            symbols[step.start], symbols[step.middle] = step.id, None
        return tuple(id for id in symbols if id is not None)

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


@dataclass(frozen=True, slots=True)
class Node:
    """A token and the two that it is merged from; None of a base symbol, and of a token that no merge leads to.

    Equal tokens of a tree are one object, so a tree takes no more room than the merges it needs.
    """

    id: int
    token: bytes
    rank: int | None = None
    left: Node | None = None
    right: Node | None = None

    def as_dict(self) -> dict[str, Any]:
        """The tree as plain data, for JSON; written out, equal tokens are repeated."""
        made: dict[int, dict[str, Any]] = {}
        for node in _upwards(self):
            plain = {"id": node.id, "text": node.token.decode("utf-8", "replace"), "hex": node.token.hex()}
            if node.left is not None and node.right is not None:
                plain |= {"rank": node.rank, "left": made[node.left.id], "right": made[node.right.id]}
            made[node.id] = plain
        return made[self.id]


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
    for start, end, piece, symbols, stand_ins, ids in encoder.parts(data, *specials, add_special_tokens):
        if piece is None:
            found.append(Marker(start, end, ids[0]))
            continue
        if piece not in merges:
            merges[piece] = tuple(_steps(encoder, symbols))
        steps = merges[piece]
        whole = not (len(symbols) - len(steps) == len(ids) and _last(symbols, steps) == ids)
        found.append(
            Piece(start, end, piece, tuple(symbols), steps, tuple(ids), tuple(starmap(StandIn, stand_ins)), whole)
        )
    return Explanation(tokenizer, data, tuple(found))


def parts(tokenizer: Tokenizer, id: int) -> tuple[int, int] | None:
    """The two tokens that a token is merged from: the last merge of its own spelling.

    None of a base symbol, of a special token, and of a token that no merge leads to (which only a piece that is taken
    whole has, if any). There is one pair at most: between two places that no merge has crossed, merging goes on as it
    would if that stretch were all the text, so wherever a token comes about, it does so from these two.

    UnknownTokenError for an id without a token; VocabularyError where a vocabulary is not canonical and the token has
    more than a million bytes, so that it is not spelt out.
    """
    found = _Origins.of(tokenizer).of_token(id)
    return None if found is None else found[:2]


def rank(tokenizer: Tokenizer, id: int) -> int | None:
    """The rank of the merge that makes a token of its `parts`; None where there are none. Errors: those of `parts`."""
    found = _Origins.of(tokenizer).of_token(id)
    return None if found is None else found[2]


def merges(tokenizer: Tokenizer) -> list[tuple[int, int, int]]:
    """(left id, right id, new id) of all merges that happen, by rank: of each token that merging leads to its `parts`.

    Unlike `Tokenizer.merges`, it leaves out rules that never apply, as converters write them, and is there for every
    vocabulary, canonical or not. VocabularyError as for `parts`.
    """
    origins = _Origins.of(tokenizer)
    found = []
    for id in tokenizer.vocab:
        origin = origins.of_token(id)
        if origin is not None:
            found.append((origin[2], id, origin[0], origin[1]))
    return [(left, right, id) for _, id, left, right in sorted(found)]


def tree(tokenizer: Tokenizer, id: int) -> Node:
    """A token with the parts that it comes of, and theirs, down to base symbols. Errors are those of `parts`."""
    origins = _Origins.of(tokenizer)
    made: dict[int, Node] = {}
    waiting = [id]
    while waiting:
        one = waiting[-1]
        found = None if one in made else origins.of_token(one)
        missing = [part for part in found[:2] if part not in made] if found else []
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if one not in made:
            token = tokenizer.token_bytes(one)
            made[one] = Node(one, token, found[2], made[found[0]], made[found[1]]) if found else Node(one, token)
    return made[id]


def spelling(tokenizer: Tokenizer, id: int) -> Piece:
    """A token as if it were a piece: the merges of its own spelling, whether they lead to it or not.

    Errors are those of `encode`, UnknownTokenError for an id without a token.
    """
    token = tokenizer.token_bytes(id)
    symbols, stand_ins = tokenizer._encoder.symbols(token)
    steps = tuple(_steps(tokenizer._encoder, symbols))
    ids = tuple(_last(symbols, steps))
    return Piece(0, len(token), token, tuple(symbols), steps, ids, tuple(starmap(StandIn, stand_ins)))


def _steps(encoder: _native.Encoder, symbols: Sequence[int]) -> Iterator[Step]:
    """The merges of a piece: of the pairs that wait the one of lowest rank, then the leftmost. n log n."""
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


def _last(symbols: Sequence[int], steps: Sequence[Step]) -> list[int]:
    """What the merges end in."""
    ids: list[int | None] = [*symbols]
    for step in steps:
        ids[step.start], ids[step.middle] = step.id, None
    return [id for id in ids if id is not None]


# Those of a tokenizer, as long as it is there.
_KNOWN: WeakKeyDictionary[Tokenizer, _Origins] = WeakKeyDictionary()


class _Origins:
    """Where the tokens of a vocabulary come from; made once for each tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._encoder = tokenizer._encoder
        self._lengths = array("Q", tokenizer._encoder.token_lengths())
        self._not_canonical = frozenset(tokenizer.not_canonical)
        self._found: dict[int, tuple[int, int, int] | None] = {}

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> _Origins:
        """Those of a tokenizer, which keeps no tokenizer alive."""
        found = _KNOWN.get(tokenizer)
        if found is None:
            found = _KNOWN.setdefault(tokenizer, cls(tokenizer))
        return found

    @cached_property
    def _given(self) -> Mapping[int, tuple[int, int]]:
        """new id -> its parts, of tokens that one merge makes."""
        flat = array("I", self._encoder.merges())
        pairs: dict[int, tuple[int, int]] = {}
        several = set()
        for left, right, new in zip(flat[0::3], flat[1::3], flat[2::3], strict=True):
            if new in pairs:
                several.add(new)
            pairs[new] = (left, right)
        for new in several:
            del pairs[new]
        return pairs

    def of_token(self, id: int) -> tuple[int, int, int] | None:
        """(left, right, rank) of the merge that makes a token."""
        token = self._encoder.token_bytes(id) if 0 <= id < len(self._lengths) else None
        if token is None:
            raise UnknownTokenError(f"id {id!r} has no token in this vocabulary")
        if self._encoder.is_special(id):
            return None
        pair = None if id in self._not_canonical else self._given.get(id)
        if pair is not None:
            rule = self._encoder.rule(*pair)
            if rule is not None and rule[1] == id:
                return (*pair, rule[0])
        if id not in self._found:
            self._found[id] = self._spelt(id, token)
        return self._found[id]

    def _spelt(self, id: int, token: bytes) -> tuple[int, int, int] | None:
        """The same by merging the token's own spelling."""
        if len(token) > _LONGEST:
            raise VocabularyError(f"token {id} has {len(token):,} bytes, too many to look for its parts")
        try:
            symbols, _ = self._encoder.symbols(token)
        except ValueError:  # a symbol that the vocabulary lacks
            return None
        steps = list(_steps(self._encoder, symbols))
        if len(steps) != len(symbols) - 1 or not steps or steps[-1].id != id:
            return None
        return steps[-1].left, steps[-1].right, steps[-1].rank


def _upwards(root: Node) -> Iterator[Node]:
    """The nodes of a tree, parts before what they make, each once."""
    done: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting[-1]
        missing = [part for part in (node.left, node.right) if part is not None and part.id not in done]
        if node.id not in done and missing:
            waiting += missing
            continue
        waiting.pop()
        if node.id not in done:
            done.add(node.id)
            yield node
