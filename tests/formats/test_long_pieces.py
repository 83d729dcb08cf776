"""Long pieces, cut where no merge joins two characters: the ids of tokenizers."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from random import Random

import pytest

import digram
from support.data import Data
from support.encodings import huggingface_tokenizer
from support.oracle import Oracle

NAMES = ("cl100k_base", "o200k_base", "llama2", "llama3_1", "qwen3")

# First and last character: Han, kana, Thai, Khmer, Hangul, Devanagari, Cyrillic, emoji.
SCRIPTS = (
    ("\u4e00", "\u9fa5"),
    ("\u3041", "\u30fa"),
    ("\u0e01", "\u0e3a"),
    ("\u1780", "\u17d2"),
    ("\uac00", "\ud7a3"),
    ("\u0904", "\u094d"),
    ("\u0430", "\u044f"),
    ("\U0001f300", "\U0001f64f"),
)


def _texts(rng: Random) -> Iterator[str]:
    """Runs without a space, of characters at random and of those that tokens have together; and mixtures."""
    runs = ["".join(chr(rng.randint(ord(first), ord(last))) for _ in range(300)) for first, last in SCRIPTS]
    runs += ["".join(rng.choice(run[:12]) for _ in range(300)) for run in runs]
    runs += ["我们可以在中国的北京看到他们的工作和生活" * 10, "これはとても長い日本語の文章です" * 10]
    runs += ["ภาษาไทยเป็นภาษาที่มีระดับเสียง" * 8, base64.b64encode(rng.randbytes(900)).decode(), "ab" * 400, " " * 70 + "x"]
    yield from runs
    for _ in range(20):
        yield "".join(rng.choice(runs)[: rng.randint(1, 40)] + rng.choice(["", " ", "\n", ", "]) for _ in range(30))


@pytest.mark.parametrize("name", NAMES)
def test_long_pieces_are_those_of_tokenizers(name: str, data: Data, oracle: Oracle) -> None:
    ours = digram.load(data.vocabulary(f"{name}-tokenizer.json"))
    theirs = huggingface_tokenizer(data, name)
    texts = list(_texts(Random(5)))
    # Twice: what came before is in the cache.
    for text in texts + texts[::-1]:
        want = theirs.encode(text, add_special_tokens=False).ids
        oracle.equal(ours.encode(text), want, "tokenizers", where=text)
        assert ours.count(text) == len(want)
