"""What all trainers of this package do before the first round and after the last: check, prepare, warn."""

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from typing import Any, Literal, get_args

from .options import SAME_RULE, Ties, alphabet_of, byte_places, may_be_token, merges_to_begin_with
from .pairs import Pair
from .text import Text, pieces, well_formed

Alphabet = Literal["bytes", "characters"]


def check_vocab_size(vocab_size: int, *, alphabet: int, specials: int) -> None:
    """A vocabulary has room for its alphabet and its special tokens, or it is a `ValueError`."""
    if vocab_size < alphabet + specials:
        raise ValueError(
            f"vocab_size={vocab_size} is too small: the alphabet takes {alphabet} ids and the special tokens "
            f"{specials}; ask for at least {alphabet + specials}"
        )


def warn_smaller(size: int, vocab_size: int | None, *, empty: bool = False, level: int = 2) -> None:
    """The one warning of training: the corpus held fewer merges than were asked for.

    It points at the line that many calls above this one; 2 is who called the trainer that calls this.
    """
    reason = "is empty" if empty else "ran out of pairs"
    wanted = "" if vocab_size is None else f" of the {vocab_size} asked for"
    message = f"the corpus {reason}: the vocabulary has {size} ids{wanted}; give more text or a smaller vocab_size"
    warnings.warn(message, stacklevel=level + 1)


