"""A corpus into shards."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from digram import __version__, _optional, _threads
from digram._checked import check_tokenizer
from digram.errors import DigramError
from digram.shards import _manifest, _pipeline
from digram.shards._options import DEFAULT_SHARD_SIZE, MOST_OF_A_DOCUMENT, Format, Options
from digram.shards._source import BATCH, Position, Source, sizes_of, source_of
from digram.shards._split import held_out
from digram.shards._streams import Stream
from digram.shards._tokens import Array, checksum, with_eod

if TYPE_CHECKING:
    from digram.corpus import Corpus
    from digram.cutting import Specials
    from digram.tokenizer import Text, Tokenizer

__all__ = ["Statistics", "write"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What `write` has done, with what earlier runs did that it went on from.

    `tokens` are all ids, those that end documents too, but for padding; `bytes` are those of the documents in UTF-8;
    `longest` is the most ids of one document. `read` are the bytes that this run has read, of files as they lie on the
    disk where the corpus is of files. `seconds` and `tokens_per_second` are those of this run alone.
    """

    tokens: int = 0
    documents: int = 0
    bytes: int = 0
    longest: int = 0
    shards: int = 0
    eods: int = 0
    read: int = 0
    seconds: float = 0.0
    resumed_from: int = 0

    @property
    def bytes_per_token(self) -> float:
        """Bytes of text for each id of text: the ids that end documents do not count."""
        return self.bytes / max(self.tokens - self.eods, 1)

    @property
    def tokens_per_second(self) -> float:
        """Of this run."""
        return (self.tokens - self.resumed_from) / self.seconds if self.seconds else 0.0

    @property
    def nothing_to_do(self) -> bool:
        """Whether an earlier run had already finished."""
        return not self.seconds


def write(
    tokenizer: Tokenizer,
    corpus: Corpus | Iterable[Text],
    folder: str | os.PathLike[str],
    *,
    format: Format = "bin",
    eod: str | bool = True,
    pack: int | None = None,
    validation: float = 0.0,
    seed: int = 0,
    shard_size: int | str = DEFAULT_SHARD_SIZE,
    allowed_special: Specials = (),
    add_special_tokens: bool = False,
    columns: bool = True,
    resume: bool = False,
    threads: int | None = None,
    progress: Callable[[Statistics], Any] | None = None,
) -> Statistics:
    """Encodes a corpus into shards in a folder; `digram.shards` describes the files.

    corpus      a `digram.Corpus`, or any iterable of documents (str or bytes)
    format      "bin", "npy", "megatron" or "parquet"
    eod         the token that ends each document: its text, True for `<|endoftext|>` where the vocabulary has it, or
                False for none
    pack        the length of rows that documents are packed into, end to end and cut where a row is full; the last row
                of each split is filled up with the eod id (0 without one), and its facts say by how many
    validation  the part of documents that is held out, in a folder of its own: by a hash of each document and `seed`
    shard_size  a shard ends before the document that would bring it above so many ids (int, or str such as "100M"),
                and has more only where one document alone does; the shards of both splits end together
    allowed_special, add_special_tokens   as of `Tokenizer.encode`
    columns     whether a Parquet shard keeps the corpus's other columns; packed rows have none
    resume      go on with what a stopped run left in the folder, to the same files, byte for byte; an empty folder
                is begun, and a finished one left as it is
    threads     for encoding (default: one a core); never changes what is written
    progress    is called now and then, by this thread, with what has been written

    Memory: a few batches of 16 MB of text with their ids, and the longest document several times (docs/shards.md),
    however large the corpus is.

    FileExistsError: the folder is not empty, and `resume` was not said. NotADirectoryError: it is a file.
    BlockingIOError: another run writes into it. ValueError: an argument out of its range, or the run that is resumed
    had another tokenizer, corpus or other options. Errors of the corpus and of encoding name the document. After any
    error, an interruption or a kill, whole shards stay, nothing half-written stands under a final name, and `resume`
    goes on.
    """
    check_tokenizer(tokenizer)
    options = Options.of(
        tokenizer,
        format=format,
        eod=eod,
        pack=pack,
        validation=validation,
        seed=seed,
        shard_size=shard_size,
        allowed_special=allowed_special,
        add_special_tokens=add_special_tokens,
        columns=columns,
    )
    _threads.checked(threads)
    if format == "parquet":
        _optional.needed("pyarrow.parquet", "Parquet")
    source, path = source_of(corpus), Path(folder)
    with _manifest.locked(path):
        run = _Run(tokenizer, source, path, options, resume)
        return run.statistics if run.complete else run.go(threads, progress)


