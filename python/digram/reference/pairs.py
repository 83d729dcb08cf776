"""The two moves of byte-pair encoding: count neighbours, replace a pair. Everything else decides which pair.

Gage, "A New Algorithm for Data Compression", The C Users Journal, 1994; for words of a language first in Sennrich,
Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016 (arXiv 1508.07909).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

Pair = tuple[int, int]


def pair_counts(ids: Iterable[int], counts: dict[Pair, int] | None = None, weight: int = 1) -> dict[Pair, int]:
    """Count every pair of neighbours; with `counts`, add to that dictionary, `weight` for each occurrence.

    >>> pair_counts([1, 2, 3, 1, 2])
    {(1, 2): 2, (2, 3): 1, (3, 1): 1}

    Overlaps count: three equal ids in a row hold two pairs, although only one of them can be merged.

    >>> pair_counts([1, 2, 2, 2])
    {(1, 2): 1, (2, 2): 2}

    A dictionary keeps its keys in the order they came, so the pairs stand in order of first occurrence.
    """
    counts = {} if counts is None else counts
    for pair in pairwise(ids):
        counts[pair] = counts.get(pair, 0) + weight
    return counts


def merge(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace `pair` by `new_id`, from left to right and without overlap.

    >>> merge([1, 2, 3, 1, 2], (1, 2), 4)
    [4, 3, 4]
    >>> merge([7, 7, 7], (7, 7), 8)
    [8, 7]
    """
    merged, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            merged.append(new_id)
            i += 2  # past both halves: the right one cannot start another pair
        else:
            merged.append(ids[i])
            i += 1
    return merged


def apply_merges(ids: Sequence[int], merges: Mapping[Pair, int]) -> list[int]:
    """Encode: while a pair of the table is present, merge the one that was learned first.

    `merges` is a trained table, pair -> new id, whose ids rise in learned order.

    >>> merges = {(97, 97): 256, (97, 98): 257, (256, 257): 258}
    >>> apply_merges(list(b"aaabdaaabac"), merges)
    [258, 100, 258, 97, 99]
    >>> apply_merges(list(b"aab"), merges)      # 'aa' was learned before 'ab', so 'ab' never gets its turn
    [256, 98]

    Each turn walks over all ids, and no text needs more turns than there are merges: fine for a sentence. The encoder
    for a text of any length is `encoder.encode_heap`.
    """
    ids = list(ids)
    while len(ids) > 1:
        # A pair that is not in the table counts as learned never: it is the minimum only if no pair is in the table.
        pair = min(pair_counts(ids), key=lambda p: merges.get(p, float("inf")))
        if pair not in merges:
            break
        ids = merge(ids, pair, merges[pair])
    return ids
