"""Parity: what the same content costs in different languages.

A. Petrov et al., Language Model Tokenizers Introduce Unfairness Between Languages, NeurIPS 2023.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from digram.errors import DigramError
from digram.report.blocks import FEWEST, resampled
from digram.report.characters import Array
from digram.report.texts import as_bytes
from digram.tokenizer import Tokenizer

__all__ = ["Costs", "costs"]

# Lines that follow one another are a block, so that there are never more blocks than this.
_MOST = 1000


@dataclass(frozen=True)
class Costs:
    """Tokens of each language, and bytes in the last place: sums (tokenizers + 1, languages), and resampled ones
    (resamples, tokenizers + 1, languages), or None. The languages have the same units, so they are drawn together.
    """

    languages: list[str]
    units: int
    blocks: int
    sums: Array
    drawn: Array | None


def costs(
    tokenizers: Mapping[str, Tokenizer],
    parallel: Mapping[str, Iterable[str | bytes]],
    threads: int | None,
    resamples: int,
    seed: int,
) -> Costs:
    """Counts parallel texts. ValueError where languages do not have the same number of units, or there are none."""
    languages = list(parallel)
    units = 0
    found: list[Array] = []
    for language, texts in parallel.items():
        if isinstance(texts, (str, bytes)):
            raise TypeError(f"{language}: parallel text must be a list of units, not one {type(texts).__name__}")
        lines = [as_bytes(text, f"{language}: unit {i}") for i, text in enumerate(texts)]
        if found and len(lines) != units:
            raise ValueError(
                f"parallel text must have the same units in each language, but {languages[0]} has {units:,} "
                f"and {language} {len(lines):,}: give texts in which unit i of one is the translation of unit i of all"
            )
        units = len(lines)
        if not units:
            raise ValueError(f"{language} has no parallel text: give at least one unit")
        rows = []
        for name, tokenizer in tokenizers.items():
            try:
                rows.append(np.array(tokenizer.count_batch(lines, threads=threads), np.int64))
            except DigramError as error:
                raise type(error)(f"{name}, on {language}: {error}") from None
        rows.append(np.fromiter(map(len, lines), np.int64, units))
        found.append(_blocks(np.array(rows)))
    table = np.stack(found, axis=1)  # (tokenizers + 1, languages, blocks)
    flat = table.reshape(-1, table.shape[2]).T
    drawn = resampled(flat, resamples, np.random.default_rng([seed, 1]))
    return Costs(
        languages,
        units,
        len(flat) if len(flat) >= FEWEST else 0,
        table.sum(axis=2),
        None if drawn is None else drawn.reshape(-1, *table.shape[:2]),
    )


def _blocks(rows: Array) -> Array:
    """(rows, blocks): sums over as many neighbouring units as it takes for at most `_MOST` blocks."""
    each = -(-rows.shape[1] // _MOST)
    return np.asarray(np.add.reduceat(rows, np.arange(0, rows.shape[1], each), axis=1))
