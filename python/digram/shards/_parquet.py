"""Shards in Parquet: a row a document with its other columns, or a packed row with where documents end in it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from digram import _optional
from digram.shards._sinks import Shard
from digram.shards._tokens import Array

__all__ = ["CONTINUES", "CU_SEQLENS", "IDS", "METADATA", "ParquetShard", "boundaries"]

IDS = "input_ids"
CU_SEQLENS = "cu_seqlens"
CONTINUES = "continues"
METADATA = b"digram"

# A group of rows ends with the document that brings it to so many bytes, an id counting as 16, or is the last of so
# many: by the documents alone, so that the bytes of a file do not depend on the batches that they came in.
_ID = 16
_BYTES_OF_A_GROUP = _ID << 22
_ROWS_OF_A_GROUP = 1 << 14


class ParquetShard(Shard):
    """A Parquet file; groups of rows are written as they fill."""

    suffix = ".parquet"

    def _open(self) -> None:
        self._arrow = _optional.needed("pyarrow", "Parquet")
        self._parquet = _optional.needed("pyarrow.parquet", "Parquet")
        self._file_ = self._file(self.suffix)
        self._writer: Any = None
        self._waiting: list[Any] = []  # tables
        self._rows = self._held = 0

    def _add(self, ids: Array, ends: Array, columns: Any) -> None:
        table = self._documents(ids, ends, columns) if self._options.pack is None else self._packed(ids, ends)
        lengths = np.diff(ends, prepend=0) if self._options.pack is None else np.full(len(table), self._options.pack)
        sizes = _ID * lengths + (0 if columns is None else sum(map(row_bytes, columns.columns)))
        before, start = np.cumsum(sizes), 0
        while start < len(table):
            taken = int(before[start - 1]) if start else 0
            full = int(np.searchsorted(before, taken + _BYTES_OF_A_GROUP - self._held)) + 1
            end = min(full, start + _ROWS_OF_A_GROUP - self._rows, len(table))
            self._waiting.append(table.slice(start, end - start))
            self._rows += end - start
            self._held += int(before[end - 1]) - taken
            if end < len(table) or self._held >= _BYTES_OF_A_GROUP or self._rows >= _ROWS_OF_A_GROUP:
                self._write_group()
            start = end

    def _write_group(self) -> None:
        table = self._arrow.concat_tables(self._waiting).combine_chunks()
        self._waiting, self._rows, self._held = [], 0, 0
        try:
            with self._at(self.suffix):
                if self._writer is None:
                    self._writer = self._started(table.schema)
                self._writer.write_table(table, row_group_size=max(len(table), 1))
        except self._arrow.ArrowNotImplementedError as error:
            raise ValueError(
                f"a column of the corpus has no place in a Parquet file ({error}): leave the other columns out"
            ) from None

    def _started(self, schema: Any) -> Any:
        others = [name for name in schema.names if name not in (IDS, CU_SEQLENS)]
        return self._parquet.ParquetWriter(
            self._file_, schema, compression="zstd", compression_level=1, use_dictionary=others
        )

    def _finish(self) -> None:
        if self._waiting:
            self._write_group()
        with self._at(self.suffix):
            self._writer.close()

    def _given_up(self) -> None:
        if getattr(self, "_writer", None) is not None:
            self._writer.is_open = False  # or it would write its end when it is collected

    def _documents(self, ids: Array, ends: Array, columns: Any) -> Any:
        arrow = self._arrow
        offsets = np.concatenate([[0], ends]).astype(np.int32)
        column = arrow.ListArray.from_arrays(arrow.array(offsets), arrow.array(ids.astype(np.uint32, copy=False)))
        names, arrays = [IDS], [column]
        if columns is not None:
            if IDS in columns.schema.names:
                raise ValueError(
                    f"the corpus has a column {IDS}, which is what the ids are called: leave the other columns out"
                )
            names += columns.schema.names
            arrays += columns.columns
        return self._table(arrays, names)

    def _packed(self, ids: Array, ends: Array) -> Any:
        arrow, row = self._arrow, self._options.pack
        assert row is not None
        number = len(ids) // row
        offsets, values, continues = boundaries(ends, number, row, len(ids) - self._padding)
        rows = np.arange(number + 1, dtype=np.int32) * np.int32(row)
        arrays = [
            arrow.ListArray.from_arrays(arrow.array(rows), arrow.array(ids.astype(np.uint32, copy=False))),
            arrow.ListArray.from_arrays(arrow.array(offsets), arrow.array(values)),
            arrow.array(continues),
        ]
        return self._table(arrays, [IDS, CU_SEQLENS, CONTINUES])

    def _table(self, arrays: list[Any], names: list[str]) -> Any:
        table = self._arrow.table(arrays, names=names)
        return table.replace_schema_metadata({METADATA: json.dumps(self._facts)})

    _padding = 0

    def add(self, ids: Array, ends: Array, columns: Any = None, padding: int = 0) -> None:
        self._padding = padding
        super().add(ids, ends, columns, padding)


def row_bytes(column: Any) -> Array:
    """How many bytes each value of an Arrow array has, about: the same ones however the array was sliced."""
    from pyarrow import compute, types

    kind = column.type
    if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return _numbers(compute.binary_length(column))
    if types.is_list(kind) or types.is_large_list(kind):
        lengths = _numbers(compute.list_value_length(column))
        inner, ends = np.concatenate([[0], np.cumsum(row_bytes(column.flatten()))]), np.cumsum(lengths)
        return np.asarray(inner[ends] - inner[ends - lengths])
    if types.is_struct(kind) and kind.num_fields:
        return np.asarray(sum(map(row_bytes, column.flatten())))
    return np.full(len(column), 8)


def _numbers(lengths: Any) -> Array:
    return np.asarray(lengths.fill_null(0).to_numpy(zero_copy_only=False), np.int64)


def boundaries(ends: Array, rows: int, row: int, tokens: int) -> tuple[Array, Array, Array]:
    """Of `rows` rows of `row` ids in which documents end at `ends`: the boundaries of each, as offsets and values of
    lists (0, then each end within the row), and whether its last document goes on in the next row, in which case the
    list ends with `row` all the same. There are `tokens` ids; what follows them in the last row is padding."""
    places = np.maximum(ends - 1, 0) // row
    inside = ends - places * row
    known = np.bincount(places, minlength=rows)
    filled = np.minimum(np.arange(1, rows + 1) * row, tokens) - np.arange(rows) * row
    last = np.zeros(rows, np.int64)
    np.maximum.at(last, places, inside)
    continues = last < filled
    offsets = np.concatenate([[0], np.cumsum(1 + known + continues)])
    values = np.zeros(offsets[-1], np.int32)
    within = np.arange(len(ends)) - (np.cumsum(known) - known)[places]
    values[offsets[places] + 1 + within] = inside
    values[offsets[1:][continues] - 1] = filled[continues]
    return offsets.astype(np.int32), values, continues
