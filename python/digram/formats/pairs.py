"""A vocabulary as pairs: what formats of merges need, also of vocabularies that hold ranks of tokens instead.

Where any two neighbours merge that together spell a token, lowest rank first, a token has one pair at most that ever
happens. For between two boundaries that no merge has crossed, merging goes on as it would if that stretch were all the
text: so wherever a token comes about, it does so from the two symbols that its own spelling ends in before it. A list
of these pairs, in the order of ranks, gives the same ids as the ranks, canonical or not. (Converters that list every
split of every token give the same ids too; what is more in their files never happens.)
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from digram.errors import VocabularyError
from digram.tokenizer import Tokenizer

__all__ = ["exact_pairs", "taken_whole"]


def exact_pairs(tokenizer: Tokenizer) -> list[tuple[int, int, int]]:
    """(left id, right id, new id), lowest rank first, which as pairs give each piece the ids that `tokenizer` gives.

    Where `taken_whole` holds, pieces that are a token must be looked up first, as by `ignore_merges`: there may be
    tokens that no merge leads to, which are not in the list. VocabularyError for an ordered token list that is not
    canonical.
    """
    definition = tokenizer._definition
    pairs_are_given = definition.kind == "merges" or (definition.kind == "pairs" and not definition.ranked)
    if pairs_are_given or not tokenizer.not_canonical:
        return [(left, right, new) for (left, right), new in tokenizer.merges.items()]
    if definition.kind == "list":
        raise VocabularyError(
            f"an ordered token list of which {len(tokenizer.not_canonical)} tokens are not canonical (the first is id "
            f"{tokenizer.not_canonical[0]}) gives other ids when it is read as pairs"
        )
    spelt = {id: token for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)}
    order = definition.ranked or sorted(spelt)
    symbols_of = _characters if definition.alphabet == "characters" else _bytes
    ids = {token: id for id, token in spelt.items() if len(symbols_of(token)) == 1}
    ids |= {spelt[id]: id for id in order}
    ranks = {spelt[id]: rank for rank, id in enumerate(order)}
    pairs = []
    for id in order:
        parts = _last_pair(symbols_of(spelt[id]), ranks)
        if parts and parts[0] in ids and parts[1] in ids:
            pairs.append((ids[parts[0]], ids[parts[1]], id))
    return pairs


def taken_whole(tokenizer: Tokenizer) -> bool:
    """Whether a piece that is a token has that token's id, whatever merging would give."""
    return tokenizer._definition.kind == "ranks" or tokenizer._definition.whole


def _bytes(token: bytes) -> list[bytes]:
    return [token[at : at + 1] for at in range(len(token))]


def _characters(token: bytes) -> list[bytes]:
    return [character.encode() for character in token.decode()]


def _last_pair(symbols: list[bytes], ranks: Mapping[bytes, int]) -> tuple[bytes, bytes] | None:
    """The two parts that a token of these symbols is merged from at last; None where merging does not lead to it.

    A symbol stands at the position where it begins; pairs wait in a heap as (rank, position).
    """
    n = len(symbols)
    parts: list[bytes | None] = [*symbols]
    left, right = list(range(-1, n - 1)), list(range(1, n + 1))
    waiting: list[tuple[int, int]] = []

    def wait(at: int, after: int) -> None:
        if at >= 0 and after < n:
            rank = ranks.get(parts[at] + parts[after])  # type: ignore[operator]
            if rank is not None:
                heapq.heappush(waiting, (rank, at))

    for at in range(n - 1):
        wait(at, at + 1)
    while waiting:
        rank, at = heapq.heappop(waiting)
        first, after = parts[at], right[at]
        second = parts[after] if after < n else None
        if first is None or second is None or ranks.get(first + second) != rank:
            continue  # one of the two was merged with another since
        if at == 0 and right[after] == n:
            return first, second
        parts[at], parts[after] = first + second, None
        right[at] = right[after]
        if right[at] < n:
            left[right[at]] = at
        wait(left[at], at)
        wait(at, right[at])
    return None
