"""A tokenizer as bytes, ready for use: its definition, and what the engine had to find out to build it.

This is what pickles hold and what `digram.kept` writes into the cache folder. It is plain data: nothing in it is
executed. It is no format to keep vocabularies in, for another version of digram may not read it: use `Tokenizer.save`.

    8 bytes   b"digram" and the version of this form in two bytes
    4 bytes   the CRC-32 of all that follows
    4 bytes   the length of the header
    header    a JSON object in ASCII: "definition", the fields of `digram.definition.Definition` that are no arrays;
              "arrays", a [name, type code, length] for each; "notes", what else the writer kept
    arrays    the numbers of each, or the bytes of the tokens

Numbers are little-endian. The header and each array are filled up to a multiple of eight bytes.

A file that was damaged is told by its CRC-32. One that was made by hand on purpose may give wrong ids, no more: the
engine checks whatever it needs to rely on.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any
from zlib import crc32

from digram.definition import AddedToken, Definition, Found, Tokens
from digram.errors import DigramError, FormatError
from digram.tokenizer import Tokenizer

__all__ = ["VERSION", "packed", "unpacked", "unpacked_with_notes"]

VERSION = 1

_MAGIC = b"digram" + VERSION.to_bytes(2, "little")
_START = len(_MAGIC) + 4
_ARRAYS = ("merges", "ids", "ranked")
_FOUND = ("found.merges", "found.rules", "found.not_canonical")
_TYPES = {"tokens": "B", "ends": "Q", **dict.fromkeys((*_ARRAYS, *_FOUND), "I")}

Notes = list[Any]


def packed(tokenizer: Tokenizer, notes: Notes | None = None) -> bytes:
    """The tokenizer as bytes; `notes`, of JSON values, go with it."""
    definition = tokenizer._definition
    tokens = Tokens.of(definition.tokens)
    arrays: dict[str, array[int] | bytes] = {name: getattr(definition, name) for name in _ARRAYS}
    arrays |= {"tokens": tokens.joined, "ends": tokens.ends}
    found = tokenizer._encoder.found()
    if found is not None:
        arrays |= {name: array("I", flat) for name, flat in zip(_FOUND, found, strict=True)}
    plain = {field.name: getattr(definition, field.name) for field in fields(Definition) if field.name not in arrays}
    plain["special_tokens"] = dict(definition.special_tokens)
    plain["added_tokens"] = [(token.content, token.id, token.flags) for token in definition.added_tokens]
    header = {
        "definition": plain,
        "arrays": [(name, _TYPES[name], len(values)) for name, values in arrays.items()],
        "notes": notes or [],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    parts = [len(text).to_bytes(4, "little"), text]
    for values in arrays.values():
        if isinstance(values, array) and sys.byteorder == "big":
            values = array(values.typecode, values)
            values.byteswap()
        flat = values if isinstance(values, bytes) else memoryview(values).cast("B")
        parts += (flat, bytes(-len(flat) % 8))
    checksum = 0
    for part in parts:
        checksum = crc32(part, checksum)
    return b"".join([_MAGIC, checksum.to_bytes(4, "little"), *parts])


def unpacked(data: bytes) -> Tokenizer:
    """The tokenizer that `packed` made bytes of. FormatError where they are damaged, or of another version."""
    return unpacked_with_notes(data)[0]


def unpacked_with_notes(data: bytes) -> tuple[Tokenizer, Notes]:
    """The tokenizer and the notes. FormatError as of `unpacked`."""
    view = memoryview(data)
    if view[: len(_MAGIC)] != _MAGIC:
        raise FormatError(
            f"a prepared tokenizer begins with {_MAGIC!r}, not {bytes(view[: len(_MAGIC)])!r}: another version of "
            "digram wrote it, or it is none; make it anew"
        )
    if view[len(_MAGIC) : _START] != crc32(view[_START:]).to_bytes(4, "little"):
        raise FormatError("a prepared tokenizer is damaged or cut off: its checksum is wrong; make it anew")
    try:
        return _read(view[_START:])
    except (DigramError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise FormatError(f"a prepared tokenizer contradicts itself: {error}; make it anew") from error


def _read(view: memoryview) -> tuple[Tokenizer, Notes]:
    end = 4 + int.from_bytes(view[:4], "little")
    header = json.loads(bytes(view[4:end]))
    arrays: dict[str, array[int] | bytes] = {}
    for name, code, length in header["arrays"]:
        if _TYPES[name] != code:
            raise ValueError(f"{name} is of type {code}")
        size = length * array(code).itemsize
        if not 0 <= size <= len(view) - end:
            raise ValueError(f"{name} goes past the end")
        flat = view[end : end + size]
        arrays[name] = bytes(flat) if code == "B" else _numbers(code, flat)
        end += size + -size % 8
    return _tokenizer(header["definition"], arrays), list(header["notes"])


def _numbers(code: str, view: memoryview) -> array[int]:
    numbers = array(code)
    numbers.frombytes(view)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _tokenizer(plain: Mapping[str, Any], arrays: Mapping[str, Any]) -> Tokenizer:
    values = {name: _frozen(value) for name, value in plain.items()}
    values |= {name: arrays[name] for name in _ARRAYS}
    values["tokens"] = Tokens(arrays["tokens"], arrays["ends"])
    values["added_tokens"] = tuple(_added(plain["added_tokens"]))
    found: Found | None = None
    if _FOUND[0] in arrays:
        found = (arrays[_FOUND[0]], arrays[_FOUND[1]], arrays[_FOUND[2]])
    return Tokenizer(Definition(**values), found)


def _added(tokens: Iterable[tuple[str, int, str]]) -> Iterator[AddedToken]:
    for content, id, flags in tokens:
        yield AddedToken(content=content, id=id, **dict.fromkeys(flags.split(), True))


def _frozen(value: Any) -> Any:
    """JSON's arrays as the tuples that they were."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
