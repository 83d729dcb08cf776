"""A trained vocabulary, which the trainers return: encoding, decoding, special tokens, unknown characters."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from .characters import unknown_character
from .encoder import encode_heap, rank_table
from .pairs import Pair
from .rules import Job
from .text import Split, Text, cut_markers, decode, escaped, ordinary_pieces


class Vocabulary:
    """Alphabet, then merges, then special tokens: ids without a hole.

    >>> from digram.reference import train_merges
    >>> vocabulary = train_merges("abababa", alphabet="characters", min_count=2, special_tokens=["<s>"])
    >>> vocabulary.merges
    {(0, 1): 2, (2, 2): 3}
    >>> vocabulary.vocab
    {0: b'a', 1: b'b', 2: b'ab', 3: b'abab', 4: b'<s>'}
    >>> vocabulary.encode("ababa")
    [3, 0]
    >>> vocabulary
    <digram.reference.Vocabulary: 5 ids, characters>

    `base` are the tokens of the alphabet; `merges` maps (left id, right id) to the new id in learned order;
    `special_tokens` maps markers to ids; `sequences` has the ids that training ended with, for each distinct piece
    without unknown characters.
    """

    def __init__(self, job: Job, merges: dict[Pair, int], sequences: Sequence[list[int]]) -> None:
        self.alphabet, self.unknown, self.base, self.merges = job.alphabet, job.unknown, job.base, merges
        first = len(job.base) + len(merges)
        self.special_tokens = {marker: first + i for i, marker in enumerate(job.special_tokens)}
        whole = zip(job.origins, sequences, strict=True)
        self.sequences = {piece: ids for piece, ids in whole if piece is not None}

    def __repr__(self) -> str:
        n = len(self.base) + len(self.merges) + len(self.special_tokens)
        return f"<digram.reference.Vocabulary: {n} ids, {self.alphabet}>"

    @cached_property
    def vocab(self) -> dict[int, bytes]:
        """Every id with its token's bytes, special tokens included."""
        tokens = dict(enumerate(self.base))
        for (left, right), new_id in self.merges.items():
            tokens[new_id] = tokens[left] + tokens[right]
        tokens.update((id, marker.encode()) for marker, id in self.special_tokens.items())
        return tokens

    def encode(
        self,
        text: Text,
        split: Split | None = None,
        allowed_special: Collection[str] | Literal["all"] = (),
        disallowed_special: Collection[str] | Literal["all"] = (),
    ) -> list[int]:
        """The ids of a text. All of it is ordinary text, unless a marker is allowed.

        >>> from digram.reference import train_merges
        >>> vocabulary = train_merges("ab", vocab_size=258, special_tokens=["<s>"])
        >>> vocabulary.encode("ab<s>")
        [256, 60, 115, 62]
        >>> vocabulary.encode("ab<s>", allowed_special="all")
        [256, 257]
        >>> vocabulary.encode("ab<s>", disallowed_special="all")
        Traceback (most recent call last):
            ...
        ValueError: special token '<s>' at position 2 of the text is disallowed; allow it only if the text is trusted

        A character outside the alphabet is a `ValueError` that names it and its position, or a special token, or
        bytes, as `unknown` in training said.
        """
        text = escaped(text)
        markers = self.special_tokens if allowed_special == "all" else set(allowed_special)
        for marker in markers:
            if marker not in self.special_tokens:
                raise ValueError(f"allowed_special has {marker!r}, which is not a special token of this vocabulary")
        forbidden = set(self.special_tokens) - set(markers) if disallowed_special == "all" else disallowed_special
        position = 0
        for part, is_marker in cut_markers(text, forbidden):
            if is_marker:
                raise ValueError(
                    f"special token {part!r} at position {position} of the text is disallowed; "
                    "allow it only if the text is trusted"
                )
            position += len(part)
        ids: list[int] = []
        position = 0
        known: dict[bytes, list[int]] = {}
        for part, is_marker in cut_markers(text, markers):
            if is_marker:
                ids.append(self.special_tokens[part])
                position += len(part)
                continue
            for piece in ordinary_pieces(part, split):
                if piece not in known:
                    known[piece] = encode_heap(self._base_ids(piece, position), self._ranks)
                ids += known[piece]
                if self.alphabet == "characters":
                    position += len(piece.decode("utf-8", "surrogateescape"))
        return ids

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """The text of ids; `UnknownIdError` (a `KeyError` and a `ValueError`) for an id without a token."""
        return decode(ids, self.vocab, errors)

    @cached_property
    def _ranks(self) -> Mapping[Pair, tuple[int, int]]:
        return rank_table(self.merges)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {token.decode(): id for id, token in enumerate(self.base) if id < self._characters}

    @property
    def _characters(self) -> int:
        return len(self.base) - (256 if self.unknown == "bytes" else 0)

    def _base_ids(self, piece: bytes, position: int) -> list[int]:
        """The base symbols of a piece that starts at this position of the text."""
        if self.alphabet == "bytes":
            return list(piece)
        ids = []
        for i, character in enumerate(piece.decode("utf-8", "surrogateescape")):
            if character in self._number:
                ids.append(self._number[character])
            elif self.unknown == "error":
                raise unknown_character(character, position + i)
            elif self.unknown == "bytes":
                ids += [self._characters + byte for byte in character.encode("utf-8", "surrogateescape")]
            else:
                ids.append(self.special_tokens[self.unknown])
        return ids
