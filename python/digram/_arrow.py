"""Arrow arrays: their buffers go to the engine, and ids come out of it, without a Python object for each text or id.

An Arrow array is whatever has `__arrow_c_array__` or `__arrow_c_stream__`: arrays of pyarrow, and of others (polars,
DuckDB, pandas) through pyarrow. Arrays never change: who writes into the buffers of one while it is read breaks Arrow's
own rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from digram import _native, _optional

if TYPE_CHECKING:
    from digram.counts import PieceCounts

Buffer: TypeAlias = "bytes | bytearray | memoryview | Any"  # Any: what the engine gives

__all__ = ["batches", "flat", "flat_pieces", "is_arrow", "lists", "pieces"]

_MOST_OF_A_LIST = (1 << 31) - 1
"""What the offsets of Arrow's `list` can count to; those of `large_list` have 64 bits."""


def is_arrow(texts: object) -> bool:
    """Whether something is an Arrow array, or a column that gives one. Without pyarrow, another library's column is an
    iterable like others.
    """
    gives = hasattr(texts, "__arrow_c_array__") or hasattr(texts, "__arrow_c_stream__")
    return gives and find_spec("pyarrow") is not None


def flat(texts: Any) -> _native.FlatTexts:
    """All texts of an Arrow array. TypeError where one is null, with its index, or where they are no texts."""
    arrays = _arrays(texts)
    _refuse_nulls(arrays, 0)
    return _flat(arrays)


