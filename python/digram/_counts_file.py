"""Piece counts in a file.

A line that names the format, a line of JSON (split, special_tokens, ordered, documents), then blocks. A block begins
with three numbers of 64 bits, least byte first: how many pieces it has, how many bytes these have together, and how
many bytes follow. These are, packed by zlib, where each piece ends among the bytes, the count of each (64 bits, least
byte first), and the bytes. A block without pieces is the last; then comes the SHA-256 of all before it.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from digram.errors import FormatError
from digram.files import regular_file, whole_file

if TYPE_CHECKING:
    from digram.counts import PieceCounts

AnyPath = str | os.PathLike[str]

_NAME = b"digram piece counts 1\n"
_BLOCK = struct.Struct("<QQQ")
_LONGEST_LINE = 1 << 26
_MOST_PACKED = 1032  # what zlib makes of a byte, at most


def _numbers(data: bytes | bytearray) -> array[int]:
    """64-bit numbers, between the file's order of bytes and this machine's."""
    numbers = array("Q", bytes(data))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def save(counts: PieceCounts, path: AnyPath) -> None:
    """Writes counts into a file, which appears when it is whole."""
    with whole_file(path) as file:
        digest = hashlib.sha256()

        def write(data: bytes) -> None:
            digest.update(data)
            file.write(data)

        write(_NAME)
        facts = {name: getattr(counts, name) for name in ("split", "special_tokens", "ordered", "documents")}
        write(json.dumps(facts).encode() + b"\n")
        for pieces, ends, numbers in counts._flat():
            packed = zlib.compressobj(1)
            parts = [packed.compress(_numbers(part)) for part in (ends, numbers)]
            data = b"".join([*parts, packed.compress(pieces), packed.flush()])
            write(_BLOCK.pack(len(ends) // 8, len(pieces), len(data)))
            write(data)
        write(_BLOCK.pack(0, 0, 0))
        file.write(digest.digest())


class _Reader:
    def __init__(self, path: AnyPath, file: BinaryIO) -> None:
        self.path, self.file, self.digest = path, file, hashlib.sha256()
        self.left = os.fstat(file.fileno()).st_size

    def damaged(self, what: str) -> FormatError:
        return FormatError(f"{self.path} is damaged: {what}; count the texts again, or copy the file anew")

    def read(self, size: int) -> bytes:
        if size > self.left:
            raise self.damaged("it ends too early")
        data = self.file.read(size)
        self.left -= len(data)
        if len(data) < size:
            raise self.damaged("it ends too early")
        self.digest.update(data)
        return data

    def line(self) -> bytes:
        data = self.file.readline(_LONGEST_LINE)
        self.left -= len(data)
        self.digest.update(data)
        return data

    def block(self) -> tuple[bytes, array[int], array[int]] | None:
        number, size, packed = _BLOCK.unpack(self.read(_BLOCK.size))
        if not number:
            return None
        data, whole = self.read(packed), 16 * number + size
        try:
            if whole > _MOST_PACKED * packed:
                raise zlib.error("too small for what it should hold")
            unpacked = zlib.decompressobj().decompress(data, whole + 1)
        except zlib.error as error:
            raise self.damaged(f"a block of it does not unpack ({error})") from None
        if len(unpacked) != whole:
            raise self.damaged("a block of it has not the size that it should have")
        return unpacked[16 * number :], _numbers(unpacked[: 8 * number]), _numbers(unpacked[8 * number : 16 * number])


def opened(path: AnyPath) -> tuple[dict[str, Any], Iterator[tuple[bytes, array[int], array[int]]]]:
    """(facts, blocks of pieces, where each ends, and counts) of a file."""
    with regular_file(path) as file:
        reader = _Reader(path, file)
        facts = _facts(reader)
    return facts, _blocks(path)


def is_ours(path: AnyPath) -> bool:
    """Whether a file says that it holds piece counts."""
    with regular_file(path) as file:
        return file.read(len(_NAME)) == _NAME


def _facts(reader: _Reader) -> dict[str, Any]:
    if reader.line() != _NAME:
        raise FormatError(f"{reader.path} holds no piece counts, which PieceCounts.save writes")
    try:
        facts = json.loads(reader.line())
    except (ValueError, RecursionError) as error:
        raise reader.damaged(f"its second line does not say how the pieces were cut ({error})") from None
    if not isinstance(facts, dict):
        raise reader.damaged("its second line does not say how the pieces were cut")
    return facts


def _blocks(path: AnyPath) -> Iterator[tuple[bytes, array[int], array[int]]]:
    with regular_file(path) as file:
        reader = _Reader(path, file)
        _facts(reader)
        while block := reader.block():
            yield block
        digest = reader.digest.digest()
        if reader.read(len(digest)) != digest or reader.left:
            raise reader.damaged("its checksum is another one")
