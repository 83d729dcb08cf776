"""What can be said of a vocabulary without any text: which tokens nothing gives, and what tokens are made of."""

from __future__ import annotations

from dataclasses import dataclass

from digram.definition import NO_ID
from digram.errors import DigramError
from digram.report.characters import kind
from digram.tokenizer import Tokenizer

__all__ = ["KINDS", "Facts", "facts"]

KINDS = ("letters", "digits", "punctuation", "white space", "mixed", "not utf-8", "special", "byte")
"""What a token is made of; see `digram.report.characters.kind`. "special" tokens are those that only an allowed marker
gives, "byte" tokens stand in for bytes of characters that the vocabulary lacks (Llama 2: <0x0A>)."""

_BATCH = 1 << 14

# What a token is tried beside of, where its own text does not give it.
_BESIDE = ("a", "A", " ", "0", "\n", ".")


@dataclass(frozen=True)
class Facts:
    """`kinds` and `lengths` have an entry for each id; the latter in bytes, 0 in a gap. `not_utf8` are no whole
    characters, byte tokens from 0x80 on among them."""

    size: int
    kinds: list[str]
    lengths: list[int]
    unreachable: list[int]
    not_utf8: list[int]


def facts(tokenizer: Tokenizer) -> Facts:
    """The facts of a vocabulary.

    A token is unreachable if its own text, encoded, does not give exactly this token, and neither does any text that
    has a letter, a digit, a blank, a line end or a full stop before or after it. Of a token that is no whole
    characters, its bytes as one piece must give it. Special tokens, those a file adds, and byte tokens are not asked.
    """
    definition = tokenizer._definition
    n = tokenizer.n_vocab
    kinds, lengths = [""] * n, [0] * n
    apart = {id: byte for byte, id in enumerate(definition.byte_ids) if id != NO_ID}
    if definition.unknown == "bytes" and definition.alphabet == "characters":
        apart |= {len(definition.characters) + byte: byte for byte in range(256)}
    special = {*definition.special_tokens.values(), *(token.id for token in definition.added_tokens if token.special)}
    if definition.unknown_id is not None:
        special.add(definition.unknown_id)
    added = {token.id for token in definition.added_tokens}
    asked: list[tuple[int, bytes]] = []
    for id, token in tokenizer.vocab.items():
        kinds[id] = "byte" if id in apart else "special" if id in special else kind(token)
        lengths[id] = len(token)
        if id not in apart and id not in special and id not in added:
            asked.append((id, token))
    return Facts(
        size=len(tokenizer.vocab),
        kinds=kinds,
        lengths=lengths,
        unreachable=_unreachable(tokenizer, asked),
        not_utf8=[id for id in range(n) if kinds[id] == "not utf-8" or apart.get(id, 0) >= 0x80],
    )


def _unreachable(tokenizer: Tokenizer, asked: list[tuple[int, bytes]]) -> list[int]:
    definition = tokenizer._definition
    changes = (
        definition.normalizer not in ((), (("nfc",),))
        or definition.byte_characters
        or any(step[0] != "cut" for step in definition.steps)
    )
    if changes:  # tokens are not spelt as text is: all that can be asked is whether their symbols merge to them
        return [id for id, token in asked if not _as_piece(tokenizer, token, id, whole=True)]
    whole = [(id, token) for id, token in asked if _is_utf8(token)]
    # In text there is more around them, so that no piece is looked up whole.
    lost = [id for id, token in asked if not _is_utf8(token) and not _as_piece(tokenizer, token, id, whole=False)]
    for at in range(0, len(whole), _BATCH):
        part = whole[at : at + _BATCH]
        for (id, token), ids in zip(part, _encoded(tokenizer, [token for _, token in part]), strict=True):
            if ids != [id] and not _beside(tokenizer, token.decode(), id):
                lost.append(id)
    return sorted(lost)


def _encoded(tokenizer: Tokenizer, texts: list[bytes]) -> list[list[int]]:
    """The ids of each text; none for one that the vocabulary cannot encode."""
    try:
        return tokenizer.encode_batch(texts)
    except DigramError:
        return [_ids(tokenizer, text) for text in texts]


def _ids(tokenizer: Tokenizer, text: bytes | str) -> list[int]:
    try:
        return tokenizer.encode(text)
    except DigramError:
        return []


def _beside(tokenizer: Tokenizer, text: str, id: int) -> bool:
    for other in _BESIDE:
        for around in (other + text, text + other):
            if id in _ids(tokenizer, around):
                return True
    return False


def _as_piece(tokenizer: Tokenizer, token: bytes, id: int, whole: bool) -> bool:
    try:
        return tokenizer._encoder.encode_piece(token, whole) == [id]
    except (DigramError, ValueError):
        return False


def _is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
