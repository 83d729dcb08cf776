"""CSV and TSV: the first row names the columns, one of which holds the text.

Fields in quotes may hold separators, quotes (doubled) and line ends, as the standard library's csv reads them.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from digram.corpus import cut
from digram.corpus.batch import Chunk, place
from digram.corpus.fields import DEFAULT, listed
from digram.corpus.packed import Stream
from digram.corpus.paths import File, quoted
from digram.corpus.reading import SKIP, Reading
from digram.corpus.text import not_utf8
from digram.errors import CorpusError

__all__ = ["documents"]

_SEPARATORS = {"csv": ",", "tsv": "\t"}
_ROWS = 1024  # that are read at a time

# The characters that a row may have, for each of which Python's csv takes four bytes.
MOST = cut.MOST // 4


def documents(file: File, start: int, reading: Reading) -> Iterator[Chunk]:
    """The texts of a table, from record number `start` on; the row of names is not counted."""
    # Python's csv refuses cells of more than 128 kB unless told otherwise, for all of the process.
    csv.field_size_limit(max(csv.field_size_limit(), min(sys.maxsize, 2**31 - 1)))
    with Stream(file.name, file.packing) as stream:
        # Bytes that are not UTF-8 come as halves of surrogate pairs, so that one bad cell does not end it all.
        decoded = io.TextIOWrapper(
            io.BufferedReader(stream, reading.window), encoding="utf-8-sig", errors="surrogateescape", newline=""
        )
        lines = _Lines(decoded)
        rows = csv.reader(lines, delimiter=_SEPARATORS[file.format], strict=True)
        try:
            names = next(rows, None)
        except csv.Error as error:
            raise CorpusError(f"{quoted(file.name)} has no row of names that can be read ({error}): {_FIRST}") from None
        if names is None:
            return  # an empty file
        if file.swept and any("\0" in name for name in names):
            reading.tally.left_out.append(file.name)
            return
        at = _column(file.name, names, reading.field)
        first = 0
        while some := _some(_rows(rows, lines, file.name, first, reading), reading.window):
            count = len(some)
            skipped = max(min(start - first, count), 0)
            begin, some = first + skipped, some[skipped:]
            first += count
            kept = reading.selected(begin, len(some)) if some else []
            chosen: Sequence[int] = range(len(some)) if kept is None else kept
            texts, numbers, others = [], [], []
            for k in chosen:
                row = some[k]
                if row is None:
                    continue
                where = place(file.name, "row", begin + k + 2)
                if len(row) != len(names):
                    has = f"{len(row)} of {len(names)} cells"
                    if len(row) > len(names):
                        has = f"{len(row)} cells, and there are {len(names)} columns"
                    reading.tally.bad(CorpusError(f"{where} has {has}: {SKIP}"))
                    continue
                text = _utf8(row[at], where, reading)
                if text is None:
                    continue
                texts.append(text)
                numbers.append(begin + k)
                others.append(row)
            columns = None
            if reading.columns:
                columns = _others(names, at, others, reading)
            size = sum(map(len, texts))
            yield Chunk(texts, numbers, first, size, stream.passed, columns)


def _some(rows: Iterator[list[str] | None], size: int) -> list[list[str] | None]:
    """The next rows, up to `_ROWS` of them or about `size` characters."""
    some = []
    for row in rows:
        some.append(row)
        size -= sum(map(len, row or ()))
        if size <= 0 or len(some) == _ROWS:
            break
    return some


_FIRST = "the first row must name the columns"


class _Lines:
    """The lines of a table; csv.Error where those of one row have more than `MOST` characters."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self.number = 0  # of the latest
        self._line = file.readline
        self._left = MOST
        self._within = False  # a line that was too long

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._line(self._left + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._left -= len(line)
        if self._left >= 0:
            return line
        self._within = line[-1] not in "\r\n"
        raise csv.Error(f"it has more than {MOST:,} characters")

    def next_row(self) -> None:
        """Lines of another row follow. What is left of one that was too long is passed over."""
        while self._within:
            line = self._line(1 << 20)
            self._within = bool(line) and line[-1] not in "\r\n"
        self._left = MOST


def _rows(rows: Any, lines: _Lines, name: str, first: int, reading: Reading) -> Iterator[list[str] | None]:
    """Rows that are not blank; None for one that cannot be read and is counted."""
    number = first
    while True:
        lines.next_row()
        try:
            row = next(rows, _END)
        except csv.Error as error:
            where = place(name, "row", number + 2)
            reading.tally.bad(CorpusError(f"{where} (line {lines.number}) cannot be read ({error}): {SKIP}"))
            row = None
        if row is _END:
            return
        if row == []:
            continue
        number += 1
        yield row


_END: Any = object()


def _column(name: str, names: list[str], field: str | None) -> int:
    """The number of the column with the text."""
    field = DEFAULT if field is None else field
    found = names.count(field)
    if found != 1:
        has = f"no column {field!r}; its columns are {listed(names)}" if not found else f"the column {field!r} twice"
        raise CorpusError(f"{quoted(name)} has {has}: {_FIRST}, each by its own name")
    return names.index(field)


def _utf8(cell: str, where: str, reading: Reading) -> bytes | None:
    try:
        return cell.encode()
    except UnicodeEncodeError as error:
        data = cell.encode("utf-8", "surrogateescape")
        if reading.errors != "strict":
            return data.decode("utf-8", reading.errors).encode()
        at = len(cell[: error.start].encode())
        reading.tally.bad(not_utf8(where, at, data[at]))
        return None


def _others(names: list[str], at: int, rows: list[list[str]], reading: Reading) -> Any:
    """The other columns, as strings."""
    import pyarrow

    kept = [k for k in range(len(names)) if k != at]
    arrays = []
    for k in kept:
        cells = [_mended(row[k]) for row in rows]
        arrays.append(pyarrow.array(cells, pyarrow.string()))
    if not kept:
        return None
    return pyarrow.RecordBatch.from_arrays(arrays, [_mended(names[k]) for k in kept])


def _mended(cell: str) -> str:
    """A cell with U+FFFD for what is not UTF-8."""
    return cell.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
