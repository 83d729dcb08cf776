"""How ids come about: the pieces of a text, the merges of each in the order in which they happen, the parts of a token.

    >>> import digram
    >>> tok = digram.train("aaabdaaabac", 259, split=None)
    >>> [(step.rank, step.left, step.right, step.id) for step in tok.explain("aab").parts[0].steps]
    [(0, 97, 97, 256)]
    >>> parts(tok, 258)
    (256, 257)

Data alone; `digram.showing` draws it. What is told is what happens: each merge asks the engine for its rule, and the
ids of an explanation are those that `encode` gives.

    texts.py    what happens to a text
    tokens.py   what a token is made of
"""

from digram.explain.texts import Explanation, Marker, Piece, StandIn, Step, explain, piece
from digram.explain.tokens import Node, merges, parts, rank, spelling, tree

__all__ = [
    "Explanation",
    "Marker",
    "Node",
    "Piece",
    "StandIn",
    "Step",
    "explain",
    "merges",
    "parts",
    "piece",
    "rank",
    "spelling",
    "tree",
]
