"""One shard that is there: its facts, its documents in pieces, its rows."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from digram import _optional
from digram.errors import FormatError, ShardError
from digram.files import check_readable, contents
from digram.shards._parquet import CONTINUES, CU_SEQLENS, IDS, METADATA, boundaries
from digram.shards._sinks import ENDS, FACTS, MEGATRON_CODES, MEGATRON_MAGIC
from digram.shards._tokens import Array

__all__ = ["OpenShard", "Piece", "opened"]

Piece = tuple[Array, bool]
"""Ids of a document, and whether it ends there; else it goes on in the next piece."""

DTYPES = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")

_NO_ORDER = "documents end in no order, or beyond its ids"

_STRETCH = 1 << 20
_ROWS = 1 << 8


def opened(path: Path, dtype: str | None, eod: int | None) -> OpenShard:
    """The shard that a file belongs to. ShardError where it cannot be one; OSError where it cannot be read."""
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}")
    index = path.with_suffix(".idx")
    if path.suffix == ".idx" or (path.suffix == ".bin" and index.is_file()):
        return _Megatron(index, dtype, eod)
    kinds: dict[str, type[OpenShard]] = {".bin": _Bin, ".npy": _Npy, ".parquet": _Parquet}
    if path.suffix not in kinds:
        raise ShardError(f"{path} is no file of ids by its name: those end in .bin, .npy, .idx or .parquet")
    return kinds[path.suffix](path, dtype, eod)


class OpenShard:
    """A shard to be read. `goes_on_from` is the number of the one whose last document may go on here."""

    def __init__(self, path: Path, dtype: str | None, eod: int | None) -> None:
        check_readable(path)
        os.stat(path)  # FileNotFoundError with the name
        self.path, self.dtype, self.eod = path, dtype, eod
        self.goes_on_from: int | None = None
        self.facts = self._facts()
        if self.facts is not None:
            try:
                self.eod = None if self.facts["eod"] is None else int(self.facts["eod"]["id"])
                self.tokens, self.documents, self.padding = (
                    int(self.facts[name]) for name in ("tokens", "documents", "padding")
                )
                self.row = None if self.facts["row_length"] is None else int(self.facts["row_length"])
                row = 1 if self.row is None else self.row
                if self.facts["dtype"] not in DTYPES or row < 1 or min(self.tokens, self.padding) < 0:
                    raise ValueError("a value out of its range")
            except (KeyError, TypeError, ValueError) as error:
                raise self.damaged(
                    f"its facts in {path.with_suffix(FACTS).name} are not what they should be ({error})"
                ) from None

    def _facts(self) -> dict[str, Any] | None:
        path = self.path.with_suffix(FACTS)
        try:
            facts = json.loads(contents(path))
        except FileNotFoundError:
            return None
        except FormatError:
            raise
        except (ValueError, RecursionError) as error:
            raise self.damaged(f"its facts in {path.name} are no JSON ({error})") from None
        return facts if isinstance(facts, dict) and "between_documents" in facts else None

    def damaged(self, what: str) -> ShardError:
        """The error for a shard that is not what it should be."""
        return ShardError(f"{self.path} is damaged ({what}): encode again, or copy it anew")

    def pieces(self) -> Iterator[Piece]:
        """The documents, one after the other."""
        raise NotImplementedError

    def rows(self) -> Iterator[tuple[Array, Array]]:
        """The ids and the boundaries of each packed row."""
        raise self._not_packed()

    def _not_packed(self) -> ShardError:
        return ShardError(f"{self.path} is not packed: read its documents, or encode with a row length")


class _Bin(OpenShard):
    def _ids(self) -> Array:
        dtype = self.facts["dtype"] if self.facts is not None else self.dtype
        if dtype is None:
            raise ShardError(
                f"{self.path} has no facts beside it ({self.path.with_suffix(FACTS).name}), "
                "so that nothing says what numbers it holds: give dtype, such as uint16"
            )
        width, size = np.dtype(dtype).itemsize, self.path.stat().st_size
        if size % width:
            raise self.damaged(f"its {size:,} bytes are no whole number of {dtype}")
        return _mapped(self.path, dtype, size // width)

    def _known(self) -> Array:
        """The ids, of the number that the facts say, without padding."""
        ids = self._ids()
        if self.facts is None:
            return ids
        if len(ids) != self.tokens + self.padding:
            raise self.damaged(f"it holds {len(ids):,} ids, and its facts say {self.tokens + self.padding:,}")
        return ids[: self.tokens]

    def _ends(self, ids: Array) -> Iterator[Array]:
        path = self.path.with_suffix(ENDS)
        if self.facts is not None:
            if path.stat().st_size != 8 * self.documents:
                raise self.damaged(f"{path.name} does not hold the ends of {self.documents:,} documents")
            ends = _mapped(path, "uint64", self.documents)
            for first in range(0, len(ends), _STRETCH):
                yield ends[first : first + _STRETCH]
        elif self.eod is not None:
            for first in range(0, len(ids), _STRETCH):
                yield np.flatnonzero(ids[first : first + _STRETCH] == self.eod) + (first + 1)

    def pieces(self) -> Iterator[Piece]:
        ids, start = self._known(), 0
        for ends in self._ends(ids):
            for end in ends.tolist():
                if not start <= end <= len(ids):
                    raise self.damaged(_NO_ORDER)
                yield ids[start:end], True
                start = end
        if start < len(ids) or (self.facts is None and self.eod is None):
            yield ids[start:], self.facts is None

    def rows(self) -> Iterator[tuple[Array, Array]]:
        if self.facts is None or self.row is None:
            raise self._not_packed()
        self._known()
        ids = self._ids()
        if len(ids) % self.row:
            raise self.damaged(f"its {len(ids):,} ids are no whole number of rows of {self.row:,}")
        ids = ids.reshape(-1, self.row)
        ends = np.concatenate([*self._ends(ids), np.empty(0, np.uint64)])
        if len(ends) and (ends[-1] > self.tokens or bool((ends[1:] < ends[:-1]).any())):
            raise self.damaged(_NO_ORDER)
        ends = ends.astype(np.int64)
        for first in range(0, len(ids), _ROWS):
            some = ids[first : first + _ROWS]
            start, stop = first * self.row, (first + len(some)) * self.row
            # An end is in the row whose last id it follows; one of no id at all is in the first row.
            inside = ends[np.searchsorted(ends, start, side="right" if first else "left") :]
            inside = inside[: np.searchsorted(inside, stop, side="right")] - start
            offsets, values, _ = boundaries(inside, len(some), self.row, min(self.tokens, stop) - start)
            for i, row in enumerate(some):
                yield row, values[offsets[i] : offsets[i + 1]]


class _Npy(_Bin):
    def _ids(self) -> Array:
        try:
            ids = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            if not self._is_empty():  # an empty array cannot be mapped
                raise self.damaged(str(error)) from None
            return np.empty(0, self.facts["dtype"] if self.facts is not None else "uint16")
        if not np.issubdtype(ids.dtype, np.integer):
            raise ShardError(f"{self.path} holds {ids.dtype}, and ids are whole numbers: name a file of ids")
        return np.asarray(ids).reshape(-1)

    def _is_empty(self) -> bool:
        try:
            with open(self.path, "rb") as file:
                np.lib.format.read_magic(file)
                shape, _, _ = np.lib.format.read_array_header_1_0(file)
                return 0 in shape
        except ValueError:
            return False


class _Megatron(OpenShard):
    def pieces(self) -> Iterator[Piece]:
        data = self.path.with_suffix(".bin")
        with open(self.path, "rb") as file:
            head = file.read(34)
        if len(head) < 34 or head[:9] != MEGATRON_MAGIC or head[9:17] != struct.pack("<Q", 1):
            raise self.damaged("it does not begin as an index of Megatron-LM, version 1")
        code, sequences, documents = struct.unpack("<BQQ", head[17:])
        dtype = next((name for name, number in MEGATRON_CODES.items() if number == code), None)
        if dtype is None:
            raise self.damaged(f"its ids are of type {code}, which is no type of whole numbers")
        if self.path.stat().st_size < 34 + 12 * sequences + 8 * documents:
            raise self.damaged("it ends too early")
        lengths = _mapped(self.path, "int32", sequences, 34)
        pointers = _mapped(self.path, "int64", sequences, 34 + 4 * sequences)
        borders = _mapped(self.path, "int64", documents, 34 + 12 * sequences)
        width, size = np.dtype(dtype).itemsize, data.stat().st_size
        ids = _mapped(data, dtype, size // width)
        for first in range(0, sequences, _STRETCH):
            stretch = slice(first, first + _STRETCH)
            near = slice(*np.searchsorted(borders, [first, first + _STRETCH], side="right"))
            last = set((borders[near] - 1).tolist())  # the sequences that a document ends with
            for number, (pointer, length) in enumerate(
                zip(pointers[stretch].tolist(), lengths[stretch].tolist(), strict=True), first
            ):
                start = pointer // width
                if pointer % width or length < 0 or not 0 <= start <= start + length <= len(ids):
                    raise self.damaged(f"sequence {number} lies outside {data.name}")
                yield ids[start : start + length], number in last


class _Parquet(OpenShard):
    def _facts(self) -> dict[str, Any] | None:
        with self._reading():
            parquet = _optional.needed("pyarrow.parquet", "Parquet")
            # Without a buffer it would read all of the columns at once.
            self._file = parquet.ParquetFile(self.path, buffer_size=1 << 20, pre_buffer=False)
        return super()._facts()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """What pyarrow says of a damaged file, with the name of the file."""
        pyarrow = _optional.needed("pyarrow", "Parquet")
        try:
            yield
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self.damaged(str(error).partition("\n")[0].rstrip(".")) from None

    def _batches(self) -> Iterator[Any]:
        schema = self._file.schema_arrow
        self.packed = CU_SEQLENS in schema.names and METADATA in (schema.metadata or {})
        columns = [IDS, CU_SEQLENS, CONTINUES] if self.packed else [IDS]
        for name in columns:
            if schema.names.count(name) != 1:
                raise ShardError(f"{self.path} has no column {name}: name a file of ids")
            if name != CONTINUES and not _is_lists(kind := schema.field(name).type):
                raise ShardError(f"{self.path} has {kind} in the column {name}, not lists of ids: name a file of ids")
        rows, all_rows = 0, self._file.metadata.num_rows
        with self._reading():
            for batch in self._file.iter_batches(1 << 12, columns=columns):
                rows += batch.num_rows
                if any(column.null_count for column in batch.columns):
                    raise self.damaged("a row of it is null")
                yield batch
        if rows != all_rows:  # pyarrow takes a file that was cut short meanwhile for its end
            raise self.damaged(f"it has {rows:,} of its {all_rows:,} rows")

    def _lists(self, column: Any) -> tuple[Array, Array]:
        """What an Arrow array of lists holds: all values, and where each list begins among them, and the end."""
        if not hasattr(column, "offsets"):  # lists of one fixed size
            column = column.cast(_optional.needed("pyarrow", "Parquet").large_list(column.type.value_type))
        if column.values.null_count:
            raise self.damaged("an id of it is null")
        return column.values.to_numpy(zero_copy_only=False), column.offsets.to_numpy(zero_copy_only=False)

    def _packed_rows(self, batch: Any) -> Iterator[tuple[Array, Array]]:
        """The ids and the boundaries of each row."""
        ids, starts = self._lists(batch.column(IDS))
        borders, places = self._lists(batch.column(CU_SEQLENS))
        for row in range(len(batch)):
            inside = borders[places[row] : places[row + 1]]
            ends = [0, *inside.tolist(), int(starts[row + 1] - starts[row])]
            if not len(inside) or inside[0] != 0 or any(before > after for before, after in pairwise(ends)):
                raise self.damaged(f"the boundaries in {CU_SEQLENS} are no ascending places of their row")
            yield ids[starts[row] : starts[row + 1]], inside

    def pieces(self) -> Iterator[Piece]:
        for batch in self._batches():
            if not self.packed:
                ids, starts = self._lists(batch.column(IDS))
                for start, end in pairwise(starts.tolist()):
                    yield ids[start:end], True
                continue
            goes_on = batch.column(CONTINUES).to_pylist()
            for row, (ids, inside) in enumerate(self._packed_rows(batch)):
                for i, (start, end) in enumerate(pairwise(inside.tolist()), 2):
                    yield ids[start:end], not (goes_on[row] and i == len(inside))

    def rows(self) -> Iterator[tuple[Array, Array]]:
        for batch in self._batches():
            if not self.packed:
                raise self._not_packed()
            yield from self._packed_rows(batch)


def _is_lists(kind: Any) -> bool:
    types = _optional.needed("pyarrow", "Parquet").types
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(lists and types.is_integer(kind.value_type))


def _mapped(path: Path, dtype: str, number: int, offset: int = 0) -> Array:
    """Numbers of a file, least byte first, where they are."""
    kind = np.dtype(dtype).newbyteorder("<")
    if not number:
        return np.empty(0, kind)  # nothing cannot be mapped
    return np.asarray(np.memmap(path, kind, "r", offset, (number,)))
