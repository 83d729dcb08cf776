"""Files as streams of bytes, unpacked as they are read.

gzip, xz and bzip2 come with Python; Zstandard with Python 3.14, before that with the package zstandard. Files of
several members, streams or frames are read to their end; one that ends in the middle is an error.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from digram._optional import needed
from digram.corpus import paths
from digram.errors import CorpusError

__all__ = ["Stream", "check_whole"]

# So much of a file is unpacked at once; and of Zstandard, whose package gives all that comes of it, which can be 30,000
# times as much.
_STEP = 1 << 14
_STEP_OF_ZSTD = 1 << 11


class Stream(io.RawIOBase):
    """What is in a file, from its beginning to its end, once.

    CorpusError for what is damaged or ends too early, with how far it was good; OSError with the file's name.
    """

    def __init__(self, name: str, packing: str | None) -> None:
        self.name, self._packing = name, packing
        self._raw = _Counted(paths.opened(name), name)
        self._before = paths.regular(name)
        self._given = 0
        self._held = memoryview(b"")
        self._damage: Exception | None = None
        self._file: Any = self._raw
        if packing is not None:
            self._file = _unpacker(packing, self._raw)

    @property
    def passed(self) -> int:
        """How many bytes of the file were read, as it lies on the disk."""
        return self._raw.passed

    def readable(self) -> bool:
        return True

    def some(self, size: int) -> bytes:
        """The next bytes, about `size` of them; none at the end."""
        try:
            data = self._file.read(size) if self._packing is None else self._unpacked(size)
            if not data and self._packing is not None and not self.passed:
                raise EOFError
        except EOFError:
            raise CorpusError(
                f"{paths.quoted(self.name)} is cut off: its {self._packing} data end too early, after {self._given:,} "
                "bytes of what is packed in it: get the file again"
            ) from None
        except Exception as error:
            if self._packing is None or not _is_damage(error):
                raise
            raise CorpusError(
                f"{paths.quoted(self.name)} is damaged, or no {self._packing} file, after {self._given:,} bytes of "
                f"what is packed in it ({error}): get the file again"
            ) from None
        if not data:
            check_whole(self.name, self._before)
        self._given += len(data)
        return data

    def _unpacked(self, size: int) -> bytes:
        """Up to `size` bytes; what is good before a damage is given first, and the damage told the next time."""
        if self._damage is not None:
            raise self._damage
        parts: list[bytes] = []
        held = 0
        while held < size:
            try:
                part = self._file.read1(size - held)
            except Exception as error:
                if not parts:
                    raise
                self._damage = error
                break
            if not part:
                break
            parts.append(part)
            held += len(part)
        return b"".join(parts)

    def stretches(self, size: int) -> Iterator[bytes]:
        """All of it, about `size` bytes at a time."""
        return iter(lambda: self.some(size), b"")

    def readinto(self, buffer: Any) -> int:
        if not self._held:
            self._held = memoryview(self.some(max(len(buffer), 1 << 16)))
        part = self._held[: len(buffer)]
        buffer[: len(part)] = part
        self._held = self._held[len(part) :]
        return len(part)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def check_whole(name: str, before: os.stat_result | None) -> None:
    """CorpusError where a file has fewer bytes than `before`: what was read of it may end too early. One that is gone,
    or has another in its place, was read as it was."""
    now = None if before is None else paths.regular(name)
    if before is not None and now is not None and now.st_ino == before.st_ino and now.st_size < before.st_size:
        raise CorpusError(
            f"{paths.quoted(name)} was cut short while it was read, from {before.st_size:,} bytes to {now.st_size:,}: "
            "begin again, with files that nobody writes into"
        )


def _is_damage(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno is None  # the packages' own; those of the system have a number
    return isinstance(error, (zlib.error, lzma.LZMAError)) or type(error).__name__ == "ZstdError"


def _unpacker(packing: str, raw: _Counted) -> Any:
    file = cast(BinaryIO, raw)
    if packing == "gzip":
        return gzip.GzipFile(fileobj=file, mode="rb")
    if packing == "bzip2":
        return _Members(raw, bz2.BZ2Decompressor)
    if packing == "xz":
        return _Members(raw, lzma.LZMADecompressor)
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(file, options={zstd.DecompressionParameter.window_log_max: 31})
    return _Zstd(raw)


class _Counted:
    """A file that counts the bytes it gives, and names itself in errors."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name, self.passed = file, name, 0

    def read(self, size: int = -1) -> bytes:
        try:
            data = self._file.read(size)
        except OSError as error:
            error.filename = paths.shown(self._name)
            raise
        self.passed += len(data)
        return data

    def seekable(self) -> bool:
        return False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()


class _Members:
    """bzip2 and xz. The files of Python's bz2 and lzma end, without a word, before a member that is damaged where it
    begins, and before one that zeros stand in front of, as xz allows."""

    def __init__(self, raw: _Counted, unpacker: Callable[[], Any]) -> None:
        self._raw, self._new = raw, unpacker
        self._member: Any = None
        self._packed = b""  # read from the file, not given to a member yet

    def read1(self, size: int) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        while True:
            if self._member is None or self._member.eof:
                packed = self._between()
                if not packed:
                    return b""
                self._member = self._new()
            else:
                packed = self._raw.read(_STEP) if self._member.needs_input else b""
                if not packed and self._member.needs_input:
                    raise EOFError
            part: bytes = self._member.decompress(packed, size)
            self._packed = self._member.unused_data if self._member.eof else b""
            if part:
                return part

    def _between(self) -> bytes:
        """The beginning of the next member; nothing at the end of the file."""
        packed, self._packed = self._packed or self._raw.read(_STEP), b""
        while packed and self._member is not None:
            if begins := packed.lstrip(b"\0"):
                return begins
            packed = self._raw.read(_STEP)
        return packed


class _Zstd:
    """Zstandard by the package zstandard, whose own stream takes a frame that is cut off for a whole one."""

    def __init__(self, raw: _Counted) -> None:
        zstandard = needed("zstandard", "a file packed by Zstandard")
        self._raw = raw
        self._package = zstandard.ZstdDecompressor(max_window_size=1 << 31)
        self._frame: Any = None
        self._packed, self._at = b"", 0  # read from the file, and how much of it was given to a frame
        self._held, self._given = b"", 0  # unpacked, and how much of it was given

    def read1(self, size: int) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        if self._given == len(self._held):
            self._held, self._given = self._next(), 0
        part = self._held[self._given : self._given + size]
        self._given += len(part)
        return part

    def _next(self) -> bytes:
        """What the next bytes of the file unpack to; nothing at its end."""
        while True:
            if self._at == len(self._packed):
                self._packed, self._at = self._raw.read(_STEP), 0
                if not self._packed:
                    if self._frame is not None and not self._frame.eof:
                        raise EOFError
                    return b""
            if self._frame is None or self._frame.eof:
                self._frame = self._package.decompressobj()
            packed = self._packed[self._at : self._at + _STEP_OF_ZSTD]
            part: bytes = self._frame.decompress(packed)
            self._at += len(packed) - (len(self._frame.unused_data) if self._frame.eof else 0)
            if part:
                return part
