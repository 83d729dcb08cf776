"""BPE-dropout: encoding in which merges are dropped at random.

Provilkov, Emelianenko and Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization", algorithm 1. In each
step every pair that has a rule is dropped with probability p, by itself; of the others the one of the lowest rank is
merged, its leftmost occurrence; where none is left, the piece is done. With p=0 that is `encode_naive`, with p=1
nothing is merged. `encode_dropout` is the definition; `segmentations` has the probability of each result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from .encoder import Ranks

if TYPE_CHECKING:
    from fractions import Fraction

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio, made odd


def random_numbers(seed: int, document: int = 0) -> Iterator[int]:
    """The random numbers of 64 bits of a document: SplitMix64 (Steele, Lea and Flood 2014), endless.

    A stream that begins at `seed` gives its first number; a stream that begins there gives its number `document`,
    counted from 0; and the document's stream begins at that. So a document needs to know its place, and no other one.

    >>> numbers = random_numbers(1)
    >>> next(numbers) == next(random_numbers(1)), next(numbers) == next(random_numbers(2))
    (True, False)
    """
    first = _mixed(seed + _STEP)
    state = _mixed(first + (document + 1) * _STEP)
    while True:
        state += _STEP
        yield _mixed(state)


def _mixed(z: int) -> int:
    z &= _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def passed_over(number: int, p: float) -> int:
    """How many pairs, in their order, are dropped before the first that is not, for a random number of 64 bits.

    Each is dropped with probability p, by itself, so k or more are with probability p^k: that is, where the number, as
    a fraction of 2^64, is below p^k. Powers are whole numbers of 2^-64, rounded down, made by squaring and multiplying.

    >>> [passed_over(number << 60, 0.5) for number in (15, 8, 7, 4, 3, 2, 1)]
    [0, 0, 1, 1, 2, 2, 3]
    >>> passed_over(0, 0.0), passed_over(2**64 - 1, 1.0)
    (0, 4294967295)
    """
    powers = [int(p * 2.0**64)]  # p^(2^i)
    for _ in range(31):
        powers.append(powers[-1] * powers[-1] >> 64)
    count, power = 0, 1 << 64
    for i in reversed(range(32)):
        if number < power * powers[i] >> 64:
            count, power = count + (1 << i), power * powers[i] >> 64
    return count


def encode_dropout(ids: Sequence[int], ranks: Ranks, p: float, numbers: Iterator[int]) -> list[int]:
    """The ids of a piece, given as base symbols, with merges dropped. Each step that has a pair draws one number.

    >>> from .encoder import rank_table
    >>> ranks, numbers = rank_table({(97, 98): 256, (256, 99): 257}), random_numbers(seed=5)
    >>> [encode_dropout(list(b"abc"), ranks, p, numbers) for p in (0.0, 1.0)]
    [[257], [97, 98, 99]]
    >>> dropped_last = iter([2**63, 0])  # of the first pair none is passed over, in the next step more than there are
    >>> encode_dropout(list(b"abc"), ranks, 0.5, dropped_last)
    [256, 99]
    """
    ids = list(ids)
    while True:
        present = sorted((ranks[pair][0], i) for i, pair in enumerate(pairwise(ids)) if pair in ranks)
        if not present:
            return ids
        dropped = passed_over(next(numbers), p)
        if dropped >= len(present):
            return ids
        _, i = present[dropped]
        ids[i : i + 2] = [ranks[ids[i], ids[i + 1]][1]]


def segmentations(ids: Sequence[int], ranks: Ranks, p: float | Fraction) -> dict[tuple[int, ...], float | Fraction]:
    """The probability of each result for a piece, by following every way; exact where p is a Fraction.

    >>> from fractions import Fraction
    >>> from .encoder import rank_table
    >>> ranks = rank_table({(97, 98): 256, (256, 99): 257})
    >>> {ids: str(share) for ids, share in segmentations(list(b"abc"), ranks, Fraction(1, 10)).items()}
    {(97, 98, 99): '1/10', (256, 99): '9/100', (257,): '81/100'}
    """
    found: dict[tuple[int, ...], float | Fraction] = {}
    waiting: dict[tuple[int, ...], float | Fraction] = {tuple(ids): p * 0 + 1}
    while waiting:
        # A merge makes a piece shorter: of the longest, all ways that lead there are known.
        piece = max(waiting, key=len)
        share = waiting.pop(piece)
        present = sorted((ranks[pair][0], i) for i, pair in enumerate(pairwise(piece)) if pair in ranks)
        for _, i in present:
            merged = (*piece[:i], ranks[piece[i], piece[i + 1]][1], *piece[i + 2 :])
            waiting[merged] = waiting.get(merged, 0) + share * (1 - p)
            share *= p
        found[piece] = found.get(piece, 0) + share
    return {piece: share for piece, share in found.items() if share}
