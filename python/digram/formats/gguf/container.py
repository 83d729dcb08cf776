"""The container of GGUF: typed keys and values before the tensors (ggml, docs/gguf.md; versions 2 and 3).

A file says how long everything is that follows. Nothing here believes it: a length is compared with what the file has
left before anything of that length is made, and the keys of a vocabulary end within `LIMIT` bytes, so that a file of
many gigabytes is never read for them.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from digram.errors import FormatError
from digram.files import regular_file, whole_file

__all__ = ["MAGIC", "Float", "Signed", "Value", "read", "write"]

MAGIC = b"GGUF"

LIMIT = 256 << 20
"""How many bytes the keys may take, and ..."""

LONGEST = 1 << 24
"""... how many strings or numbers an array. No published vocabulary has a tenth of either."""

_WINDOW = 1 << 20

_UINT8, _INT8, _UINT16, _INT16, _UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY, _UINT64, _INT64, _FLOAT64 = range(13)
_NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_SIZES = {type: struct.calcsize("<" + code) for type, code in _NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class Signed:
    """An array of signed 32-bit numbers."""

    numbers: array[int]


@dataclass(frozen=True, slots=True)
class Float:
    """An array of 32-bit floating-point numbers."""

    numbers: array[float]


Value = str | bool | int | float | list[str] | Signed | Float


def write(path: str | os.PathLike[str], values: Mapping[str, Value]) -> None:
    """A file of these keys, in their order, and no tensors. An int is written as uint32."""
    with whole_file(path) as file:
        file.write(MAGIC + struct.pack("<IQQ", 3, 0, len(values)))
        for key, value in values.items():
            file.write(_string(key) + _written(value))


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _written(value: Value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", _BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", _UINT32, value)
    if isinstance(value, float):
        return struct.pack("<If", _FLOAT32, value)
    if isinstance(value, str):
        return struct.pack("<I", _STRING) + _string(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", _ARRAY, _STRING, len(value)) + b"".join(map(_string, value))
    type = _INT32 if isinstance(value, Signed) else _FLOAT32
    numbers = struct.pack(f"<{len(value.numbers)}{_NUMBERS[type]}", *value.numbers)
    return struct.pack("<IIQ", _ARRAY, type, len(value.numbers)) + numbers


def read(path: Path, prefixes: tuple[str, ...]) -> dict[str, Value]:
    """The keys that begin with one of `prefixes`, with their values; what others hold is passed over.

    FormatError says what is wrong with the file, and where.
    """
    with regular_file(path) as file:
        reader = _Reader(file, path)
        if reader.take(4, "its first four bytes") != MAGIC:
            raise FormatError(f"{path} is no GGUF file: it does not begin with GGUF")
        version = reader.number(_UINT32, "its version")
        if version not in (2, 3):
            swapped = int.from_bytes(int(version).to_bytes(4, "little"), "big")
            which = "it is big endian" if swapped in (2, 3) else f"it is of version {version}"
            raise FormatError(f"{path} cannot be read: {which}; digram reads little-endian GGUF of versions 2 and 3")
        reader.number(_UINT64, "the number of tensors")
        count = int(reader.number(_UINT64, "the number of keys"))
        if count > reader.left // 13:  # the length of the name, a type, and a byte
            raise FormatError(f"{path} is cut off or damaged: it says that it has {count} keys")
        values: dict[str, Value] = {}
        seen = set()
        for i in range(count):
            key = reader.string(f"key {i}")
            if key in seen:
                raise FormatError(f"{path} has the key {_short(key)!r} twice")
            seen.add(key)
            value = reader.value(_short(key), key.startswith(prefixes))
            if value is not None:
                values[key] = value
        return values


def _short(key: str) -> str:
    """A key as messages name it: one of a damaged file may be as long as the file."""
    return key if len(key) <= 100 else f"{key[:100]}..."


class _Reader:
    """A file read once from its beginning."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.path = file, path
        self.left = min(os.fstat(file.fileno()).st_size, LIMIT)
        self.window, self.at = b"", 0

    def take(self, n: int, what: str) -> bytes:
        """The next `n` bytes, which belong to `what`."""
        self.expect(n, what)
        if self.at + n > len(self.window):
            rest = self.window[self.at :]
            self.window = rest + self.file.read(max(n - len(rest), _WINDOW))
            self.at = 0
            if len(self.window) < n:
                self.cut_off(what)
        data = self.window[self.at : self.at + n]
        self.at += n
        self.left -= n
        return data

    def skip(self, n: int, what: str) -> None:
        self.expect(n, what)
        while n:
            n -= len(self.take(min(n, _WINDOW), what))

    def expect(self, n: int, what: str) -> None:
        if n > self.left:
            self.cut_off(what)

    def cut_off(self, what: str) -> None:
        raise FormatError(
            f"{self.path} is cut off or damaged: {what} goes on after the end of the file, or {LIMIT >> 20} MiB into it"
        )

    def number(self, type: int, what: str) -> int | float | bool:
        if type == _BOOL:
            return self.take(1, what) != b"\0"
        value: int | float = struct.unpack("<" + _NUMBERS[type], self.take(_SIZES[type], what))[0]
        return value

    def string(self, what: str) -> str:
        data = self.take(int(self.number(_UINT64, what)), what)
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise FormatError(f"{what} of {self.path} is not UTF-8") from None

    def strings(self, count: int, key: str) -> list[str]:
        """As many strings: those that the window holds are cut out of it at once."""
        self.short(count, key)
        found: list[bytes] = []
        length = struct.Struct("<Q").unpack_from
        while len(found) < count:
            window, at = self.window, self.at
            while len(found) < count and at + 8 <= len(window):
                end = at + 8 + length(window, at)[0]
                if end > len(window):
                    break
                found.append(window[at + 8 : end])
                at = end
            self.left -= at - self.at
            self.at = at
            if len(found) < count:
                what = f"{key}[{len(found)}]"
                found.append(self.take(int(self.number(_UINT64, what)), what))
        try:
            return [data.decode() for data in found]
        except UnicodeDecodeError:
            i = next(i for i, data in enumerate(found) if not _is_utf8(data))
            raise FormatError(f"{key}[{i}] of {self.path} is not UTF-8") from None

    def value(self, key: str, wanted: bool) -> Value | None:
        """The value of a key; None where it is not wanted, or an array of numbers that no vocabulary has."""
        type = int(self.number(_UINT32, f"the type of {key}"))
        if type == _STRING:
            if wanted:
                return self.string(key)
            self.skip(int(self.number(_UINT64, key)), key)
            return None
        if type in _NUMBERS:
            value = self.number(type, key)
            return value if wanted else None
        if type != _ARRAY:
            raise FormatError(f"{key} of {self.path} is of the type {type}, which GGUF does not have")
        return self.array(key, wanted)

    def array(self, key: str, wanted: bool) -> Value | None:
        type = int(self.number(_UINT32, f"the type of {key}"))
        count = int(self.number(_UINT64, f"the length of {key}"))
        if type == _STRING:
            self.expect(8 * count, key)
            self.short(count, key)
            if wanted:
                return self.strings(count, key)
            for _ in range(count):
                self.skip(int(self.number(_UINT64, key)), key)
            return None
        if type not in _NUMBERS:
            which = "an array of arrays" if type == _ARRAY else f"an array of the type {type}"
            raise FormatError(f"{key} of {self.path} is {which}, which digram does not read")
        if not wanted or type not in (_INT32, _FLOAT32):
            self.skip(count * _SIZES[type], key)
            return None
        self.expect(4 * count, key)
        self.short(count, key)
        data = self.take(4 * count, key)
        return Signed(_numbers("i", data)) if type == _INT32 else Float(_numbers("f", data))

    def short(self, count: int, key: str) -> None:
        if count > LONGEST:
            raise FormatError(f"{key} of {self.path} has {count} items, and digram reads {LONGEST} at most")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _numbers(code: str, data: bytes) -> array[Any]:
    numbers: array[Any] = array(code, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
