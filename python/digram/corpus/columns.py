"""Parquet and Arrow files: a column of them holds the text, and goes to the engine as it lies in memory."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from digram._optional import needed
from digram.corpus import paths
from digram.corpus.batch import Chunk, place
from digram.corpus.fields import DEFAULT, listed
from digram.corpus.paths import File, quoted
from digram.corpus.reading import Reading
from digram.corpus.text import well_formed
from digram.errors import CorpusError, DigramError

__all__ = ["chunk_of", "documents", "path_of"]

_ROWS = 1 << 16  # at most that many at a time
_FIRST_ROWS = 1 << 6  # of Parquet, until it is known how large rows are


def documents(file: File, start: int, reading: Reading) -> Iterator[Chunk]:
    """The texts of a file of columns, from row number `start` on."""
    pyarrow = needed("pyarrow", f"a {file.format.capitalize()} file")
    with ExitStack() as stack:
        try:
            source, size = _source(pyarrow, file, stack)
            if file.format == "parquet":
                found = _parquet(pyarrow, source, file.name, start, reading)
            else:
                found = _arrow(pyarrow, source, file.name, start, reading)
            for first, batch, path, part in found:
                if (chunk := chunk_of(file.name, batch, path, first, int(size * part), reading)) is not None:
                    yield chunk
        except DigramError:
            raise
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                if error.filename is None:
                    error.filename = paths.shown(file.name)
                raise
            reason = str(error).partition("\n")[0].rstrip(".")
            raise CorpusError(
                f"{quoted(file.name)} is damaged, or no {file.format.capitalize()} file ({reason}): get the file again"
            ) from None


def _source(pyarrow: Any, found: File, stack: ExitStack) -> tuple[Any, int]:
    """(what pyarrow reads from, its size in bytes)."""
    name = found.name
    if name != "-" and not paths.is_address(name) and stat.S_ISREG(os.stat(name).st_mode):
        # A file that is mapped into memory ends the process where another one cuts it short, and every page that was
        # read counts as memory to the end. Only of Arrow it is worth it: a batch may be all of the file, and the other
        # columns are not read.
        source = pyarrow.memory_map(name, "r") if found.format == "arrow" else pyarrow.OSFile(name, "r")
        return stack.enter_context(source), os.stat(name).st_size
    file = stack.enter_context(paths.opened(name))
    if name == "-" or not file.seekable():
        # These files are read from their end.
        kept = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        while data := file.read(1 << 20):
            kept.write(data)
        file = kept
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return stack.enter_context(pyarrow.PythonFile(file, "r")), size


Found = Iterator[tuple[int, Any, list[str], float]]
"""(number of the first row, RecordBatch, path of the column with the text, what part of the file has gone by)"""


def _parquet(pyarrow: Any, source: Any, name: str, start: int, reading: Reading) -> Found:
    from pyarrow import parquet

    # Without a buffer it would read all of a column of a row group at once.
    file = parquet.ParquetFile(source, buffer_size=1 << 20, pre_buffer=False)
    path = path_of(name, file.schema_arrow, reading.field)
    rows = max(file.metadata.num_rows, 1)
    wanted = None if reading.columns else [".".join(path)]
    resize = getattr(file.reader, "set_batch_size", None)
    first, step = 0, _ROWS if resize is None else _FIRST_ROWS
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        if first + group.num_rows <= start:
            first += group.num_rows
            continue
        each = max(group.total_byte_size // max(group.num_rows, 1), 1)
        step = max(min(reading.size // each, step), 1)
        end = first + group.num_rows
        for batch in file.iter_batches(step, row_groups=[number], columns=wanted):
            count = batch.num_rows
            skipped = min(max(start - first, 0), count)
            first += count
            if skipped < count:
                yield first - count + skipped, batch.slice(skipped), path, first / rows
            if resize is not None and count:
                # What is written once for many rows makes a batch of it for each, of which the file does not tell.
                each = max(each, batch.nbytes // count)
                step = max(min(reading.size // each, 4 * step, _ROWS), 1)
                resize(step)
            del batch
        if first != end:  # where pages should stand there is nothing, which pyarrow takes for their end
            raise CorpusError(
                f"{quoted(name)} is damaged (row group {number} has {first - end + group.num_rows:,} of its "
                f"{group.num_rows:,} rows): get the file again"
            )


def _arrow(pyarrow: Any, source: Any, name: str, start: int, reading: Reading) -> Found:
    if not source.size():
        raise CorpusError(f"{quoted(name)} is empty, and no Arrow file: get the file again")
    file = source.read(6) == b"ARROW1"
    source.seek(0)
    opened = pyarrow.ipc.open_file(source) if file else pyarrow.ipc.open_stream(source)
    path = path_of(name, opened.schema, reading.field)
    batches = (opened.get_batch(i) for i in range(opened.num_record_batches)) if file else iter(opened)
    first = 0
    for number, batch in enumerate(batches, 1):
        done = number / opened.num_record_batches if file else source.tell() / source.size()
        skipped = min(max(start - first, 0), batch.num_rows)
        if skipped < batch.num_rows:
            each = max(batch.nbytes // batch.num_rows, 1)
            step = max(min(reading.size // each, _ROWS), 1)
            for at in range(skipped, batch.num_rows, step):
                yield first + at, batch.slice(at, step), path, done
        first += batch.num_rows


def path_of(name: str, schema: Any, field: str | None) -> list[str]:
    """Where in a schema the text is: the name of a column, and names within it where it is a struct."""
    import pyarrow.types

    names = schema.names
    if field is None:
        texts = [column.name for column in schema if _is_text(column.type)]
        field = texts[0] if len(texts) == 1 and DEFAULT not in names else DEFAULT
    for path in ([field], field.split(".")):
        if names.count(path[0]) > 1:
            raise CorpusError(f"{quoted(name)} has the column {path[0]!r} twice: give each column a name of its own")
        if path[0] not in names:
            continue
        kind = schema.field(path[0]).type
        for part in path[1:]:
            inner = [kind.field(i).name for i in range(kind.num_fields)] if pyarrow.types.is_struct(kind) else []
            if inner.count(part) != 1:
                break
            kind = kind.field(inner.index(part)).type
        else:
            if not _is_text(kind):
                raise CorpusError(f"{quoted(name)} has {kind} in the column {field!r}, not texts: name another column")
            return path
    raise CorpusError(
        f"{quoted(name)} has no column {field!r}; its columns are {listed(names)}: name the one with the texts"
    )


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    kind = getattr(kind, "storage_type", kind)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_null(kind)
    )


def chunk_of(name: str, batch: Any, path: list[str], first: int, read: int, reading: Reading) -> Chunk | None:
    """The texts of a RecordBatch, whose first row has the number `first`; None if no row is read."""
    import pyarrow
    import pyarrow.compute as compute

    end = first + batch.num_rows
    numbers: Sequence[int] = range(first, end)
    kept = reading.selected(first, batch.num_rows)
    if kept is not None:
        if not kept:
            return None
        batch = batch.take(pyarrow.array(kept))
        numbers = [first + k for k in kept]
    column = batch.column(batch.schema.get_field_index(path[0]))
    for part in path[1:]:
        column = compute.struct_field(column, part)
    column = _strings(column)  # in a dictionary nulls may stand among the values, which are looked for here
    if column.null_count:
        reading.tally.nulls += column.null_count
        there = compute.is_valid(column)
        numbers = [number for number, is_there in zip(numbers, there.to_pylist(), strict=True) if is_there]
        batch, column = batch.filter(there), column.filter(there)
    columns = None
    if reading.columns:
        names = [n for n in batch.schema.names if [n] != path]
        columns = batch.select(names) if names else None
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        return _mended(name, column, numbers, end, read, columns, reading)
    size = compute.sum(compute.binary_length(column)).as_py() or 0
    return Chunk(column, numbers, end, size, read, columns)


def _strings(column: Any) -> Any:
    """A column of any kind of text as string or large_string, without a look at the bytes."""
    import pyarrow
    import pyarrow.types as types

    if isinstance(column, pyarrow.ExtensionArray):
        column = column.storage
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_string_view(column.type):
        return column.cast(pyarrow.large_string())
    if types.is_binary_view(column.type):
        column = column.cast(pyarrow.large_binary())
    if types.is_null(column.type):
        return column.cast(pyarrow.string())
    if types.is_binary(column.type):
        return column.view(pyarrow.string())
    if types.is_large_binary(column.type):
        return column.view(pyarrow.large_string())
    return column


def _mended(
    name: str, texts: Any, numbers: Sequence[int], end: int, read: int, columns: Any, reading: Reading
) -> Chunk:
    """Texts some of which are not UTF-8: what `errors` and `skip_bad` say."""
    import pyarrow

    from digram.corpus.batch import as_bytes

    good, places = [], []
    for i, data in enumerate(as_bytes(texts)):
        try:
            good.append(well_formed(place(name, "row", numbers[i] + 1), data, reading.errors))
        except DigramError as error:
            reading.tally.bad(error)
            continue
        places.append(i)
    if columns is not None:
        columns = columns.take(pyarrow.array(places, pyarrow.int64()))
    return Chunk(good, [numbers[i] for i in places], end, sum(map(len, good)), read, columns)
