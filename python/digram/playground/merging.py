"""What the page shows of merges beyond `digram.explain`: all that could be merged at each step of a piece."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from digram import explain
from digram._native import PieceCounts

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
    """The merges of a tokenizer, for the page; to be shared between threads."""

    def __init__(self, tok: Tokenizer) -> None:
        self.tok = tok

    def parts(self, id: int) -> tuple[int, int] | None:
        """The two parts that a token is made of; None for a base symbol, a special token, or where there is no pair."""
        return explain.parts(self.tok, id)

    def rank(self, id: int) -> int | None:
        """The rank of a token; None for a base symbol of a vocabulary that counts merges, and for special tokens."""
        # The rank of a token is its id in a .tiktoken file and in a token list: base symbols have one too.
        if self.tok._definition.kind in ("ranks", "list"):
            return None if self.tok.is_special(id) else id
        return explain.rank(self.tok, id)

    def steps(self, piece: str) -> Steps | None:
        """How a piece is merged; None where the vocabulary's file does more to it than merging. UnknownSymbolError
        names a character that has no token.
        """
        found = self._explained(piece)
        if found is None:
            return None
        return Steps(list(found.symbols), list(self._candidates(found)), list(found.ids), found.whole)

    def _explained(self, piece: str) -> explain.Piece | None:
        if self.tok.pattern is None:
            found = self.tok.explain(piece).parts
            return found[0] if len(found) == 1 and isinstance(found[0], explain.Piece) else None
        # By itself a piece might be cut: blanks that stand before a word are, at the end of a text, another piece.
        return explain.piece(self.tok, self._changed(piece).encode())

    def _candidates(self, piece: explain.Piece) -> Iterator[list[Candidate]]:
        """Of each step all neighbours that merge. A pair's rule is that of the time when it came about: of the entries
        of a token list that are spelt alike the next one counts."""
        rule = self.tok._encoder.rule
        ids, starts = list(piece.symbols), list(range(len(piece.symbols)))
        rules = [rule(*pair) for pair in pairwise(ids)]
        for step in piece.steps:
            yield [(i, *found) for i, found in enumerate(rules) if found is not None]
            i = starts.index(step.start)
            del starts[i + 1], rules[i]
            ids[i : i + 2] = [step.id]
            for j in (i - 1, i):
                if 0 <= j < len(rules):
                    rules[j] = rule(ids[j], ids[j + 1], step.rank + 1)

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
        """What the steps of a normalizer make of a text, those that are plain."""
        for step in self.tok._definition.normalizer:
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
