"""Which records of a corpus are read: every n-th, a sample, so many.

None of it depends on workers, batches, or on where reading starts: it looks at the number of a file in the list of
files, and at the number of a record in its file.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

__all__ = ["Selection"]

_BLOCK = 4096  # records that are drawn for at once


@dataclass(frozen=True)
class Selection:
    """shard           (i, n): one of n parts that have nothing in common, and together are all. Where there are at
                       least n files, each n-th file from file i on; else each n-th record of each file.
    sample          of what is left, a record is read with this probability
    seed            another seed gives another sample
    max_documents   at most so many documents
    max_characters  no more once so many characters were read: the document that reaches the number is the last
    """

    shard: tuple[int, int] = (0, 1)
    sample: float | Fraction | None = None
    seed: int = 0
    max_documents: int | None = None
    max_characters: int | None = None

    def __post_init__(self) -> None:
        i, n = self.shard
        for number in (i, n, self.seed):
            if not isinstance(number, int) or isinstance(number, bool):
                raise TypeError(f"shard and seed take whole numbers, not {type(number).__name__}")
        if n < 1 or not 0 <= i < n:
            raise ValueError(f"shard must be (i, n) with i from 0 to n - 1, not ({i}, {n})")
        if self.sample is not None and not 0 < self.sample <= 1:
            raise ValueError(f"sample must be a number above 0 and at most 1, not {self.sample}")
        for name in ("max_documents", "max_characters"):
            most = getattr(self, name)
            if most is not None and (not isinstance(most, int) or isinstance(most, bool)):
                raise TypeError(f"{name} must be an int, not {type(most).__name__}")
            if most is not None and most < 1:
                raise ValueError(f"{name} must be at least 1, not {most}")

    @property
    def limited(self) -> bool:
        """Whether reading may end before the files do."""
        return self.max_documents is not None or self.max_characters is not None

    def takes_file(self, file: int, files: int) -> bool:
        """Whether any record of file number `file`, of `files`, may be read."""
        i, n = self.shard
        return files < n or file % n == i

    def among(self, file: int, files: int, first: int, count: int) -> list[int] | None:
        """Of `count` records from number `first` on, which are read: their places among them, or None for all."""
        i, n = self.shard
        kept: list[int] | None = None
        if n > 1 and files < n:
            kept = list(range((i - first) % n, count, n))
        if self.sample is not None and self.sample < 1:
            limit = int(Fraction(self.sample) * 2**64)
            drawn = [k for k, number in enumerate(self._numbers(file, first, count)) if number < limit]
            kept = drawn if kept is None else sorted(set(kept).intersection(drawn))
        return kept

    def _numbers(self, file: int, first: int, count: int) -> array[int]:
        """A number below 2^64 for each record."""
        found = array("Q")
        for block in range(first // _BLOCK, (first + count - 1) // _BLOCK + 1):
            start = block * _BLOCK
            found.extend(_drawn(self.seed, file, block)[max(first - start, 0) : first + count - start])
        return found


@lru_cache(maxsize=4)  # a block is asked for as often as stretches of records begin in it
def _drawn(seed: int, file: int, block: int) -> array[int]:
    numbers = array("Q", hashlib.shake_128(f"digram {seed} {file} {block}".encode()).digest(8 * _BLOCK))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
