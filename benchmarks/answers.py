"""What is right: the ids of the library that a vocabulary's file was made for, kept as checksums from run to run.

The result of every timed call is compared with them, once the clock has stopped: so the very ids are checked that
were timed, and a text that counts as fresh is fresh.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import multiprocessing
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from common import test_data
from encoders import ENCODERS
from vocabularies import Vocabulary

Ids = np.ndarray[Any, np.dtype[np.uint32]]


@dataclasses.dataclass(frozen=True)
class Answer:
    """The checksum of the ids of some documents, and how many ids each of them has; `count` is the sum."""

    checksum: str
    count: int


def flat(ids: Any) -> Ids:
    """Ids as an array, from a list, an array, or the bytes of one."""
    if isinstance(ids, bytes | bytearray | memoryview):
        return np.frombuffer(ids, dtype=np.uint32)
    return np.asarray(ids, dtype=np.uint32)


def answer(documents: Iterable[Any]) -> Answer:
    """The answer that the ids of documents make, in whatever form a library gives them."""
    parts = [flat(ids) for ids in documents]
    total = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint32)
    return of_flat(total, np.array([len(part) for part in parts], dtype=np.int64))


def of_flat(ids: Ids, lengths: np.ndarray[Any, Any]) -> Answer:
    """The answer of the ids of all documents, one after the other, and how many each has."""
    checksum = hashlib.blake2b(np.ascontiguousarray(ids).tobytes(), digest_size=16)
    checksum.update(np.ascontiguousarray(lengths, dtype=np.int64).tobytes())
    return Answer(checksum.hexdigest(), len(ids))


def of_arrays(result: Any) -> Answer:
    """The answer of a batch as arrays: (ids, ends or offsets), an array of arrays, or a list of arrays."""
    if isinstance(result, tuple) and len(result) == 2:
        ids, bounds = flat(result[0]), result[1]
        bounds = np.frombuffer(bounds, dtype=np.uint64) if isinstance(bounds, bytes | bytearray) else np.asarray(bounds)
        bounds = bounds.astype(np.int64)
        if len(bounds) == 0 or bounds[0] != 0:
            bounds = np.concatenate([np.zeros(1, dtype=np.int64), bounds])
        return of_flat(ids, np.diff(bounds))
    if hasattr(result, "layout"):  # an array of awkward
        import awkward

        lengths = np.asarray(awkward.num(result))
        return of_flat(flat(np.asarray(awkward.flatten(result))), lengths)
    return answer(result)


def _key(vocabulary: Vocabulary, documents: Sequence[str]) -> str:
    key = hashlib.blake2b(importlib.metadata.version(vocabulary.oracle).encode(), digest_size=16)
    key.update(hashlib.blake2b(vocabulary.path.read_bytes()).digest())
    for document in documents:
        data = document.encode()
        key.update(len(data).to_bytes(8, "little") + data)
    return key.hexdigest()


def answers(vocabulary: Vocabulary, cases: Sequence[Sequence[str]], cores: set[int] | None = None) -> list[Answer]:
    """The right answer for each case, which is a list of documents.

    Made in a process of its own, on `cores` (default: those of this one): no engine of this one meets the texts.
    """
    folder = test_data().cache / "answers"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{_key(vocabulary, documents)}.json" for documents in cases]
    missing = [(path, documents) for path, documents in zip(paths, cases, strict=True) if not path.exists()]
    if missing:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            pool.apply(_make, (vocabulary, missing, cores))
    return [Answer(**json.loads(path.read_text())) for path in paths]


def _make(vocabulary: Vocabulary, missing: Sequence[tuple[Path, Sequence[str]]], cores: set[int] | None) -> None:
    if cores:
        os.sched_setaffinity(0, cores)
    encoder = ENCODERS[vocabulary.oracle](vocabulary)
    together = os.cpu_count() or 1
    for at in range(0, len(missing), together):
        cases = missing[at : at + together]
        # One call for several cases: a single text takes one core.
        ids = iter(encoder["batch"]([document for _, documents in cases for document in documents]))
        for path, documents in cases:
            found = answer([next(ids) for _ in documents])
            path.write_text(json.dumps(dataclasses.asdict(found)), encoding="utf-8")
