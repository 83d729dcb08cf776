"""Training that touches only what a merge changes: distinct pieces with counts, a pair index, a heap.

The idea is as old as BPE for words (Sennrich's `learn_bpe.py` keeps such an index); with a list of positions for each
pair and a heap it takes O(n log n) for n symbols in distinct pieces: Zouhar et al., "A Formal Perspective on
Byte-Pair Encoding", 2023 (arXiv 2306.16837). It holds on to one fact:

    A pair is born in the round that makes its younger half, and in no other: only that round writes the younger id.

So its positions are found in one pass from left to right and are sorted; later rounds can only take some away. Its
count can only fall, its first occurrence can only move to the right. Therefore an entry in the heap may be out of date,
but only too hopeful, never too low: look at the top, and if it is out of date, put it back as it is now.
"""

import heapq
from array import array
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Any, Unpack

from .options import More, Ties
from .pairs import Pair
from .rules import Alphabet, Job
from .text import Text
from .vocabulary import Vocabulary

_EDGE, _SWALLOWED = -1, -2  # in `ids`: between two pieces; where no token starts any more

# What the heap sorts by, smallest first: minus the count, then the rule for ties, then the pair itself.
_Entry = tuple[int, Any, Pair]


def train_merges(
    pieces: Text | Iterable[Text] | Mapping[Text, int],
    *,
    alphabet: Alphabet = "bytes",
    vocab_size: int | None = None,
    min_count: int | None = None,
    ties: Ties = "smallest-ids",
    max_token_length: int | None = None,
    special_tokens: Collection[str] = (),
    unknown: str = "error",
    **more: Unpack[More],
) -> Vocabulary:
    """The same vocabulary as `naive.train_naive` with the same arguments, in O(n log n).

    >>> train_merges({"low": 5, "lower": 2, "newest": 6, "widest": 3}, vocab_size=260).merges
    {(101, 115): 256, (256, 116): 257, (108, 111): 258, (258, 119): 259}

    At its peak it takes 50 to 250 bytes of memory for each symbol of the distinct pieces: 50 with few distinct pairs (a
    run of one letter), some 85 for a long text in one piece, 150 for words, 250 with many distinct pairs (random bytes,
    merged to the end). "smallest-tokens", "largest-tokens", "sentencepiece" and rules about characters take more: to
    look at tokens they keep each as a string, in all the sum of their lengths. With a `vocab_size` or a split that is
    little; without, on one long piece that repeats itself, it may grow with the square of the text.
    """
    job = Job(pieces, alphabet, vocab_size, min_count, ties, max_token_length, special_tokens, unknown, **more)
    state = _Pieces(job)
    merges = dict(job.first_merges)
    for pair, new_id in merges.items():
        state.merge(pair, new_id)
    while len(merges) < job.most_merges:
        best = state.pop_best()
        if best is None:
            break
        merges[best] = len(job.base) + len(merges)
        state.merge(best, merges[best])
    job.warn_if_smaller(len(merges), pairs_left=state.has_pairs())
    return Vocabulary(job, merges, state.sequences())


