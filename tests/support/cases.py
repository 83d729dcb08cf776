"""Random cases, small and full of overlaps, runs and ties: what tells a right routine from one that is nearly right.

Everything comes from a `random.Random` that the caller seeds, so the same number is the same case everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

# Two to six symbols are drawn from one of these. The fourth sets bytes of characters against each other that begin or
# end alike; the fifth holds halves of a surrogate pair, which become one character where they meet, else U+FFFD.
ALPHABETS = ("abcdef", "ab \n\x00\x7f", "aé中👍\u0301z", "éèàÀ\u00c3ã", "\ud83d\udc4da\udc4e中b")

# Not \s: to Python's `re`, U+001C to U+001F are white space, to Unicode and the engine they are not.
WORDS = r"[ \n]*[^ \n]+|[ \n]+"
SPLITS: tuple[str | None, ...] = (None, None, "a+|[^a]+", WORDS)


def split_function(pattern: str | None) -> Callable[[str], list[str]] | None:
    """What `pattern` does, by Python's own `re`; for patterns that match every text whole."""
    return None if pattern is None else re.compile(pattern).findall


def random_text(rng: Random, symbols: str, length: int) -> str:
    """At most about `length` symbols; half the texts are made of runs and repeated stretches."""
    if rng.random() < 0.5:
        return "".join(rng.choices(symbols, k=rng.randrange(length + 1)))
    parts: list[str] = []
    while sum(map(len, parts)) < length:
        part = rng.choice(parts) if parts and rng.random() < 0.3 else "".join(rng.choices(symbols, k=rng.randint(1, 3)))
        parts.append(part * rng.choice((1, 1, 1, 2, 3, 5)))
    return "".join(parts)


@dataclass(frozen=True)
class Corpus:
    """Documents, and what training shall do with them."""

    documents: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    split: str | None = None

    @property
    def special_tokens(self) -> list[str]:
        markers: list[str] = self.options["special_tokens"]
        return markers


def random_corpus(rng: Random, length: int = 40) -> Corpus:
    """A few documents, some of them repeated, with fitting options of training; the caller chooses the tie rule."""
    symbols = "".join(rng.sample(alphabet := rng.choice(ALPHABETS), rng.randint(2, len(alphabet))))
    markers = rng.sample(["<s>", "<s>>", symbols[0] * 2, symbols[:2] + "|"], rng.choice((0, 0, 0, 1, 2)))
    documents = []
    for _ in range(rng.choice((1, 1, 2, 4))):
        text = random_text(rng, symbols, length)
        for marker in markers:
            cut = rng.randrange(len(text) + 1)
            text = text[:cut] + marker + text[cut:]
        documents += [text] * rng.choice((1, 1, 2, 5))
    rng.shuffle(documents)
    alphabet = rng.choice(("bytes", "characters"))
    # At most so many base symbols, so that a size is never too small: the markers may bring some of their own.
    base = (
        256
        if alphabet == "bytes"
        else len(set("".join(documents).encode("utf-16", "surrogatepass").decode("utf-16", "replace")))
    )
    options: dict[str, Any] = {"alphabet": alphabet, "special_tokens": markers}
    stop = rng.choice(("size", "size", "count", "both"))
    if stop != "count":
        options["vocab_size"] = base + len(markers) + rng.choice((0, 1, 2, 3, 5, 8, 40))
    if stop != "size":
        options["min_count"] = rng.randint(1, 4)
    if rng.random() < 0.2:
        options["max_token_length"] = rng.randint(1, 5)
    return Corpus(documents, options, rng.choice(SPLITS))


# Digits of two lengths, combining marks, and letters that share their first or last bytes.
_RULED = "ab1٣\u0307\u0301éè中𝟗"


def random_ruled_corpus(rng: Random) -> Corpus:
    """As `random_corpus`, with rules about characters, seed tokens, alphabets of choice and a function that decides."""
    symbols = "".join(rng.sample(_RULED, rng.randint(2, 5)))
    documents = [random_text(rng, symbols, 30) for _ in range(rng.randint(1, 4))]
    alphabet = rng.choice(("bytes", "characters"))
    options: dict[str, Any] = {"alphabet": alphabet, "min_count": rng.choice((1, 1, 2))}
    options |= {name: rng.random() < 0.3 for name in ("split_digits", "whole_characters", "attach_marks")}
    if rng.random() < 0.3:
        options["max_token_characters"] = rng.randint(1, 4)
    if rng.random() < 0.2:
        options["max_token_length"] = rng.randint(1, 6)
    if rng.random() < 0.4:
        options["seed_tokens"] = [random_text(rng, symbols, 5) or "a" for _ in range(rng.randint(1, 3))]
    if alphabet == "characters" and rng.random() < 0.5:
        options["initial_alphabet"] = "".join(rng.sample(_RULED, 2))
        if "seed_tokens" not in options and rng.random() < 0.5:
            options["limit_alphabet"] = rng.randint(2, 5)
    if rng.random() < 0.4:
        options["allow"] = rng.choice((_no_third, _no_pair_of_equals))
    return Corpus(documents, options, rng.choice((None, None, "a+|[^a]+")))


def _no_third(left: bytes, right: bytes, joined: bytes) -> bool:
    return len(joined) % 3 != 0


def _no_pair_of_equals(left: bytes, right: bytes, joined: bytes) -> bool:
    return left != right


def random_token_list(rng: Random) -> list[str]:
    """An ordered token list with everything that a map from string to id gets wrong: repeats, entries that no two
    earlier ones spell, entries before their parts, an alphabet with repeats."""
    symbols = rng.choice(("a", "ab", "ab", "abc", "aé中", "👍a\u0301"))
    tokens = [*symbols, *rng.choices(symbols, k=rng.choice((0, 0, 1, 2)))]
    for _ in range(rng.randrange(14)):
        kind = rng.random()
        if kind < 0.6:
            tokens.append(rng.choice(tokens) + rng.choice(tokens))
        elif kind < 0.8:
            tokens.append("".join(rng.choices(symbols, k=rng.randint(2, 5))))
        elif kind < 0.9:
            tokens.append(rng.choice(tokens))
        else:
            tokens.append(rng.choice(("xyz", "ax", "", "b", "a")))
    return tokens


def random_merges(rng: Random, base: Iterable[int], count: int) -> dict[tuple[int, int], int]:
    """Merges of ids that are there already, in no order that training would give: mostly not canonical."""
    ids = list(base)
    new_id = max(ids) + 1 if max(ids) > 255 else 256
    merges: dict[tuple[int, int], int] = {}
    for _ in range(count):
        pair = rng.choice(ids), rng.choice(ids)
        if pair not in merges:
            merges[pair] = new_id
            ids.append(new_id)
            new_id += 1
    return merges