def batches(texts: Any, first: int, size: int, most: int) -> Iterator[tuple[_native.FlatTexts, int]]:
    """The texts in parts of about `size` bytes and at most `most` texts, each with its size in bytes; `first` is the
    index of the first text, for messages.
    """
    for whole in _arrays(texts):
        # Slices have no copies: they are cut by the mean length of a text.
        step = max(1, min(most, size * len(whole) // max(whole.nbytes, 1)))
        for start in range(0, len(whole), step):
            part = whole.slice(start, step)
            _refuse_nulls([part], first)
            yield _flat([part]), part.nbytes
            first += len(part)


def lists(ids: Buffer, ends: bytearray) -> Any:
    """An Arrow array of lists of uint32, of ids end to end and the end of each list as flat u64; ids are not copied."""
    pyarrow = _optional.needed("pyarrow", "an Arrow array")
    flat = pyarrow.py_buffer(ids)
    values = pyarrow.Array.from_buffers(pyarrow.uint32(), flat.size // 4, [None, flat])
    offsets = pyarrow.py_buffer(bytes(8) + ends)
    offsets = pyarrow.Array.from_buffers(pyarrow.int64(), offsets.size // 8, [None, offsets])
    if len(values) > _MOST_OF_A_LIST:
        return pyarrow.LargeListArray.from_arrays(offsets, values)
    return pyarrow.ListArray.from_arrays(offsets.cast(pyarrow.int32()), values)


def pieces(counts: PieceCounts) -> Iterator[Any]:
    """Record batches of `piece: binary, count: int64`, in order of first appearance, one for each part that the engine
    gives. OverflowError for a count of 2^63 or more, which has no place in an int64.
    """
    pyarrow = _optional.needed("pyarrow", "a table of pieces")
    for data, ends, numbers in counts._flat():
        number = len(ends) // 8
        offsets = pyarrow.Array.from_buffers(pyarrow.int64(), number + 1, [None, pyarrow.py_buffer(bytes(8) + ends)])
        places = offsets.cast(pyarrow.int32()).buffers()[1]
        piece = pyarrow.Array.from_buffers(pyarrow.binary(), number, [None, places, pyarrow.py_buffer(data)])
        count = pyarrow.Array.from_buffers(pyarrow.uint64(), number, [None, pyarrow.py_buffer(numbers)])
        try:
            yield pyarrow.record_batch([piece, count.cast(pyarrow.int64())], ["piece", "count"])
        except pyarrow.ArrowInvalid:
            raise OverflowError("a piece was counted 2^63 times or more, which has no place in an int64") from None


def flat_pieces(batch: Any) -> tuple[bytes, bytes, bytes]:
    """The way back: of a record batch with the columns `piece` (strings or binary) and `count` (integers) the pieces
    end to end, the end of each and the counts, as flat u64. ValueError where one is null, or a count negative.
    """
    import pyarrow
    from pyarrow import compute

    piece, count = batch.column("piece").cast(pyarrow.large_binary()), batch.column("count").cast(pyarrow.uint64())
    if piece.null_count or count.null_count:
        raise ValueError("a piece or a count is null")
    if not len(piece):
        return b"", b"", b""
    _, offsets, data = piece.buffers()
    places = pyarrow.Array.from_buffers(pyarrow.int64(), len(piece) + 1, [None, offsets], offset=piece.offset)
    start, end = places[0].as_py(), places[-1].as_py()
    text = b"" if data is None else data.slice(start, end - start).to_pybytes()
    return text, _numbers(compute.subtract(places.slice(1), places[0])), _numbers(count)


def _numbers(values: Any) -> bytes:
    """The bytes of an array of 64-bit numbers."""
    values = values.buffers()[1].slice(8 * values.offset, 8 * len(values))
    return values.to_pybytes()  # type: ignore[no-any-return]


def _arrays(texts: Any) -> list[Any]:
    """The arrays that a column is made of, each of one of Arrow's four types of texts with offsets."""
    pyarrow = _optional.needed("pyarrow", "an Arrow array")
    if hasattr(texts, "__arrow_c_array__"):
        arrays = [texts if isinstance(texts, pyarrow.Array) else pyarrow.array(texts)]
        kind = arrays[0].type
    else:
        chunked = texts if isinstance(texts, pyarrow.ChunkedArray) else pyarrow.chunked_array(texts)
        arrays, kind = chunked.chunks, chunked.type
    return [_plain(each) for each in arrays if len(each)] if _check(pyarrow, kind) else []


def _check(pyarrow: Any, kind: Any) -> bool:
    """True for a type of texts, however it is laid out; TypeError for any other."""
    types = pyarrow.types
    while True:
        if isinstance(kind, pyarrow.BaseExtensionType):
            kind = kind.storage_type
        elif types.is_dictionary(kind) or types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            break
    texts = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary")
    if types.is_null(kind) or any(getattr(types, f"is_{name}")(kind) for name in texts):
        return True
    column = ": choose a column of it" if types.is_struct(kind) else ""
    raise TypeError(f"texts must be an Arrow array of strings or of binary, not of {kind}{column}")


def _plain(whole: Any) -> Any:
    """An array of texts with offsets; of another layout a copy, made by Arrow."""
    import pyarrow
    from pyarrow import types

    while True:
        kind = whole.type
        if isinstance(kind, pyarrow.BaseExtensionType):
            whole = whole.storage
        elif types.is_dictionary(kind):
            whole = whole.dictionary_decode()
        elif types.is_run_end_encoded(kind):
            import pyarrow.compute

            whole = pyarrow.compute.run_end_decode(whole)
        elif types.is_string_view(kind):
            whole = whole.cast(pyarrow.large_string())
        elif types.is_binary_view(kind) or types.is_fixed_size_binary(kind):
            whole = whole.cast(pyarrow.large_binary())
        else:
            return whole


def _refuse_nulls(arrays: list[Any], first: int) -> None:
    for each in arrays:
        if each.null_count:
            index = first + each.is_null().index(True).as_py()
            raise TypeError(f"item {index} must be str or bytes, not null: fill the nulls, or drop them")
        first += len(each)


def _flat(arrays: list[Any]) -> _native.FlatTexts:
    from pyarrow import types

    parts, utf8 = [], True
    for each in arrays:
        _, offsets, data = each.buffers()
        wide = types.is_large_string(each.type) or types.is_large_binary(each.type)
        utf8 = types.is_large_string(each.type) or types.is_string(each.type)
        parts.append((_bytes(data), _bytes(offsets), wide, each.offset, len(each)))
    return _native.FlatTexts(parts, utf8)


def _bytes(buffer: Any) -> Buffer:
    return b"" if buffer is None else memoryview(buffer).cast("B")
