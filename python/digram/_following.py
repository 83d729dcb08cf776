"""What follows a training while it runs: a log of its merges, and checkpoints to go on from."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from array import array
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from digram.definition import Definition, special_ids
from digram.files import written_whole

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Following", "Merge", "check_places", "numbered", "trained"]

AnyPath = str | os.PathLike[str]
Log = AnyPath | Callable[["Merge"], object]

# Of a token, a log shows this many bytes.
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge as it was learnt: the new id, its parts, and how often the pair occurred then.

    The count is an int; with weights that are no whole numbers it may be a Fraction.
    """

    id: int
    left: int
    right: int
    count: int | Fraction


def check_places(log: Log | None, checkpoint: AnyPath | None, every: float) -> None:
    """Says before all texts are read, not after, that one of the files cannot be written where it is to go."""
    if isinstance(every, bool) or not isinstance(every, (int, float)):
        raise TypeError(f"checkpoint_every must be a number of seconds, not {type(every).__name__}")
    if not every > 0:
        raise ValueError(f"checkpoint_every must be a number of seconds above 0, not {every}")
    for name, path in (("log", log), ("checkpoint", checkpoint)):
        if path is not None and not (name == "log" and callable(path)):
            if not isinstance(path, (str, os.PathLike)):
                what = "the path of a file, or a function" if name == "log" else "the path of a file"
                raise TypeError(f"{name} must be {what}, not {type(path).__name__}")
            if not os.fspath(path):
                raise ValueError(f"{name} is an empty name: give the path of a file")
            folder = os.path.dirname(os.path.abspath(path))
            if not os.path.isdir(folder):
                raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder!r} for the file", os.fspath(path))
            if os.path.isdir(path):
                raise IsADirectoryError(errno.EISDIR, "a folder stands in the place of the file", os.fspath(path))
            _check_writable(path, folder, in_place=name == "log")


def _check_writable(path: AnyPath, folder: str, in_place: bool) -> None:
    """OSError where nothing can be written: neither a file beside the old one that then takes its place, nor, of a log,
    the file itself."""
    try:
        if in_place and os.path.exists(path):
            if os.path.isfile(path):  # to open a pipe is to begin with it
                with open(path, "ab"):
                    pass
            return
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = f"nothing can be written in the folder {folder!r}: {error.strerror}"
        raise type(error)(error.errno, reason, os.fspath(path)) from None


class Following:
    """Takes the merges of a training as they come, for a log and for checkpoints. A context manager.

    `definition` is what is trained, without its merges and, of a character alphabet, without its characters; `markers`
    are its special tokens. Counts are multiples of 1 / `scale`. Where the training ends early, by Ctrl-C too, the
    checkpoint gets what was learnt until then.
    """

    def __init__(
        self,
        definition: Definition,
        markers: list[str],
        scale: int,
        log: Log | None,
        checkpoint: AnyPath | None,
        every: float,
    ) -> None:
        self.definition, self._markers, self.scale = definition, markers, scale
        self._merges, self._characters = array("I"), ""
        self._log = None if log is None else _Log(log)
        self._checkpoint, self._every, self._written = checkpoint, every, 0
        self._due = time.monotonic() + every
        self._stack = ExitStack()

    def __bool__(self) -> bool:
        return self._log is not None or self._checkpoint is not None

    def __enter__(self) -> Self:
        if self._log is not None:
            self._stack.enter_context(self._log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            self._write()

    def add(self, merges: bytes | bytearray, counts: bytes | bytearray, characters: str) -> None:
        """The next merges as flat u32 pairs of the engine, their counts as flat u64, and the alphabet."""
        self._characters = characters
        first = len(self._merges)
        self._merges.extend(numbered(array("I", bytes(merges)), self.definition, characters))
        if self._log is not None:
            known = replace(self.definition, characters=characters)
            self._log.start(known)
            pairs = zip(self._merges[first::2], self._merges[first + 1 :: 2], array("Q", bytes(counts)), strict=True)
            for id, (left, right, n) in enumerate(pairs, known.first_merge + first // 2):
                self._log.add(Merge(id, left, right, n if self.scale == 1 else _ratio(n, self.scale)))
            self._log.flush()
        if self._checkpoint is not None and time.monotonic() >= self._due:
            self._write()

    def rest(self, merges: bytearray, counts: bytearray, characters: str) -> None:
        """All merges, of which those that `add` was not given are new."""
        self.add(merges[4 * len(self._merges) :], counts[4 * len(self._merges) :], characters)

    def _write(self) -> None:
        if self._checkpoint is not None and len(self._merges) > self._written:
            from digram.formats.digram import write

            definition = trained(self.definition, self._characters, self._merges, self._markers)
            with written_whole(self._checkpoint) as file:
                write(definition, file)
            self._written = len(self._merges)
        # After the writing, however long it takes: training must not be slowed by its own checkpoints.
        self._due = time.monotonic() + self._every


def numbered(merges: array[int], definition: Definition, characters: str) -> array[int]:
    """The engine's ids as those of the vocabulary. The engine knows of no byte tokens, which stand behind the
    characters where `unknown` is "bytes".
    """
    if definition.unknown != "bytes":
        return merges
    return array("I", (id + 256 if id >= len(characters) else id for id in merges))


def trained(definition: Definition, characters: str, merges: array[int], markers: list[str]) -> Definition:
    """`definition` with its characters and merges, and with special tokens behind these."""
    definition = replace(definition, characters=characters, merges=merges)
    return replace(definition, special_tokens=special_ids(markers, definition.first_merge + len(merges) // 2))


class _Log:
    """Merges one by one: to a function, or a line each to a file."""

    def __init__(self, to: Log) -> None:
        self._call = to if callable(to) else None
        self._path = None if callable(to) else to
        self._file: TextIO | None = None
        self._tokens: list[bytes] = []

    def __enter__(self) -> Self:
        if self._path is not None:
            self._file = open(self._path, "w", encoding="utf-8", newline="\n")
            self._file.write("id\tleft\tright\tcount\ttoken\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def start(self, definition: Definition) -> None:
        """The alphabet is known now."""
        if self._file is not None and not self._tokens:
            if definition.alphabet == "characters":
                self._tokens = [character.encode() for character in definition.characters]
            if len(self._tokens) < definition.first_merge:
                self._tokens += [bytes([byte]) for byte in range(256)]

    def add(self, merge: Merge) -> None:
        if self._call is not None:
            self._call(merge)
        elif self._file is not None:
            # The beginning is enough: all tokens together may grow with the square of the text.
            token = (self._tokens[merge.left] + self._tokens[merge.right])[: _SHOWN + 1]
            self._tokens.append(token)
            shown = repr(token[:_SHOWN])[2:-1] + ("..." if len(token) > _SHOWN else "")
            self._file.write(f"{merge.id}\t{merge.left}\t{merge.right}\t{merge.count}\t{shown}\n")

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()


def _ratio(count: int, scale: int) -> int | Fraction:
    from fractions import Fraction  # loads decimal, which few need

    ratio = Fraction(count, scale)
    return ratio.numerator if ratio.denominator == 1 else ratio
