"""Training as it is defined: every round counts all pairs again. Slow, and what faster ones are held to."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Unpack

from .options import More, Ties
from .pairs import Pair, merge, pair_counts
from .rules import Alphabet, Job
from .text import Text
from .vocabulary import Vocabulary


def train_naive(
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
    """Learn a vocabulary from pieces (an iterable in which they repeat, or a mapping piece -> count).

    >>> train_naive("aaabdaaabac", vocab_size=259).merges
    {(97, 97): 256, (97, 98): 257, (256, 257): 258}
    >>> train_naive({"ab": 3, "ba": 3, "c": 9}, alphabet="characters", min_count=2).merges
    {(0, 1): 3, (1, 0): 4}

    Each round takes the pair with the highest count. Ties go to

    - "smallest-ids": the smallest (left id, right id);
    - "smallest-tokens": the smallest (left token, right token), compared as strings;
    - "largest-tokens": the largest such pair;
    - "first-seen": the pair whose first occurrence comes first, the pieces in order of first appearance;
    - "tokenizers": the smallest (left id, right id), bytes in the order of GPT-2's characters for them;
    - "sentencepiece": the pair whose joined token has the fewest symbols, then the smallest joined token;
    - "rustbpe" is another name of "smallest-ids", "minbpe" of "first-seen".

    Training stops at `vocab_size` ids (alphabet, merges and special tokens together), or when the best count is below
    `min_count`, or when no pair is left. A pair whose token would have more than `max_token_length` base symbols is
    never chosen. `special_tokens` only take ids, after the merges: cut them out of the text with `pieces`. More options
    are told in `options.More`.

    Neither `vocab_size` nor `min_count`, a `min_count` below 1, a `vocab_size` below alphabet and special tokens: a
    `ValueError`. A corpus that is empty, or runs out of pairs before `vocab_size`: a smaller vocabulary and a warning.
    """
    job = Job(pieces, alphabet, vocab_size, min_count, ties, max_token_length, special_tokens, unknown, **more)
    tokens = list(job.base)
    lengths = [1] * len(tokens)
    merges: dict[Pair, int] = {}
    refused: set[Pair] = set()
    sequences = job.sequences

    def make(pair: Pair) -> None:
        nonlocal sequences
        merges[pair] = new_id = len(tokens)
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        lengths.append(lengths[pair[0]] + lengths[pair[1]])
        sequences = [merge(ids, pair, new_id) for ids in sequences]

    def may_be_merged(pair: Pair) -> bool:
        left, right = pair
        fits = lengths[left] + lengths[right] <= job.max_token_length
        return fits and pair not in refused and job.keeps(tokens[left] + tokens[right])

    def candidates() -> dict[Pair, int]:
        counts: dict[Pair, int] = {}
        for ids, n in zip(sequences, job.weights, strict=True):
            pair_counts(ids, counts, n)
        return {pair: n for pair, n in counts.items() if may_be_merged(pair)}

    for pair in job.first_merges:
        make(pair)
    while counts := candidates():
        if len(merges) >= job.most_merges:
            break
        best = first_of(counts, job, tokens, lengths)
        if counts[best] < job.min_count:
            break
        if job.allows(tokens[best[0]], tokens[best[1]]):
            make(best)
        else:
            refused.add(best)
    job.warn_if_smaller(len(merges), pairs_left=bool(counts))
    return Vocabulary(job, merges, sequences)


def first_of(counts: dict[Pair, int], job: Job, tokens: list[bytes], lengths: list[int]) -> Pair:
    """The pair that is merged next: the highest count, then the tie rule."""
    if job.ties == "first-seen":
        return max(counts, key=counts.__getitem__)  # the first of equals, in order of first occurrence
    # UTF-8 sorts as its code points do, so bytes may stand in for strings of characters.
    if job.ties == "largest-tokens":
        return max(counts, key=lambda pair: (counts[pair], tokens[pair[0]], tokens[pair[1]]))

    def place(id: int) -> int:
        return job.places[id] if id < len(job.places) else 512 + id  # merges come after all bytes, as they were made

    def key(pair: Pair) -> Any:
        left, right = pair
        if job.ties == "smallest-ids":
            return pair
        if job.ties == "smallest-tokens":
            return tokens[left], tokens[right]
        if job.ties == "tokenizers":
            return place(left), place(right)
        return lengths[left] + lengths[right], tokens[left] + tokens[right]

    return min(counts, key=lambda pair: (-counts[pair], key(pair)))
