"""Files of piece counts: digram's own format, and Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from digram import _counts_file, _counts_parquet
from digram._sizes import number_of_bytes
from digram.errors import FormatError
from digram.files import regular_file

if TYPE_CHECKING:
    from digram.counts import PieceCounts

__all__ = ["is_counts", "load", "merge", "save"]

AnyPath = str | os.PathLike[str]
Blocks = Iterator[tuple[bytes, Any, Any]]

_PARQUET = b"PAR1"


def _is_parquet(path: AnyPath) -> bool:
    with regular_file(path) as file:
        return file.read(len(_PARQUET)) == _PARQUET


def is_counts(path: AnyPath) -> bool:
    """Whether a file says that it holds piece counts. False for what cannot be read."""
    try:
        return _counts_parquet.is_ours(path) if _is_parquet(path) else _counts_file.is_ours(path)
    except (OSError, FormatError, ModuleNotFoundError):
        return False


def save(counts: PieceCounts, path: AnyPath) -> None:
    """Writes counts, in the format that the name says."""
    parquet = os.path.splitext(os.fspath(path))[1].lower() == ".parquet"
    (_counts_parquet if parquet else _counts_file).save(counts, path)


def load(
    kind: type[PieceCounts],
    path: AnyPath,
    split: str | None,
    special_tokens: Iterable[str],
    memory_limit: int | str | None,
    temporary_folder: AnyPath | None,
) -> PieceCounts:
    """The counts of a file; `split` and `special_tokens` of one that does not say them."""
    if memory_limit is not None:
        number_of_bytes("memory_limit", memory_limit)  # so that no error of it is taken for one of the file
    facts, blocks = _opened(path)
    if facts is None:
        counts = kind(split, special_tokens, memory_limit=memory_limit, temporary_folder=temporary_folder)
        ordered, documents = False, 0
    else:
        split, specials, ordered, documents = facts
        try:
            counts = kind(split, specials, memory_limit=memory_limit, temporary_folder=temporary_folder)
        except (ValueError, TypeError) as error:
            raise _damaged(path, f"it does not say how the pieces were cut ({error})") from None
    _add(counts, path, blocks)
    counts.ordered, counts.documents = ordered, documents
    return counts


def merge(counts: PieceCounts, path: AnyPath) -> None:
    """Adds the counts of a file; one that does not say how its pieces were cut is taken at its word."""
    facts, blocks = _opened(path)
    ordered, documents = False, 0
    if facts is not None:
        split, specials, ordered, documents = facts
        try:
            counts._check_same(split, tuple(specials))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    _add(counts, path, blocks)
    counts._have_merged(ordered, documents)


def _opened(path: AnyPath) -> tuple[tuple[str | None, list[str], bool, int] | None, Blocks]:
    """((split, special tokens, ordered, documents), blocks) of a file; None for what a file of others does not say."""
    facts, blocks = (_counts_parquet if _is_parquet(path) else _counts_file).opened(path)
    if facts is None:
        return None, blocks
    try:
        split, specials = facts["split"], facts["special_tokens"]
        documents, ordered = facts["documents"], facts["ordered"]
        if not (
            type(documents) is int
            and 0 <= documents < 1 << 63
            and isinstance(ordered, bool)
            and isinstance(specials, list)
            and all(isinstance(special, str) for special in specials)
            and (split is None or isinstance(split, str))
        ):
            raise TypeError("a value of another type")
    except (KeyError, TypeError) as error:
        raise _damaged(path, f"it does not say how the pieces were cut ({error})") from None
    return (split, specials, ordered, documents), blocks


def _add(counts: PieceCounts, path: AnyPath, blocks: Blocks) -> None:
    for block in blocks:
        try:
            counts._native.add_counts(*block)
        except (ValueError, OverflowError) as error:
            raise _damaged(path, str(error)) from None


def _damaged(path: AnyPath, what: str) -> FormatError:
    return FormatError(f"{path} is damaged: {what}; count the texts again, or copy the file anew")
