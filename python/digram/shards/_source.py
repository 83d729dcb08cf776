"""Where documents come from: a corpus in batches, or any iterable as if it were one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from digram import _optional
from digram._text import whole_characters
from digram.shards._tokens import Array
from digram.tokenizer import Text

__all__ = ["BATCH", "Batch", "Position", "Source", "as_bytes", "as_list", "sizes_of", "source_of"]

BATCH = 16 << 20
"""Bytes of text that are encoded at a time."""

Position = tuple[int, int]

# A document costs something too, so that a batch of empty ones ends as well.
_DOCUMENT = 64


class Batch(Protocol):
    """Some documents, with where they came from."""

    @property
    def documents(self) -> Any: ...  # a list of texts, or an Arrow array of them
    @property
    def columns(self) -> Any: ...  # an Arrow record batch of the other columns, or None
    @property
    def position(self) -> Position: ...  # where reading goes on after the last one
    def where(self, i: int) -> str: ...


class Source(Protocol):
    """What documents are read from."""

    def read(self, size: int = BATCH, *, start: Position = (0, 0), columns: bool = False) -> Iterator[Batch]: ...
    def fingerprint(self) -> str: ...


def source_of(corpus: Any) -> Source:
    """A corpus as it is; documents of an iterable in batches. TypeError for what is neither."""
    if hasattr(corpus, "read") and hasattr(corpus, "fingerprint"):
        return cast(Source, corpus)
    if isinstance(corpus, (str, bytes, os.PathLike)):
        raise TypeError(
            f"corpus must be a digram.Corpus or an iterable of documents, not one {type(corpus).__name__}: "
            "digram.Corpus(path) reads files, [text] is one document"
        )
    if not isinstance(corpus, Iterable):
        raise TypeError(f"corpus must be a digram.Corpus or an iterable of documents, not {type(corpus).__name__}")
    return _Documents(corpus)


@dataclass(frozen=True, slots=True)
class _Listed:
    documents: list[Text]
    first: int
    columns: None = None

    @property
    def position(self) -> Position:
        return 0, self.first + len(self.documents)

    def where(self, i: int) -> str:
        return f"document {self.first + i}"


class _Documents:
    """Any iterable of texts. It cannot be told from another one: whoever resumes gives the same again."""

    def __init__(self, documents: Iterable[Text]) -> None:
        self._documents = documents

    def read(self, size: int = BATCH, *, start: Position = (0, 0), columns: bool = False) -> Iterator[_Listed]:
        first, batch, held = start[1], list[Text](), 0
        for number, document in enumerate(self._documents):
            if number < start[1]:
                continue
            if not isinstance(document, (str, bytes)):
                try:
                    memoryview(document)
                except TypeError:
                    message = f"document {number} must be str or bytes, not {type(document).__name__}"
                    raise TypeError(message) from None
            batch.append(document)
            held += len(document) + _DOCUMENT
            if held >= size:
                yield _Listed(batch, first)
                first, batch, held = number + 1, [], 0
        if batch:
            yield _Listed(batch, first)

    def fingerprint(self) -> str:
        return "documents of an iterable"


def sizes_of(documents: Any) -> Array:
    """How many bytes of UTF-8 each document has."""
    if not isinstance(documents, list):
        compute = _optional.needed("pyarrow.compute", "reading Arrow arrays")
        return np.asarray(compute.binary_length(documents).to_numpy(zero_copy_only=False), np.int64)
    return np.fromiter(map(_size, documents), np.int64, len(documents))


def _size(document: Text) -> int:
    if isinstance(document, str):
        return len(document) if document.isascii() else len(as_bytes(document))
    return len(document)


def as_bytes(document: Text) -> bytes | memoryview:
    """A document in UTF-8, surrogates joined or replaced, as the engine takes it."""
    if not isinstance(document, str):
        return memoryview(document)
    try:
        return document.encode()
    except UnicodeEncodeError:
        return whole_characters(document).encode()


def as_list(documents: Any) -> list[Text]:
    """The documents as Python objects."""
    return documents if isinstance(documents, list) else list(documents.to_pylist())
