"""Where the tokens of a vocabulary come from: the two that each is merged from, the rank of that merge, its tree."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from digram.errors import UnknownTokenError, VocabularyError
from digram.explain.texts import Piece, piece, steps_of

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["Node", "merges", "parts", "rank", "spelling", "tree"]

# A token of more bytes that is not canonical is not spelt out to find its parts.
_LONGEST = 1 << 20


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
    found = piece(tokenizer, tokenizer.token_bytes(id))
    return replace(found, ids=found.merged, whole=False)


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
        steps = list(steps_of(self._encoder, symbols))
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
