"""The class Corpus."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from digram.corpus import paths, text
from digram.corpus.ahead import ahead
from digram.corpus.batch import Batch, Batches, Chunk, Run, as_bytes
from digram.corpus.limits import Limits
from digram.corpus.paths import File
from digram.corpus.reading import Errors, Reading, Tally
from digram.corpus.selection import Selection

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Corpus", "Document", "Errors", "LargeFile"]

Document = bytes
Path = str | os.PathLike[str]

# A corpus of less is read as it is asked for: there is nothing to gain by a thread.
_WORTH_A_THREAD = 1 << 22
_LEAST_WINDOW, _MOST_WINDOW = 1 << 16, 1 << 20


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A file that was not read: its path, and its size in bytes; and how many bytes of the corpus there are up to its
    end."""

    path: str
    size: int
    read: int = 0


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

    def __init__(
        self,
        paths: Path | Iterable[Path],
        field: str | None = None,
        errors: Errors = "strict",
        *,
        format: str | None = None,
        lines: bool = False,
        separator: str | None = None,
        skip_bad: bool = False,
        shard: tuple[int, int] = (0, 1),
        sample: float | Fraction | None = None,
        seed: int = 0,
        max_documents: int | None = None,
        max_characters: int | None = None,
    ) -> None:
        if errors not in ("strict", "replace", "ignore"):
            raise ValueError(f'errors must be "strict", "replace" or "ignore", not {errors!r}')
        if lines and separator is not None:
            raise ValueError('a text is cut at lines or at a separator, not both: give separator="\\n" or lines=True')
        if separator == "":
            raise ValueError("separator is the empty string, which stands everywhere: name a text that ends a document")
        self.field, self.errors, self.skip_bad = field, errors, skip_bad
        self._lines = lines
        self._end = b"\n" if lines else None if separator is None else separator.encode()
        self._selection = Selection(shard, sample, seed, max_documents, max_characters)
        self._files = _files(paths, format, field)
        self._stdin_taken = False
        self._tally = Tally(skip_bad)

    @property
    def files(self) -> tuple[str, ...]:
        """The files in the order they are read; "-" is standard input."""
        return tuple(file.name for file in self._files)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The files without text that the latest iteration left out, so far as it has come."""
        return tuple(self._tally.left_out)

    @property
    def bad_records(self) -> int:
        """How many bad records the latest iteration left out, so far as it has come; with `skip_bad`."""
        return self._tally.bad_records

    @property
    def nulls(self) -> int:
        """How many records the latest iteration left out for a null in the place of the text, so far as it has come."""
        return self._tally.nulls

    @cached_property
    def bytes(self) -> int | None:
        """The size of all files, those that will be left out too; None where it is unknown (standard input, pipes)."""
        total = 0
        for size in self._sizes:
            if size is None:
                return None
            total += size
        return total

    @cached_property
    def _sizes(self) -> list[int | None]:
        return [self._size(i, file) for i, file in enumerate(self._files)]

    def _size(self, number: int, file: File) -> int | None:
        if not self._takes(number):
            return 0  # what is not read counts as nothing, and nothing is asked of it
        try:
            return paths.size_of(file.name)
        except OSError:
            return None  # reading says it

    def _takes(self, file: int) -> bool:
        return self._selection.takes_file(file, len(self._files))

    def __iter__(self) -> Iterator[Document]:
        for _, document in self.documents():
            yield document

    def documents(self) -> Iterator[tuple[str, Document]]:
        """(file, document) for each document; "-" is standard input."""
        for batch in self._batches(1, thread=False):
            yield from _named(batch)

    def batches(self, size: int = 16 << 20) -> Iterator[list[tuple[str, Document]]]:
        """The same in lists of about `size` bytes, enough for all threads to have work."""
        for batch in self.read(size):
            yield _named(batch)

    def read(self, size: int = 16 << 20, *, start: tuple[int, int] = (0, 0), columns: bool = False) -> Iterator[Batch]:
        """The documents in batches of about `size` bytes, from a position on.

        start    a `Batch.position` of this corpus: whole files before it are not opened, and the records before it in
                 their file are passed over as cheaply as the format allows
        columns  whether batches have the other columns of the records

        Which documents there are, and where they begin and end, depends neither on `size` nor on `start`. Errors and
        warnings are those of iterating.
        """
        yield from self._batches(size, start, columns)

    def parts(self, least: int, size: int = 16 << 20) -> Iterator[Batch | LargeFile]:
        """The same for those who can read a file in parts: a LargeFile instead of a document of `least` bytes or more,
        where the file is the document as it is, if it is UTF-8."""
        yield from self._parts(size, (0, 0), False, least, True)

    def sources(self, least: int) -> Iterator[Document | LargeFile]:
        """The documents one by one, but for a LargeFile as `parts` has it."""
        for part in self._parts(1, (0, 0), False, least, False):
            if isinstance(part, LargeFile):
                yield part
            else:
                yield from as_bytes(part.documents)

    def _batches(
        self, size: int, start: tuple[int, int] = (0, 0), columns: bool = False, thread: bool = True
    ) -> Iterator[Batch]:
        for part in self._parts(size, start, columns, None, thread):
            assert isinstance(part, Batch)
            yield part

    def _parts(
        self, size: int, start: tuple[int, int], columns: bool, least: int | None, thread: bool
    ) -> Iterator[Batch | LargeFile]:
        if any(file.name == "-" for file in self._files):
            if self._stdin_taken:
                raise ValueError("standard input can be read only once: save it to a file first")
            self._stdin_taken = True
            thread = False  # nothing could end a thread that waits for a terminal
        self._tally = tally = Tally(self.skip_bad)
        make = partial(self._made, size, start, columns, least, tally)
        if thread and (self.bytes is None or self.bytes >= _WORTH_A_THREAD):
            yield from ahead(make)
        else:
            yield from make()
        tally.say()

    def _made(
        self, size: int, start: tuple[int, int], columns: bool, least: int | None, tally: Tally
    ) -> Generator[Batch | LargeFile, None, None]:
        held = Batches(size)
        reading = Reading(
            self.field,
            self.errors,
            self._end,
            self._lines,
            min(max(size, _LEAST_WINDOW), _MOST_WINDOW),
            columns,
            lambda first, count: None,
            tally,
        )
        before = 0  # bytes of the files before
        limits = Limits(self._selection, start)
        for number, file in enumerate(self._files):
            first = limits.first(number)
            if first is not None and self._takes(number):
                if least is not None and (large := self._large(number, file, least, tally)) is not None:
                    if (batch := held.take()) is not None:
                        yield batch
                    if isinstance(large, LargeFile):
                        yield replace(large, read=before + large.size)
                else:
                    chosen = partial(self._selection.among, number, len(self._files))
                    base = 2 if file.format in ("csv", "tsv") else 1  # row 1 has the names
                    unit = None if file.format == "text" and self._end is None else reading.unit(file)
                    for chunk in _chunks(file, first, replace(reading, selected=chosen)):
                        chunk.read += before
                        kept = limits.kept(number, chunk)
                        if kept is not None and len(kept.numbers):
                            run = Run(file.name, number, unit, base, kept.numbers)
                            if (batch := held.add(kept, run)) is not None:
                                yield batch
                            if held.full and (batch := held.take()) is not None:
                                yield batch
                        if limits.reached:
                            break
            before += self._sizes[number] or 0
            if limits.reached:
                break
        if (batch := held.take()) is not None:
            yield batch

    def _large(self, number: int, file: File, least: int, tally: Tally) -> LargeFile | bool | None:
        """A file that others may read; True for one that is left out, None for one that is read here."""
        if not (file.whole and self._end is None and self.errors == "strict" and file.name != "-"):
            return None
        if self.skip_bad or self._selection.limited or paths.is_address(file.name):
            return None
        size = text.regular_size(file.name)
        if size < least or self._selection.among(number, len(self._files), 0, 1) == []:
            return None
        if file.swept and text.has_nul(file.name):
            tally.left_out.append(file.name)
            return True
        return LargeFile(file.name, size)

    def fingerprint(self) -> str:
        """A name for what is read and how: the files with their sizes, the field, the selection and so on. Two corpora
        of one fingerprint give the same documents, unless a file was changed and kept its size."""
        files = [
            (name if name == "-" or paths.is_address(name) else os.path.abspath(name), size, file.format, file.packing)
            for name, size, file in zip(self.files, self._sizes, self._files, strict=True)
        ]
        how = (self.field, self.errors, self._lines, (self._end or b"").hex(), self.skip_bad, repr(self._selection))
        return hashlib.sha256(json.dumps([files, how]).encode("utf-8", "surrogateescape")).hexdigest()

    def __repr__(self) -> str:
        files = "1 file" if len(self._files) == 1 else f"{len(self._files):,} files"
        return f"<digram.Corpus: {files}, errors={self.errors!r}>"


def _files(given: Path | Iterable[Path], format: str | None, field: str | None) -> tuple[File, ...]:
    names = [given] if isinstance(given, (str, bytes, os.PathLike)) else list(given)
    if not names:
        raise ValueError("a corpus needs at least one path")
    found = [file for path in names for file in paths.expand(os.fsdecode(path))]
    return tuple(File(name, swept, *paths.format_of(name, format, field)) for name, swept in found)


def _chunks(file: File, start: int, reading: Reading) -> Iterator[Chunk]:
    """The documents of one file."""
    if file.format == "text":
        return text.documents(file, start, reading)
    raise NotImplementedError(file.format)


def _named(batch: Batch) -> list[tuple[str, Document]]:
    documents = as_bytes(batch.documents)
    return [(batch.file(i), document) for i, document in enumerate(documents)]
