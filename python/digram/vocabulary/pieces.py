"""The pieces of texts in the ids of a vocabulary, each with its count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from digram.corpus import Corpus
from digram.counts import PieceCounts, Progress
from digram.tokenizer import Tokenizer

__all__ = ["Texts", "encoded"]

Texts = str | bytes | Iterable[str | bytes] | Corpus | PieceCounts

_BATCH = 1 << 14


def encoded(
    tokenizer: Tokenizer, texts: Texts, threads: int | None, progress: Callable[[Progress], object] | None
) -> Iterator[tuple[list[int], int]]:
    """The ids of distinct pieces with their counts; where nothing splits, of whole texts."""
    split = tokenizer.split
    pairs: Iterator[tuple[str | bytes, int]]
    if isinstance(texts, PieceCounts):
        if texts.split != split:
            raise ValueError(f"these counts were cut by {texts.split!r}, the vocabulary cuts by {split!r}")
        pairs = iter(texts.items())
    elif split is not None and not tokenizer._definition.steps:
        counts = PieceCounts(split, list(tokenizer.special_tokens))
        counts.add(texts, threads=threads, progress=progress)
        pairs = iter(counts.items())
    else:
        pairs = ((text, 1) for text in ([texts] if isinstance(texts, (str, bytes)) else texts))
    while batch := list(islice(pairs, _BATCH)):
        for ids, (_, count) in zip(tokenizer.encode_batch([piece for piece, _ in batch], threads=threads), batch,
                                   strict=True):  # fmt: skip
            yield ids, count
