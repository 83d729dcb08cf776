"""Characters instead of bytes, and a threshold instead of a size: merge as long as it is worth it.

The tokens are readable, but the alphabet is that of the training text: a new character is an error.
"""

from collections.abc import Iterable

from .pairs import Pair, apply_merges, merge, pair_counts
from .text import unknown_id, well_formed


class CharacterBPE:
    """Character-level byte-pair encoding; ties go to the smallest (left token, right token), compared as strings.

    >>> bpe = CharacterBPE()
    >>> bpe.train("abababa", threshold=2)
    [3, 2, 0]
    >>> bpe.vocab
    {'a': 0, 'b': 1, 'ab': 2, 'abab': 3}
    >>> bpe.encode("ababa"), bpe.encode("bab"), bpe.encode("abababab")
    ([3, 0], [1, 2], [3, 3])
    >>> bpe.decode([3, 0])
    'ababa'

    Round 1: (a, b) and (b, a) both occur three times, and ("a", "b") is the smaller. Round 2 counts (ab, ab) twice in
    "ab ab ab a", because overlaps count. Then every pair occurs once, which is below the threshold.

    `vocab` maps token -> id: first the characters of the training text by code point, then the merges.
    """

    def __init__(self) -> None:
        self.vocab: dict[str, int] = {}
        self.merges: dict[Pair, int] = {}

    def __repr__(self) -> str:
        return f"<digram.reference.CharacterBPE: {len(self.vocab)} ids, characters>"

    def train(self, text: str, threshold: int) -> list[int]:
        """Learn merges until no pair occurs `threshold` times; return the ids that the text ended as.

        Forgets what was learned before. A `threshold` below 1 is a `ValueError`.
        """
        if threshold < 1:
            raise ValueError(f"threshold={threshold} must be at least 1: a pair that does not occur cannot be merged")
        text = well_formed(text)
        tokens = sorted(set(text))
        self.merges, self.vocab = {}, {token: id for id, token in enumerate(tokens)}
        ids = [self.vocab[character] for character in text]
        while counts := pair_counts(ids):
            best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
            if counts[best] < threshold:
                break
            ids = merge(ids, best, len(tokens))
            self.merges[best] = len(tokens)
            # Two different pairs never spell the same token: the earlier of them would have merged the later one's
            # text in its own way, everywhere: "aaa" is only ever aa + a, for where "aa" was merged first, no a + aa is
            # left. So a token names its id, and the map may go from token to id.
            self.vocab[tokens[best[0]] + tokens[best[1]]] = len(tokens)
            tokens.append(tokens[best[0]] + tokens[best[1]])
        return ids

    def encode(self, text: str) -> list[int]:
        """The ids of a text; a `ValueError` names a character that was not in the training text, and where it is.

        >>> bpe = CharacterBPE()
        >>> _ = bpe.train("abab", threshold=2)
        >>> bpe.encode("abc")
        Traceback (most recent call last):
            ...
        ValueError: character 'c' (U+0063) at position 2 is not in the alphabet; train on a text that has it
        """
        text = well_formed(text)
        for position, character in enumerate(text):
            if character not in self.vocab:
                raise unknown_character(character, position)
        return apply_merges([self.vocab[character] for character in text], self.merges)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; `UnknownIdError` (a `KeyError` and a `ValueError`) for an id without a token."""
        tokens = {id: token for token, id in self.vocab.items()}
        parts = []
        for position, id in enumerate(ids):
            if id not in tokens:
                raise unknown_id(id, position)
            parts.append(tokens[id])
        return "".join(parts)


def unknown_character(character: str, position: int) -> ValueError:
    """The error for a character that no token spells."""
    return ValueError(
        f"character {character!r} (U+{ord(character):04X}) at position {position} is not in the alphabet; "
        "train on a text that has it"
    )
