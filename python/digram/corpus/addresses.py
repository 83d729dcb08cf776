"""Addresses such as `s3://bucket/data/*.jsonl.gz`, by fsspec."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast

from digram._optional import needed

__all__ = ["expand", "opened", "size_of"]


@contextmanager
def _naming(address: str) -> Iterator[None]:
    """Errors with the address; those of the package behind a protocol, which may be of any kind, as OSErrors."""
    try:
        yield
    except ImportError as error:
        message = f"{address} needs a package that is not installed ({error}): install it beside fsspec"
        raise ModuleNotFoundError(message, name=error.name) from None
    except OSError as error:
        if error.errno is None:
            kinds = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES}
            error.errno = kinds.get(type(error), errno.EIO)
            known = type(error) in kinds
            error.strerror = os.strerror(error.errno) if known else _said(error) or os.strerror(errno.EIO)
        with suppress(AttributeError):
            error.filename = address
        raise
    except Exception as error:
        raise OSError(errno.EIO, _said(error) or type(error).__name__, address) from error


def _said(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(". ")


def _found(address: str) -> tuple[Any, str]:
    """(file system, path in it)."""
    fsspec = needed("fsspec", f"an address such as {address.partition('://')[0]}://")
    with _naming(address):
        try:
            return cast(tuple[Any, str], fsspec.core.url_to_fs(address))
        except ValueError as error:
            reason = error
    raise ValueError(
        f"{address} is no file, and no address that fsspec knows ({reason}): paths start at the current folder"
    )


def expand(address: str) -> list[tuple[str, bool]]:
    """The files that an address stands for, each with whether a folder brought it in; sorted, without hidden ones."""
    system, path = _found(address)
    chained = address[address.index("::") :] if "::" in address else ""

    def named(found: str) -> str:
        return str(system.unstrip_protocol(found)) + chained

    def swept(folder: str) -> list[str]:
        below = len(folder.rstrip("/").split("/"))
        return [f for f in system.find(folder) if not any(p.startswith(".") for p in f.split("/")[below:])]

    files: dict[str, bool] = {}
    with _naming(address):
        if any(mark in path for mark in "*?[") and not system.exists(path):
            for match in system.glob(path):
                if system.isdir(match):
                    for found in swept(match):
                        files.setdefault(named(found), True)
                else:
                    files[named(match)] = False
            missing = "No file matches the pattern"
        elif system.isdir(path):
            files = {named(found): True for found in swept(path)}
            missing = "The folder holds no files"
        else:
            if system.exists(path):
                return [(address, False)]
            missing = os.strerror(errno.ENOENT)
    if not files:
        raise FileNotFoundError(errno.ENOENT, missing, address)
    return sorted(files.items(), key=lambda file: file[0].split("/"))


def size_of(address: str) -> int | None:
    """The size of a file in bytes, None where the protocol does not say it."""
    system, path = _found(address)
    with _naming(address):
        size = system.size(path)
    return None if size is None else int(size)


def opened(address: str) -> BinaryIO:
    """A file for reading."""
    system, path = _found(address)
    with _naming(address):
        return cast(BinaryIO, _Opened(system, system.open(path, "rb"), address))


class _Opened(io.RawIOBase):
    """A file whose errors have its address; it keeps the file system, which may close its files when it goes."""

    def __init__(self, system: Any, file: Any, address: str) -> None:
        self._system, self._file, self._address = system, file, address

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def read(self, size: int = -1) -> bytes:
        with _naming(self._address):
            return cast(bytes, self._file.read(size))

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with _naming(self._address):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
