"""What the name of a file says of its format."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FOLDERS", "formats_of"]

FOLDERS = ("gpt2", "huggingface")
"""The formats that write a folder."""

# The "tokenizer.model" of Llama 3 is a .tiktoken file.
_SUFFIXES = {".gguf": ("gguf",), ".model": ("sentencepiece", "tiktoken"), ".tiktoken": ("tiktoken",)}
# Alone, or behind the name of a model ("my-vocab.json"), as files of the pair are known when they are read.
_OF_A_PAIR = ("vocab.json", "encoder.json", "merges.txt", "vocab.bpe")
_TOKENIZER = "tokenizer.json"


def formats_of(path: Path) -> tuple[str, ...]:
    """The formats that files of that name have everywhere, the usual one first; none where the name says nothing."""
    name = path.name.lower()
    if name.endswith(_OF_A_PAIR):
        return ("gpt2",)
    if name.endswith(_TOKENIZER) and not name.removesuffix(_TOKENIZER)[-1:].isalnum():
        return ("huggingface",)
    return _SUFFIXES.get(path.suffix.lower(), ())