@dataclass(slots=True)
class _Part:
    """Documents of a batch; reading finds them again where it begins at `start` and leaves out `skip` documents."""

    documents: Any
    columns: Any
    start: Position
    skip: int
    where: Callable[[int], str]
    sizes: Array
    held_out: Array | None
    read: int | None


@dataclass(slots=True)
class _Encoded:
    """Their ids, where each ends among these, and how many ids each has with its eod."""

    ids: Array
    ends: Array
    lengths: Array
    columns: Any
    start: Position
    skip: int
    sizes: Array
    held_out: Array | None
    read: int | None


class _Run:
    """One run of `write`: what it is over, how far it has come."""

    def __init__(self, tokenizer: Tokenizer, source: Source, folder: Path, options: Options, resume: bool) -> None:
        self._tokenizer, self._source, self._folder, self._options = tokenizer, source, folder, options
        name = checksum(tokenizer)
        self._about = {
            "digram": __version__,
            "tokenizer": name,
            "corpus": source.fingerprint(),
            "options": options.as_json(),
        }
        facts = {
            "format": options.format,
            "dtype": options.dtype,
            "n_vocab": tokenizer.n_vocab,
            "tokenizer": name,
            "digram": __version__,
            "eod": None if options.eod is None else {"id": options.eod, "token": options.eod_token},
            "between_documents": "nothing" if options.eod is None else "each document ends with the eod id",
            "row_length": options.pack,
        }
        self._streams = [Stream(folder, split, options, facts) for split in options.splits]
        self._start: Position = (0, 0)
        self._skip = 0
        self._totals = Statistics()
        self._schema: Any = None
        self.complete = False
        manifest = _manifest.begun(folder, self._about, resume)
        if manifest is None:
            self._save()
        else:
            self._restore(manifest)

    @property
    def statistics(self) -> Statistics:
        """What is written so far, of this split and that."""
        return replace(self._totals, shards=sum(stream.number for stream in self._streams))

    def go(self, threads: int | None, progress: Callable[[Statistics], Any] | None) -> Statistics:
        """Encodes what is left."""
        started, before = time.perf_counter(), self._totals.tokens

        def now() -> Statistics:
            return replace(self.statistics, seconds=time.perf_counter() - started, resumed_from=before)

        def tell() -> None:
            if progress is not None:
                progress(now())

        try:
            _pipeline.run(self._parts(), lambda part: self._encode(part, threads), self._write, tell)
            self._checkpoint(self._start, self._skip, last=True)
        finally:
            for stream in self._streams:
                stream.abandon()
        tell()
        return now()

    # Reading

    def _parts(self) -> Generator[_Part, None, None]:
        start, skip, options = self._start, self._skip, self._options
        for batch in self._source.read(BATCH, start=start, columns=options.columns):
            documents, columns, number = batch.documents, batch.columns, len(batch.documents)
            if skip < number:
                if skip:
                    documents, columns = documents[skip:], None if columns is None else columns.slice(skip)
                out = held_out(documents, options.validation, options.seed) if options.validation else None
                yield _Part(
                    documents, columns, start, skip, batch.where, sizes_of(documents), out, getattr(batch, "read", None)
                )
            skip = max(skip - number, 0)
            start = batch.position
            del batch, documents, columns

    # Encoding

    def _encode(self, part: _Part, threads: int | None) -> _Encoded:
        options = self._options
        allowed: Any = options.allowed_special
        try:
            ids, ends = self._tokenizer.encode_batch_to_numpy(
                part.documents, allowed, (), options.add_special_tokens, threads
            )
        except DigramError as error:
            raise _placed(error, part) from None
        ends = ends.astype(np.int64)
        lengths = np.diff(ends, prepend=0) + (options.eod is not None)
        self._check_lengths(lengths, part)
        return _Encoded(ids, ends, lengths, part.columns, part.start, part.skip, part.sizes, part.held_out, part.read)

    def _check_lengths(self, lengths: Array, part: _Part) -> None:
        most = MOST_OF_A_DOCUMENT.get(self._options.format)
        if most is not None and int(lengths.max()) > most:
            i = int(lengths.argmax())
            raise ValueError(
                f"{part.where(part.skip + i)}: a document of {int(lengths[i]):,} ids is more than the {most:,} that a "
                f"document may have in the format {self._options.format}: write bin or npy"
            )

    # Writing

    def _write(self, encoded: _Encoded) -> None:
        lengths, out = encoded.lengths, encoded.held_out
        sides: list[Array | None] = [None] if out is None else [~out, out]
        before = [np.cumsum(lengths if side is None else lengths * side) for side in sides]
        first, number = 0, len(lengths)
        self._check_columns(encoded)
        while first < number:
            end = min(self._full(stream, ids, first) for stream, ids in zip(self._streams, before, strict=True))
            if end > first:
                self._put(encoded, sides, slice(first, end))
            if end < number:
                self._checkpoint(encoded.start, encoded.skip + end)
            first = end
        read = self._totals.read + int(encoded.sizes.sum()) if encoded.read is None else encoded.read
        self._totals = replace(self._totals, read=read)

    def _check_columns(self, encoded: _Encoded) -> None:
        """A file of Parquet has one schema: where that of the corpus changes, as between files, new shards begin."""
        schema = None if encoded.columns is None else encoded.columns.schema
        if schema != self._schema and any(stream.is_open for stream in self._streams):
            self._checkpoint(encoded.start, encoded.skip)
        self._schema = schema

    def _full(self, stream: Stream, before: Array, first: int) -> int:
        """The first document, from `first` on, that the open shard of a split has no room for; the number of documents
        where it has room for all. `before` are the ids of the split up to the end of each document."""
        start = int(before[first - 1]) if first else 0
        room = max(self._options.shard_size - stream.since, 0)
        end = int(np.searchsorted(before, start + room, side="right"))
        if stream.since == 0 and end < len(before) and (end == 0 or before[end - 1] == start):
            # The first of the shard, and too large for any: it has one alone.
            end = int(np.searchsorted(before, before[end], side="right"))
        return end

    def _put(self, encoded: _Encoded, sides: list[Array | None], taken: slice) -> None:
        start = int(encoded.ends[taken.start - 1]) if taken.start else 0
        ends = encoded.ends[taken] - start
        ids = encoded.ids[start : start + int(ends[-1])]
        number, old, eod = taken.stop - taken.start, self._totals, self._options.eod
        columns = None if encoded.columns is None else encoded.columns.slice(taken.start, number)
        for stream, side in zip(self._streams, sides, strict=True):
            chosen = None if side is None else side[taken]
            kept = columns if columns is None or chosen is None else columns.filter(_as_arrow(chosen))
            stream.add(*with_eod(ids, ends, chosen, eod, self._options.dtype), kept)
        self._totals = replace(
            old,
            tokens=old.tokens + int(encoded.lengths[taken].sum()),
            documents=old.documents + number,
            bytes=old.bytes + int(encoded.sizes[taken].sum()),
            longest=max(old.longest, int(encoded.lengths[taken].max())),
            eods=old.eods + (0 if eod is None else number),
        )

    def _checkpoint(self, start: Position, skip: int, last: bool = False) -> None:
        """Closes the shards of all splits, then says in the manifest that they are there, and where to go on."""
        for stream in self._streams:
            stream.close(last)
        self._start, self._skip, self.complete = start, skip, last
        self._save()

    # The manifest

    def _save(self) -> None:
        states = {stream.split or "train": stream.state for stream in self._streams}
        totals = {name: value for name, value in asdict(self._totals).items() if name in _KEPT}
        manifest = {**self._about, "complete": self.complete, "totals": totals}
        manifest["shards"] = {split: state["shards"] for split, state in states.items()}
        if not self.complete:
            manifest["next"] = {"position": list(self._start), "skip": self._skip, "rest": states}
        _manifest.save(self._folder, manifest)

    def _restore(self, manifest: dict[str, Any]) -> None:
        try:
            self._totals = Statistics(**{name: int(manifest["totals"][name]) for name in _KEPT})
            self.complete = manifest["complete"] is True
            if self.complete:
                for stream in self._streams:
                    stream.number = int(manifest["shards"][stream.split or "train"])
                self._totals = replace(self._totals, resumed_from=self._totals.tokens)
                return
            following = manifest["next"]
            file, record = following["position"]
            self._start, self._skip = (int(file), int(record)), int(following["skip"])
            for stream in self._streams:
                stream.state = following["rest"][stream.split or "train"]
        except (KeyError, TypeError, ValueError) as error:
            raise _manifest.damaged(self._folder, error) from None


_KEPT = ("tokens", "documents", "bytes", "longest", "eods")


def _as_arrow(chosen: Array) -> Any:
    return _optional.needed("pyarrow", "Parquet").array(chosen)


def _placed(error: DigramError, part: _Part) -> DigramError:
    """An error of encoding with where the document came from, in place of its number."""
    item = re.match(r"item (\d+): ", str(error))
    if item is None:
        return error
    return type(error)(f"{part.where(part.skip + int(item[1]))}: {str(error)[item.end() :]}")
