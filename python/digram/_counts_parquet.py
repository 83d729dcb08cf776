"""Piece counts as a Parquet file: the columns `piece` (binary) and `count` (int64), a row for each piece.

What the pieces were cut by stands in the metadata of the schema, as JSON under the key `digram.piece_counts`: version,
split, special_tokens, ordered (whether the rows stand in order of first appearance) and documents. A file of others
needs the two columns alone; pieces may repeat in it, and may be strings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from digram import _arrow
from digram._optional import needed
from digram.errors import FormatError
from digram.files import regular_file, whole_file

if TYPE_CHECKING:
    from digram.counts import PieceCounts

AnyPath = str | os.PathLike[str]

_KEY = b"digram.piece_counts"
_ROWS = 1 << 16


def save(counts: PieceCounts, path: AnyPath) -> None:
    """Writes counts, a row group for each part that the engine gives; the file appears when it is whole."""
    pyarrow = needed("pyarrow", "a Parquet file")
    import pyarrow.parquet as parquet

    facts = {name: getattr(counts, name) for name in ("split", "special_tokens", "ordered", "documents")}
    metadata = {_KEY: json.dumps({"version": 1, **facts})}
    fields = [("piece", pyarrow.binary()), ("count", pyarrow.int64())]
    schema = pyarrow.schema([pyarrow.field(name, kind, nullable=False) for name, kind in fields], metadata=metadata)
    with whole_file(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        try:
            for batch in _arrow.pieces(counts):
                writer.write_batch(pyarrow.RecordBatch.from_arrays(batch.columns, schema=schema))
        except OverflowError:
            raise OverflowError(
                f"a piece occurs more than 2^63 - 1 times, which no Parquet file of counts holds: save {path} "
                "under a name without .parquet"
            ) from None


def opened(path: AnyPath) -> tuple[dict[str, Any] | None, Iterator[tuple[bytes, bytes, bytes]]]:
    """(facts, or None where the file does not say them; blocks of pieces, where each ends, and counts)."""
    pyarrow = needed("pyarrow", "a Parquet file")
    import pyarrow.parquet as parquet

    try:
        with regular_file(path) as file:
            schema = parquet.ParquetFile(file).schema_arrow
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _damaged(path, str(error)) from None
    for name, kinds in (("piece", ("binary", "string")), ("count", ("int",))):
        if schema.names.count(name) != 1 or not any(kind in str(schema.field(name).type) for kind in kinds):
            raise FormatError(
                f"{path} holds no piece counts, which are the columns piece (binary) and count (int64) of a Parquet "
                f"file; its columns are {', '.join(f'{f.name} ({f.type})' for f in schema) or 'none'}"
            )
    facts = None
    if schema.metadata and _KEY in schema.metadata:
        try:
            facts = json.loads(schema.metadata[_KEY])
        except (ValueError, RecursionError) as error:
            raise _damaged(path, str(error)) from None
    return facts, _blocks(path, pyarrow, parquet)


def is_ours(path: AnyPath) -> bool:
    """Whether a Parquet file says that it holds piece counts."""
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        with regular_file(path) as file:
            return _KEY in (parquet.ParquetFile(file).schema_arrow.metadata or {})
    except (pyarrow.ArrowException, OSError):
        return False


def _blocks(path: AnyPath, pyarrow: Any, parquet: Any) -> Iterator[tuple[bytes, bytes, bytes]]:
    with regular_file(path) as file:
        try:
            counts = parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
            rows = 0
            for batch in counts.iter_batches(_ROWS, columns=["piece", "count"]):
                rows += batch.num_rows
                yield _arrow.flat_pieces(batch)
            if rows != counts.metadata.num_rows:  # pyarrow takes a file that was cut short meanwhile for its end
                raise _damaged(path, f"it has {rows:,} of its {counts.metadata.num_rows:,} rows")
        except FormatError:
            raise
        except (pyarrow.ArrowException, ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise _damaged(path, str(error)) from None


def _damaged(path: AnyPath, reason: str) -> FormatError:
    what = reason.partition("\n")[0].rstrip(".")
    return FormatError(f"{path} is damaged: {what}; count the texts again, or copy the file anew")
