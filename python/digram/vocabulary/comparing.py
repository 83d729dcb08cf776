"""What one vocabulary has and another has not: tokens, ids, merges, special tokens, settings.

    >>> import digram
    >>> old, new = (digram.train("low lower lowest", size) for size in (258, 260))
    >>> compare(old, new).added
    (258, 259)

Tokens are the same where they stand for the same bytes of text, however a file spells them: "▁low" of a SentencePiece
model is " low", and its <0xE4> the byte E4. A string that several ids stand for counts as often as both have it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from digram._checked import check_tokenizer
from digram.definition import NO_ID
from digram.errors import VocabularyError
from digram.explain import merges as merges_that_happen
from digram.formats.pairs import taken_whole
from digram.tokenizer import Tokenizer

__all__ = ["Comparison", "Merges", "SpecialTokens", "compare", "meanings"]

Pair = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """Special tokens: marker -> id in both; (id in the first, id in the second); and those of one alone."""

    kept: Mapping[str, int]
    moved: Mapping[str, tuple[int, int]]
    removed: Mapping[str, int]
    added: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Merges:
    """Merges as pairs of the bytes that they join, in the order of ranks.

    `both` is how many the two have in common. `prefix` is how many of the first ones are the same, in the same order:
    all those of a vocabulary that the other goes on from. `reordered` is how many common ones must go to another place,
    at least, for the others to have one order in both.
    """

    both: int
    removed: tuple[Pair, ...]
    added: tuple[Pair, ...]
    prefix: int
    reordered: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `compare` found of vocabularies `a` and `b`; `a` is the old one where they are two versions.

    `kept` holds the ids that stand for the same bytes in both, `moved` old id -> new id of the other common tokens,
    `removed` the ids of `a` and `added` the ids of `b` that the other has no token for; all ascending. Special tokens
    are apart, in `special`. `merges` is None where one of the two has none that can be told. `settings` holds what else
    differs, name -> (of a, of b): the split, the alphabet, normalisation and so on.
    """

    a: Tokenizer
    b: Tokenizer
    kept: tuple[int, ...]
    moved: Mapping[int, int]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    special: SpecialTokens
    merges: Merges | None
    settings: Mapping[str, tuple[object, object]]

    @property
    def common(self) -> int:
        """How many tokens both have, whatever their ids."""
        return len(self.kept) + len(self.moved)

    @property
    def identical(self) -> bool:
        """Whether no text can tell the two apart: the same ids for the same tokens, merges and settings."""
        special = self.special
        changed = (self.moved, self.removed, self.added, special.moved, special.removed, special.added, self.settings)
        if any(changed) or self.merges is None:
            return False
        return not (self.merges.removed or self.merges.added or self.merges.reordered)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain data, for JSON: bytes in hexadecimal, tokens with their ids."""
        of_a, of_b = meanings(self.a), meanings(self.b)
        merges = None
        if self.merges is not None:
            merges = {
                "both": self.merges.both,
                "removed": [[left.hex(), right.hex()] for left, right in self.merges.removed],
                "added": [[left.hex(), right.hex()] for left, right in self.merges.added],
                "prefix": self.merges.prefix,
                "reordered": self.merges.reordered,
            }
        return {
            "identical": self.identical,
            "kept": len(self.kept),
            "moved": {str(old): new for old, new in self.moved.items()},
            "removed": {str(id): of_a[id].hex() for id in self.removed},
            "added": {str(id): of_b[id].hex() for id in self.added},
            "special_tokens": {
                "kept": dict(self.special.kept),
                "moved": {marker: list(ids) for marker, ids in self.special.moved.items()},
                "removed": dict(self.special.removed),
                "added": dict(self.special.added),
            },
            "merges": merges,
            "settings": {name: list(values) for name, values in self.settings.items()},
        }

    def __repr__(self) -> str:
        return (
            f"<digram.vocabulary.Comparison: {self.common:,} tokens in both, {len(self.moved):,} of them with another "
            f"id; {len(self.removed):,} in the first alone, {len(self.added):,} in the second>"
        )


def compare(a: Tokenizer, b: Tokenizer) -> Comparison:
    """What two vocabularies have in common, and what one of them has alone. Of two versions, `a` is the old one.

    What a text makes of the difference is told by `digram.comparing.compare_texts`.
    """
    check_tokenizer(a, "a")
    check_tokenizer(b, "b")
    kept: list[int] = []
    moved: dict[int, int] = {}
    removed: list[int] = []
    of_a, of_b = meanings(a), meanings(b)
    others = _by_meaning(of_b)
    for meaning, ids in _by_meaning(of_a).items():
        other = others.get(meaning, [])
        same = set(ids).intersection(other)
        kept += same
        ids, other = [id for id in ids if id not in same], [id for id in other if id not in same]
        moved.update(zip(ids, other, strict=False))
        removed += ids[len(other) :]
        others[meaning] = other[len(ids) :]
    added = [id for ids in others.values() for id in ids]
    return Comparison(
        a,
        b,
        tuple(sorted(kept)),
        MappingProxyType(dict(sorted(moved.items()))),
        tuple(sorted(removed)),
        tuple(sorted(added)),
        _special_tokens(a, b),
        _merges(a, of_a, b, of_b),
        MappingProxyType(dict(_settings(a, b))),
    )


def meanings(tokenizer: Tokenizer) -> dict[int, bytes]:
    """id -> the bytes of text that a token stands for within a text; special tokens aside."""
    definition = tokenizer._definition
    vocab = {id: token for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)}
    if definition.decoder:
        # What begins a text may lose a blank, so each token is decoded behind another one.
        anchor = next((id for id, token in vocab.items() if token.isalpha() and token.isascii()), None)
        if anchor is not None:
            known = len(tokenizer.decode_bytes([anchor]))
            for id in vocab:
                vocab[id] = tokenizer.decode_bytes([anchor, id])[known:]
    for byte, id in enumerate(definition.byte_ids):
        if id != NO_ID:
            vocab[id] = bytes([byte])
    return vocab


def _by_meaning(meanings: Mapping[int, bytes]) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for id, meaning in meanings.items():
        found.setdefault(meaning, []).append(id)
    return found


def _special_tokens(a: Tokenizer, b: Tokenizer) -> SpecialTokens:
    of_a, of_b = a.special_tokens, b.special_tokens
    both = [marker for marker in of_a if marker in of_b]
    return SpecialTokens(
        {marker: of_a[marker] for marker in both if of_a[marker] == of_b[marker]},
        {marker: (of_a[marker], of_b[marker]) for marker in both if of_a[marker] != of_b[marker]},
        {marker: id for marker, id in of_a.items() if marker not in of_b},
        {marker: id for marker, id in of_b.items() if marker not in of_a},
    )


def _merges(a: Tokenizer, means_a: Mapping[int, bytes], b: Tokenizer, means_b: Mapping[int, bytes]) -> Merges | None:
    try:
        of_a, of_b = _pairs(a, means_a), _pairs(b, means_b)
    except VocabularyError:  # a token is too long to look for its parts
        return None
    places = {pair: place for place, pair in enumerate(of_b)}
    common = [places[pair] for pair in of_a if pair in places]
    prefix = next((at for at, (x, y) in enumerate(zip(of_a, of_b, strict=False)) if x != y), min(len(of_a), len(of_b)))
    in_a = set(of_a)
    return Merges(
        len(common),
        tuple(pair for pair in of_a if pair not in places),
        tuple(pair for pair in of_b if pair not in in_a),
        prefix,
        len(common) - _longest_ascending(common),
    )


def _pairs(tokenizer: Tokenizer, of: Mapping[int, bytes]) -> list[Pair]:
    """Merges that happen, by what they join; of those that repeat another one, the first."""
    found = ((of.get(left, b""), of.get(right, b"")) for left, right, _ in merges_that_happen(tokenizer))
    return list(dict.fromkeys(found))


def _longest_ascending(numbers: list[int]) -> int:
    """The length of the longest ascending subsequence, by patience sorting: n log n."""
    tops: array[int] = array("Q")
    for number in numbers:
        at = bisect_left(tops, number)
        if at == len(tops):
            tops.append(number)
        else:
            tops[at] = number
    return len(tops)


def _settings(a: Tokenizer, b: Tokenizer) -> Iterator[tuple[str, tuple[object, object]]]:
    """What else decides about ids, where it differs."""
    for name in ("pattern", "alphabet", "unknown"):
        if getattr(a, name) != getattr(b, name):
            yield {"pattern": "split"}.get(name, name), (getattr(a, name), getattr(b, name))
    one, other = a._definition, b._definition
    for name in ("steps", "normalizer", "decoder", "template"):
        if getattr(one, name) != getattr(other, name):
            yield name, (getattr(one, name), getattr(other, name))
    whole = [taken_whole(tokenizer) for tokenizer in (a, b)]
    if whole[0] != whole[1] and (a.not_canonical or b.not_canonical):
        yield "pieces taken whole", (whole[0], whole[1])
    flags = [{token.content: token.flags for token in definition.added_tokens} for definition in (one, other)]
    differ = [content for content in flags[0] if flags[0][content] != flags[1].get(content, flags[0][content])]
    if differ:
        yield "added tokens' flags", ({c: flags[0][c] for c in differ}, {c: flags[1][c] for c in differ})
