"""What a tokenizer is, as plain data: all that is saved, pickled and handed to the engine."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import Literal

from digram import _native, patterns
from digram._text import whole_characters
from digram.errors import VocabularyError

__all__ = ["Alphabet", "Definition", "Kind"]

Alphabet = Literal["bytes", "characters"]
Kind = Literal["merges", "ranks", "list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A vocabulary of one of the three kinds, its split and its special tokens.

    kind "merges": `merges` holds flat pairs (left, right); merge k makes the id `first_merge` + k.
    kind "ranks": `tokens` are byte strings and `ids` their ids; lower ids merge first.
    kind "list": `tokens` is an ordered token list; the position is the id.

    `characters` are the base symbols of a character alphabet of kind "merges", with ids from 0. `unknown` is "error",
    "bytes" (256 byte tokens follow the characters) or the special token that stands in for unknown characters.
    """

    kind: Kind
    alphabet: Alphabet = "bytes"
    characters: str = ""
    unknown: str = "error"
    merges: array[int] = field(default_factory=lambda: array("I"))
    tokens: Sequence[bytes] = ()
    ids: array[int] = field(default_factory=lambda: array("I"))
    split: str | None = None
    special_tokens: Mapping[str, int] = field(default_factory=dict)

    @property
    def first_merge(self) -> int:
        """The id of the first merge: the size of the alphabet."""
        if self.alphabet == "bytes":
            return 256
        return len(self.characters) + (256 if self.unknown == "bytes" else 0)

    @property
    def pattern(self) -> str | None:
        """The regular expression that splits, or None."""
        return patterns.pattern(self.split)

    def __reduce__(self) -> tuple[object, ...]:
        values = {name: getattr(self, name) for name in self.__slots__}
        values["special_tokens"] = dict(self.special_tokens)
        return _definition, (values,)

    def build(self) -> _native.Encoder:
        """The engine's tokenizer. VocabularyError names a contradiction, PatternError a bad pattern."""
        specials = list(self.special_tokens.items())
        unknown_id = None
        if self.unknown not in ("error", "bytes"):
            unknown_id = self.special_tokens.get(self.unknown)
            if unknown_id is None:
                raise VocabularyError(
                    f'unknown={self.unknown!r} is no special token: it is "error", "bytes" or one of the special tokens'
                )
        if self.kind == "merges":
            characters = self.alphabet == "characters"
            return _native.Encoder.from_merges(
                triples(self.merges, self.first_merge),
                characters=self.characters if characters else None,
                unknown_id=unknown_id,
                first_byte_id=len(self.characters) if self.unknown == "bytes" and characters else None,
                specials=specials,
                split=self.pattern,
            )
        joined, ends = b"".join(self.tokens), array("Q", accumulate(map(len, self.tokens)))
        if self.kind == "ranks":
            return _native.Encoder.from_ranks(joined, ends, self.ids, specials=specials, split=self.pattern)
        if self.unknown == "bytes":
            raise VocabularyError('unknown="bytes" needs byte tokens, which an ordered token list does not have')
        return _native.Encoder.from_list(
            joined,
            ends,
            self.alphabet == "characters",
            unknown_id=unknown_id,
            specials=specials,
            split=self.pattern,
        )


def _definition(values: dict[str, object]) -> Definition:
    return Definition(**values)  # type: ignore[arg-type]


def triples(pairs: array[int], first: int) -> array[int]:
    """Flat (left, right, new id) of flat pairs whose new ids count up from `first`."""
    flat = array("I", bytes(4 * 3 * (len(pairs) // 2)))
    flat[0::3], flat[1::3] = pairs[0::2], pairs[1::2]
    flat[2::3] = array("I", range(first, first + len(pairs) // 2))
    return flat


def special_ids(special_tokens: Iterable[str] | Mapping[str, int], first: int) -> Mapping[str, int]:
    """Ids of special tokens: those of a mapping, or `first` and up. ValueError for an empty or repeated one."""
    if isinstance(special_tokens, str):
        raise TypeError(f"special_tokens must be a list of strings, not the string {special_tokens!r}")
    given = list(special_tokens)
    for i, marker in enumerate(given):
        if not isinstance(marker, str):
            raise TypeError(f"special token {i} must be str, not {type(marker).__name__}")
        if not marker:
            raise ValueError(f"special token {i} is the empty string: give each special token a text")
    names = [whole_characters(marker) for marker in given]
    if len(set(names)) != len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"special token {twice!r} is given twice")
    if isinstance(special_tokens, Mapping):
        for name, id in special_tokens.items():
            if not isinstance(id, int) or isinstance(id, bool):
                raise TypeError(f"the id of special token {name!r} must be an int, not {type(id).__name__}")
            if not 0 <= id < 1 << 31:
                raise ValueError(f"the id of special token {name!r} must be from 0 to 2^31 - 1, not {id}")
        return MappingProxyType(dict(zip(names, special_tokens.values(), strict=True)))
    return MappingProxyType({name: first + i for i, name in enumerate(names)})
