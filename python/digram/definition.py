"""What a tokenizer is, as plain data: all that is saved, pickled and handed to the engine."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import Literal, overload

from digram import _native, patterns
from digram._text import whole_characters
from digram.errors import VocabularyError

__all__ = ["AddedToken", "Alphabet", "Definition", "Found", "Kind", "Step", "Tokens"]

Alphabet = Literal["bytes", "characters"]
Kind = Literal["merges", "ranks", "list", "pairs"]
Step = tuple[str, ...]

Found = tuple[bytes, bytes, bytes]
"""What the engine found out when it built a vocabulary, as flat u32: merges, rules, ids that are not canonical."""

NO_ID = 0xFFFF_FFFF
"""Stands in `byte_ids` for a byte without a token."""

# Texts may grow this much by replacing: a published file replaces a blank by three bytes.
_MOST_GROWTH = 1 << 16


class Tokens(Sequence[bytes]):
    """Byte strings, end to end in one buffer: string i is `joined[ends[i - 1]:ends[i]]`.

    Frozen, and equal to any sequence of the same strings. A large vocabulary is there at once, without an object for
    each of its tokens.
    """

    __slots__ = ("ends", "joined")

    def __init__(self, joined: bytes, ends: array[int]) -> None:
        self.joined, self.ends = joined, ends

    @classmethod
    def of(cls, tokens: Iterable[bytes]) -> Tokens:
        """The strings of an iterable."""
        if isinstance(tokens, Tokens):
            return tokens
        tokens = list(tokens)
        return cls(b"".join(tokens), array("Q", accumulate(map(len, tokens))))

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[bytes, ...]: ...
    def __getitem__(self, index: int | slice) -> bytes | tuple[bytes, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        end = self.ends[index]  # IndexError past the end
        index %= len(self)
        return self.joined[self.ends[index - 1] if index else 0 : end]

    def __iter__(self) -> Iterator[bytes]:
        joined, start = self.joined, 0
        for end in self.ends:
            yield joined[start:end]
            start = end

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Tokens):
            return self.ends == other.ends and self.joined == other.joined
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(bytes.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        return Tokens, (self.joined, self.ends)

    def __repr__(self) -> str:
        return f"<{len(self):,} tokens>"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedToken:
    """A string with an id of its own, and how it matches. The flags are those of Hugging Face's tokenizers.

    A `special` one matches only where a call allows it, any other one always. `lstrip` and `rstrip`: white space on
    that side belongs to it; `single_word`: it matches only where no word goes on before or after it; `normalized`: it
    is looked for in the normalised text, and normalised itself.
    """

    content: str
    id: int
    special: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False

    @property
    def flags(self) -> str:
        """The names of the flags that are set, a space between two."""
        return " ".join(name for name in FLAGS if getattr(self, name))


FLAGS = ("special", "lstrip", "rstrip", "single_word", "normalized")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A vocabulary of one of the kinds, its split and its special tokens.

    kind "merges": `merges` holds flat pairs (left, right); merge k makes the id `first_merge` + k.
    kind "ranks": `tokens` are byte strings and `ids` their ids; lower ids merge first.
    kind "list": `tokens` is an ordered token list; the position is the id.

    `characters` are the base symbols of a character alphabet of kind "merges", with ids from 0. `unknown` is "error",
    "bytes" (256 byte tokens follow the characters) or the special token that stands in for unknown characters.

    kind "pairs", what other tools' files hold: `tokens` and `ids` as of "ranks", spelt in UTF-8 where the alphabet is
    characters; `merges` are flat triples (left, right, new id), of which several may make one id and the last of a
    repeated pair counts. Instead of merges, `ranked` names ids: two neighbours merge wherever together they spell one
    of these tokens, the first ones first. `whole`: a piece that is a token is taken whole. A symbol without a token
    becomes the tokens of its bytes, `byte_ids` (256 ids, NO_ID where there is none), else `unknown_id`, of which
    `fuse_unknown` makes one for a run. Then text goes through steps, each a name and its arguments:

    `normalizer` ("nfc"), ("nfd"), ("nfkc"), ("nfkd"), ("lowercase"), ("strip", "left" | "right" | "both"),
        ("prepend", text), ("replace", text, new text), ("replace-regex", pattern, new text), ("byte-characters")
    `steps`, where there is no `split`: ("cut", "text" | "regex" | "numbers" | "punctuation" | "white-space" | "words",
        text or pattern, "removed" | "isolated" | "merged-with-previous" | "merged-with-next" | "contiguous",
        "matches" | "gaps"), ("prefix-space"), ("metaspace", character, "always" | "first" | "never", "cut" | "keep"),
        ("byte-characters")
    `decoder` ("byte-characters"), ("metaspace", character, "always" | "first" | "never"), ("replace", text, new text),
        ("leading-mark", character, "first" | "all"), ("byte-fallback") or ("byte-pieces"), ("fuse"), ("strip",
        character, at the start, at the end), or ("spaced") alone; without any the bytes of tokens are the text

    Patterns of steps have the meaning that Oniguruma gives them. `byte_characters`: pieces end up as GPT-2's characters
    for bytes, to be read before merging. `template`: the ids before and after a text, for `add_special_tokens`.
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
    ranked: array[int] = field(default_factory=lambda: array("I"))
    whole: bool = False
    byte_ids: tuple[int, ...] = ()
    unknown_id: int | None = None
    fuse_unknown: bool = False
    normalizer: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()
    byte_characters: bool = False
    added_tokens: tuple[AddedToken, ...] = ()
    decoder: tuple[Step, ...] = ()
    template: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", Tokens.of(self.tokens))

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

    def build(self, found: Found | None = None) -> _native.Encoder:
        """The engine's tokenizer. VocabularyError names a contradiction, PatternError a bad pattern.

        `found` is what `found` of an earlier one of the same definition gave; the engine need not find it out again.
        """
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
            return _native.from_merges(
                triples(self.merges, self.first_merge),
                characters=self.characters if characters else None,
                unknown_id=unknown_id,
                first_byte_id=len(self.characters) if self.unknown == "bytes" and characters else None,
                specials=specials,
                split=self.pattern,
                found=found,
            )
        tokens = Tokens.of(self.tokens)
        joined, ends = tokens.joined, tokens.ends
        if self.kind == "pairs":
            _check_growth("normalizer", self.normalizer)
            _check_growth("decoder", self.decoder)
            return _native.from_pairs(
                joined,
                ends,
                self.ids,
                self.merges,
                self.ranked,
                characters=self.alphabet == "characters",
                whole=self.whole,
                byte_ids=self.byte_ids or None,
                unknown_id=self.unknown_id,
                fuse_unknown=self.fuse_unknown,
                specials=specials,
                split=self.pattern,
                steps=self.steps,
                normalizer=self.normalizer,
                byte_characters=self.byte_characters,
                added=[(token.content, token.id, token.flags) for token in self.added_tokens],
                decoder=self.decoder,
                template=self.template,
                found=found,
            )
        if self.kind == "ranks":
            return _native.from_ranks(joined, ends, self.ids, specials=specials, split=self.pattern, found=found)
        if self.unknown == "bytes":
            raise VocabularyError('unknown="bytes" needs byte tokens, which an ordered token list does not have')
        return _native.from_list(
            joined,
            ends,
            self.alphabet == "characters",
            unknown_id=unknown_id,
            specials=specials,
            split=self.pattern,
            found=found,
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
    if not isinstance(special_tokens, Iterable):
        raise TypeError(f"special_tokens must be a list of strings, not {type(special_tokens).__name__}")
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


def _check_growth(name: str, steps: Iterable[Step]) -> None:
    """VocabularyError where replacements that follow each other could make gigabytes of a few characters."""
    growth = 1.0
    for step in steps:
        match step:  # what is none, the engine refuses
            case ("replace", str(find), str(content)):
                growth *= max(1.0, len(content.encode()) / len(find.encode() or b"x"))
            case ("replace-regex", str(), str(content)):  # which may match where nothing is
                growth *= 1 + len(content.encode())
    if growth > _MOST_GROWTH:
        raise VocabularyError(
            f"the replacements of the {name} may make a text {growth:.3g} times as long: no vocabulary needs more than "
            f"{_MOST_GROWTH:,} times, so this file is not read"
        )
