"""The tokenizer of the textbooks: 256 bytes, then merges. Nothing is ever unknown to it.

Every round counts all pairs again from the start. That is the definition, and slow: bytes x merges visits. `trainer`
reaches the same merges and touches only what a merge changes.
"""

from collections.abc import Iterable

from .pairs import Pair, apply_merges, merge, pair_counts
from .rules import check_vocab_size, warn_smaller
from .text import Text, decode, pieces, wrong_type


class BPETokenizer:
    """Byte-level byte-pair encoding of a text that is one piece; ties go to the smallest (left id, right id).

    >>> tok = BPETokenizer()
    >>> tok.train("aaabdaaabac", 259)
    [258, 100, 258, 97, 99]
    >>> tok.merges
    {(97, 97): 256, (97, 98): 257, (256, 257): 258}
    >>> tok.vocab[258]
    b'aaab'
    >>> tok.encode("baaab")
    [98, 258]
    >>> tok.decode([98, 258])
    'baaab'

    `merges` maps (left id, right id) to the new id, in learned order; `vocab` maps each id to its bytes. Before
    training, the ids are the bytes.
    """

    def __init__(self) -> None:
        self.merges: dict[Pair, int] = {}
        self.vocab: dict[int, bytes] = {byte: bytes([byte]) for byte in range(256)}

    def __repr__(self) -> str:
        return f"<digram.reference.BPETokenizer: {len(self.vocab)} ids, bytes>"

    def train(self, text: Text, vocab_size: int) -> list[int]:
        """Learn merges until there are `vocab_size` ids, bytes included; return the ids that the text ended as.

        Forgets what was learned before. A text that runs out of pairs gives a smaller vocabulary and a warning; a
        `vocab_size` below 256 is a `ValueError`.
        """
        if not isinstance(text, str | bytes):
            raise TypeError(f"{wrong_type('a text is str or bytes', text)}; for several use digram.reference.train")
        check_vocab_size(vocab_size, alphabet=256, specials=0)
        self.merges, self.vocab = {}, {byte: bytes([byte]) for byte in range(256)}
        sequences = [list(piece) for piece in pieces(text)]
        for new_id in range(256, vocab_size):
            counts: dict[Pair, int] = {}
            for ids in sequences:
                pair_counts(ids, counts)
            if not counts:
                warn_smaller(len(self.vocab), vocab_size)
                break
            # The highest count; among equals the smallest pair, so that the result depends on nothing but the text.
            best = min(counts, key=lambda pair: (-counts[pair], pair))
            sequences = [merge(ids, best, new_id) for ids in sequences]
            self.merges[best] = new_id
            self.vocab[new_id] = self.vocab[best[0]] + self.vocab[best[1]]
        return [id for ids in sequences for id in ids]

    def encode(self, text: Text) -> list[int]:
        """The ids of a text. Of the text it was trained on: the ids that training returned."""
        return [id for piece in pieces(text) for id in apply_merges(list(piece), self.merges)]

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """The text of ids; `UnknownIdError` (a `KeyError` and a `ValueError`) for an id without a token."""
        return decode(ids, self.vocab, errors)
