"""Byte-pair encoding to watch: the names of tiktoken/_educational.py, over `digram.reference`.

Everything is shown unless `visualise` is None: "colour" paints tokens, "simple" prints them.

>>> ranks = bpe_train("hello world hello", 260, r"\\w+| ", visualise=None)
>>> [token for token, rank in ranks.items() if rank > 255]
[b'he', b'hel', b'hell', b'hello']
>>> SimpleBytePairEncoding(pat_str=r"\\w+| ", mergeable_ranks=ranks).encode("hello", visualise=None)
[259]

The results are tiktoken's, ties to the pair seen first included. As everywhere in digram, text that the pattern leaves
unmatched is kept.
"""

from __future__ import annotations

from array import array
from itertools import pairwise
from pathlib import Path

from digram import reference
from digram.definition import Definition
from digram.tokenizer import Tokenizer
from digram.training import PieceCounts

from .core import Encoding
from .registry import get_encoding

__all__ = ["SimpleBytePairEncoding", "bpe_encode", "bpe_train", "train_simple_encoding", "visualise_tokens"]

_COLOURS = [f"\x1b[48;5;{number}m" for number in (167, 179, 185, 77, 80, 68, 134)]


class SimpleBytePairEncoding:
    """Ranked bytes and a pattern: token -> id, which is its rank."""

    def __init__(self, *, pat_str: str, mergeable_ranks: dict[bytes, int]) -> None:
        self.pat_str = pat_str
        self.mergeable_ranks = mergeable_ranks
        self._decoder = {id: token for token, id in mergeable_ranks.items()}

    def encode(self, text: str, visualise: str | None = "colour") -> list[int]:
        """The ids of a text, showing every merge. KeyError for a byte that has no token."""
        return [
            id
            for piece in _pieces(text, self.pat_str)
            for id in bpe_encode(self.mergeable_ranks, piece, visualise=visualise)
        ]

    def decode_bytes(self, tokens: list[int]) -> bytes:
        """The bytes of ids. KeyError for an id without a token."""
        return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: list[int]) -> str:
        """The text of ids; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(tokens).decode("utf-8", errors="replace")

    def decode_tokens_bytes(self, tokens: list[int]) -> list[bytes]:
        """The bytes of each token."""
        return [self._decoder[token] for token in tokens]

    @staticmethod
    def train(training_data: str, vocab_size: int, pat_str: str) -> SimpleBytePairEncoding:
        """An encoding that is trained on a text, showing every merge."""
        ranks = bpe_train(data=training_data, vocab_size=vocab_size, pat_str=pat_str)
        return SimpleBytePairEncoding(pat_str=pat_str, mergeable_ranks=ranks)

    @staticmethod
    def from_tiktoken(encoding: str | Encoding) -> SimpleBytePairEncoding:
        """The ranks and the pattern of an encoding, given by itself or by its name."""
        if isinstance(encoding, str):
            encoding = get_encoding(encoding)
        return SimpleBytePairEncoding(pat_str=encoding._pat_str, mergeable_ranks=encoding._mergeable_ranks)


def bpe_encode(mergeable_ranks: dict[bytes, int], input: bytes, visualise: str | None = "colour") -> list[int]:
    """The ids of one piece: of all neighbours that join to a token, the lowest rank first, the leftmost of several.

    Each state is shown, from the single bytes on; so this takes time with the square of the length of a piece.
    """
    parts = [input[i : i + 1] for i in range(len(input))]
    while True:
        _show_parts(parts, visualise)
        joined = [left + right for left, right in pairwise(parts)]
        known = [i for i, token in enumerate(joined) if token in mergeable_ranks]
        if not known:
            break
        at = min(known, key=lambda i: mergeable_ranks[joined[i]])
        parts[at : at + 2] = [joined[at]]
    if visualise:
        print()
    return [mergeable_ranks[part] for part in parts]


def bpe_train(data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour") -> dict[bytes, int]:
    """The ranks that a text gives: the 256 bytes, then merge after merge, ties to the pair seen first.

    ValueError for a `vocab_size` below 256, and where the text runs out of pairs before it is reached.
    """
    if vocab_size < 256:
        raise ValueError(f"vocab_size must be at least 256, for the bytes, not {vocab_size}")
    tokens = [bytes([byte]) for byte in range(256)]
    pieces = _pieces(data, pat_str)
    # A piece that occurs n times counts n times; pairs stand in the order in which they first appear.
    number: dict[bytes, int] = {}
    for piece in pieces:
        number[piece] = number.get(piece, 0) + 1
    spelt = {piece: list(piece) for piece in number}
    while len(tokens) < vocab_size:
        counts: dict[reference.Pair, int] = {}
        for piece, ids in spelt.items():
            reference.pair_counts(ids, counts, number[piece])
        if not counts:
            raise ValueError(
                f"the text has no pairs left after {len(tokens)} tokens, but vocab_size is {vocab_size}: "
                "give more text or a smaller vocab_size"
            )
        best = max(counts, key=counts.__getitem__)
        for piece, ids in spelt.items():
            spelt[piece] = reference.merge(ids, best, len(tokens))
        left, right = tokens[best[0]], tokens[best[1]]
        tokens.append(left + right)
        if visualise:
            print(f"The current most common pair is {left!r} + {right!r}")
            print(f"So we made {tokens[-1]!r} our {len(tokens)}th token")
            _show_words([[tokens[id] for id in spelt[piece]] for piece in pieces[:50]], visualise)
            print("\n")
    return {token: rank for rank, token in enumerate(tokens)}


def _show_parts(parts: list[bytes], visualise: str | None) -> None:
    if visualise in ("colour", "color"):
        visualise_tokens(parts)
    elif visualise == "simple":
        print(parts)


def _show_words(words: list[list[bytes]], visualise: str) -> None:
    if visualise in ("colour", "color"):
        print("Now the first fifty words in our training data look like:")
        visualise_tokens([token for word in words for token in word])
    elif visualise == "simple":
        print("Now the first twenty words in our training data look like:")
        print(*words[:20], sep="\n")


def visualise_tokens(token_values: list[bytes]) -> None:
    """Prints tokens side by side, neighbours on different colours; bytes that are no character as U+FFFD."""
    length = 0
    last = ""
    for token in token_values:
        text = token.decode("utf-8", errors="replace")
        # By the place in the text, so that a token keeps its colour while others are merged.
        colour = _COLOURS[length % len(_COLOURS)]
        if colour == last:
            colour = _COLOURS[(length + 1) % len(_COLOURS)]
        print(colour + text, end="")
        last = colour
        length += len(text)
    print("\x1b[0m")


def train_simple_encoding() -> SimpleBytePairEncoding:
    """An encoding of 600 tokens, trained on this very file; shows how it encodes "hello world"."""
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    encoding = SimpleBytePairEncoding.train(Path(__file__).read_text(encoding="utf-8"), 600, pattern)
    print("This is the sequence of merges performed in order to encode 'hello world':")
    tokens = encoding.encode("hello world")
    assert encoding.decode(tokens) == "hello world"
    assert encoding.decode_bytes(tokens) == b"hello world"
    return encoding


def _pieces(text: str, pattern: str) -> list[bytes]:
    """What the pattern cuts a text into, in order.

    The engine tells the distinct pieces; with each of them a token of its own, a piece is one id.
    """
    counts = PieceCounts(pattern)
    counts.add(text)
    tokens = tuple(dict.fromkeys([*(bytes([byte]) for byte in range(256)), *(piece for piece, _ in counts.items())]))
    whole = Tokenizer(Definition(kind="ranks", tokens=tokens, ids=array("I", range(len(tokens))), split=pattern))
    return [tokens[id] for id in whole.encode(text)]
