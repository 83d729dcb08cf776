"""A tokenizer of every kind, small, for tests of what holds for all of them; and what it is for two to be the same."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Callable
from typing import Any

import digram
from digram.definition import Definition
from digram.errors import DigramError
from digram.tokenizer import Tokenizer

from .texts import SENTENCES, TROUBLE, all_samples

TEXTS = [*SENTENCES.values(), *TROUBLE.values()]
LETTERS: dict[str, Any] = {"alphabet": "characters", "min_count": 3}

# Made when they are asked for: a broken engine should fail tests, not the collection of them.
KINDS: dict[str, Callable[[], Tokenizer]] = {
    "bytes": lambda: digram.train(TEXTS, 600, special_tokens=["<s>", "</s>", 'a "quoted"\n\u2028 one', "é👍"]),
    "no split": lambda: digram.train(TEXTS, 400, split=None),
    "a pattern": lambda: digram.train(TEXTS, 400, split=r"\p{L}+|[^\p{L}\"\\]+|[\"\\]"),
    "o200k": lambda: digram.train(TEXTS, 400, split="o200k", ties="first-seen"),
    "no merges": lambda: digram.train("ab", 256),
    "characters": lambda: digram.train(TEXTS, **LETTERS),
    "unknown bytes": lambda: digram.train(TEXTS, **LETTERS, unknown="bytes", special_tokens=["<s>"]),
    "unknown token": lambda: digram.train(TEXTS, **LETTERS, unknown="<?>"),
    "ranks": lambda: Tokenizer(
        Definition(
            kind="ranks",
            tokens=(*(bytes([byte]) for byte in range(256)), b"ab", b"\xff\xfe", b"abab"),
            ids=array("I", [*range(256), 300, 256, 257]),
            split="gpt2",
            special_tokens={"<s>": 299, "<t>": 500},
        )
    ),
    "list": lambda: digram.from_token_list(
        ["a", "é", "a", "aé", "xyz", "aéa", "aé"], special_tokens=["<s>"], unknown="<?>"
    ),
    "list of bytes": lambda: digram.from_token_list([b"a", b"\xff", b"a\xff", b"\xffa", b"a\xff"]),
    "empty list": lambda: digram.from_token_list([]),
}


@functools.cache
def of_kind(name: str) -> Tokenizer:
    """The tokenizer of that name in `KINDS`, made once a process."""
    return KINDS[name]()


SAMPLES: list[str | bytes] = [*all_samples(), "ab<s>ab", "aéaéa", b"a\xff\xffa", "</s><t>"]


def assert_same(one: Tokenizer, other: Tokenizer) -> None:
    """All that can be seen of two tokenizers, ids and errors of many texts included."""
    for name in ("split", "pattern", "alphabet", "unknown", "n_vocab", "not_canonical"):
        assert getattr(one, name) == getattr(other, name), name
    assert list(one.special_tokens.items()) == list(other.special_tokens.items())
    assert dict(one.vocab) == dict(other.vocab)
    if not one.not_canonical:
        assert list(one.merges.items()) == list(other.merges.items())
    for text in SAMPLES:
        for options in ({}, {"allowed_special": "all"}):
            assert _ids_or_error(one, text, options) == _ids_or_error(other, text, options), text


def _ids_or_error(tok: Tokenizer, text: str | bytes, options: dict[str, Any]) -> object:
    try:
        return tok.encode(text, **options)
    except DigramError as error:
        return type(error), str(error)
