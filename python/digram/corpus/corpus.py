"""The class Corpus."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from digram._text import printable
from digram.corpus import columns, jsonl, paths, tables, text
from digram.corpus.ahead import ahead
from digram.corpus.batch import Batch, Batches, Chunk, Run, as_bytes
from digram.corpus.fields import DEFAULT
from digram.corpus.items import NAME, Items, items_of, peeked
from digram.corpus.large import LargeFile, large_file
from digram.corpus.limits import Limits
from digram.corpus.others import LOOKED_AT, Others, Rows
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
_MOST_AT_ONCE = 1 << 22  # bytes of columns


class Corpus:
    """A data set as an iterable of documents: files of text or of records, or an object that holds such.

        corpus = digram.Corpus(["notes/", "books/*.txt"])                       # a document a file
        corpus = digram.Corpus("data/*.jsonl.zst", field="text")                # a document a record
        corpus = digram.Corpus(datasets.load_dataset(...)["train"], field="text")
        tok = digram.train(corpus, vocab_size=32_000)

    docs/data.md tells all of it by example.

    source     a path or a list of them, taken in the order given:
                 a file      is read whatever its name begins with; named twice, it is read twice
                 a folder    all regular files in it and below it, sorted by path, but for hidden ones and for texts
                             with a NUL byte, which are none
                 a pattern   what `glob` finds (`**` for any depth), sorted by path, but for pipes and devices;
                             folders it finds count as folders
                 an address  `s3://bucket/data/*.parquet` and the like, by fsspec: a file, a folder or a pattern
                 "-"         standard input
               or a data set: a Dataset or IterableDataset of Hugging Face's datasets, what speaks Arrow's protocol of
               streams (tables of pyarrow, polars, pandas), an iterable of mappings. For one of texts there is
               `Corpus.from_texts`.
    field      the field, or column, of records that holds the text; "a.b" is b within a. With it, files named .jsonl
               (.ndjson, .json), .csv and .tsv are read as records; without it they are texts. Parquet and Arrow files
               always have columns: without a field it is "text", or the only column of texts.
    errors     what becomes of bytes that are not UTF-8: "strict" (TextError), "replace" (U+FFFD), "ignore" (left out)
    format     "text", "jsonl", "csv", "tsv", "parquet" or "arrow", whatever the names of the files say; also with how
               they are packed, such as "jsonl.zst" (for standard input). By name, .gz, .zst, .xz and .bz2 are unpacked.
    lines      a document is a line of a text file; its end, which is LF or CR LF, does not belong to it
    separator  a document is what stands before this text, or before the end of the file where there is more
    skip_bad   records that are bad are left out and counted, where otherwise their error is raised

    Which records are read, in this order (`Selection` has the details):

    shard           (i, n): the i-th (from 0) of n parts: each n-th file, or record where there are fewer files
    sample, seed    a part of the records (0.1: about a tenth), drawn by their places
    max_documents   no more documents than this
    max_characters  no more documents once they have so many characters together

    A document is text in well-formed UTF-8, `bytes` where a corpus is iterated. Where it is a file, it is exactly the
    file, with its line ends, and with a byte order mark if it has one. A corpus may be iterated any number of times,
    unless it holds standard input or an iterator; files are listed once, when it is made, and read one after the other
    in constant memory, but for a document that is a file.

    FileNotFoundError: no such file, a pattern without a match, a folder without files. ModuleNotFoundError: a package
    that a format or an address needs is not installed. While iterating: OSError names a file that cannot be read,
    TextError the file and the place of what is not UTF-8, CorpusError a file that is damaged or lacks the field, or a
    record without a text there. A null is no text and no error: it gives no document, and is counted. LeftOutWarning:
    at the end of an iteration, for files of a folder that are not text, for bad records and for nulls.
    """

    def __init__(
        self,
        source: Path | Iterable[Path] | Iterable[Mapping[str, Any]] | Any,
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
        if field is not None and not isinstance(field, str):
            raise TypeError(f"field must be a str, not {type(field).__name__}")
        if lines and separator is not None:
            raise ValueError('a text is cut at lines or at a separator, not both: give separator="\\n" or lines=True')
        if separator is not None and not isinstance(separator, str):
            raise TypeError(f"separator must be a str, not {type(separator).__name__}")
        if separator == "":
            raise ValueError("separator is the empty string, which stands everywhere: name a text that ends a document")
        self.field, self.errors, self.skip_bad = field, errors, skip_bad
        self._lines = lines
        try:
            self._end = b"\n" if lines else None if separator is None else separator.encode()
        except UnicodeEncodeError:
            raise ValueError(f"separator must be text, and {separator!r} is none: give characters") from None
        self._selection = Selection(shard, sample, seed, max_documents, max_characters)
        self._items = source if isinstance(source, Items) else items_of(source)
        if self._items is None:
            names: Any = source
            if not isinstance(source, (str, bytes, os.PathLike)):
                self._items, names = peeked(source)
            self._files = _files(names, format, field) if self._items is None else ()
        if self._items is not None:
            self._files = (File(NAME, False, "items", None),)
        self._stdin_taken = False
        self._tally = Tally(skip_bad)

    @classmethod
    def from_texts(cls, texts: Iterable[str | bytes | Mapping[str, Any]], **options: Any) -> Corpus:
        """The corpus of an iterable of texts, or of mappings with the text in `field`. `options` as of a Corpus; None
        counts as null."""
        if isinstance(texts, (str, bytes, Mapping)) or not isinstance(texts, Iterable):
            raise TypeError(f"texts must be an iterable of texts, not {type(texts).__name__}")
        return cls(Items(texts), **options)

    @property
    def files(self) -> tuple[str, ...]:
        """The files in the order they are read; "-" is standard input. None of an object."""
        return () if self._items is not None else tuple(file.name for file in self._files)

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
        """The size of all files as they lie on the disk, those that will be left out too; None where it is unknown
        (standard input, pipes, objects)."""
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
        if self._items is not None:
            return None
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
        where the file is the document as it is, or as it is unpacked, if it is UTF-8; and instead of the one of a
        stream, of any size."""
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
        if self._items is not None:
            thread = False  # an object may belong to the thread that made it
        self._tally = tally = Tally(self.skip_bad)
        make = partial(self._made, size, start, columns, least, tally)
        # Of files of unknown size one may be a pipe, and nothing could end a thread that waits for it.
        if thread and self.bytes is not None and self.bytes >= _WORTH_A_THREAD:
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
            min(max(size, _LEAST_WINDOW), _MOST_AT_ONCE),
        )
        if columns:
            reading = replace(reading, other=self._others(reading, tally))
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
                    for chunk in self._chunks(file, first, replace(reading, selected=chosen)):
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
        if file.format != "text" or self._end is not None or self.errors != "strict":
            return None
        if self.skip_bad or self._selection.limited or paths.is_address(file.name):
            return None
        if self._selection.among(number, len(self._files), 0, 1) == []:
            return None
        large = large_file(file, least)
        if large is not None and file.swept and text.has_nul(file):
            tally.left_out.append(file.name)
            return True
        return large

    def _chunks(self, file: File, start: int, reading: Reading) -> Iterator[Chunk]:
        """The documents of one file, by the room that reads its format."""
        if self._items is not None:
            return self._items.chunks(start, reading)
        if file.format == "text":
            return text.documents(file, start, reading)
        if file.format == "jsonl":
            return jsonl.documents(file, start, reading)
        if file.format in ("csv", "tsv"):
            return tables.documents(file, start, reading)
        return columns.documents(file, start, reading)

    def _others(self, reading: Reading, tally: Tally) -> Others:
        """What makes columns of records without a schema: that of the first records of the corpus, whichever are read,
        so that all parts of a data set have the same."""
        field = DEFAULT if self.field is None else self.field
        for file in self._files:
            if file.format == "jsonl" and file.name != "-":
                rows = Rows()
                for _ in self._chunks(file, 0, replace(reading, other=rows, tally=Tally(True))):
                    if len(rows.rows) >= LOOKED_AT:
                        break
                if rows.rows:
                    return Others(tally, field, rows.rows)
        return Others(tally, field)

    def fingerprint(self) -> str:
        """A name for what is read and how: the files with their sizes, the field, the selection and so on. Two corpora
        of one fingerprint give the same documents, unless a file was changed and kept its size."""
        if self._items is not None:
            files: list[Any] = self._items.identity()
        else:
            files = self._identities()
        how = (self.field, self.errors, self._lines, (self._end or b"").hex(), self.skip_bad, repr(self._selection))
        return hashlib.sha256(json.dumps([files, how]).encode()).hexdigest()

    def _identities(self) -> list[Any]:
        return [
            (name if name == "-" or paths.is_address(name) else os.path.abspath(name), size, file.format, file.packing)
            for name, size, file in zip(self.files, self._sizes, self._files, strict=True)
        ]

    def __repr__(self) -> str:
        if self._items is not None:
            return f"<digram.Corpus: a {type(self._items.source).__name__}, errors={self.errors!r}>"
        files = "1 file" if len(self._files) == 1 else f"{len(self._files):,} files"
        return f"<digram.Corpus: {files}, errors={self.errors!r}>"


def _files(given: Path | Iterable[Path], format: str | None, field: str | None) -> tuple[File, ...]:
    names = [given] if isinstance(given, (str, bytes, os.PathLike)) else list(given)
    if not names:
        raise ValueError("a corpus needs at least one path")
    for i, name in enumerate(names):
        if not isinstance(name, (str, bytes, os.PathLike)):
            raise TypeError(f"item {i} must be a path, not {type(name).__name__}: Corpus.from_texts is for texts")
    paths.check_format(format)
    found = [file for path in names for file in paths.expand(os.fsdecode(path))]
    files = tuple(File(name, swept, *paths.format_of(name, format, field)) for name, swept in found)
    for file in files:
        if file.packing is not None and file.format in ("parquet", "arrow"):
            raise ValueError(
                f"{printable(file.name)} is a {file.format.capitalize()} file packed by {file.packing}, which cannot "
                "be read in parts: unpack it first"
            )
    return files


def _named(batch: Batch) -> list[tuple[str, Document]]:
    documents = as_bytes(batch.documents)
    return [(batch.file(i), document) for i, document in enumerate(documents)]
