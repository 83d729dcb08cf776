"""The merges of a vocabulary one by one: of which parts a token is made, and in which order a piece is merged."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from digram._native import PieceCounts
from digram.errors import DigramError, VocabularyError

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["Candidate", "Merging", "Steps"]

Candidate = tuple[int, int, int]
"""(position of the left symbol, rank, new id) of two neighbours that merge."""


@dataclass(frozen=True, slots=True)
class Steps:
    """How one piece is merged.

    `symbols` are the ids it starts from. Step k has `candidates[k]`, all neighbours that merge, in order of position,
    and takes the one of lowest rank, the leftmost of these. `ids` is what the tokenizer gives; `whole` says that it
    takes the piece without merging, as it is a token itself.
    """

    symbols: list[int]
    candidates: list[list[Candidate]]
    ids: list[int]
    whole: bool


class Merging:
    """The merges of a tokenizer. `pairs` and what needs it are made at the first use; to be shared between threads."""

    def __init__(self, tok: Tokenizer) -> None:
        self.tok = tok
        self._encoder = tok._encoder
        self._definition = tok._definition

    @cached_property
    def pairs(self) -> dict[tuple[int, int], int] | None:
        """(left, right) -> rank, or None for ranked bytes and token lists that are not canonical."""
        try:
            merges = self.tok.merges
        except VocabularyError:
            return None
        if self.by_id:
            return dict(merges)
        return {pair: rank for rank, pair in enumerate(merges)}

    @cached_property
    def _made_by(self) -> dict[int, tuple[int, int]]:
        """new id -> the pair of lowest rank that makes it."""
        made: dict[int, tuple[int, int]] = {}
        for pair, id in self.tok.merges.items():
            made.setdefault(id, pair)
        return made

    @property
    def by_id(self) -> bool:
        """Whether the rank of a token is its id, as in a .tiktoken file and in a token list."""
        return self._definition.kind in ("ranks", "list")

    def pair(self, left: int, right: int) -> tuple[int, int] | None:
        """(rank, new id) of two neighbours, or None where they do not merge."""
        if self.pairs is None:
            id = self._encoder.token_id(self.tok.token_bytes(left) + self.tok.token_bytes(right))
            return None if id is None or self.tok.is_special(id) else (id, id)
        rank = self.pairs.get((left, right))
        return None if rank is None else (rank, self.tok.merges[left, right])

    def rank(self, id: int) -> int | None:
        """The rank of a token; None for a base symbol of a vocabulary that counts merges, and for special tokens."""
        if self.tok.is_special(id):
            return None
        if self.by_id:
            return id
        parts = self.parts(id)
        return None if parts is None or self.pairs is None else self.pairs[parts]

    def parts(self, id: int) -> tuple[int, int] | None:
        """The two parts that a token is made of; None for a base symbol, a special token, or where there is no pair."""
        if self.tok.is_special(id):
            return None
        if self.pairs is not None:
            return self._made_by.get(id)
        symbols = self._symbols(self.tok.token_bytes(id))
        while symbols is not None and len(symbols) > 2:
            lower = [step for step in self._candidates(symbols) if step[1] < id]
            if not lower:
                return None
            _merge(symbols, lower)
        return (symbols[0], symbols[1]) if symbols is not None and len(symbols) == 2 else None

    def steps(self, piece: str) -> Steps | None:
        """How a piece is merged; None where the vocabulary's file does more to it than merging."""
        text = self._changed(piece)
        symbols = self._symbols(text.encode())
        if symbols is None:
            return None
        try:
            # By itself a piece might be cut: blanks that stand before a word are, at the end of a text, another piece.
            ids = self.tok.encode(piece) if self.tok.pattern is None else self._encoder.encode_piece(text.encode())
        except DigramError:
            return None
        steps, now = [], list(symbols)
        while found := self._candidates(now):
            steps.append(found)
            _merge(now, found)
        if now == ids:
            return Steps(symbols, steps, ids, whole=False)
        whole = len(ids) == 1 and self.tok.token_bytes(ids[0]) == text.encode()
        return Steps(symbols, steps, ids, whole=True) if whole else None

    def pieces(self, text: str, limit: int) -> list[str]:
        """The distinct pieces of a text in the order in which they first come; words, where no pattern cuts them."""
        pattern = self.tok.pattern
        if pattern is None:
            return list(dict.fromkeys(text.split()))[:limit]
        counts = PieceCounts(pattern)
        counts.add([self._changed(text).encode("utf-8", "replace")])
        joined, ends, _ = counts.flat()
        pieces, start = [], 0
        for end in memoryview(ends).cast("Q"):
            pieces.append(joined[start:end].decode())
            start = end
            if len(pieces) == limit:
                break
        return pieces

    def _changed(self, text: str) -> str:
        """What the steps of a normalizer make of a text, those that are plain; `steps` finds out about the others."""
        for step in self._definition.normalizer:
            match step:
                case ("nfc" | "nfd" | "nfkc" | "nfkd" as form,):
                    text = unicodedata.normalize(form.upper(), text)  # type: ignore[arg-type]
                case ("prepend", str(mark)):
                    text = mark + text if text else text
                case ("replace", str(old), str(new)):
                    text = text.replace(old, new)
                case ("lowercase",):
                    text = text.lower()
        return text

    def _symbols(self, piece: bytes) -> list[int] | None:
        """The base symbols of a piece, or None where one has no token."""
        if self.tok.alphabet == "bytes":
            parts: Sequence[bytes] = [piece[i : i + 1] for i in range(len(piece))]
        else:
            parts = [character.encode() for character in piece.decode("utf-8", "replace")]
        ids = []
        for part in parts:
            id = self._encoder.token_id(part)
            if id is not None:
                ids.append(id)
            elif self._definition.byte_ids:
                ids += [self._definition.byte_ids[byte] for byte in part]
            else:
                return None
        return ids

    def _candidates(self, symbols: list[int]) -> list[Candidate]:
        found = []
        for i, (left, right) in enumerate(pairwise(symbols)):
            merge = self.pair(left, right)
            if merge is not None:
                found.append((i, *merge))
        return found


def _merge(symbols: list[int], candidates: Sequence[Candidate]) -> None:
    i, _, id = min(candidates, key=lambda candidate: (candidate[1], candidate[0]))
    symbols[i : i + 2] = [id]
