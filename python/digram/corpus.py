"""Files as documents: what training, encoding and counting read."""

from __future__ import annotations

import codecs
import errno
import glob
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from digram._text import printable
from digram._warn import warn
from digram.errors import LeftOutWarning, TextError

__all__ = ["Corpus", "Document", "Errors", "LeftOutWarning"]

Errors = Literal["strict", "replace", "ignore"]
Document = bytes
Path = str | os.PathLike[str]

# Files that are never plain text, with what they are.
_PACKED = {
    ".gz": "gzip",
    ".zst": "Zstandard",
    ".xz": "xz",
    ".bz2": "bzip2",
    ".parquet": "Parquet",
    ".arrow": "Arrow",
}

# Texts are checked in stretches of this many bytes, so that a check needs no second copy of a large file.
_STRETCH = 1 << 20

# /dev/null is empty, and /dev/stdin may be short; /dev/zero never ends.
_MOST_OF_A_DEVICE = 1 << 26


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A file that was not read: its path, and its size in bytes."""

    path: str
    size: int


class Corpus:
    """Text files as an iterable of documents, one document a file.

        corpus = digram.Corpus(["notes/", "books/*.txt"])
        tok = digram.train(corpus, vocab_size=32_000)

    paths   a path or a list of them, taken in the order given:
              a file      is read whatever its name begins with; named twice, it is read twice
              a folder    all regular files in it and below it, sorted by path, but for hidden ones and for files that
                          are not text: those with a NUL byte
              a pattern   what `glob` finds (`**` for any depth), sorted by path; folders it finds count as folders
              "-"         standard input
    field   a field of records (JSON lines, Parquet): not read by this version, must be None
    errors  what becomes of bytes that are not UTF-8: "strict" (TextError), "replace" (U+FFFD), "ignore" (left out)

    A document is a `bytes` object that holds well-formed UTF-8: exactly the file, with its line ends, and with a byte
    order mark if it has one. The engine takes bytes as they are; a str of the same text would take up to five times the
    memory (`document.decode()` makes one). A corpus may be iterated any number of times, unless it holds standard
    input; files are listed once, when it is made, and read one after the other.

    FileNotFoundError: no such file, a pattern without a match, a folder without files. ValueError: a `field`, or a file
    that is compressed or holds columns, told by its name. While iterating, OSError names a file that cannot be read,
    TextError the file and the byte offset of what is not UTF-8. LeftOutWarning: once at the end of an iteration, where
    files of a folder were left out for a NUL byte, whatever `errors` says. A file that is named is read with its NUL
    bytes.
    """

    def __init__(self, paths: Path | Iterable[Path], field: str | None = None, errors: Errors = "strict") -> None:
        if errors not in ("strict", "replace", "ignore"):
            raise ValueError(f'errors must be "strict", "replace" or "ignore", not {errors!r}')
        if field is not None:
            raise ValueError(
                f"field={field!r} is for files of records, which this version does not read yet: leave it out, and a "
                "text file is one document"
            )
        given = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
        if not given:
            raise ValueError("a corpus needs at least one path")
        self.field, self.errors = field, errors
        self._files = tuple(file for path in given for file in _expand(os.fsdecode(path)))
        self._stdin_taken = False
        self._left_out: list[str] = []
        for name, _ in self._files:
            suffix = os.path.splitext(name)[1].lower()
            if suffix in _PACKED:
                raise ValueError(
                    f"{printable(name)} is a {_PACKED[suffix]} file by its name, which this version does not read yet: "
                    "unpack it to plain text first"
                )

    @property
    def files(self) -> tuple[str, ...]:
        """The files in the order they are read; "-" is standard input."""
        return tuple(name for name, _ in self._files)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The files without text that the latest iteration left out, so far as it has come."""
        return tuple(self._left_out)

    @cached_property
    def bytes(self) -> int | None:
        """The size of all files, those that will be left out too; None where it is unknown (standard input, pipes)."""
        total = 0
        for name, _ in self._files:
            if name == "-":
                return None
            status = os.stat(name)
            if not stat.S_ISREG(status.st_mode):
                return None
            total += status.st_size
        return total

    def __iter__(self) -> Iterator[Document]:
        for _, document in self.documents():
            yield document

    def documents(self) -> Iterator[tuple[str, Document]]:
        """(file, document) for each file; "-" is standard input."""
        for name, document in self._walk(None):
            assert isinstance(document, bytes)
            yield name, document

    def sources(self, least: int) -> Iterator[Document | LargeFile]:
        """The documents, for those who can read a file in parts: a LargeFile instead of `least` bytes or more, where
        the file is the document as it is, if it is UTF-8."""
        for _, document in self._walk(least):
            yield document

    def _walk(self, least: int | None) -> Iterator[tuple[str, Document | LargeFile]]:
        self._left_out = left_out = []
        for name, swept in self._files:
            if least is not None and name != "-" and self.errors == "strict" and (size := _regular_size(name)) >= least:
                if swept and _has_nul(name):
                    left_out.append(name)
                else:
                    yield name, LargeFile(name, size)
                continue
            data = self._standard_input() if name == "-" else _contents(name)
            if swept and b"\0" in data:
                left_out.append(name)
            else:
                yield name, _well_formed("standard input" if name == "-" else name, data, self.errors)
        if left_out:
            warn(_says_left_out(left_out), LeftOutWarning)

    def batches(self, size: int = 16 << 20) -> Iterator[list[tuple[str, Document]]]:
        """The same in lists of about `size` bytes, enough for all threads to have work."""
        batch, held = [], 0
        for name, document in self.documents():
            batch.append((name, document))
            held += len(document)
            # Small files cost a little too, so a batch of empty ones ends as well.
            if held + 256 * len(batch) >= size:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    def __repr__(self) -> str:
        files = "1 file" if len(self._files) == 1 else f"{len(self._files):,} files"
        return f"<digram.Corpus: {files}, errors={self.errors!r}>"

    def _standard_input(self) -> Document:
        if self._stdin_taken:
            raise ValueError("standard input can be read only once: save it to a file first")
        self._stdin_taken = True
        try:
            if sys.stdin is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return sys.stdin.buffer.read()
        except OSError as error:
            error.filename = "standard input"
            raise


