"""Training as it is defined: every round counts all pairs again. Slow, and what faster ones are held to."""

from collections.abc import Collection, Iterable, Mapping

from .pairs import Pair, merge, pair_counts
from .rules import Alphabet, Job, Ties
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
) -> Vocabulary:
    """Learn a vocabulary from pieces (an iterable in which they repeat, or a mapping piece -> count).

    >>> train_naive("aaabdaaabac", vocab_size=259).merges
    {(97, 97): 256, (97, 98): 257, (256, 257): 258}
    >>> train_naive({"ab": 3, "ba": 3, "c": 9}, alphabet="characters", min_count=2).merges
    {(0, 1): 3, (1, 0): 4}

    Each round takes the pair with the highest count. Ties go to

    - "smallest-ids": the smallest (left id, right id);
    - "smallest-tokens": the smallest (left token, right token), compared as strings;
    - "first-seen": the pair whose first occurrence comes first, the pieces in order of first appearance.

    Training stops at `vocab_size` ids (alphabet, merges and special tokens together), or when the best count is below
    `min_count`, or when no pair is left. A pair whose token would have more than `max_token_length` base symbols is
    never chosen. `special_tokens` only take ids, after the merges: cut them out of the text with `pieces`.

    Neither `vocab_size` nor `min_count`, a `min_count` below 1, a `vocab_size` below alphabet and special tokens: a
    `ValueError`. A corpus that is empty, or runs out of pairs before `vocab_size`: a smaller vocabulary and a warning.
    """
    job = Job(pieces, alphabet, vocab_size, min_count, ties, max_token_length, special_tokens, unknown)
    tokens = list(job.base)
    lengths = [1] * len(tokens)
    merges: dict[Pair, int] = {}
    sequences = job.sequences

    def candidates() -> dict[Pair, int]:
        counts: dict[Pair, int] = {}
        for ids, n in zip(sequences, job.weights, strict=True):
            pair_counts(ids, counts, n)
        return {p: n for p, n in counts.items() if lengths[p[0]] + lengths[p[1]] <= job.max_token_length}

    while counts := candidates():
        if len(merges) >= job.most_merges:
            break
        if ties == "smallest-ids":
            best = min(counts, key=lambda pair: (-counts[pair], pair))
        elif ties == "smallest-tokens":
            # UTF-8 sorts as its code points do, so bytes may stand in for strings of characters.
            best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        else:
            best = max(counts, key=counts.__getitem__)  # the first of equals, in order of first occurrence
        if counts[best] < job.min_count:
            break
        merges[best] = new_id = len(tokens)
        tokens.append(tokens[best[0]] + tokens[best[1]])
        lengths.append(lengths[best[0]] + lengths[best[1]])
        sequences = [merge(ids, best, new_id) for ids in sequences]
    job.warn_if_smaller(len(merges), pairs_left=bool(counts))
    return Vocabulary(job, merges, sequences)
