"""How often each piece occurs in texts: all that training needs to know of them."""

from __future__ import annotations

import os
import tempfile
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from mmap import mmap
from typing import TYPE_CHECKING, Any, Literal, Protocol

from digram import _arrow, _native, _threads
from digram._numbers import whole_number
from digram._sizes import number_of_bytes
from digram._text import whole_characters
from digram.definition import special_ids
from digram.patterns import checked, pattern

if TYPE_CHECKING:
    import pyarrow

    from digram.corpus import Corpus, LargeFile

__all__ = ["PieceCounts", "Progress"]

Text = str | bytes

ONE_TEXT = (str, bytes, bytearray, memoryview, mmap)
"""What is a text, and not many of them."""
AnyPath = str | os.PathLike[str]
Flat = tuple[bytes, bytearray, bytearray]

# Texts are handed to the engine in batches of about this many characters, so that all threads have work and memory
# stays small.
_BATCH = 16 << 20
_PIECES = 1 << 16

# Bytes of a text that a thread is given at a time, about; None for what the engine finds best.
_PART: int | None = None

# A file from this many bytes on is read by the engine, in parts.
_LARGE_FILE = 1 << 20


class Readable(Protocol):
    """What bytes can be read from: a file, a pipe, what unpacks a file."""

    def read(self, size: int, /) -> bytes | None: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far training has come: "counting" (documents, characters) and then "merging" (merges of planned).

    `read` is what has been read for it: of a Corpus bytes of its files, as they lie on the disk, of `Corpus.bytes`; of
    other texts the characters.
    """

    stage: Literal["counting", "merging"]
    documents: int = 0
    characters: int = 0
    merges: int = 0
    planned: int | None = None
    best_count: int = 0
    read: int = 0


class PieceCounts:
    """Distinct pieces of texts with how often each occurs: all that training needs to know of a corpus.

    Counts add up (`merge`), so a corpus may be counted in parts. Only the tie rule `first-seen` looks at the order of
    first appearance; of counts that came from a mapping it is not known, and `ordered` is False. Several threads may
    add to the same counts: nothing is lost, and only the order is left to chance.

    split             a name of `digram.patterns`, a regular expression, or None for whole documents
    special_tokens    are cut out of the texts first, the longest first
    memory_limit      how much memory counting may take, about: a number of bytes, or a str such as "4GB". Pieces beyond
                      it go to temporary files, sorted, which are merged when the counts are read; nothing else
                      changes. Buffers for reading come on top, some hundred kilobytes a thread
    temporary_folder  where these files go; default: `tempfile.gettempdir()`. They have no names (on Windows: until
                      they are closed), so none is left behind, whatever ends the process

    Training takes the distinct pieces with about 40 bytes for each, and about 16 bytes for each of their symbols. Where
    that is more than the limit, it works in stages, which read the temporary files twice each: slower, with the same
    merges, and within the limit as long as the pairs that decide about the next merges fit (docs/training.md).
    """

    def __init__(
        self,
        split: str | None = "cl100k",
        special_tokens: Iterable[str] = (),
        *,
        memory_limit: int | str | None = None,
        temporary_folder: AnyPath | None = None,
    ) -> None:
        self.split = checked(split)
        self.special_tokens = tuple(special_ids(special_tokens, 0))
        self.ordered = True
        self.documents = 0
        self._lock = threading.Lock()  # of what Python counts; the engine has its own
        limit = None
        if memory_limit is not None:
            folder = tempfile.gettempdir() if temporary_folder is None else os.fspath(temporary_folder)
            limit = (number_of_bytes("memory_limit", memory_limit), folder)
        self._native = _native.PieceCounts(pattern(split), list(self.special_tokens), limit, _PART)

    @classmethod
    def from_mapping(
        cls, counts: Mapping[Text, int], *, split: str | None = "cl100k", special_tokens: Iterable[str] = ()
    ) -> PieceCounts:
        """Counts of pieces that were cut before; `split` says by what, for the tokenizer that is trained from them."""
        new = cls(split, special_tokens)
        if not isinstance(counts, Mapping):
            raise TypeError(f"counts must be a mapping of pieces to numbers, not {type(counts).__name__}")
        pieces, numbers = [], []
        for piece, n in counts.items():
            if not isinstance(piece, (str, bytes)):
                raise TypeError(f"pieces must be str or bytes, not {type(piece).__name__}: {piece!r}")
            try:
                numbers.append(whole_number("n", n, least=0))
            except (TypeError, ValueError):
                message = f"the count of piece {piece!r} must be an int from 0 to 2^64 - 1, not {n!r}"
                raise ValueError(message) from None
            pieces.append(whole_characters(piece).encode() if isinstance(piece, str) else piece)
        new._add_counts(pieces, numbers)
        new.ordered = len(new) == 0  # of nothing any order is known
        return new

    def add(
        self,
        texts: Text | bytearray | memoryview | mmap | Iterable[Text] | Corpus | pyarrow.Array | pyarrow.ChunkedArray,
        *,
        threads: int | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        """Counts the pieces of a text or of many. An item that is neither str nor bytes raises TypeError with its
        index, which counts on from the documents that were added before.

        The memory of an Arrow array or column of strings or of binary (see `Tokenizer.encode_batch`) is read where it
        is; a null raises TypeError, and a string that is not UTF-8 TextError.

        Large files of a Corpus are read and counted in parts, where the split allows it, so that a file of any size
        takes little memory. Errors are those of the Corpus, and OSError where a temporary file cannot be written.

        After an error, or Ctrl-C, the counts hold a part of the texts.
        """
        if isinstance(texts, Mapping):
            raise TypeError(
                "texts must be a list of texts, not a mapping: give mapping.values(), or, where it holds counts of "
                "pieces, PieceCounts.from_mapping(mapping)"
            )
        characters, read, threads = 0, 0, _threads.checked(threads)

        def told(more: int = 0, passed: int | None = None) -> None:
            if progress is not None:
                passed = more if passed is None else passed
                progress(Progress("counting", self.documents, characters + more, read=read + passed))

        from digram.corpus import LargeFile

        batches: Iterable[tuple[list[Text] | LargeFile | _native.FlatTexts, int, int]]
        if not isinstance(texts, (list, *ONE_TEXT)) and _arrow.is_arrow(texts):
            batches = _arrow_batches(texts, self.documents)
        else:
            batches = _batches([texts] if isinstance(texts, ONE_TEXT) else texts)  # type: ignore[list-item]
        for batch, size, passed in batches:
            if isinstance(batch, LargeFile):
                size = self._add_large_file(batch, threads, told)
                passed += 0 if batch.size else size  # of standard input and pipes
            else:
                self._native.add(batch, self.documents, threads)
            with self._lock:
                self.documents += 1 if isinstance(batch, LargeFile) else len(batch)
            characters += size
            read = passed
            told()

    def add_stream(
        self,
        stream: Readable,
        *,
        threads: int | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        """Counts the pieces of a stream, which is one document of UTF-8: a file that is open for reading bytes, a pipe,
        `sys.stdin.buffer`, `gzip.open(path)`.

        It is read and counted in parts, where the split allows it (all of `digram.patterns` do; of a pattern where no
        safe place for a cut is known, the whole document is read first), so that it may be of any length. TextError
        names the first byte that is not UTF-8; what the stream raises comes through. After an error, or Ctrl-C, the
        counts hold a part of it.
        """
        if not callable(getattr(stream, "read", None)):
            raise TypeError(f"a stream must have read(), as a file does, not be {type(stream).__name__}")

        def told(size: int) -> None:
            if progress is not None:
                progress(Progress("counting", self.documents, size))

        name = getattr(stream, "name", "the stream")
        size = self._add_stream(str(name), stream, _threads.checked(threads), told)
        with self._lock:
            self.documents += 1
        told(size)

    def _add_stream(self, name: str, stream: Readable, threads: int | None, told: Callable[[int], None]) -> int:
        """Counts a stream; the number of its bytes."""
        size = 0

        def read(most: int) -> bytes | None:
            nonlocal size
            some = stream.read(most)
            size += len(some or b"")
            return some

        if wrong := self._native.add_stream(read, threads, told):
            from digram.corpus import not_utf8

            raise not_utf8(name, *wrong)
        return size

    def _add_large_file(self, file: LargeFile, threads: int | None, told: Callable[[int, int], None]) -> int:
        """Counts a file of a corpus in parts; the number of its bytes. `told` gets those, and those on the disk."""
        from digram.corpus import not_utf8, paths
        from digram.corpus.packed import check_whole

        if file.stream:
            with file.opened() as stream:
                name = "standard input" if file.path == "-" else file.path
                return self._add_stream(name, stream, threads, lambda size: told(size, stream.passed))
        before = paths.regular(file.path)
        if wrong := self._native.add_file(file.path, threads, lambda size: told(size, size)):
            raise not_utf8(file.path, *wrong)
        check_whole(file.path, before)
        return file.size

    def merge(self, other: PieceCounts | AnyPath) -> None:
        """Adds all counts of `other`, or of the file of that name, which must have the same split and special tokens;
        its new pieces come after the ones here. A file is read in parts, and takes no memory of its own: after an error
        the counts hold a part of it.

        OverflowError where a sum is above 2^64 - 1: of counts in memory nothing was added then. (With a memory limit,
        where counts are on disk, only reading them tells it.)
        """
        if isinstance(other, (str, os.PathLike)):
            from digram import _counts_files

            _counts_files.merge(self, other)
            return
        if not isinstance(other, PieceCounts):
            raise TypeError(f"counts are added to counts, not {type(other).__name__}")
        self._check_same(other.split, other.special_tokens)
        self._native.merge(other._native)
        self._have_merged(other.ordered or len(other) == 0, other.documents)

    def _check_same(self, split: str | None, special_tokens: tuple[str, ...]) -> None:
        for name, its in (("split", split), ("special_tokens", special_tokens)):
            mine = getattr(self, name)
            if mine != its:
                raise ValueError(f"counts with {name}={mine!r} and {name}={its!r} cannot be added up")

    def _have_merged(self, ordered: bool, documents: int) -> None:
        with self._lock:
            self.ordered = self.ordered and ordered
            self.documents += documents

    def items(self) -> Iterator[tuple[bytes, int]]:
        """(piece, count), in order of first appearance."""
        for pieces, ends, counts in self._flat():
            for (start, end), n in zip(pairwise([0, *array("Q", ends)]), array("Q", counts), strict=True):
                yield pieces[start:end], n

    def _flat(self) -> Iterator[Flat]:
        """The pieces in flat parts: bytes, ends and counts."""
        yield from iter(self._native.reader().read, None)

    def save(self, path: AnyPath) -> None:
        """Writes the counts into a file for `load`, so that others may train from them without the texts.

        A name that ends in .parquet makes a Parquet file (`piece: binary, count: int64`), for any other tool too; it
        needs pyarrow. The file appears under its name when it is whole. OSError where it cannot be written.
        """
        from digram import _counts_files

        _counts_files.save(self, path)

    @classmethod
    def load(
        cls,
        path: AnyPath,
        *,
        split: str | None = "cl100k",
        special_tokens: Iterable[str] = (),
        memory_limit: int | str | None = None,
        temporary_folder: AnyPath | None = None,
    ) -> PieceCounts:
        """The counts of a file that `save` wrote, or of any Parquet file with the columns `piece` and `count`, of which
        `split` and `special_tokens` say how the pieces were cut. The limits are as of a new PieceCounts.

        OSError where the file cannot be read; FormatError where it is none of these, or damaged.
        """
        from digram import _counts_files

        return _counts_files.load(cls, path, split, special_tokens, memory_limit, temporary_folder)

    def _add_counts(self, pieces: list[bytes], counts: list[int]) -> None:
        # Not all at once: between two calls Python looks for Ctrl-C.
        for start in range(0, len(pieces), _PIECES):
            some, ends = pieces[start : start + _PIECES], array("Q", [0])
            for piece in some:
                ends.append(ends[-1] + len(piece))
            self._native.add_counts(b"".join(some), ends[1:], array("Q", counts[start : start + _PIECES]))

    def __len__(self) -> int:
        """The number of distinct pieces."""
        return len(self._native)

    def __repr__(self) -> str:
        return f"<digram.PieceCounts: {len(self):,} distinct pieces, split={self.split!r}>"

    def __reduce__(self) -> tuple[object, ...]:
        state = (self.split, self.special_tokens, self.ordered, self.documents, *self._native.flat())
        return _piece_counts, state


def _piece_counts(
    split: str | None,
    special_tokens: tuple[str, ...],
    ordered: bool,
    documents: int,
    pieces: bytes,
    ends: bytes,
    counts: bytes,
) -> PieceCounts:
    new = PieceCounts(split, special_tokens)
    new.ordered, new.documents = ordered, documents
    new._native.add_counts(pieces, array("Q", ends), array("Q", counts))
    return new


def _arrow_batches(texts: Any, first: int) -> Iterator[tuple[_native.FlatTexts, int, int]]:
    """As `_batches`, of an Arrow array or column."""
    read = 0
    for batch, size in _arrow.batches(texts, first, _BATCH, _PIECES):
        read += size
        yield batch, size, read


def _batches(
    texts: Iterable[Text] | Corpus,
) -> Iterator[tuple[list[Text] | LargeFile | _native.FlatTexts, int, int]]:
    """Texts in lists of about `_BATCH` characters, with the number of characters, and how much has been read so far; of
    a Corpus, a large file instead."""
    from digram.corpus import Corpus, LargeFile

    read = 0
    if isinstance(texts, Corpus):
        for part in texts.parts(_LARGE_FILE, _BATCH):
            if isinstance(part, LargeFile):
                yield part, part.size, part.read
            else:
                documents = part.documents if isinstance(part.documents, list) else _arrow.flat(part.documents)
                yield documents, part.size, part.read
        return
    batch: list[Text] = []
    size = 0
    for text in texts:
        batch.append(text)
        # What is no text is counted as nothing here, and refused with its index by the engine.
        size += len(text) if isinstance(text, (str, bytes)) else 0
        if size >= _BATCH or len(batch) >= 1 << 16:
            read += size
            yield batch, size, read
            batch, size = [], 0
    if batch:
        yield batch, size, read + size
