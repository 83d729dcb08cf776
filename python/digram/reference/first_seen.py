"""Three functions, no class: the form that courses and interviews ask for. Ties go to the pair seen first.

>>> merges, vocab = train("aaabdaaabac", 259)
>>> merges
{(97, 97): 256, (256, 97): 257, (257, 98): 258}
>>> encode("aaab", merges)
[258]
>>> decode([258], vocab)
'aaab'

`byte_level` learns (97, 98) in the second round: both pairs occur twice, and the rules for ties differ.
"""

from collections.abc import Iterable, Mapping

from .pairs import Pair, apply_merges, merge, pair_counts
from .rules import check_vocab_size, warn_smaller
from .text import Text, decode, pieces

__all__ = ["decode", "encode", "train"]


def train(corpus: Text | Iterable[Text], vocab_size: int) -> tuple[dict[Pair, int], dict[int, bytes]]:
    """Learn merges from a text, or from several that no merge crosses, until there are `vocab_size` ids.

    Returns (merges, vocab): (left id, right id) -> new id in learned order, and id -> bytes. A corpus that runs out of
    pairs gives fewer merges and a warning; a `vocab_size` below 256 is a `ValueError`.

    >>> train(["abab", "cdcd"], 258)[0]
    {(97, 98): 256, (99, 100): 257}
    """
    check_vocab_size(vocab_size, alphabet=256, specials=0)
    documents = [corpus] if isinstance(corpus, str | bytes) else corpus
    sequences = [list(piece) for document in documents for piece in pieces(document)]
    merges: dict[Pair, int] = {}
    vocab = {byte: bytes([byte]) for byte in range(256)}
    for new_id in range(256, vocab_size):
        counts: dict[Pair, int] = {}
        for ids in sequences:
            pair_counts(ids, counts)
        if not counts:
            warn_smaller(len(vocab), vocab_size)
            break
        # max() keeps the first of equals, and the pairs stand in order of first occurrence: that is the tie rule.
        best = max(counts, key=counts.__getitem__)
        sequences = [merge(ids, best, new_id) for ids in sequences]
        merges[best] = new_id
        vocab[new_id] = vocab[best[0]] + vocab[best[1]]
    return merges, vocab


def encode(text: Text, merges: Mapping[Pair, int]) -> list[int]:
    """The ids of a text under a trained table of merges.

    >>> encode("abcab", {(97, 98): 256, (256, 99): 257})
    [257, 256]
    """
    return [id for piece in pieces(text) for id in apply_merges(list(piece), merges)]
