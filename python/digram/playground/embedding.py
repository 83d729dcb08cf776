"""A vocabulary as a part of the page that needs no server, where JavaScript can give exactly the engine's ids."""

from __future__ import annotations

import gzip
import json
from array import array
from typing import TYPE_CHECKING, Any

from digram import explain
from digram.errors import DigramError, VocabularyError
from digram.playground.page import PATTERNS

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["NotExactError", "embedded"]

# Qwen 2 and 3, StableLM 2 and others: cl100k-classic with numbers one by one.
_QWEN2 = (
    r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
# The patterns that page/worker/split.js reads as the engine does: the tests compare them.
EXACT = frozenset({*PATTERNS.values(), _QWEN2})

# Ids are kept in 21 bits of a table, and the bytes of all tokens are put together at once.
_MOST_IDS = 1 << 21
_LONGEST = 1 << 12


class NotExactError(DigramError):
    """Says what of a vocabulary the page would not do as the engine does."""


def embedded(tok: Tokenizer) -> bytes:
    """The vocabulary, packed by gzip; NotExactError where the page could give other ids than the engine.

    u32 the length of what follows, JSON padded by blanks to four bytes, then columns of u32, little-endian: of each
    merge in learned order the left id, the right id, the new id. {"base": [[id, hex] ...], "rest": the same of tokens
    that no merge makes, "merges": how many, "origins": [[id, which merge makes it, or null] ...] of tokens that are not
    made by the first merge to name them, "byId": ranks are ids, "whole": a piece that is a token is taken whole,
    "alphabet", "nfc", "pattern", "added": [[text, id, special] ...]}.
    """
    definition = tok._definition
    nfc = definition.normalizer == (("nfc",),)
    if definition.steps or definition.byte_ids or definition.byte_characters:
        raise NotExactError("its file cuts or changes texts in a way that the page does not follow")
    if definition.normalizer and not nfc:
        raise NotExactError("its file changes texts before they are cut, which the page does not follow")
    if tok.pattern is not None and tok.pattern not in EXACT:
        raise NotExactError("its split pattern is not one that browsers are known to read as digram does")
    if tok.unknown != "error":
        raise NotExactError("it has a token for unknown characters, which the page does not follow")
    if any(token.flags not in ("", "special") for token in tok.added_tokens):
        raise NotExactError("its added tokens take white space or whole words, which the page does not follow")
    try:
        merges = tok.merges
    except VocabularyError:
        raise NotExactError("it is not canonical, so it has no merges that could be embedded") from None
    if tok.n_vocab > _MOST_IDS or max(map(len, tok.vocab.values())) > _LONGEST:
        raise NotExactError("it has more ids or longer tokens than the page takes")
    if tok.alphabet == "bytes" and tok._encoder.missing_bytes():
        raise NotExactError("it has no token for some bytes")
    if definition.kind == "list" and len(set(definition.tokens)) < len(definition.tokens):
        raise NotExactError("its token list repeats an entry")

    made = set(merges.values())
    base: list[list[Any]] = []
    rest: list[list[Any]] = []
    for id, token in tok.vocab.items():
        if id in made or tok.is_special(id):
            continue
        symbol = len(token) == 1 if tok.alphabet == "bytes" else len(token.decode("utf-8", "replace")) == 1
        (base if symbol else rest).append([id, token.hex()])
    special = set(tok.special_tokens)
    added = [[token.content, token.id, token.special] for token in tok.added_tokens if token.content not in special]
    head: dict[str, Any] = {
        "base": base,
        "rest": rest,
        "merges": len(merges),
        "origins": _origins(tok),
        "byId": definition.kind in ("ranks", "list"),
        "whole": definition.whole or definition.kind == "ranks",
        "alphabet": tok.alphabet,
        "nfc": nfc,
        "pattern": tok.pattern,
        "added": [[marker, id, True] for marker, id in tok.special_tokens.items()] + added,
    }
    columns = [
        array("I", (pair[0] for pair in merges)),
        array("I", (pair[1] for pair in merges)),
        array("I", merges.values()),
    ]
    header = json.dumps(head).encode()
    header += b" " * (-len(header) % 4)
    data = len(header).to_bytes(4, "little") + header + b"".join(_planes(column) for column in columns)
    return gzip.compress(data, compresslevel=9, mtime=0)


def _origins(tok: Tokenizer) -> list[list[int | None]]:
    """[id, which merge makes it], where that is not the first that has this id, or none does."""
    places = {pair: place for place, pair in enumerate(tok.merges)}
    first: dict[int, int] = {}
    for place, id in enumerate(tok.merges.values()):
        first.setdefault(id, place)
    origins: list[list[int | None]] = []
    for id, place in first.items():
        pair = explain.parts(tok, id)
        found = None if pair is None else places[pair]
        if found != place:
            origins.append([id, found])
    return origins


def _planes(column: array[int]) -> bytes:
    """The numbers byte by byte, the lowest bytes of all first: columns of like bytes pack better."""
    if array("I", [1]).tobytes()[0] == 0:
        column.byteswap()
    data = column.tobytes()
    return b"".join(data[i::4] for i in range(4))