class _Pieces:
    """All distinct pieces end to end, with an edge before, between and after them.

    >>> state = _Pieces(Job({"aaab": 2, "ab": 1}, "characters", None, 1, "smallest-ids", None))
    >>> list(state.ids)
    [-1, 0, 0, 0, 1, -1, 0, 1, -1]
    >>> state.counts, {pair: list(places) for pair, places in state.places.items()}
    ({(0, 0): 4, (0, 1): 3}, {(0, 0): [1, 2], (0, 1): [3, 6]})
    >>> state.pop_best()
    (0, 0)
    >>> state.merge((0, 0), 2)
    >>> list(state.ids)
    [-1, 2, -2, 0, 1, -1, 0, 1, -1]
    >>> state.counts
    {(0, 1): 3, (2, 0): 2}
    >>> state.sequences()
    [[2, 0, 1], [0, 1]]
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.min_count, self.ties, self.max_token_length = job.min_count, job.ties, job.max_token_length
        self.lengths = [1] * len(job.base)
        by_string = job.ties in ("smallest-tokens", "largest-tokens", "sentencepiece")
        self.tokens = list(job.base) if by_string or job.rules or job.allow else []
        self.refused: set[Pair] = set()
        self.ids = [_EDGE]
        self.weights = [0]
        for ids, weight in zip(job.sequences, job.weights, strict=True):
            self.ids += ids
            self.ids.append(_EDGE)
            self.weights += [weight] * (len(ids) + 1)
        # A token stands where it starts, and the next one its length later. The way back needs a note: where a token
        # ends, `starts` says where it starts. Between start and end both lists hold old news.
        self.starts = array("q", range(len(self.ids)))
        self.counts: dict[Pair, int] = {}
        self.places: dict[Pair, array[int]] = {}
        self.gone: dict[Pair, int] = {}  # how many of a pair's first places are known to hold it no more
        for place, pair in enumerate(pairwise(self.ids)):
            if _EDGE not in pair:
                if pair not in self.counts:
                    self.counts[pair], self.places[pair] = 0, array("q")
                self.counts[pair] += self.weights[place]
                self.places[pair].append(place)
        self.heap = [self._entry(pair) for pair in self.counts if self._may_be_chosen(pair)]
        heapq.heapify(self.heap)

    def merge(self, pair: Pair, new_id: int) -> None:
        """Replace `pair` everywhere, from left to right; a step for each of its places."""
        ids, starts, weights, counts = self.ids, self.starts, self.weights, self.counts
        left, right = pair
        left_length, right_length = self.lengths[left], self.lengths[right]
        self.lengths.append(left_length + right_length)
        if self.tokens:
            self.tokens.append(self.tokens[left] + self.tokens[right])
        born: dict[Pair, array[int]] = {}
        # A merge to begin with may join what the text does not hold.
        for place in self.places.pop(pair, ()):
            middle = place + left_length
            if ids[place] != left or ids[middle] != right:
                continue  # merged with another neighbour since, or in this pass: the overlaps of "aaa"
            after = middle + right_length
            weight = weights[place]
            ids[place], ids[middle], starts[after - 1] = new_id, _SWALLOWED, place
            before = starts[place - 1]
            if ids[before] != _EDGE:
                # If `before` was made a moment ago, (new, left) was born with it, and goes again.
                counts[ids[before], left] -= weight
                new_pair = ids[before], new_id
                counts[new_pair] = counts.get(new_pair, 0) + weight
                born.setdefault(new_pair, array("q")).append(before)
            if ids[after] != _EDGE:
                counts[right, ids[after]] -= weight
                new_pair = new_id, ids[after]
                counts[new_pair] = counts.get(new_pair, 0) + weight
                born.setdefault(new_pair, array("q")).append(place)
        counts.pop(pair, None)
        self.gone.pop(pair, None)
        for new_pair, places in born.items():
            self.places[new_pair] = places
            if self._may_be_chosen(new_pair):
                heapq.heappush(self.heap, self._entry(new_pair))

    def pop_best(self) -> Pair | None:
        """The pair to merge next, or None if none may be chosen."""
        while self.heap:
            entry = heapq.heappop(self.heap)
            pair = entry[-1]
            # Of pairs that are gone for a merge to begin with, nothing is left.
            if pair not in self.counts or not self._may_be_chosen(pair):
                continue
            now = self._entry(pair)
            if now != entry:
                heapq.heappush(self.heap, now)
            elif self.job.allow is None or self.job.allows(self.tokens[pair[0]], self.tokens[pair[1]]):
                return pair
            else:
                self.refused.add(pair)
        return None

    def _may_be_chosen(self, pair: Pair) -> bool:
        return self.counts[pair] >= self.min_count and self._fits(pair)

    def _fits(self, pair: Pair) -> bool:
        left, right = pair
        if self.lengths[left] + self.lengths[right] > self.max_token_length or pair in self.refused:
            return False
        return not self.job.rules or self.job.keeps(self.tokens[left] + self.tokens[right])

    def has_pairs(self) -> bool:
        """Whether any pair is left that is not too long, rare ones included."""
        return any(count > 0 and self._fits(pair) for pair, count in self.counts.items())

    def _entry(self, pair: Pair) -> _Entry:
        return -self.counts[pair], self._key(pair), pair

    def _key(self, pair: Pair) -> Any:
        left, right = pair
        if self.ties == "smallest-ids":
            return pair
        if self.ties == "first-seen":
            return self._first_place(pair)
        if self.ties == "tokenizers":
            places = self.job.places
            return [places[id] if id < len(places) else 512 + id for id in pair]
        # UTF-8 sorts as its code points do, so bytes may stand in for strings of characters.
        if self.ties == "smallest-tokens":
            return self.tokens[left], self.tokens[right]
        if self.ties == "largest-tokens":
            return _Descending((self.tokens[left], self.tokens[right]))
        return self.lengths[left] + self.lengths[right], self.tokens[left] + self.tokens[right]

    def _first_place(self, pair: Pair) -> int:
        """Where the pair stands first now. Places that are gone stay gone, so each is passed over once in all."""
        left, right = pair
        places, gone = self.places[pair], self.gone.get(pair, 0)
        while self.ids[places[gone]] != left or self.ids[places[gone] + self.lengths[left]] != right:
            gone += 1
        self.gone[pair] = gone
        return places[gone]

    def sequences(self) -> list[list[int]]:
        """The ids of each distinct piece."""
        found: list[list[int]] = []
        place, end = 0, len(self.ids) - 1
        while place < end:
            if self.ids[place] == _EDGE:
                found.append([])
                place += 1
            else:
                found[-1].append(self.ids[place])
                place += self.lengths[self.ids[place]]
        return found


class _Descending(tuple[bytes, bytes]):
    """Sorts the other way round."""

    __slots__ = ()

    def __lt__(self, other: tuple[bytes, ...]) -> bool:
        return tuple.__gt__(self, other)
