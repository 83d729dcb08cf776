"""Which files a path stands for, what their names say of what is in them, and how they are opened.

A path that is no local file and holds `://` is an address: fsspec lists and opens it, with the package that its
protocol needs (s3fs for `s3://`).
"""

from __future__ import annotations

import errno
import glob
import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from digram._text import printable

__all__ = ["FORMATS", "PACKINGS", "File", "expand", "format_of", "matches", "opened", "shown", "size_of"]

PACKINGS = {".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bzip2"}
"""How a file is packed, by the last suffix of its name."""

FORMATS = ("text", "jsonl", "csv", "tsv", "parquet", "arrow")

# What is read as records where a field is asked for; without one these are texts like any other.
_RECORDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonlines": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
}
_COLUMNS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}


@dataclass(frozen=True, slots=True)
class File:
    """A file of a corpus: its path as it was found, "-" for standard input; whether a folder brought it in; what it
    holds, and how it is packed."""

    name: str
    swept: bool
    format: str
    packing: str | None


def shown(name: str) -> str:
    """The name of a file, for messages."""
    return "standard input" if name == "-" else name


def is_address(path: str) -> bool:
    """Whether fsspec finds it."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+(::|://)", path) is not None and not os.path.lexists(path)


def format_of(name: str, format: str | None, field: str | None) -> tuple[str, str | None]:
    """(format, packing) of a file: what its name says, or `format`, which may say both ("jsonl.gz")."""
    if format is not None:
        wanted, dot, packing = format.partition(".")
        if dot:
            return wanted, PACKINGS["." + packing]
        return wanted, PACKINGS.get(os.path.splitext(name)[1].lower())
    stem, suffix = os.path.splitext(name)
    packing_ = PACKINGS.get(suffix.lower())
    if packing_ is not None:
        suffix = os.path.splitext(stem)[1]
    suffix = suffix.lower()
    if suffix in _COLUMNS:
        return _COLUMNS[suffix], packing_
    return (_RECORDS.get(suffix, "text") if field is not None else "text"), packing_


def looks_like_records(name: str) -> bool:
    """Whether a file is JSON lines, or a table, by its name."""
    stem, suffix = os.path.splitext(name)
    if suffix.lower() in PACKINGS:
        suffix = os.path.splitext(stem)[1]
    return suffix.lower() in _RECORDS and suffix.lower() != ".json"


def check_format(format: str | None) -> None:
    """ValueError for what is no format."""
    if format is not None:
        if not isinstance(format, str):
            raise TypeError(f"format must be a str, not {type(format).__name__}")
        kind, dot, packing = format.partition(".")
        if kind not in FORMATS or (dot and "." + packing not in PACKINGS):
            raise ValueError(
                f"format must be one of {', '.join(FORMATS)}, or one of these and {', '.join(PACKINGS)} "
                f'(such as "jsonl.zst"), not {format!r}'
            )


def expand(path: str) -> list[tuple[str, bool]]:
    """The files that a path stands for, each with whether a folder brought it in."""
    if path == "-":
        return [(path, False)]
    if is_address(path):
        from digram.corpus import addresses

        return addresses.expand(path)
    if os.path.isdir(path):
        files = list(_swept(path))
        if not files:
            raise FileNotFoundError(errno.ENOENT, "The folder holds no files", path)
    elif os.path.lexists(path):
        return [(path, False)]
    elif glob.has_magic(path):
        found: dict[str, bool] = {}  # a pattern may find a file both by itself and in a folder
        for match in matches(path):
            if os.path.isdir(match):
                for name, swept in _swept(match):
                    found.setdefault(name, swept)
            elif not _may_wait(match):
                found[match] = False
        files = list(found.items())
        if not files:
            raise FileNotFoundError(errno.ENOENT, "No file matches the pattern", path)
    else:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return sorted(files, key=_by_path)


def _may_wait(path: str) -> bool:
    """Whether it is a pipe, a socket or a device, which may give nothing, or never end: read where they are named."""
    status = _status(path)
    return status is not None and not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode)


def matches(pattern: str, above: tuple[str, ...] = ()) -> Iterator[str]:
    """What glob finds, hidden files left out. Where `**` meets a link to a folder that it is in, it does not go round
    and round, which glob does as often as the system lets it. `above` are such folders."""
    parts = pattern.split(os.sep)
    if "**" not in parts:
        yield from glob.glob(pattern)
        return
    at = parts.index("**")
    before, after = os.sep.join(parts[:at]), parts[at + 1 :]
    bases = glob.glob(before + os.sep) if before else [os.sep if at else ""]
    for base in bases:
        for folder, files, inside in _below(base, above):
            if after:
                yield from matches(os.path.join(glob.escape(folder), *after), inside)
            else:
                yield from (os.path.join(folder, name) for name in files)


def _below(base: str, above: tuple[str, ...]) -> Iterator[tuple[str, list[str], tuple[str, ...]]]:
    """(folder, names of what is in it and is none, the folders above it with itself) of a folder and of all below it,
    without hidden ones."""
    real = os.path.realpath(base or ".")
    if real in above[:-1]:
        return
    waiting = [(base, (*above, real))]
    while waiting:
        folder, above = waiting.pop()
        files = []
        with suppress(PermissionError, NotADirectoryError), os.scandir(folder or ".") as entries:
            for entry in entries:
                path = os.path.join(folder, entry.name)
                if entry.name.startswith("."):
                    continue
                if not os.path.isdir(path):
                    files.append(entry.name)
                    continue
                real = os.path.realpath(path) if entry.is_symlink() else os.path.join(above[-1], entry.name)
                if real not in above:
                    waiting.append((path, (*above, real)))
        yield folder, files, above


def _swept(folder: str) -> Iterator[tuple[str, bool]]:
    """All regular files of a folder that are not hidden, nor in a hidden folder."""
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(parent, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield path, True


def _by_path(file: tuple[str, bool]) -> list[str]:
    # By parts, so that what a folder holds stays together whatever its name ends with.
    return file[0].split(os.sep)


def _raise(error: OSError) -> None:
    raise error


def size_of(name: str) -> int | None:
    """The size of a file in bytes; None where it is not known (standard input, pipes). OSError for what is not
    there."""
    if name == "-":
        return None
    if is_address(name):
        from digram.corpus import addresses

        return addresses.size_of(name)
    status = os.stat(name)
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _status(name: str) -> os.stat_result | None:
    """What the system says of a local file; None of one that it cannot be asked about, which reading then says."""
    try:
        return os.stat(name)
    except OSError:
        return None


def regular(name: str) -> os.stat_result | None:
    """What the system says of a regular local file; None of others, and of those that cannot be asked."""
    status = _status(name)
    return status if status is not None and stat.S_ISREG(status.st_mode) else None


def regular_size(name: str) -> int:
    """The size of a regular local file; 0 of others."""
    status = regular(name)
    return 0 if status is None else status.st_size


def is_pipe(name: str) -> bool:
    """Whether a file is a pipe that has a name."""
    status = _status(name)
    return status is not None and stat.S_ISFIFO(status.st_mode)


def opened(name: str) -> BinaryIO:
    """A file for reading, standard input too. OSError names it."""
    if name == "-":
        return cast(BinaryIO, _Unclosed(standard_input()))
    if is_address(name):
        from digram.corpus import addresses

        return addresses.opened(name)
    return open(name, "rb")


def standard_input() -> BinaryIO:
    """Standard input as bytes; OSError where it was closed before the program began."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard input")
    return sys.stdin.buffer


class _Unclosed(io.RawIOBase):
    """Reads another file, and leaves it open."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> Any:
        return self._file.read(size)

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def quoted(name: str) -> str:
    """The name of a file inside a sentence."""
    return printable(shown(name))
