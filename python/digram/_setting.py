"""What a training was asked for: checked, and settled with a vocabulary to go on from, before any text is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from digram._beginning import Beginning, initial_characters, resumed, seeds
from digram._numbers import whole_number
from digram.counts import PieceCounts
from digram.definition import Alphabet, Definition, special_ids
from digram.tokenizer import Tokenizer

__all__ = ["TIES", "Setting", "check_room", "settled", "sizes_of"]

# Each rule by the engine's name for it. Libraries differ in nothing but the rule, given the same pieces.
TIES = {
    "smallest-ids": "smallest-ids",
    "smallest-tokens": "smallest-tokens",
    "largest-tokens": "largest-tokens",
    "first-seen": "first-seen",
    "tokenizers": "smallest-characters",
    "rustbpe": "smallest-ids",
    "minbpe": "first-seen",
    "sentencepiece": "shortest-token",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What texts are cut by, what tokens are made of, and what there is before the first round."""

    alphabet: Alphabet
    split: str | None
    unknown: str
    rule: str
    """The engine's name of the tie rule."""
    special_tokens: tuple[str, ...]
    """Those that were asked for."""
    begun: Beginning | None
    seeds: list[bytes]
    initial: str
    limit: int | None
    cut_at: tuple[str, ...] = field(init=False)
    """The special tokens that texts are cut at."""

    def __post_init__(self) -> None:
        its = () if self.begun is None else tuple(self.begun.definition.special_tokens)
        object.__setattr__(self, "cut_at", self.special_tokens or its)

    @property
    def characters(self) -> bool:
        return self.alphabet == "characters"

    @property
    def merges(self) -> Any:
        """Those to begin with, flat; None for none, for an empty buffer has no place."""
        return (self.begun.merges if self.begun is not None else None) or None

    def definition(self, split: str | None) -> Definition:
        """What is trained, as far as it is known before: without characters, merges and special tokens."""
        return Definition(kind="merges", alphabet=self.alphabet, unknown=self.unknown, split=split)

    def markers(self, cut_at: tuple[str, ...]) -> list[str]:
        """All special tokens, where texts are cut at these."""
        return [*cut_at, *([self.unknown] if self.unknown not in ("error", "bytes", *cut_at) else [])]

    def check_counts(self, counts: PieceCounts) -> None:
        """ValueError for counts that were cut in another way than was asked for."""
        its = counts.special_tokens
        if self.special_tokens and self.special_tokens != its:
            raise ValueError(f"these counts were cut at {its!r}: give no special tokens, or the same")
        if self.begun is None and self.split not in ("cl100k", counts.split):
            raise ValueError(f"these counts were cut by {counts.split!r}: give no split, or the same")
        if self.begun is not None and counts.split != self.split:
            raise ValueError(
                f"these counts were cut by {counts.split!r}, the vocabulary to go on from by {self.split!r}"
            )
        if self.begun is not None and self.cut_at != its:
            raise ValueError(
                f"these counts were cut at {its!r}, the vocabulary to go on from has {self.cut_at!r}: count with the "
                "same, or give those of the counts"
            )
        if self.rule == "first-seen" and not counts.ordered:
            raise ValueError('these counts carry no order of first appearance, which ties="first-seen" needs')


def settled(
    *,
    alphabet: Alphabet,
    ties: str,
    split: str | None,
    unknown: str,
    special_tokens: Iterable[str],
    resume: Tokenizer | str | os.PathLike[str] | None,
    seed_tokens: Iterable[str | bytes],
    initial_alphabet: str | Iterable[str],
    limit_alphabet: int | None,
) -> Setting:
    """The setting of these arguments of `train`, with its errors."""
    for name, given, choices in (("alphabet", alphabet, get_args(Alphabet)), ("ties", ties, tuple(TIES))):
        if given not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {given!r}")
    if isinstance(special_tokens, Mapping):
        raise TypeError(
            "special_tokens must be a list of strings, not a mapping: training gives them the last ids, in the order "
            "of list(mapping)"
        )
    asked = tuple(special_ids(special_tokens, 0))
    begun = None if resume is None else resumed(resume)
    if begun is not None:
        alphabet, split, unknown = begun.settled(alphabet=alphabet, split=split, unknown=unknown)
    characters = alphabet == "characters"
    if unknown != "error" and not characters:
        raise ValueError('unknown is for alphabet="characters": no byte is ever unknown')
    seeded = seeds(seed_tokens)
    initial = initial_characters(initial_alphabet, seeded if characters else [])
    if (initial or limit_alphabet is not None) and not characters:
        name = "initial_alphabet" if initial else "limit_alphabet"
        raise ValueError(f'{name} is for alphabet="characters": with bytes, all 256 are in the alphabet')
    if begun is not None and characters:
        initial, limit_alphabet = begun.definition.characters, len(begun.definition.characters)
    return Setting(alphabet, split, unknown, TIES[ties], asked, begun, seeded, initial, limit_alphabet)


def sizes_of(vocab_size: Any) -> tuple[list[int | None], bool]:
    """The sizes that were asked for, and whether they were a list. TypeError and ValueError for what is no size; a size
    of 0 is refused later, with the sentence that names the alphabet."""
    if vocab_size is None:
        return [None], False
    if isinstance(vocab_size, (str, bytes)) or not isinstance(vocab_size, Iterable):
        try:
            return [whole_number("vocab_size", vocab_size, least=0)], False
        except TypeError as error:
            raise TypeError(f"{error}, or a list of ints") from None
    found = list(vocab_size)
    if not found:
        raise ValueError("vocab_size is an empty list: give one size or more")
    if None in found:
        raise TypeError("a size of the list vocab_size is None: give an int, or leave it out")
    return [whole_number("vocab_size", size, least=0) for size in found], True


def check_room(vocab_size: int | None, least: int, specials: int) -> None:
    """ValueError for a size below `least`, which is the alphabet and so many special tokens."""
    if vocab_size is not None and vocab_size < least:
        alphabet = f"{least - specials} {'bytes' if least - specials == 256 else 'ids'}"
        raise ValueError(
            f"vocab_size={vocab_size} is below the {alphabet} of the alphabet plus {specials} special "
            f"tokens: ask for at least {least}"
        )
