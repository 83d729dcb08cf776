"""Tokenizers of every kind for tests of how they are kept and sent: those of `support.kinds`, and kind "pairs"."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Callable
from random import Random

from digram.definition import AddedToken, Definition
from digram.tokenizer import Tokenizer

from .kinds import KINDS, of_kind
from .texts import SENTENCES

_LETTERS = ["a", "b", " ", "é", "▁", "s", "<", ">", "/"]


def _pairs(**more: object) -> Tokenizer:
    """Tokens of characters with shuffled ids; merges of which some are repeated, some never met."""
    rng = Random(1)
    tokens = [*_LETTERS, "ab", "aba", "abab", "ba", "<s>", "bab", "▁a", "aé", "aéa"]
    rng.shuffle(tokens)
    ids = {token: i for i, token in enumerate(tokens)}
    split = [(token[:i], token[i:], token) for token in tokens for i in range(1, len(token))]
    triples = [
        (ids[left], ids[right], ids[token]) for left, right, token in split if left in tokens and right in tokens
    ]
    rng.shuffle(triples)
    flat = array("I", [id for triple in [*triples, *triples[:2]] for id in triple])
    values: dict[str, object] = {"alphabet": "characters", "merges": flat, "split": None, **more}
    return Tokenizer(
        Definition(
            kind="pairs",
            tokens=tuple(token.encode() for token in tokens),
            ids=array("I", range(len(tokens))),
            special_tokens={"<s>": ids["<s>"], "</s>": len(tokens)},
            added_tokens=(
                AddedToken(content="</s>", id=len(tokens), special=True, lstrip=True),
                AddedToken(content="ss", id=len(tokens) + 1, normalized=True),
            ),
            **values,  # type: ignore[arg-type]
        )
    )


def _ranked(whole: bool) -> Tokenizer:
    """Ranks that any two neighbours may spell, with bytes that stand in for unknown characters."""
    words = ["ab", "ba", "abab", "aba", "babab", "éa", "aéa", "<s"]
    letters = ["a", "b", "é", "<", "s", ">"]
    tokens = [*(word.encode() for word in (*letters, *words)), *(b"<0x%02X>" % byte for byte in range(256))]
    first = len(letters) + len(words)
    return Tokenizer(
        Definition(
            kind="pairs",
            alphabet="characters",
            tokens=tokens,
            ids=array("I", range(len(tokens))),
            ranked=array("I", range(len(letters), first)),
            byte_ids=tuple(range(first, first + 256)),
            whole=whole,
            special_tokens={"<s>": len(tokens)},
            normalizer=(("replace", " ", "▁"), ("nfc",)),
            decoder=(("byte-fallback",), ("fuse",), ("replace", "▁", " ")),
            template=((len(tokens),), ()),
        )
    )


MORE: dict[str, Callable[[], Tokenizer]] = {
    "pairs": lambda: _pairs(unknown_id=0),
    "pairs, whole pieces": lambda: _pairs(unknown_id=0, whole=True, steps=(("metaspace", "▁", "first", "cut"),)),
    "pairs, runs of unknown": lambda: _pairs(unknown_id=3, fuse_unknown=True, normalizer=(("lowercase",),)),
    "ranked": lambda: _ranked(False),
    "ranked, whole pieces": lambda: _ranked(True),
    "ranks, not canonical": lambda: Tokenizer(
        Definition(
            kind="ranks",
            tokens=[bytes([byte]) for byte in range(256)] + [b"bc", b"abc", b"ab", b"abcab", b"caba", b"abab"],
            ids=array("I", range(262)),
            split="cl100k",
            special_tokens={"<s>": 300},
        )
    ),
    "list, not canonical": lambda: Tokenizer(
        Definition(kind="list", alphabet="characters", tokens=[b"a", b"b", b"xyz", b"ab", b"aab", b"abab"])
    ),
}
NAMES = [*KINDS, *MORE]

SAMPLES = ["", "abababa ababcab", "<s>aéa</s> ss", " ab", "xyzzy é\u0301 𝔘", *SENTENCES.values()]


@functools.cache
def of_any_kind(name: str) -> Tokenizer:
    """The tokenizer of that name, made once a process."""
    return MORE[name]() if name in MORE else of_kind(name)