def _expand(path: str) -> list[tuple[str, bool]]:
    """The files that a path stands for, each with whether a folder brought it in."""
    if path != "-" and os.path.isdir(path):
        files = list(_swept(path))
        if not files:
            raise FileNotFoundError(errno.ENOENT, "The folder holds no files", path)
    elif path == "-" or os.path.lexists(path):
        return [(path, False)]
    elif glob.has_magic(path):
        found: dict[str, bool] = {}  # a pattern may find a file both by itself and in a folder
        for match in glob.glob(path, recursive=True):
            if os.path.isdir(match):
                for name, swept in _swept(match):
                    found.setdefault(name, swept)
            else:
                found[match] = False
        files = list(found.items())
        if not files:
            raise FileNotFoundError(errno.ENOENT, "No file matches the pattern", path)
    else:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return sorted(files, key=_by_path)


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


def _says_left_out(names: list[str]) -> str:
    """The message of LeftOutWarning: how many files, and the first of them."""
    number = "1 file that is not text was" if len(names) == 1 else f"{len(names):,} files that are not text were"
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"{number} left out: {', '.join(names[:3])}{more}"


def _raise(error: OSError) -> None:
    raise error


def _contents(path: str) -> Document:
    try:
        with open(path, "rb") as file:
            if not stat.S_ISCHR(os.stat(path).st_mode):
                return file.read()
            data = file.read(_MOST_OF_A_DEVICE + 1)
            if len(data) > _MOST_OF_A_DEVICE:
                raise OSError(errno.EFBIG, "The device gives bytes without end")
            return data
    except OSError as error:
        # Opening names the file, reading does not.
        error.filename = path
        raise


def _regular_size(path: str) -> int:
    """The size of a regular file; 0 of what is none, or cannot be asked, which reading will say."""
    try:
        status = os.stat(path)
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _has_nul(path: str) -> bool:
    """Whether a file has a NUL byte; it is read in stretches."""
    try:
        with open(path, "rb") as file:
            return any(b"\0" in data for data in iter(lambda: file.read(_STRETCH), b""))
    except OSError as error:
        error.filename = path
        raise


def _well_formed(name: str, data: Document, errors: Errors) -> Document:
    """`data` if it is UTF-8, else what `errors` says."""
    if data.isascii():
        return data
    view, start = memoryview(data), 0
    try:
        while start < len(data):
            end = start + _STRETCH
            # Of a stretch that cuts a character in two, the beginning of the character is left for the next one.
            start += codecs.utf_8_decode(view[start:end], "strict", end >= len(data))[1]
    except UnicodeDecodeError as error:
        if errors != "strict":
            return data.decode("utf-8", errors).encode()
        at = start + error.start
        raise not_utf8(name, at, data[at]) from None
    return data


def not_utf8(name: str, at: int, byte: int) -> TextError:
    """The error for a file that is not UTF-8 from `at` on, where `byte` stands."""
    return TextError(f'{name} is not UTF-8 at byte {at} (0x{byte:02x}): convert it, or go on with errors="replace"')
