"""Addresses such as `s3://bucket/data/*.jsonl.gz`, by fsspec."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Any, BinaryIO, cast

from digram._optional import needed

__all__ = ["expand", "opened", "size_of"]


def _found(address: str) -> tuple[Any, str]:
    """(file system, path in it)."""
    fsspec = needed("fsspec", f"an address such as {address.partition('://')[0]}://")
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        message = f"{address} needs a package that is not installed ({error}): install it beside fsspec"
        raise ModuleNotFoundError(message, name=error.name) from None
    return system, path


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
    try:
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
    except OSError as error:
        raise _naming(error, address) from None
    if not files:
        raise FileNotFoundError(errno.ENOENT, missing, address)
    return sorted(files.items(), key=lambda file: file[0].split("/"))


def size_of(address: str) -> int | None:
    """The size of a file in bytes, None where the protocol does not say it."""
    system, path = _found(address)
    try:
        size = system.size(path)
    except OSError as error:
        raise _naming(error, address) from None
    return None if size is None else int(size)


def opened(address: str) -> BinaryIO:
    """A file for reading."""
    system, path = _found(address)
    try:
        return cast(BinaryIO, system.open(path, "rb"))
    except OSError as error:
        raise _naming(error, address) from None


def _naming(error: OSError, address: str) -> OSError:
    """The error with the address, and with a number that says of what kind it is."""
    if error.errno is None:
        kinds = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES}
        error.errno = kinds.get(type(error), errno.EIO)
        error.strerror = os.strerror(error.errno) if type(error) in kinds else str(error) or os.strerror(errno.EIO)
    with suppress(AttributeError):
        error.filename = address
    return error
