"""Which documents are held out: by a hash of each, so that order, neighbours and threads have no say."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from digram.shards._source import as_bytes, as_list
from digram.shards._tokens import Array

__all__ = ["held_out"]


def held_out(documents: Any, part: float, seed: int) -> Array:
    """Whether each document belongs to validation: about `part` of all, the same ones for the same `seed`.

    A document is held out if BLAKE2b of its UTF-8 (8 bytes of digest, the seed as a key of 8 bytes, both numbers least
    byte first) is less than `part` of 2^64. A document that stands twice is on the same side both times.
    """
    limit, key = int(part * 2**64), seed.to_bytes(8, "little")

    def below(document: Any) -> bool:
        digest = blake2b(as_bytes(document), digest_size=8, key=key).digest()
        return int.from_bytes(digest, "little") < limit

    return np.fromiter(map(below, as_list(documents)), bool, len(documents))
