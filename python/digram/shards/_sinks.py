"""Shards that are being written: one class a format, all with the same three verbs.

`add` takes ids, where documents end among them, and the other columns of the documents; `close` ends the shard and
gives its files their names; `abandon` leaves nothing behind. A packed shard gets whole rows, and the last one may be
padded.
"""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from digram.files import whole_files
from digram.shards._options import Format, Options
from digram.shards._tokens import Array, little

__all__ = ["ENDS", "FACTS", "MEGATRON_CODES", "MEGATRON_MAGIC", "Shard", "shard_of"]

FACTS = ".json"
ENDS = ".ends"

MEGATRON_MAGIC = b"MMIDIDX\0\0"
MEGATRON_CODES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint16": 8}
"""The numbers that stand for types in the index of Megatron-LM's IndexedDataset."""

NPY_HEADER = 128

# Numbers of an index that are made at a time.
_STRETCH = 1 << 20


class _Abandoned(Exception):
    """What was begun is not to be finished."""


class Shard:
    """One shard under temporary names; `close` puts all of its files in their places."""

    suffix = ""

    def __init__(self, stem: Path, options: Options, facts: dict[str, Any]) -> None:
        self._stem, self._options, self._facts = stem, options, facts
        self.tokens = self.documents = 0
        self._ids = 0  # those that are in the file: with what a row was padded with
        self._stack = ExitStack()
        with self._named():
            self._files = self._stack.enter_context(whole_files())
            self._open()

    def add(self, ids: Array, ends: Array, columns: Any = None, padding: int = 0) -> None:
        """Ids, of which the last `padding` are none, and where documents end among them."""
        with self._named():
            self._add(ids, ends, columns)
        self._ids += len(ids)
        self.tokens += len(ids) - padding
        self.documents += len(ends)

    def close(self) -> None:
        """All files whole, and under their names."""
        facts = self._facts | {
            "tokens": self.tokens,
            "documents": self.documents,
            "padding": self._ids - self.tokens,
        }
        with self._named():
            self._finish()
            with self._files.text(f"{self._stem}{FACTS}") as file:
                json.dump(facts, file, indent=1)
                file.write("\n")
            self._stack.close()

    def abandon(self) -> None:
        """Removes what was written."""
        with suppress(OSError):
            self._stack.__exit__(_Abandoned, _Abandoned(), None)

    def _file(self, suffix: str) -> BinaryIO:
        return self._stack.enter_context(self._files.binary(f"{self._stem}{suffix}"))

    @contextmanager
    def _named(self) -> Iterator[None]:
        """An error removes the files, and names the one that it is about."""
        try:
            yield
        except BaseException as error:
            self._given_up()
            self._stack.__exit__(type(error), error, error.__traceback__)  # which may raise it with the name
            raise

    @contextmanager
    def _at(self, suffix: str) -> Iterator[None]:
        """An error of the system names this file of the shard, where it names none."""
        try:
            yield
        except OSError as error:
            if error.filename is None:
                error.filename = f"{self._stem}{suffix}"
            raise

    def _open(self) -> None:
        raise NotImplementedError

    def _add(self, ids: Array, ends: Array, columns: Any) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        """What is written last."""

    def _given_up(self) -> None:
        """What must know that nothing more will be written."""


class _Bin(Shard):
    """Ids one after the other; the ends of documents in a file of their own."""

    suffix = ".bin"

    def _open(self) -> None:
        self._data = self._file(self.suffix)
        self._ends = self._file(ENDS)

    def _add(self, ids: Array, ends: Array, columns: Any) -> None:
        with self._at(self.suffix):
            self._data.write(little(ids))
        with self._at(ENDS):
            self._ends.write(little((ends + self._ids).astype(np.uint64)))


class _Npy(_Bin):
    """The same behind numpy's header, which is written when the number of ids is known."""

    suffix = ".npy"

    def _open(self) -> None:
        super()._open()
        with self._at(self.suffix):
            self._data.write(bytes(NPY_HEADER))

    def _finish(self) -> None:
        row = self._options.pack
        with self._at(self.suffix):
            self._data.seek(0)
            self._data.write(npy_header(self._options.dtype, (self._ids,) if row is None else (self._ids // row, row)))


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Version 1.0 of the header of an .npy file; always of the same length, whatever the shape."""
    described = {"descr": np.dtype(dtype).newbyteorder("<").str, "fortran_order": False, "shape": shape}
    text = repr(described).encode().ljust(NPY_HEADER - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


class _Megatron(Shard):
    """The pair of files of Megatron-LM's IndexedDataset: each document is one sequence."""

    suffix = ".bin"

    def _open(self) -> None:
        self._data = self._file(".bin")
        self._index = self._file(".idx")
        # Lengths stand before the rest of the index, and wait for their number in a file without a name.
        spool = tempfile.TemporaryFile(dir=self._stem.parent)  # noqa: SIM115 (the stack closes it)
        self._lengths = self._stack.enter_context(spool)

    def _add(self, ids: Array, ends: Array, columns: Any) -> None:
        with self._at(".bin"):
            self._data.write(little(ids))
        with self._at(".idx"):
            self._lengths.write(little(np.diff(ends, prepend=0).astype(np.int32)))

    def _finish(self) -> None:
        with self._at(".idx"):
            self._write_index()

    def _write_index(self) -> None:
        write, documents = self._index.write, self.documents
        width = np.dtype(self._options.dtype).itemsize
        write(MEGATRON_MAGIC + struct.pack("<QB", 1, MEGATRON_CODES[self._options.dtype]))
        write(struct.pack("<QQ", documents, documents + 1))
        for lengths in self._stretches():
            write(little(lengths))
        at = 0
        for lengths in self._stretches():
            ends = np.cumsum(lengths, dtype=np.int64) * width + at
            write(little(ends - lengths.astype(np.int64) * width))
            at = int(ends[-1])
        for first in range(0, documents + 1, _STRETCH):
            write(little(np.arange(first, min(first + _STRETCH, documents + 1), dtype=np.int64)))

    def _stretches(self) -> Iterator[Array]:
        self._lengths.seek(0)
        while data := self._lengths.read(4 * _STRETCH):
            yield np.frombuffer(data, "<i4")


def shard_of(format: Format) -> type[Shard]:
    """The class that writes a format."""
    if format == "parquet":
        from digram.shards._parquet import ParquetShard

        return ParquetShard
    return {"bin": _Bin, "npy": _Npy, "megatron": _Megatron}[format]
