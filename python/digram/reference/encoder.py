"""Encoding: the definition, the same thing rule by rule, and the fast one. And vocabularies without merges.

All take the ids of base symbols of one piece, and a table (left id, right id) -> (rank, new id): see `rank_table`.
"""

import heapq
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise

from .pairs import Pair, merge
from .text import wrong_type

Ranks = Mapping[Pair, tuple[int, int]]


def rank_table(merges: Mapping[Pair, int]) -> dict[Pair, tuple[int, int]]:
    """The rank of a merge is its position in learned order, whatever its new id is.

    >>> rank_table({(97, 98): 300, (300, 99): 256})
    {(97, 98): (0, 300), (300, 99): (1, 256)}
    """
    return {pair: (rank, new_id) for rank, (pair, new_id) in enumerate(merges.items())}


def _check(ranks: Ranks) -> None:
    """A table of merges, pair -> id, in place of one of ranks is an easy slip."""
    if not all(isinstance(value, tuple) for value in islice(ranks.values(), 1)):
        raise TypeError("ranks must map pairs to (rank, new id); rank_table makes them of merges")


def encode_naive(ids: Sequence[int], ranks: Ranks) -> list[int]:
    """The definition: merge the pair of the lowest rank that is present, its leftmost occurrence, until none is left.

    >>> encode_naive(list(b"aaab"), rank_table({(97, 97): 256, (97, 98): 257}))
    [256, 257]

    A merge is a walk over the piece: time with the square of its length.
    """
    _check(ranks)
    ids = list(ids)
    while True:
        present = [(ranks[pair][0], i) for i, pair in enumerate(pairwise(ids)) if pair in ranks]
        if not present:
            return ids
        _, i = min(present)
        ids[i : i + 2] = [ranks[ids[i], ids[i + 1]][1]]


def encode_by_rules(ids: Sequence[int], ranks: Ranks) -> list[int]:
    """Sennrich's order: each rule once over the whole piece, in order of rank. The same for any trained table.

    >>> encode_by_rules(list(b"aaab"), rank_table({(97, 97): 256, (97, 98): 257}))
    [256, 257]

    Not the same for a table in which a merge comes before the ones that make its halves:

    >>> odd = rank_table({(256, 99): 257, (97, 98): 256})
    >>> encode_by_rules(list(b"abc"), odd), encode_naive(list(b"abc"), odd)
    ([256, 99], [257])
    """
    _check(ranks)
    ids = list(ids)
    for pair, (_, new_id) in sorted(ranks.items(), key=lambda item: item[1][0]):
        ids = merge(ids, pair, new_id)
    return ids


def encode_heap(ids: Sequence[int], ranks: Ranks) -> list[int]:
    """The same ids as `encode_naive` for every table, in O(n log n) for a piece of n symbols.

    >>> encode_heap(list(b"aaabdaaabac"), rank_table({(97, 97): 256, (97, 98): 257, (256, 257): 258}))
    [258, 100, 258, 97, 99]

    A token stands at the position where it starts; `left` and `right` link the positions. Pairs wait in a heap as
    (rank, position), which is the order of the definition. A pair that is gone when its turn comes is passed over.
    """
    _check(ranks)
    ids = list(ids)
    n = len(ids)
    left, right = list(range(-1, n - 1)), list(range(1, n + 1))
    waiting = [(ranks[pair][0], i) for i, pair in enumerate(pairwise(ids)) if pair in ranks]
    heapq.heapify(waiting)
    swallowed = -1
    while waiting:
        rank, i = heapq.heappop(waiting)
        middle = right[i]
        # No two pairs have the same rank, so a pair with this rank at this position is the one that was waiting.
        if ids[i] == swallowed or middle == n or ranks.get((ids[i], ids[middle]), (None,))[0] != rank:
            continue
        ids[i], ids[middle] = ranks[ids[i], ids[middle]][1], swallowed
        right[i] = after = right[middle]
        if after < n:
            left[after] = i
            if (ids[i], ids[after]) in ranks:
                heapq.heappush(waiting, (ranks[ids[i], ids[after]][0], i))
        before = left[i]
        if before >= 0 and (ids[before], ids[i]) in ranks:
            heapq.heappush(waiting, (ranks[ids[before], ids[i]][0], before))
    return [id for id in ids if id != swallowed]


def encode_ranked_bytes(piece: bytes, ranks: Mapping[bytes, int], whole_piece: bool = True) -> list[int]:
    """The second kind of vocabulary, of `.tiktoken` files: token -> id, and no merges.

    Two neighbours merge when their joined bytes are a token, the lowest id first, the leftmost of several. A piece that
    is a token itself is taken whole (`whole_piece`), even if no merge leads there.

    >>> ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"bbc": 5}
    >>> encode_ranked_bytes(b"abbc", ranks)
    [3, 4]
    >>> encode_ranked_bytes(b"bbc", ranks), encode_ranked_bytes(b"abc", ranks)
    ([5], [3, 2])

    A byte without a token is a `ValueError`. Time with the square of the piece's length: this is the definition.
    """
    if not isinstance(piece, bytes):
        raise wrong_type("a piece of ranked bytes is bytes", piece)
    if whole_piece and piece in ranks:
        return [ranks[piece]]
    parts = [piece[i : i + 1] for i in range(len(piece))]
    for position, byte in enumerate(parts):
        if byte not in ranks:
            raise ValueError(
                f"byte 0x{byte[0]:02X} at position {position} has no token; the vocabulary must hold all 256 bytes"
            )
    while True:
        joined = [left + right for left, right in pairwise(parts)]
        present = [(ranks[token], i) for i, token in enumerate(joined) if token in ranks]
        if not present:
            return [ranks[part] for part in parts]
        _, i = min(present)
        parts[i : i + 2] = [joined[i]]


def non_canonical(merges: Mapping[Pair, int]) -> list[int]:
    """The tokens (as ids) that the earlier merges spell in another way than as their two parts.

    After any training the list is empty; for some public vocabularies it is not. Where it is empty, merges, ranked
    bytes and an ordered token list give the same ids, and so does every linear-time method.

    >>> non_canonical({(97, 98): 256, (256, 99): 257})
    []
    >>> non_canonical({(97, 98): 256, (98, 99): 257, (97, 257): 258})      # 'abc' becomes 'ab' + 'c' first
    [258]
    """
    halves: dict[int, Pair] = {}
    for pair, new_id in merges.items():
        halves.setdefault(new_id, pair)

    def spell(id: int) -> list[int]:
        symbols, todo = [], [id]
        while todo:
            id = todo.pop()
            if id in halves:
                todo += reversed(halves[id])
            else:
                symbols.append(id)
        return symbols

    lower: dict[Pair, tuple[int, int]] = {}
    found = []
    for pair, (rank, new_id) in rank_table(merges).items():
        if encode_heap(spell(pair[0]) + spell(pair[1]), lower) != list(pair):
            found.append(new_id)
        lower[pair] = rank, new_id
    return found
