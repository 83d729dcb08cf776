"""The published vocabularies of the test data folder, and what tests of changed ones ask of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import pytest

import digram
from digram.tokenizer import Tokenizer
from digram.vocabulary import Pruned, prune

from .data import Data
from .texts import stdlib_text

PRUNED_FOR = stdlib_text(30_000)

_SMALL, _LARGE = ("gpt2", "llama2"), ("cl100k_base", "qwen3", "llama3_1")
CHANGED = (*_SMALL, *_LARGE)
"""One of each kind, for tests that make another vocabulary of it."""

PRUNED_OR_WHOLE = (
    *_SMALL,
    *(f"{name}, pruned" for name in _LARGE),
    *(pytest.param(name, marks=pytest.mark.exhaustive) for name in _LARGE),
)
"""The same where the new one is also written into files and read again: of large ones what the test of pruning makes of
them, with all that is special about their files, and in the long tests the whole."""


@functools.cache
def public_vocabulary(data: Data, name: str) -> Tokenizer:
    """The vocabulary `name`, read once a process: a tokenizer never changes."""
    if name.endswith(", pruned"):
        return pruned(data, name.removesuffix(", pruned")).tokenizer
    if name == "gpt2":
        data.vocabulary("gpt2-encoder.json")  # which is looked for beside the other
        return digram.load(data.vocabulary("gpt2-vocab.bpe"), split="gpt2", special_tokens={"<|endoftext|>": 50256})
    if name.endswith("_base"):
        return digram.load(data.vocabulary(f"{name}.tiktoken"), name=name)
    return digram.load(data.vocabulary(f"{name}-tokenizer.json"))


@functools.cache
def pruned(data: Data, name: str) -> Pruned:
    """What `PRUNED_FOR` needs of a vocabulary."""
    return prune(public_vocabulary(data, name), PRUNED_FOR)


class Made(Protocol):
    """What `extend` and `add_words` give."""

    @property
    def made_of(self) -> Mapping[int, tuple[int, ...]]: ...


def old_ids(made: Made, ids: Iterable[int]) -> list[int]:
    """Ids with each new one in the old ids that it is made of."""
    return [old for id in ids for old in made.made_of.get(id, (id,))]


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call returns, or the words of its ValueError."""
    try:
        return call(*arguments)
    except ValueError as error:
        return str(error)
