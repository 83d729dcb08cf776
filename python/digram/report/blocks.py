"""Sums over blocks of text, and what resampling the blocks says of their ratios."""

from __future__ import annotations

import numpy as np

from digram.report.characters import Array

__all__ = ["FEWEST", "Blocks", "borders", "resampled"]

FEWEST = 10
"""Of fewer blocks no interval is given: resampling so few says little (B. Efron, Bootstrap Methods, 1979)."""

# A block has at least so many bytes, as long as there are fewer than so many blocks: then neighbours are put together.
_SMALLEST = 1024
_MOST = 1000


class Blocks:
    """Blocks in the order of the text, a row of sums for each; never more than a thousand or so, however long the text.

    A block is a stretch of whole lines, or whole documents where these are short.
    """

    def __init__(self, columns: int) -> None:
        self.size = _SMALLEST
        self._rows: list[Array] = []
        self._held = 0
        self._columns = columns

    def add(self, rows: Array) -> None:
        """More blocks."""
        self._rows.append(rows)
        self._held += len(rows)
        while self._held > 2 * _MOST:
            self._halve()

    def _halve(self) -> None:
        rows = self.rows
        if len(rows) % 2:
            rows = np.concatenate([rows, np.zeros((1, self._columns), np.int64)])
        self._rows = [rows[0::2] + rows[1::2]]
        self._held = len(self._rows[0])
        self.size *= 2

    @property
    def rows(self) -> Array:
        """(blocks, columns)"""
        return np.concatenate(self._rows) if self._rows else np.zeros((0, self._columns), np.int64)

    @property
    def total(self) -> Array:
        """The sum of all blocks."""
        return np.asarray(self.rows.sum(axis=0))


def borders(line_starts: Array, length: int, size: int) -> Array:
    """Where blocks of about `size` bytes begin in a stretch, and its end: at line starts, or where documents begin."""
    wanted = np.arange(size, length, size)
    found = np.searchsorted(line_starts, wanted)
    inner = line_starts[found[found < len(line_starts)]]
    return np.unique(np.concatenate([[0], inner, [length]]))


def resampled(rows: Array, resamples: int, random: np.random.Generator) -> Array | None:
    """(resamples, columns): sums over as many blocks as there are, each drawn with replacement from all of them.

    None where there are fewer than `FEWEST`.
    """
    n = len(rows)
    if n < FEWEST or not resamples:
        return None
    values = rows.astype(float)
    sums = np.empty((resamples, rows.shape[1]))
    for at in range(0, resamples, 256):
        drawn = random.multinomial(n, np.full(n, 1 / n), min(256, resamples - at))
        sums[at : at + len(drawn)] = drawn @ values
    return sums
