"""What a training begins with: a vocabulary to go on from, seed tokens, characters that belong to the alphabet."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from digram._text import whole_characters
from digram._warn import warn
from digram.counts import PieceCounts
from digram.definition import Alphabet, Definition
from digram.errors import TrainingWarning
from digram.tokenizer import Tokenizer

__all__ = ["Beginning", "initial_characters", "resumed", "seeds", "warn_of_cut"]


@dataclass(frozen=True, slots=True)
class Beginning:
    """The vocabulary to go on from, and its merges with the ids that the engine gives them."""

    definition: Definition
    merges: array[int]

    def settled(self, alphabet: Alphabet, split: str | None, unknown: str) -> tuple[Alphabet, str | None, str]:
        """Alphabet, split and unknown of the vocabulary. ValueError where others were asked for than these or the ones
        that `train` takes when nothing is said.
        """
        its = self.definition
        asked: dict[str, tuple[str | None, str]] = {
            "alphabet": (alphabet, "bytes"),
            "split": (split, "cl100k"),
            "unknown": (unknown, "error"),
        }
        for name, (value, default) in asked.items():
            if value not in (default, getattr(its, name)):
                raise ValueError(f"{name}={value!r}, but the vocabulary to go on from has {getattr(its, name)!r}")
        return its.alphabet, its.split, its.unknown


def resumed(source: Tokenizer | str | os.PathLike[str]) -> Beginning:
    """Of a tokenizer, or of a file in digram's own format. ValueError for one that was not trained by digram."""
    if not isinstance(source, Tokenizer):
        if not isinstance(source, (str, os.PathLike)):
            raise TypeError(f"resume must be a Tokenizer or the path of a file, not {type(source).__name__}")
        from digram.formats import digram

        name, source = f"resume={os.fspath(source)!r}", digram.load(source)
    else:
        name = "resume"
    definition = source._definition
    if definition.kind != "merges":
        raise ValueError(
            f"{name} is a vocabulary of the kind {definition.kind!r}, which holds more than merges in learned order: "
            "training goes on from vocabularies that digram trained"
        )
    merges = definition.merges
    if definition.unknown == "bytes":
        size = len(definition.characters)
        merges = array("I", (id - 256 if id >= size else id for id in merges))
    return Beginning(definition, merges)


def seeds(tokens: Iterable[str | bytes]) -> list[bytes]:
    """The bytes of seed tokens. TypeError and ValueError say which one is none."""
    if isinstance(tokens, (str, bytes)):
        raise TypeError(f"seed_tokens must be a list of strings, not the string {tokens!r}")
    if not isinstance(tokens, Iterable):
        raise TypeError(f"seed_tokens must be a list of strings, not {type(tokens).__name__}")
    found = []
    for i, token in enumerate(tokens):
        if not isinstance(token, (str, bytes)):
            raise TypeError(f"seed token {i} must be str or bytes, not {type(token).__name__}")
        if not token:
            raise ValueError(f"seed token {i} is empty: give each seed token a text")
        found.append(whole_characters(token).encode() if isinstance(token, str) else token)
    return found


def warn_of_cut(tokens: list[bytes], split: str | None) -> None:
    """TrainingWarning for the first seed token that the split cuts: merges never cross pieces, so no text is it."""
    if split is None:
        return
    for token in tokens:
        counts = PieceCounts(split)
        counts.add(token, threads=1)
        number = sum(n for _, n in counts.items())
        if number != 1:
            warn(
                f"seed token {token.decode(errors='backslashreplace')!r} is cut by the split into {number} pieces, and "
                "merges never cross them: no text is encoded with it",
                TrainingWarning,
            )
            return


def initial_characters(characters: str | Iterable[str], seed_tokens: list[bytes]) -> str:
    """The characters of a character alphabet that need not be in the texts: those asked for, those of seed tokens."""
    if not isinstance(characters, Iterable):
        raise TypeError(f"initial_alphabet must be a str or a list of them, not {type(characters).__name__}")
    given = [characters] if isinstance(characters, str) else list(characters)
    for i, item in enumerate(given):
        if not isinstance(item, str):
            raise TypeError(f"item {i} of initial_alphabet must be str, not {type(item).__name__}")
    try:
        given += [token.decode() for token in seed_tokens]
    except UnicodeDecodeError as error:
        raise ValueError(f"seed token {error.object!r} is not UTF-8, and a character alphabet has characters") from None
    return "".join(sorted(set(whole_characters("".join(given)))))
