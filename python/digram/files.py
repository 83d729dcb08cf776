"""Files: read where they are files at all, written so that nothing half-written stands under the final name."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from digram.errors import FormatError

__all__ = [
    "LARGEST",
    "check_readable",
    "contents",
    "made_folder",
    "regular_file",
    "whole_file",
    "whole_files",
    "written_whole",
]

LARGEST = 1 << 30
"""No vocabulary is read from more bytes than these; the largest published ones have a thirtieth of them."""

AnyPath = str | os.PathLike[str]


def check_readable(path: AnyPath) -> None:
    """FormatError where `path` is a pipe, a socket or a device: these would be waited for, or may never end.

    What is not there, and a folder, is for `open` to refuse.
    """
    with suppress(OSError):
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise FormatError(
                f"{path} is a pipe or a device, which can be read once, and a vocabulary is read twice: "
                "write it into a file, and load that"
            )


@contextmanager
def regular_file(path: AnyPath) -> Iterator[io.BufferedReader]:
    """A file for reading. OSError where it cannot be opened, FormatError as `check_readable`."""
    check_readable(path)
    with open(path, "rb") as file:
        yield file


def contents(path: AnyPath, most: int = LARGEST) -> bytes:
    """What a file holds. Errors are those of `regular_file`; FormatError too for more than `most` bytes."""
    with regular_file(path) as file:
        data = b"" if os.fstat(file.fileno()).st_size > most else file.read(most + 1)
        if len(data) > most or os.fstat(file.fileno()).st_size > most:
            raise FormatError(
                f"{path} has more than {most:,} bytes, and digram reads no vocabulary from so large a file: "
                "name the file of the vocabulary"
            )
        return data


def made_folder(path: Path) -> None:
    """Makes a folder, and those that it is in; NotADirectoryError where there is a file of that name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        there = error.filename or path
        raise NotADirectoryError(errno.ENOTDIR, "Is a file, where a folder is to be made", str(there)) from None


class WholeFiles:
    """Files that are written; made by `whole_files`, which puts them in their places."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, str, Path]] = []  # (temporary, where it goes, the name that was given)

    @contextmanager
    def binary(self, path: AnyPath) -> Iterator[BinaryIO]:
        """A file for bytes. OSError names `path`, whatever it was that failed."""
        path = Path(path)
        with _naming(path):
            try:
                old = os.stat(path).st_mode
            except FileNotFoundError:  # or a link to nothing, which is kept
                old = None
            if old is not None and not stat.S_ISREG(old):
                with open(path, "wb") as file:  # IsADirectoryError for a folder
                    yield file
                return
            target = os.path.realpath(path)  # where a link points: it is kept
            handle, temporary = _temporary(os.path.dirname(target), 0o666 if old is None else old & 0o777)
            self._waiting.append((temporary, target, path))
            with open(handle, "wb") as file:
                yield file
                file.flush()
                if old is not None:
                    os.chmod(temporary, old & 0o7777)
                os.fsync(file.fileno())

    @contextmanager
    def text(self, path: AnyPath) -> Iterator[TextIO]:
        """A file for text: UTF-8, and only `\n` ends a line."""
        with self.binary(path) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
            try:
                yield text
            finally:
                text.detach()  # what is written reaches the file, which stays open

    def place(self) -> None:
        """Gives each file its name."""
        while self._waiting:
            temporary, target, path = self._waiting[0]
            with _naming(path):
                os.replace(temporary, target)
            del self._waiting[0]

    def discard(self) -> None:
        """Removes what has no place."""
        for temporary, _, _ in self._waiting:
            with suppress(OSError):
                os.unlink(temporary)


@contextmanager
def whole_files() -> Iterator[WholeFiles]:
    """Files that appear under their names when the block ends well, all of them; old files stay until then.

    What is no regular file, such as a pipe or a device, is written to as it is: to replace /dev/null would be a pity.
    """
    files = WholeFiles()
    try:
        yield files
        files.place()
    finally:
        files.discard()


@contextmanager
def whole_file(path: AnyPath) -> Iterator[BinaryIO]:
    """One of `whole_files`, for bytes."""
    with whole_files() as files, files.binary(path) as file:
        yield file


@contextmanager
def written_whole(path: AnyPath) -> Iterator[TextIO]:
    """One of `whole_files`, for text."""
    with whole_files() as files, files.text(path) as file:
        yield file


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """OSError without a name, or with that of a temporary file, names `path`."""
    try:
        yield
    except OSError as error:
        name = error.filename
        if error.errno is not None and (name is None or (isinstance(name, str) and name.endswith(_PART))):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


_PART = ".part"


def _temporary(folder: str, mode: int) -> tuple[int, str]:
    """A new file in `folder`, open, and its path. Of `mode` the system takes what the process's umask leaves.

    Not by `tempfile`, whose files nobody else may read: the mode that `open` would give can only be learnt by setting
    the umask of the whole process for an instant, in which other threads may make files.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = os.path.join(folder, f".digram-{os.urandom(8).hex()}{_PART}")
        try:
            return os.open(path, flags, mode), path
        except FileExistsError:
            continue
        except FileNotFoundError as error:
            raise OSError(error.errno, "The folder to write into does not exist") from None
