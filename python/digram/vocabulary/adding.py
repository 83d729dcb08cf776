"""Whole words as tokens, by hand.

A word becomes a token as every other one did: by merges. The parts that the vocabulary makes of it are merged one after
the other, by rules behind all old ones, so a word of k parts takes k - 1 new ids, of which all but the last are
beginnings of it. (tokenizers' `add_tokens` takes one id instead, for a string that is cut out of the text before it is
normalised and split. Then "Kubernetes" is also found in "Kubernetesque", a blank in front stays a token by itself, and
of all formats tokenizer.json alone can say so.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from digram._checked import check_tokenizer
from digram.errors import UnknownSymbolError, VocabularyError
from digram.explain import Piece, explain
from digram.tokenizer import Tokenizer
from digram.vocabulary.extending import check_room, longer

__all__ = ["AddedWords", "add_words"]


@dataclass(frozen=True, slots=True)
class AddedWords:
    """What `add_words` made: the tokenizer; the id of each word, old or new, and of each with a blank in front; and for
    each new id the old ids whose tokens it puts together, for the rows of an embedding to begin with."""

    tokenizer: Tokenizer
    ids: Mapping[str, int]
    made_of: Mapping[int, tuple[int, ...]]


def add_words(tokenizer: Tokenizer, words: Iterable[str], *, spaces: bool = True) -> AddedWords:
    """A tokenizer under which each of `words` is one token where it stands as a piece.

    With `spaces` each word is taken with a blank in front, too, where the split leaves the two together: so most words
    stand in a text. No old id changes, and the new ones come after the highest, one by one. New merges have the last
    ranks: a text is merged as before until nothing old is left to merge, and one in which no new merge applies has the
    ids that it had. Every format holds the result as it held the vocabulary; where nothing splits (Llama 2), a word is
    one token where the merges of what stands around it leave it alone.

    ValueError: a word that the split cuts in several pieces, which no merge crosses; one with a character that the
    vocabulary lacks; an empty one; an ordered list with special tokens. VocabularyError: a token is spelt as the word
    already, and no merge leads to it.
    """
    check_tokenizer(tokenizer)
    if isinstance(words, (str, bytes)):
        raise TypeError(f"words must be a list of str, not one {type(words).__name__}: use [word]")
    check_room(tokenizer)
    making = _Making(tokenizer)
    wanted: dict[str, tuple[int, ...]] = {}
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"a word must be str, not {type(word).__name__}")
        for text in (word, " " + word) if spaces else (word,):
            piece = _piece(tokenizer, text, text == word)
            if piece is not None and text not in wanted:
                wanted[text] = piece.ids
    ids = {text: making.one_token(text, list(parts)) for text, parts in wanted.items()}
    made = Tokenizer(longer(tokenizer, making.found)) if making.found else tokenizer
    for text, id in ids.items():
        if made.encode(text) != [id]:
            raise VocabularyError(
                f"the merges of this vocabulary do not leave {text!r} alone, so it is no token by them"
            )
    made_of: dict[int, tuple[int, ...]] = {}
    for left, right, new in making.found:
        made_of[new] = made_of.get(left, (left,)) + made_of.get(right, (right,))
    return AddedWords(made, ids, made_of)


def _piece(tokenizer: Tokenizer, text: str, needed: bool) -> Piece | None:
    """The one piece of a word; None where there is none of a word that is not `needed`."""
    if not text:
        raise ValueError("a word is empty: give each a text")
    try:
        parts = explain(tokenizer, text).parts
    except UnknownSymbolError:
        if needed:
            raise
        return None
    if len(parts) != 1 or not isinstance(parts[0], Piece):
        if not needed:
            return None
        shown = ", ".join(repr(text.encode()[part.start : part.end].decode("utf-8", "replace")) for part in parts)
        raise ValueError(
            f"the vocabulary cuts {text!r} into {shown or 'nothing'}, and no merge crosses a cut: give a word that "
            "stays one piece"
        )
    if parts[0].stand_ins:
        if not needed:
            return None
        stand_in = parts[0].stand_ins[0]
        lacking = parts[0].piece[stand_in.start :].decode("utf-8", "replace")[:1]
        raise ValueError(
            f"the vocabulary has no token for {lacking!r} in {text!r}, and what stands in for it is never merged: "
            "leave the word out"
        )
    return parts[0]


class _Making:
    """New merges, each behind all before it, and what is left of a word after them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._first = tokenizer.n_vocab
        definition = tokenizer._definition
        # Of ranked bytes and lists any two neighbours merge that spell a token; of pairs those alone that a rule names.
        self._any_split = definition.kind in ("ranks", "list") or bool(definition.ranked)
        self._spelt: dict[int, bytes] = {}
        self._by_bytes: dict[bytes, int] = {}
        self._by_pair: dict[tuple[int, int], int] = {}
        self._old = {token: id for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)}
        self.found: list[tuple[int, int, int]] = []

    def one_token(self, word: str, ids: list[int]) -> int:
        """The id of a word whose old ids are `ids`; merges are added until it is one."""
        ids = self._merged(ids)
        while len(ids) > 1:
            at = next(
                (at for at, pair in enumerate(pairwise(ids)) if (joined := self._joined(pair)) not in self._old
                 and joined not in self._by_bytes),
                None,
            )  # fmt: skip
            if at is None:
                raise VocabularyError(
                    f"a token of this vocabulary is spelt as {word!r} or a part of it, and no merge leads to it"
                )
            self._add((ids[at], ids[at + 1]))
            ids = self._merged(ids)
        return ids[0]

    def _bytes(self, id: int) -> bytes:
        return self._spelt[id] if id in self._spelt else self._tokenizer.token_bytes(id)

    def _joined(self, pair: tuple[int, int]) -> bytes:
        return self._bytes(pair[0]) + self._bytes(pair[1])

    def _add(self, pair: tuple[int, int]) -> None:
        new = self._first + len(self.found)
        self._spelt[new] = self._joined(pair)
        self._by_bytes[self._spelt[new]] = new
        self._by_pair[pair] = new
        self.found.append((*pair, new))

    def _rule(self, pair: tuple[int, int]) -> tuple[int, int, int] | None:
        """(0 of an old rule, else 1; rank; id) for two neighbours."""
        if max(pair) < self._first:
            found = self._tokenizer._encoder.rule(*pair)
            if found is not None:
                return (0, *found)
        if not self._any_split:
            new = self._by_pair.get(pair)
            return None if new is None else (1, new, new)
        joined = self._joined(pair)
        if joined in self._old:  # which no old merge made of old neighbours, but a new one makes it
            return 0, self._old[joined], self._old[joined]
        new = self._by_bytes.get(joined)
        return None if new is None else (1, new, new)

    def _merged(self, ids: list[int]) -> list[int]:
        while True:
            rules = [(rule, at) for at, pair in enumerate(pairwise(ids)) if (rule := self._rule(pair)) is not None]
            if not rules:
                return ids
            rule, at = min(rules, key=lambda found: (found[0][:2], found[1]))
            ids = [*ids[:at], rule[2], *ids[at + 2 :]]
