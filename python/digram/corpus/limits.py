"""Where reading begins and where it ends."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import Any

from digram.corpus.batch import Chunk
from digram.corpus.selection import Selection

__all__ = ["Limits"]


class Limits:
    """Counts the documents of a pass that begins at `start`, up to the limits of the selection.

    With limits, the documents before `start` count too: they are read, and not given.
    """

    def __init__(self, selection: Selection, start: tuple[int, int]) -> None:
        self._selection, self._start = selection, start
        self._documents = self._characters = 0
        self.reached = False

    def first(self, file: int) -> int | None:
        """The first record to read of a file; None for a file that need not be opened."""
        if self._selection.limited or file > self._start[0]:
            return 0
        return None if file < self._start[0] else self._start[1]

    def kept(self, file: int, chunk: Chunk) -> Chunk:
        """What of a chunk is given."""
        if not self._selection.limited:
            return chunk
        count = len(chunk.numbers)
        most = self._selection.max_documents
        if most is not None:
            count = min(count, most - self._documents)
        most = self._selection.max_characters
        if most is not None:
            sums = list(accumulate(_characters(chunk.documents)))
            reaching = bisect_left(sums, most - self._characters) + 1  # so many documents reach it
            count = min(count, reaching)
            self._characters += sums[count - 1] if count else 0
            self.reached = self._characters >= most
        self._documents += count
        if self._documents == self._selection.max_documents:
            self.reached = True
        begin = 0
        if (file, 0) < self._start:
            begin = len(chunk.numbers) if file < self._start[0] else bisect_left(chunk.numbers, self._start[1])
        return cut(chunk, min(begin, count), count)


def cut(chunk: Chunk, begin: int, end: int) -> Chunk:
    """The documents of a chunk from `begin` to `end`."""
    whole = len(chunk.numbers)
    if (begin, end) == (0, whole):
        return chunk
    documents, columns = chunk.documents, chunk.columns
    documents = documents[begin:end] if isinstance(documents, list) else documents.slice(begin, end - begin)
    if columns is not None:
        columns = columns.slice(begin, end - begin)
    numbers = chunk.numbers[begin:end]
    last = chunk.end if end == whole else numbers[-1] + 1 if numbers else chunk.end
    return Chunk(documents, numbers, last, chunk.size * len(numbers) // max(whole, 1), chunk.read, columns)


def _characters(documents: Any) -> list[int]:
    if isinstance(documents, list):
        return [len(text if isinstance(text, str) or text.isascii() else text.decode()) for text in documents]
    import pyarrow.compute

    lengths: list[int] = pyarrow.compute.utf8_length(documents).to_pylist()
    return lengths
