"""Shards back into documents, and packed ones into rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from digram.errors import ShardError
from digram.shards import _manifest
from digram.shards._opening import OpenShard, opened
from digram.shards._options import Format
from digram.shards._streams import stem
from digram.shards._tokens import Array

__all__ = ["Row", "about", "read", "rows"]

_SUFFIXES: dict[Format, str] = {"bin": ".bin", "npy": ".npy", "megatron": ".idx", "parquet": ".parquet"}


class Row(NamedTuple):
    """A packed row: its ids, and the boundaries of what belongs together.

    `cu_seqlens` (int32) begins with 0; what stands between two neighbours of it is of one document, and what stands
    behind the last one is padding. Attention is kept within these: `cu_seqlens` is what kernels for sequences of
    varying lengths take, `document_ids` makes a mask, `position_ids` are for position embeddings.
    """

    input_ids: Array
    cu_seqlens: Array

    @property
    def document_ids(self) -> Array:
        """For each id the number of its document in the row, from 0; -1 for padding."""
        places = np.arange(len(self.input_ids))
        numbers = np.searchsorted(self.cu_seqlens, places, side="right") - 1
        numbers[places >= self.cu_seqlens[-1]] = -1
        return numbers

    @property
    def position_ids(self) -> Array:
        """For each id its place among those of its document in this row, from 0."""
        places = np.arange(len(self.input_ids))
        starts = self.cu_seqlens[np.searchsorted(self.cu_seqlens, places, side="right") - 1]
        return np.asarray(places - starts)


def read(
    path: str | os.PathLike[str], *, split: str | None = None, dtype: str | None = None, eod: int | None = None
) -> Iterator[Array]:
    """The ids of each document, without the eod id, as arrays that should not be written to.

    path    a folder that `write` made, or a file: .bin, .npy, .parquet, or the .idx or .bin of Megatron
    split   "train" or "validation" of a folder that has both; None for both, train first
    dtype   for a .bin without its facts (x.json) beside it: "uint16", "uint32", ...
    eod     for a file without its facts: the id that ends each document, or is between two; without it, a .bin or .npy
            is one document

    Arrays of .bin, .npy and Megatron files are views of the mapped file, unless a document goes on in the next shard.
    Of a folder whose run was stopped, the documents of its whole shards come. ShardError: no shards, or damaged ones.
    """
    parts: list[Array] = []
    for shard in _shards(Path(path), split, dtype, eod):
        if shard.goes_on_from is None:
            parts = []
        for ids, ends in shard.pieces():
            if not ends:
                parts.append(np.array(ids))  # a copy: the shard is closed before the document is whole
                continue
            document = np.concatenate([*parts, ids]) if parts else ids
            parts = []
            if shard.eod is not None:
                if len(document) and document[-1] == shard.eod:
                    document = document[:-1]
                elif shard.facts is not None:
                    raise shard.damaged("a document does not end with the eod id")
            yield document


def rows(path: str | os.PathLike[str], *, split: str | None = None) -> Iterator[Row]:
    """The rows of packed shards; `path` and `split` are those of `read`. ShardError where they are not packed."""
    for shard in _shards(Path(path), split, None, None):
        yield from (Row(ids, boundaries) for ids, boundaries in shard.rows())


def about(path: str | os.PathLike[str]) -> dict[str, object]:
    """What a folder's manifest, or the facts beside a file, say of it; {} where there are none."""
    path = Path(path)
    if path.is_dir():
        return _manifest.read(path) or {}
    return opened(path, "uint32", None).facts or {}


def _shards(path: Path, split: str | None, dtype: str | None, eod: int | None) -> Iterator[OpenShard]:
    if split not in (None, "train", "validation"):
        raise ValueError(f'split must be "train", "validation" or None, not {split!r}')
    if not path.is_dir():
        yield opened(path, dtype, eod)
        return
    manifest = _manifest.read(path)
    if manifest is None:
        found = sorted(inner for inner in path.iterdir() if inner.suffix in _SUFFIXES.values())
        if not found:
            raise ShardError(f"{path} holds no shards: name a folder that `digram encode -o` wrote, or a file of ids")
        indexed = {inner.stem for inner in found if inner.suffix == ".idx"}
        for inner in found:
            if inner.suffix != ".bin" or inner.stem not in indexed:
                yield opened(inner, dtype, eod)
        return
    try:
        suffix = _SUFFIXES[manifest["options"]["format"]]
        numbers = {str(name): int(number) for name, number in manifest["shards"].items()}
    except (KeyError, TypeError, ValueError) as error:
        raise _manifest.damaged(path, error) from None
    if split is not None and split not in numbers:
        raise ShardError(f"{path} has no {split} split: it was encoded without one")
    for name, number in numbers.items():
        if split in (None, name):
            folder = path / name if len(numbers) > 1 else path
            for i in range(number):
                shard = opened(folder / f"{stem(i)}{suffix}", dtype, eod)
                shard.goes_on_from = i - 1 if i else None
                yield shard