class Job:
    """A checked training job: distinct pieces as ids of base symbols, how often each occurs, and when to stop.

    >>> job = Job({"abc": 2, "b": 1}, "characters", None, 2, "smallest-ids", None, ["<s>"])
    >>> job.base
    [b'a', b'b', b'c']
    >>> job.sequences, job.weights
    ([[0, 1, 2], [1]], [2, 1])

    `corpus` is a mapping piece -> count, or an iterable of pieces, each counted once per occurrence; both in order of
    first appearance, which only the tie rule "first-seen" looks at. A `str` or `bytes` alone is one piece.
    """

    def __init__(
        self,
        corpus: Text | Iterable[Text] | Mapping[Text, int],
        alphabet: Alphabet,
        vocab_size: int | None,
        min_count: int | None,
        ties: Ties,
        max_token_length: int | None,
        special_tokens: Collection[str] = (),
        unknown: str = "error",
        *,
        allow: Callable[[bytes, bytes, bytes], object] | None = None,
        initial_alphabet: str = "",
        limit_alphabet: int | None = None,
        seed_tokens: Collection[Text] = (),
        resume: Mapping[Pair, int] | None = None,
        **rules: Any,
    ) -> None:
        if vocab_size is None and min_count is None:
            raise ValueError("training would never stop: give vocab_size, min_count or both")
        if min_count is not None and min_count < 1:
            raise ValueError(f"min_count={min_count} must be at least 1: a pair that does not occur cannot be merged")
        if max_token_length is not None and max_token_length < 1:
            raise ValueError(f"max_token_length={max_token_length} must be at least 1, or None for no limit")
        for name, value, choices in [
            ("alphabet", alphabet, ("bytes", "characters")),
            ("ties", ties, get_args(Ties)),
        ]:
            if value not in choices:
                raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(choices)}")
        ties = SAME_RULE.get(ties, ties)
        if ties == "first-seen" and isinstance(corpus, Set):
            raise ValueError("ties='first-seen' needs pieces in order, and a set has none; give a list or a mapping")
        if isinstance(special_tokens, str):
            raise TypeError("special_tokens is one str; give a list of them, or its letters would be the markers")
        self.special_tokens = [well_formed(marker) for marker in special_tokens]
        if "" in self.special_tokens or len(set(self.special_tokens)) < len(self.special_tokens):
            raise ValueError(f"special tokens must be distinct and not empty, but they are {self.special_tokens}")
        if unknown not in ("error", "bytes", *self.special_tokens):
            raise ValueError(f"unknown={unknown!r} is not a special token; name one, or choose 'error' or 'bytes'")
        counts = _counted(corpus)
        self.pieces = list(counts)
        if alphabet == "bytes":
            if initial_alphabet or limit_alphabet is not None:
                raise ValueError("a byte alphabet holds all bytes: initial and limited alphabets are for characters")
            self.base = [bytes([byte]) for byte in range(256)]
            stretches = [(piece, list(piece), n, piece) for piece, n in counts.items()]
        else:
            frequencies: dict[str, int] = {}
            for piece, n in counts.items():
                for character in piece.decode():
                    frequencies[character] = frequencies.get(character, 0) + n
            seeds = [seed if isinstance(seed, str) else seed.decode() for seed in seed_tokens]
            characters = alphabet_of(frequencies, "".join([initial_alphabet, *seeds]), limit_alphabet)
            self.base = [character.encode() for character in characters]
            if unknown == "bytes":  # these never occur in the training text, so no merge has one
                self.base += [bytes([byte]) for byte in range(256)]
            number = {character: id for id, character in enumerate(characters)}
            outside = re.compile("[^" + re.escape("".join(characters)) + "]" if characters else ".", re.DOTALL)
            # Nothing is merged across a character that the alphabet lacks.
            stretches = [
                (stretch.encode(), [number[character] for character in stretch], n, piece)
                for piece, n in counts.items()
                for stretch in outside.split(piece.decode())
            ]
        self.sequences = [ids for _, ids, _, _ in stretches]
        self.weights = [n for _, _, n, _ in stretches]
        # The piece that a sequence is, or None if it is a part of one.
        self.origins = [piece if stretch == piece else None for stretch, _, _, piece in stretches]
        first = len(self.base)
        as_bytes = [well_formed(seed).encode() if isinstance(seed, str) else seed for seed in seed_tokens]
        as_ids = [list(seed) if alphabet == "bytes" else [number[c] for c in seed.decode()] for seed in as_bytes]
        self.first_merges = merges_to_begin_with(resume, as_ids, first)
        if vocab_size is not None:
            begun = len(self.base) + len(self.first_merges)
            check_vocab_size(vocab_size, alphabet=begun, specials=len(self.special_tokens))
        self.alphabet, self.unknown, self.vocab_size, self.ties = alphabet, unknown, vocab_size, ties
        self.min_count = 1 if min_count is None else min_count
        self.max_token_length = float("inf") if max_token_length is None else max_token_length
        self.allow, self.rules = allow, {name: value for name, value in rules.items() if value not in (None, False)}
        self.places = byte_places() if alphabet == "bytes" else list(range(first))

    def keeps(self, token: bytes) -> bool:
        """Whether the rules about characters let these bytes be a token."""
        return not self.rules or may_be_token(token, **self.rules)

    def allows(self, left: bytes, right: bytes) -> bool:
        """Asks the caller about a pair that is the next one."""
        return self.allow is None or bool(self.allow(left, right, left + right))

    @property
    def most_merges(self) -> float:
        """How many merges `vocab_size` leaves room for."""
        return float("inf") if self.vocab_size is None else self.vocab_size - len(self.base) - len(self.special_tokens)

    def warn_if_smaller(self, merges: int, *, pairs_left: bool) -> None:
        """Warn once if the corpus was empty, or ran out of pairs. To stop at `min_count` is what the caller wanted.

        For a trainer to call: the warning points at the line that called the trainer.
        """
        size = len(self.base) + merges + len(self.special_tokens)
        if not self.pieces:
            warn_smaller(size, self.vocab_size, empty=True, level=3)
        elif self.vocab_size is not None and merges < self.most_merges and not pairs_left:
            warn_smaller(size, self.vocab_size, level=3)


def _counted(corpus: Text | Iterable[Text] | Mapping[Text, int]) -> dict[bytes, int]:
    if isinstance(corpus, Mapping):
        items = list(corpus.items())
    else:
        items = [(piece, 1) for piece in ([corpus] if isinstance(corpus, str | bytes) else corpus)]
    counts: dict[bytes, int] = {}
    for text, n in items:
        if n < 0:
            raise ValueError(f"piece {text!r} has the count {n}; a count is at least 0")
        if n > 0:
            for piece in pieces(text):  # one, unless the bytes are not UTF-8
                counts[piece] = counts.get(piece, 0) + n
    return counts
