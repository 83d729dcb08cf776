"""Documents that come together, and where each of them stood."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from digram.corpus.paths import shown

__all__ = ["Batch", "Batches", "Chunk", "Run", "as_bytes", "bytes_of", "place", "utf8"]


_DOCUMENT = 64


@dataclass(slots=True)
class Chunk:
    """Some documents of one file, as a reader gives them."""

    documents: Any
    """A list of str and bytes, or an Arrow array of text without nulls."""
    numbers: Sequence[int]
    """The number of each document's record in the file, from 0."""
    end: int
    """How many records of the file have gone by: these, those that were left out, and all before."""
    size: int
    """Bytes of the documents, about."""
    read: int
    """Bytes of the file that have gone by, as it lies on the disk."""
    columns: Any = None
    """A RecordBatch of the other columns, where they were asked for."""


@dataclass(frozen=True, slots=True)
class Run:
    """Documents of a batch that come from one file."""

    name: str
    file: int
    unit: str | None  # "line", "row", ...; None where the file is the document
    base: int  # the number that the first record of the file has for people
    numbers: Sequence[int]


@dataclass(slots=True, repr=False)
class Batch:
    """Documents in order, about as many bytes as were asked for.

    documents  a list of str and bytes, or an Arrow array (string or large_string, without nulls): what
               `Tokenizer.encode_batch` and `PieceCounts.add` take. UTF-8 as `Corpus` promises.
    columns    with `Corpus.read(columns=True)`, a pyarrow.RecordBatch of the other columns of the same rows
    position   (file number, records taken of this file) after the last document: `Corpus.read(start=position)` goes on
               there. The records that were left out count as taken.
    size       bytes of the documents, about
    read       bytes of the files read so far, as they lie on the disk (packed, for packed ones), the skipped ones too
    """

    documents: Any
    columns: Any
    position: tuple[int, int]
    size: int = 0
    read: int = 0
    _runs: list[Run] = field(default_factory=list)
    _firsts: list[int] = field(default_factory=list)  # of each run, the index of its first document

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        documents = f"{len(self):,} document{'' if len(self) == 1 else 's'}"
        return f"<digram.corpus.Batch: {documents}, about {self.size:,} bytes, position={self.position}>"

    def _at(self, i: int) -> tuple[Run, int]:
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} documents, and no document {i}")
        i %= len(self)
        at = bisect_right(self._firsts, i) - 1
        return self._runs[at], self._runs[at].numbers[i - self._firsts[at]]

    def file(self, i: int) -> str:
        """The file that document `i` comes from; "-" is standard input."""
        return self._at(i)[0].name

    def where(self, i: int) -> str:
        """Where document `i` stands, for messages: "data/x.jsonl.zst line 17", or the file alone where it is all of
        the file."""
        run, number = self._at(i)
        return place(run.name, run.unit, run.base + number)

    def after(self, i: int) -> tuple[int, int]:
        """The position after document `i`, as `position` is that after the last one."""
        run, number = self._at(i)
        return run.file, number + 1

    def files(self) -> list[tuple[int, str, int]]:
        """(file number, name, how many documents) in order, of the files that the documents come from."""
        found: list[tuple[int, str, int]] = []
        for run in self._runs:
            before = found.pop()[2] if found and found[-1][0] == run.file else 0
            found.append((run.file, run.name, before + len(run.numbers)))
        return found


def place(name: str, unit: str | None, number: int) -> str:
    """A record of a file, for people."""
    return shown(name) if unit is None else f"{shown(name)} {unit} {number}"


class Batches:
    """Puts chunks together to batches. Only chunks of one kind go together: lists, or arrays of one type."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._chunks: list[Chunk] = []
        self._runs: list[Run] = []
        self._held = 0

    def add(self, chunk: Chunk, run: Run) -> Batch | None:
        """Takes a chunk; gives the batch before, if the chunk does not go with it."""
        before = None
        if self._chunks and _kind(self._chunks[-1]) != _kind(chunk):
            before = self.take()
        self._chunks.append(chunk)
        self._runs.append(run)
        # A document costs about so much beside its text, so a batch of empty ones ends as well; columns may hold more
        # than texts.
        self._held += chunk.size + 256 + _DOCUMENT * len(chunk.numbers)
        self._held += 0 if chunk.columns is None else chunk.columns.nbytes
        return before

    @property
    def full(self) -> bool:
        """Whether there is enough for a batch."""
        return self._held >= self._size

    def take(self) -> Batch | None:
        """The batch of what was added; None of nothing."""
        if not self._chunks:
            return None
        chunks, runs = self._chunks, self._runs
        self._chunks, self._runs, self._held = [], [], 0
        if isinstance(chunks[0].documents, list):
            documents: Any = list(chain.from_iterable(chunk.documents for chunk in chunks))
        elif len(chunks) == 1:
            documents = chunks[0].documents
        else:
            import pyarrow

            documents = pyarrow.concat_arrays([chunk.documents for chunk in chunks])
        columns = None
        if chunks[0].columns is not None:
            columns = chunks[0].columns
            if len(chunks) > 1:
                import pyarrow

                columns = pyarrow.concat_batches([chunk.columns for chunk in chunks])
        firsts, n = [], 0
        for run in runs:
            firsts.append(n)
            n += len(run.numbers)
        position = (runs[-1].file, chunks[-1].end)
        size = sum(chunk.size for chunk in chunks)
        return Batch(documents, columns, position, size, chunks[-1].read, runs, firsts)


def _kind(chunk: Chunk) -> object:
    columns = None if chunk.columns is None else chunk.columns.schema
    return (None if isinstance(chunk.documents, list) else chunk.documents.type), columns


def as_bytes(documents: Any) -> list[bytes]:
    """The documents of a batch as bytes, well-formed UTF-8."""
    if isinstance(documents, list):
        return [document if isinstance(document, bytes) else utf8(document) for document in documents]
    import pyarrow

    large = pyarrow.types.is_large_string(documents.type)
    found: list[bytes] = documents.cast(pyarrow.large_binary() if large else pyarrow.binary()).to_pylist()
    return found


def bytes_of(texts: list[Any]) -> int:
    """How many bytes texts have in UTF-8."""
    return sum(len(text) if isinstance(text, bytes) or text.isascii() else len(utf8(text)) for text in texts)


def utf8(text: str) -> bytes:
    """A str as UTF-8; of pairs of surrogates the character, of lone ones U+FFFD, as everywhere."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        from digram._text import whole_characters

        return whole_characters(text).encode()
