"""What the page asks of a tokenizer, as bytes or as plain values for JSON."""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any

from digram.errors import DigramError
from digram.playground.merging import Merging

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["LONGEST_PIECE", "Answers"]

LONGEST_PIECE = 256
"""Bytes of a piece whose merges are shown one by one: more would not be watched."""

# Of a token that is longer the page gets the beginning; of a merge tree the upper part, and asks again from there.
_MOST_BYTES = 512
_MOST_NODES = 4096
_MOST_PIECES = 400
_PIECES_FROM = 20_000


class Answers:
    """Answers about one tokenizer; to be shared between threads."""

    def __init__(self, name: str, tok: Tokenizer) -> None:
        self.name = name
        self.tok = tok
        self.merging = Merging(tok)
        self._markers = [(marker, marker.encode()) for marker in tok.special_tokens]

    def facts(self) -> dict[str, Any]:
        """What the page knows of a tokenizer from the start: `special` are the (id, text) that are drawn apart."""
        tok = self.tok
        return {
            "name": self.name,
            "ids": tok.n_vocab,
            "split": _split(tok),
            "alphabet": tok.alphabet,
            "special": [[id, marker] for marker, id in tok.special_tokens.items()],
            "changes": bool(tok._definition.normalizer),
        }

    def encoded(self, data: bytes, trusted: bool) -> bytes:
        """The tokens of a text: the length of what follows as a u32, JSON padded by blanks to four bytes, then ids,
        starts and ends, of each a u32 a token; starts and ends are places in `data`. Numbers are little-endian.

        The JSON is {"count", "markers": special tokens that the text holds}, or {"error": a sentence} alone.
        """
        tok = self.tok
        try:
            specials = tok._specials("all" if trusted else (), ())
            ids, starts, ends, _ = tok._encoder.encode_with_spans(data, *specials, characters=False)
        except DigramError as error:
            return _framed({"error": str(error)}, b"")
        parts = [array("I", ids), array("I", array("Q", starts)), array("I", array("Q", ends))]
        found = [marker for marker, spelt in self._markers if spelt in data]
        return _framed({"count": len(ids), "markers": found[:20]}, b"".join(_little(part) for part in parts))

    def tree(self, id: int) -> dict[str, Any]:
        """A token and all that it is made of: {"nodes": {id: [hex, bytes, rank, left, right, special]}}.

        UnknownTokenError for an id without a token. `hex` is cut above 512 bytes; with more than 4,096 nodes the
        deepest are missing.
        """
        nodes: dict[int, list[Any]] = {}
        waiting = [id]
        while waiting and len(nodes) < _MOST_NODES:
            below = []
            for node in waiting:
                if node in nodes or len(nodes) >= _MOST_NODES:
                    continue
                token = self.tok.token_bytes(node)
                left, right = self.merging.parts(node) or (None, None)
                rank = self.merging.rank(node)
                nodes[node] = [token[:_MOST_BYTES].hex(), len(token), rank, left, right, self.tok.is_special(node)]
                if left is not None and right is not None:
                    below += [left, right]
            waiting = below
        return {"nodes": nodes}

    def pieces(self, text: str) -> dict[str, Any]:
        """{"pieces": the distinct pieces that a text is cut into}; of a long text, those of its beginning."""
        return {"pieces": self.merging.pieces(text[:_PIECES_FROM], _MOST_PIECES)}

    def steps(self, piece: str) -> dict[str, Any]:
        """How a piece is merged: {"symbols", "steps": candidates of each, "ids", "whole", "tokens"}, or {"error"}."""
        if len(piece.encode("utf-8", "replace")) > LONGEST_PIECE:
            return {"error": f"This piece is longer than {LONGEST_PIECE} bytes: choose a shorter one."}
        try:
            steps = self.merging.steps(piece)
        except DigramError as error:
            return {"error": f"{error}"}
        if steps is None:
            return {"error": "This vocabulary's file does more to this piece than merging, so its steps are not shown."}
        known = {id for step in steps.candidates for _, _, id in step}.union(steps.symbols, steps.ids)
        return {
            "symbols": steps.symbols,
            "steps": steps.candidates,
            "ids": steps.ids,
            "whole": steps.whole,
            "tokens": {id: self.tok.token_bytes(id).hex() for id in known},
        }


def _split(tok: Tokenizer) -> str:
    """The split in a word or two, or the pattern itself."""
    if tok.split is not None:
        return tok.split
    return "in several steps" if tok._definition.steps else "none"


def _framed(head: dict[str, Any], body: bytes) -> bytes:
    header = json.dumps(head).encode()
    header += b" " * (-len(header) % 4)
    return len(header).to_bytes(4, "little") + header + body


def _little(numbers: array[int]) -> bytes:
    if array("I", [1]).tobytes()[0] == 0:
        numbers.byteswap()
    return numbers.tobytes()
