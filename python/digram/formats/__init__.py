"""Reading and writing vocabularies: each module has `load(path, ...)`, and `save(tokenizer, path)` if it can write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from digram.errors import FormatError

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["load"]


def load(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
) -> Tokenizer:
    """The tokenizer of a file, recognised by what it holds: digram's own JSON, `tokenizer.json`, Mistral's tekken JSON,
    a SentencePiece model of type BPE, or a `.tiktoken` file.

    A `.tiktoken` file holds neither a split pattern nor special tokens, so `split` must be given for it, and
    `special_tokens` (marker -> id, or markers that get the ids after the last) may be. digram's own files bring both.

    FormatError says what is wrong with a file, and where.
    """
    from digram.formats import digram as own
    from digram.formats import tiktoken

    with open(path, "rb") as file:
        raw = file.read(64)
    start = raw.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        if split is not None or special_tokens:
            raise ValueError(f"{Path(path)} holds its own split and special tokens: give none")
        if b'"format"' in raw:  # as digram itself writes it; anything else is parsed to tell
            return own.load(path)
        from digram.formats import huggingface, tekken

        data = huggingface.parsed(Path(path))
        if huggingface.looks_like(data):
            return huggingface.tokenizer(data, Path(path))
        return tekken.tokenizer(data, Path(path)) if tekken.looks_like(data) else own.load(path)
    from digram.formats import sentencepiece

    if sentencepiece.looks_like(raw):
        if split is not None or special_tokens:
            raise ValueError(f"{Path(path)} holds its own split and special tokens: give none")
        return sentencepiece.load(path)
    if tiktoken.looks_like(start):
        return tiktoken.load(path, split=split, special_tokens=special_tokens)
    raise FormatError(
        f"{Path(path)} is no vocabulary that digram reads: neither JSON nor a SentencePiece model nor a .tiktoken file"
    )
