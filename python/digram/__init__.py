"""Byte-pair encoding: learn a vocabulary from text, turn text into ids and ids into text.

    import digram

    tok = digram.train(["low lower lowest", "new newer newest"], vocab_size=280)
    ids = tok.encode("lowest newer")
    assert tok.decode(ids) == "lowest newer"
    tok.save("my.digram.json")

`digram.reference` holds the same in plain Python, to be read; it works without the engine. Names are loaded when they
are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from digram import (
        cache,
        comparing,
        encodings,
        errors,
        explain,
        formats,
        models,
        patterns,
        progress,
        reference,
        report,
        shards,
        showing,
        spark,
        streaming,
        tiktoken,
        variants,
        vocabulary,
    )
    from digram.corpus import Corpus
    from digram.counts import PieceCounts, Progress
    from digram.formats import load
    from digram.tokenizer import Tokenizer, from_token_list
    from digram.training import train

__version__ = "0.1.0"

__all__ = [
    "Corpus",
    "PieceCounts",
    "Progress",
    "Tokenizer",
    "cache",
    "comparing",
    "encodings",
    "errors",
    "explain",
    "formats",
    "from_token_list",
    "load",
    "models",
    "patterns",
    "progress",
    "reference",
    "report",
    "shards",
    "showing",
    "spark",
    "streaming",
    "tiktoken",
    "train",
    "variants",
    "vocabulary",
]

_HOME = {
    "Corpus": "corpus",
    "PieceCounts": "counts",
    "Progress": "counts",
    "Tokenizer": "tokenizer",
    "from_token_list": "tokenizer",
    "load": "formats",
    "train": "training",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"digram.{_HOME[name]}"), name)
    elif name in __all__:
        value = import_module(f"digram.{name}")
    else:
        raise AttributeError(f"module 'digram' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
