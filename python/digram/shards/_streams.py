"""The documents of one split on their way into its shards, packed into rows where that is asked for."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np

from digram.shards._options import Options
from digram.shards._sinks import Shard, shard_of
from digram.shards._tokens import Array, little

__all__ = ["Stream", "stem"]


def stem(number: int) -> str:
    """The name of a shard's files, without what follows the dot."""
    return f"shard-{number:05}"


class Stream:
    """One split. `since` counts the ids that came since shards were last closed."""

    def __init__(self, folder: Path, split: str, options: Options, facts: dict[str, Any]) -> None:
        self.split, self.since, self.number = split, 0, 0
        self._folder = folder / split if split else folder
        self._options = options
        self._facts = facts | {"split": split or "train"}
        self._shard: Shard | None = None
        self._rest = np.empty(0, options.dtype)  # ids that fill no row yet,
        self._rest_ends = np.empty(0, np.int64)  # and where documents end among them

    def add(self, ids: Array, ends: Array, columns: Any) -> None:
        """Documents, one after the other."""
        self.since += len(ids)
        if not len(ends):
            return
        row = self._options.pack
        if row is None:
            self._open().add(ids, ends, columns)
            return
        if len(self._rest):
            ends = np.concatenate([self._rest_ends, ends + len(self._rest)])
            ids = np.concatenate([self._rest, ids])
        elif len(self._rest_ends):
            ends = np.concatenate([self._rest_ends, ends])
        whole = len(ids) // row * row
        # Without a row there is nothing that the end of an empty document could stand in.
        taken = int(np.searchsorted(ends, whole, side="right")) if whole else 0
        # What is left is a copy, so that it does not keep all the others in memory.
        self._rest, self._rest_ends = ids[whole:].copy(), ends[taken:] - whole
        if whole:
            self._open().add(ids[:whole], ends[:taken])

    def close(self, last: bool) -> None:
        """Ends the shard that is open; behind the `last` documents, what is left of them fills a row."""
        if last and self._options.pack is not None and (len(self._rest) or len(self._rest_ends)):
            padding = self._options.pack - len(self._rest)
            pad = 0 if self._options.eod is None else self._options.eod
            row = np.concatenate([self._rest, np.full(padding, pad, self._rest.dtype)])
            self._open().add(row, self._rest_ends, padding=padding)
            self._rest, self._rest_ends = self._rest[:0], self._rest_ends[:0]
        if self._shard is not None:
            self._shard.close()
            self._shard = None
            self.number += 1
        self.since = 0

    @property
    def is_open(self) -> bool:
        """Whether a shard was begun."""
        return self._shard is not None

    def abandon(self) -> None:
        """Removes what is open."""
        if self._shard is not None:
            self._shard.abandon()
            self._shard = None

    def _open(self) -> Shard:
        if self._shard is None:
            self._folder.mkdir(exist_ok=True)
            self._shard = shard_of(self._options.format)(self._folder / stem(self.number), self._options, self._facts)
        return self._shard

    @property
    def state(self) -> dict[str, Any]:
        """What is not in a closed shard, as values of JSON."""
        ids = base64.b64encode(little(self._rest)).decode()
        return {"shards": self.number, "ids": ids, "ends": self._rest_ends.tolist()}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self.number = int(state["shards"])
        ids = np.frombuffer(base64.b64decode(state["ids"]), np.dtype(self._options.dtype).newbyteorder("<"))
        self._rest = ids.astype(self._options.dtype)
        self._rest_ends = np.array(state["ends"], np.int64)
        if self.number < 0 or len(self._rest) >= (self._options.pack or 1):
            raise ValueError("it holds more than a row that is not full")
