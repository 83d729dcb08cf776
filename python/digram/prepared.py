"""A tokenizer as bytes, ready for use: its definition, and what the engine had to find out to build it.

This is what pickles hold and what `digram.kept` writes into the cache folder. It is plain data: nothing in it is
executed. It is no format to keep vocabularies in, for another version of digram may not read it: use `Tokenizer.save`.

    8 bytes   b"digram" and the version of this form in two bytes
    4 bytes   the CRC-32 of all that follows
    4 bytes   the length of the header
    header    a JSON object in ASCII: "definition", the fields of `digram.definition.Definition` that are no arrays;
              "arrays", a [name, bytes for a number, length in bytes] for each; "notes", what else the writer kept
    arrays    the numbers of each, or the bytes of the tokens, in the order of the header

Numbers are little-endian. A file that was damaged is told by its CRC-32. One that was made by hand on purpose may give
wrong ids, no more: the engine checks whatever it relies on.
"""

from __future__ import annotations

import io
import json
import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, Protocol
from zlib import crc32

from digram.definition import AddedToken, Definition, Tokens
from digram.errors import DigramError, FormatError
from digram.tokenizer import Tokenizer

__all__ = ["VERSION", "packed", "read", "unpacked"]

VERSION = 1

_MAGIC = b"digram" + VERSION.to_bytes(2, "little")
_START = len(_MAGIC) + 4 + 4
_ARRAYS = ("merges", "ids", "ranked")
_FOUND = ("found_merges", "found_rules", "found_not_canonical")
_WIDTHS = {"tokens": 1, "ends": 8, **dict.fromkeys((*_ARRAYS, *_FOUND), 4)}
_CODES = {4: "I", 8: "Q"}


class _File(Protocol):
    """What is read from: a file without a buffer, or `io.BytesIO`."""

    def read(self, size: int, /) -> bytes | None: ...
    def readinto(self, buffer: memoryview, /) -> int | None: ...


def packed(tokenizer: Tokenizer, notes: list[Any] | None = None) -> bytes:
    """The tokenizer as bytes; `notes`, of JSON values, go with it."""
    definition = tokenizer._definition
    tokens = Tokens.of(definition.tokens)
    arrays: dict[str, bytes | bytearray | array[int]] = {name: getattr(definition, name) for name in _ARRAYS}
    arrays |= {"tokens": tokens.joined, "ends": tokens.ends}
    arrays |= dict(zip(_FOUND, tokenizer._encoder.found() or (), strict=False))
    plain = {field.name: getattr(definition, field.name) for field in fields(Definition) if field.name not in arrays}
    plain["special_tokens"] = dict(definition.special_tokens)
    plain["added_tokens"] = [(token.content, token.id, token.flags) for token in definition.added_tokens]
    flat = {name: _little_endian(values, _WIDTHS[name]) for name, values in arrays.items()}
    header = {
        "definition": plain,
        "arrays": [(name, _WIDTHS[name], len(values)) for name, values in flat.items()],
        "notes": notes or [],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    parts = [len(text).to_bytes(4, "little"), text, *flat.values()]
    checksum = 0
    for part in parts:
        checksum = crc32(part, checksum)
    return b"".join([_MAGIC, checksum.to_bytes(4, "little"), *parts])


def unpacked(data: bytes) -> Tokenizer:
    """The tokenizer that `packed` made bytes of. FormatError where they are damaged, or of another version."""
    return read(io.BytesIO(data), len(data))[0]


def read(file: _File, size: int) -> tuple[Tokenizer, list[Any]]:
    """The tokenizer and the notes of a file of `size` bytes that holds what `packed` gave. FormatError as there."""
    start = file.read(_START) or b""
    if start[: len(_MAGIC)] != _MAGIC:
        raise FormatError(
            f"a prepared tokenizer begins with {_MAGIC!r}, not {start[: len(_MAGIC)]!r}: another version of digram "
            "wrote it, or it is none; make it anew"
        )
    length = int.from_bytes(start[-4:], "little")
    try:
        text = _exactly(file, length, size - _START)
        checksum = crc32(text, crc32(start[-4:]))
        header = json.loads(text)
        arrays: dict[str, Any] = {}
        left = size - _START - length
        for name, width, length in header["arrays"]:
            if _WIDTHS[name] != width:
                raise ValueError(f"{name} has numbers of {width} bytes")
            plain = name == "tokens" or name in _FOUND
            flat = _exactly(file, length, left) if plain else _numbers(file, width, length, left)
            left -= length
            checksum = crc32(flat, checksum)
            arrays[name] = flat
        if left:
            raise ValueError(f"{left} bytes are left over")
        if checksum.to_bytes(4, "little") != start[-8:-4]:
            raise ValueError("its checksum is wrong")
        return _tokenizer(header["definition"], arrays), list(header["notes"])
    except (ArithmeticError, AttributeError, DigramError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise FormatError(f"a prepared tokenizer is damaged or cut off: {error}; make it anew") from error


def _exactly(file: _File, length: int, left: int) -> bytes:
    # No memory is taken for what is not there.
    data = file.read(length) if 0 <= length <= left else None
    if data is None or len(data) != length:
        raise ValueError(f"{length} bytes are missing")
    return data


def _little_endian(values: bytes | bytearray | array[int], width: int) -> bytes | bytearray | memoryview:
    """The bytes of numbers in native order; where that is little-endian already, without a copy."""
    if width == 1 or sys.byteorder == "little":
        return values if isinstance(values, (bytes, bytearray)) else memoryview(values).cast("B")
    swapped = array(_CODES[width], bytes(values) if isinstance(values, (bytes, bytearray)) else values)
    swapped.byteswap()
    return swapped.tobytes()


def _numbers(file: _File, width: int, length: int, left: int) -> array[int]:
    """The same as an array, read where it will stay: memory that is touched first costs more than what is put there."""
    if not 0 <= length <= left or length % width:
        raise ValueError(f"{length} bytes are missing")
    numbers = array(_CODES[width], [0]) * (length // width)
    if length and file.readinto(memoryview(numbers).cast("B")) != length:
        raise ValueError(f"{length} bytes are missing")
    return numbers


def _tokenizer(plain: dict[str, Any], arrays: dict[str, Any]) -> Tokenizer:
    if sys.byteorder == "big":
        for name, flat in list(arrays.items()):
            if isinstance(flat, array):
                flat.byteswap()
            elif name in _FOUND:
                arrays[name] = bytes(_little_endian(flat, _WIDTHS[name]))  # the same bytes the other way round
    values = {name: _frozen(value) for name, value in plain.items()}
    values |= {name: arrays[name] for name in _ARRAYS}
    values["tokens"] = Tokens(arrays["tokens"], arrays["ends"])
    values["added_tokens"] = tuple(_added(plain["added_tokens"]))
    found = None
    if _FOUND[0] in arrays:
        first, second, third = (arrays[name] for name in _FOUND)
        found = first, second, third
    return Tokenizer(Definition(**values), found)


def _added(tokens: Iterable[tuple[str, int, str]]) -> Iterator[AddedToken]:
    for content, id, flags in tokens:
        yield AddedToken(content=content, id=id, **dict.fromkeys(flags.split(), True))


def _frozen(value: Any) -> Any:
    """JSON's arrays as the tuples that they were."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
