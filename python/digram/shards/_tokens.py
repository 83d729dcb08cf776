"""What a tokenizer is known by, and its ids as they stand in a shard."""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from digram.definition import Definition, Tokens

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["Array", "checksum", "little", "with_eod"]

Array = np.ndarray[Any, np.dtype[Any]]

_WIDTHS = {"I": "<u4", "Q": "<u8"}


def checksum(tokenizer: Tokenizer) -> str:
    """What tells this tokenizer from any other: "sha256:" and a digest of all that its ids depend on.

    The same vocabulary from a file of another format may have another one.
    """
    digest = hashlib.sha256()
    plain: dict[str, Any] = {}
    for field in fields(Definition):
        value = getattr(tokenizer._definition, field.name)
        if field.name == "tokens":
            tokens = Tokens.of(value)
            parts = [tokens.joined, _least_first(tokens.ends)]
        elif isinstance(value, array):
            parts = [_least_first(value)]
        else:
            plain[field.name] = dict(value) if field.name == "special_tokens" else value
            continue
        for part in parts:
            digest.update(f"{field.name} {len(part)}\n".encode())
            digest.update(part)
    added = [(token.content, token.id, token.flags) for token in tokenizer._definition.added_tokens]
    digest.update(json.dumps(plain | {"added_tokens": added}, sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"


def _least_first(numbers: array[int]) -> bytes:
    return np.frombuffer(numbers, numbers.typecode).astype(_WIDTHS[numbers.typecode]).tobytes() if numbers else b""


def little(numbers: Array) -> memoryview:
    """Numbers as bytes, the least of each first; without a copy where they lie so."""
    ordered = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<"))
    return memoryview(ordered.data).cast("B") if ordered.size else memoryview(b"")


def with_eod(ids: Array, ends: Array, chosen: Array | None, eod: int | None, dtype: str) -> tuple[Array, Array]:
    """Ids of documents as numbers of `dtype`, each document's followed by `eod`, and where each ends then.

    `ends` are the ends of the documents among `ids`; `chosen` says which of them are taken, None for all.
    """
    lengths = np.diff(ends, prepend=0)
    if chosen is not None:
        ids = ids[np.repeat(chosen, lengths)]
        lengths = lengths[chosen]
    if eod is None:
        return ids.astype(dtype), np.cumsum(lengths)
    ends = np.cumsum(lengths + 1)
    out = np.empty(len(ids) + len(ends), dtype)
    text = np.ones(len(out), bool)
    text[ends - 1] = False
    out[text] = ids  # ids are below n_vocab, which dtype has room for
    out[ends - 1] = eod
    return out, ends
