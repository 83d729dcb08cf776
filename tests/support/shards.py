"""What shards should hold, worked out the slow and plain way, and readers that know nothing of digram."""

from __future__ import annotations

import ast
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path


@dataclass
class Expected:
    """One shard: all its ids, where documents end among them, and how many ids at the end are padding."""

    ids: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    padding: int = 0


def validates(text: bytes, part: float, seed: int) -> bool:
    """Whether a document is held out."""
    digest = blake2b(text, digest_size=8, key=struct.pack("<Q", seed)).digest()
    return int.from_bytes(digest, "little") < part * 2**64


def expected(
    documents: Sequence[list[int]], held_out: Sequence[bool], size: int, row: int | None, eod: int | None
) -> dict[bool, list[Expected]]:
    """The shards of documents that are held out (True) and that are not: id by id."""
    shards: dict[bool, list[Expected]] = {False: [], True: []}
    open_: dict[bool, Expected] = {False: Expected(), True: Expected()}
    since = {False: 0, True: 0}

    def close() -> None:
        for side, shard in open_.items():
            since[side] = 0
            whole = len(shard.ids) if row is None else len(shard.ids) // row * row
            taken = [end for end in shard.ends if end <= whole] if whole or row is None else []
            if whole or taken:
                shards[side].append(Expected(shard.ids[:whole], taken))
                rest = [end - whole for end in shard.ends[len(taken) :]]
                open_[side] = Expected(shard.ids[whole:], rest)

    for ids, side in zip(documents, held_out, strict=True):
        new = [*ids, *([] if eod is None else [eod])]
        if new and since[side] and since[side] + len(new) > size:
            close()
        open_[side].ids += new
        open_[side].ends.append(len(open_[side].ids))
        since[side] += len(new)
    if row is not None:
        for shard in open_.values():
            shard.padding = -len(shard.ids) % row
            if shard.ends and not shard.ids:
                shard.padding = row
    for shard in open_.values():
        shard.ids += [0 if eod is None else eod] * shard.padding
    padding = {side: shard.padding for side, shard in open_.items()}
    close()
    for side, n in padding.items():
        if n:
            shards[side][-1].padding = n
    return shards


def numbers(data: bytes, width: int) -> list[int]:
    """Whole numbers without a sign, least byte first."""
    return [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]


def npy(path: Path) -> tuple[tuple[int, ...], str, bytes]:
    """The shape, the type and the data of an .npy file, by the description of the format."""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", data[8:10])[0]
    header = data[10 : 10 + length]
    assert (10 + length) % 64 == 0
    assert header.endswith(b"\n")
    described = ast.literal_eval(header.decode("ascii"))
    assert described["fortran_order"] is False
    return described["shape"], described["descr"], data[10 + length :]


def megatron(prefix: Path) -> list[list[int]]:
    """The documents of a pair of files of Megatron-LM, which must be as its format says to the last byte."""
    index, data = prefix.with_suffix(".idx").read_bytes(), prefix.with_suffix(".bin").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, documents = struct.unpack("<QBQQ", index[9:34])
    assert version == 1
    width = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 8: 2}[code]
    lengths = struct.unpack(f"<{sequences}i", index[34 : 34 + 4 * sequences])
    at = 34 + 4 * sequences
    pointers = struct.unpack(f"<{sequences}q", index[at : at + 8 * sequences])
    at += 8 * sequences
    borders = struct.unpack(f"<{documents}q", index[at:])
    assert borders[0] == 0
    assert borders[-1] == sequences
    assert len(data) == width * sum(lengths)
    found: list[list[int]] = [[] for _ in borders[1:]]
    for number, (first, last) in enumerate(pairwise(borders)):
        for sequence in range(first, last):
            start = pointers[sequence]
            assert start == width * sum(lengths[:sequence])
            found[number] += numbers(data[start : start + width * lengths[sequence]], width)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
