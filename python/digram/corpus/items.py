"""Data sets that are objects: those of Hugging Face's datasets, Arrow tables and the like, and any iterable of texts or
records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from digram.corpus.batch import Chunk, bytes_of, place
from digram.corpus.fields import DEFAULT, text_of
from digram.corpus.reading import Reading
from digram.errors import DigramError

__all__ = ["Items", "items_of"]

NAME = "the data set"
_ROWS = 1024  # that are taken at a time


class Items:
    """Texts or records of an object."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self._taken = False

    def identity(self) -> list[str]:
        """What tells it from others, so far as it says so itself."""
        length = str(len(self.source)) if hasattr(self.source, "__len__") else ""
        return [type(self.source).__name__, length, str(getattr(self.source, "_fingerprint", ""))]

    def chunks(self, start: int, reading: Reading) -> Iterator[Chunk]:
        """The documents from record number `start` on."""
        if _is_arrow(self.source):
            yield from _tables(self._once(_arrow_batches(self.source)), 0, start, reading)
        elif _is_dataset(self.source):
            yield from self._dataset(start, reading)
        else:
            yield from _records(self._once(iter(self.source)), 0, start, reading)

    def _once(self, items: Iterator[Any]) -> Iterator[Any]:
        if items is self.source or type(self.source).__name__ == "RecordBatchReader":
            if self._taken:
                raise ValueError(
                    "the texts come from an iterator, which can be read only once: give a list, or an object whose "
                    "iteration begins anew"
                )
            self._taken = True
        return items

    def _dataset(self, start: int, reading: Reading) -> Iterator[Chunk]:
        """A Dataset or IterableDataset, as Arrow tables: so no Python object is made of a text."""
        source, first = self.source, 0
        if start and callable(getattr(source, "skip", None)):
            source, first = source.skip(start), start
        try:
            source = source.with_format("arrow")
        except (NotImplementedError, ValueError):
            yield from _records(iter(self.source), 0, start, reading)
            return
        yield from _tables(source.iter(_ROWS), first, start, reading)


def items_of(source: Any) -> Items | None:
    """The object as Items; None where it is a path or an iterable of paths, which is then a list."""
    if isinstance(source, (str, bytes, os.PathLike)):
        return None
    if _is_arrow(source) or _is_dataset(source):
        return Items(source)
    if isinstance(source, Mapping):
        raise TypeError(
            f"a corpus is made of paths, texts or records, not of a mapping ({type(source).__name__}): where its "
            "values are data sets, name one of them, such as splits['train']"
        )
    return None


def peeked(source: Iterable[Any]) -> tuple[Items | None, Iterable[Any]]:
    """(Items, or None for paths; what was given, begun or not) of an iterable."""
    items = iter(source)
    beginning = list(islice(items, 1))
    if not beginning or not isinstance(beginning[0], Mapping):
        return None, chain(beginning, items)
    return Items(chain(beginning, items) if items is source else source), ()


def _is_arrow(source: Any) -> bool:
    return hasattr(source, "__arrow_c_stream__") and not _is_dataset(source)


def _is_dataset(source: Any) -> bool:
    return hasattr(source, "with_format") and hasattr(source, "iter")


def _arrow_batches(source: Any) -> Iterator[Any]:
    from digram._optional import needed

    pyarrow = needed("pyarrow", "a table")
    yield from pyarrow.RecordBatchReader.from_stream(source)


def _tables(tables: Iterator[Any], first: int, start: int, reading: Reading) -> Iterator[Chunk]:
    """The texts of Arrow tables and batches; the first row has the number `first`."""
    from digram.corpus import columns

    for table in tables:
        if isinstance(table, Mapping):  # an IterableDataset that knows no other format
            rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
            yield from _records(iter(rows), first, start, reading)
            first += len(rows)
            continue
        for batch in table.to_batches() if hasattr(table, "to_batches") else [table]:
            skipped = min(max(start - first, 0), batch.num_rows)
            if skipped < batch.num_rows:
                path = columns.path_of(NAME, batch.schema, reading.field)
                each = max(batch.nbytes // batch.num_rows, 1)
                step = max(reading.size // each, 1)
                for at in range(skipped, batch.num_rows, step):
                    chunk = columns.chunk_of(NAME, batch.slice(at, step), path, first + at, 0, reading)
                    if chunk is not None:
                        yield chunk
            first += batch.num_rows


def _records(records: Iterator[Any], first: int, start: int, reading: Reading) -> Iterator[Chunk]:
    """The texts of an iterator of texts or of records; its first item has the number `first`."""
    from digram.corpus.text import well_formed

    field = DEFAULT if reading.field is None else reading.field
    while some := _some(records, reading.window):
        if reading.columns and first == 0:
            # Those before `start` too: a run that goes on has the columns of the one that began.
            reading.other.begin([item for item in some if isinstance(item, Mapping)])
        kept = reading.selected(first, len(some))
        texts: list[str | bytes] = []
        numbers: list[int] = []
        rows: list[Any] = []
        for k in range(len(some)) if kept is None else kept:
            number = first + k
            if number < start:
                continue
            item, where = some[k], place(NAME, "record", number + 1)
            value: str | bytes | None
            try:
                if isinstance(item, str) or item is None:
                    value = item
                elif isinstance(item, bytes):
                    value = well_formed(where, item, reading.errors)
                elif isinstance(item, Mapping):
                    value = text_of(item, field, where, reading.errors)
                else:
                    raise TypeError(
                        f"item {number} must be str, bytes, or a mapping with the field {field!r}, not "
                        f"{type(item).__name__}"
                    )
            except DigramError as error:
                reading.tally.bad(error)
                continue
            if value is None:
                reading.tally.nulls += 1
                continue
            texts.append(value)
            numbers.append(number)
            if reading.columns:
                rows.append(item if isinstance(item, Mapping) else {})
        first += len(some)
        columns = None
        if reading.columns:
            columns = reading.other.batch(rows, field, lambda i, at=numbers: place(NAME, "record", at[i] + 1))
        yield Chunk(texts, numbers, first, bytes_of(texts), 0, columns)


def _some(records: Iterator[Any], size: int) -> list[Any]:
    """The next items, up to `_ROWS` of them or about `size` characters of text."""
    some: list[Any] = []
    for item in records:
        some.append(item)
        texts = item.values() if isinstance(item, Mapping) else [item]
        size -= sum(len(text) for text in texts if isinstance(text, (str, bytes)))
        if size <= 0 or len(some) == _ROWS:
            break
    return some
