"""Superwords: Liu, Hayase, Hofmann, Oh, Smith and Choi 2025, "SuperBPE: Space travel for language models".

    tok = train_superwords(texts, vocab_size=200_000, transition=180_000)

Training goes on in a second stage with a split that lets spaces through, so that "by the way" may become one token. The
merges of the first stage are made first, in the pieces of the second; then the most frequent pair of neighbours is
merged, as ever. What comes out is an ordinary vocabulary: the split is the second one, and merges are in order, so it
encodes the training text to what training ended with, and is saved and read as any other; the released SuperBPE
tokenizers are the same in `tokenizer.json`.

As in the released ones (github.com/PythonNut/superbpe, with its fork of tokenizers), no token reaches over more than
four words, and none has a colon before a space: text in prompts ends so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from digram import _beginning
from digram.counts import ONE_TEXT, PieceCounts, Progress
from digram.patterns import checked
from digram.tokenizer import Tokenizer
from digram.training import Ties, train

if TYPE_CHECKING:
    from digram.corpus import Corpus

__all__ = ["SUPERWORDS", "train_superwords"]

Text = str | bytes
Texts: TypeAlias = "Text | Iterable[Text] | Corpus"

SUPERWORDS = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The second stage's split of the released tokenizers: numbers, runs of punctuation and indents are cut out, and what
is between them stays whole."""


def train_superwords(
    texts: Texts,
    vocab_size: int,
    transition: int | Tokenizer,
    *,
    split: str | None = "o200k",
    superword_split: str | None = SUPERWORDS,
    max_words: int | None = 4,
    colons: bool = False,
    allow: Callable[[bytes, bytes, bytes], object] | None = None,
    min_count: int | None = None,
    special_tokens: Iterable[str] = (),
    ties: Ties = "smallest-ids",
    max_token_length: int | None = None,
    whole_characters: bool = False,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    memory_limit: int | str | None = None,
    temporary_folder: str | os.PathLike[str] | None = None,
) -> Tokenizer:
    """Learns a vocabulary in two stages: within the pieces of `split` up to `transition` ids, then within those of
    `superword_split` up to `vocab_size`.

    transition        the ids of the first stage, counted as `vocab_size` counts them; or a tokenizer that digram
                      trained, whose merges, split and special tokens are then those of the first stage
    superword_split   a name of `digram.patterns`, a regular expression, or None: then documents are whole
    max_words         the most words of a token of the second stage, that is, parts with spaces between them
    colons            whether a token of the second stage may hold a colon before a space
    allow             as of `digram.train`, of pairs of the second stage
    min_count         stops both stages

    The other options are those of `digram.train`, in both stages. `texts` are read twice; an iterator is put into a
    list first.

    The pieces of the second stage are long and hardly ever the same, so its counts hold all of the text, and training
    takes some 16 bytes for each byte of it: train on a part of a large corpus (the paper took 10 GB).

    ValueError: a transition above `vocab_size`; otherwise as `digram.train`.
    """
    if max_words is not None and (isinstance(max_words, bool) or not isinstance(max_words, int) or max_words < 1):
        raise ValueError(f"max_words must be an int from 1 on, not {max_words!r}")
    superword_split = checked(superword_split)
    if isinstance(texts, PieceCounts):
        raise TypeError("the two stages cut texts by two splits: give the texts, not counts of their pieces")
    if not isinstance(texts, ONE_TEXT) and iter(texts) is texts:
        texts = list(texts)
    both: dict[str, Any] = {"min_count": min_count, "ties": ties, "threads": threads, "progress": progress,
                            "max_token_length": max_token_length, "whole_characters": whole_characters}  # fmt: skip
    counting: dict[str, Any] = {"memory_limit": memory_limit, "temporary_folder": temporary_folder}
    if isinstance(transition, Tokenizer):
        first = _beginning.resumed(transition).definition
        if first.alphabet != "bytes":
            raise ValueError("the first stage has an alphabet of characters: superwords are learnt on bytes")
    else:
        if transition > vocab_size:
            raise ValueError(
                f"transition={transition} is above vocab_size={vocab_size}: the first stage is the smaller one"
            )
        first = train(
            texts, transition, split=split, special_tokens=special_tokens, **both, **counting
        )._definition  # fmt: skip
    begun = Tokenizer(replace(first, split=superword_split))

    def allowed(left: bytes, right: bytes, joined: bytes) -> bool:
        if not colons and b": " in joined:
            return False
        if max_words is not None and sum(map(bool, joined.split(b" "))) > max_words:
            return False
        return allow is None or bool(allow(left, right, joined))

    counts = PieceCounts(superword_split, list(first.special_tokens), **counting)
    counts.add(texts, threads=threads, progress=progress)
    return train(counts, vocab_size, resume=begun, allow=allowed, **both)
