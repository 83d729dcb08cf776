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
    """The tokenizer of a file: digram's own, a `tokenizer.json`, a `.tiktoken` file; told apart by what the file holds.

    A `.tiktoken` file holds neither a split pattern nor special tokens, so `split` must be given for it, and
    `special_tokens` (marker -> id, or markers that get the ids after the last) may be. digram's own files bring both.

    FormatError says what is wrong with a file, and where.
    """
    from digram.formats import digram as own
    from digram.formats import tiktoken

    with open(path, "rb") as file:
        start = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        if split is not None or special_tokens:
            raise ValueError(f"{Path(path)} holds its own split and special tokens: give none")
        from digram.formats import huggingface

        data = huggingface.parsed(Path(path))
        return huggingface.tokenizer(data, Path(path)) if huggingface.looks_like(data) else own.load(path)
    if tiktoken.looks_like(start):
        return tiktoken.load(path, split=split, special_tokens=special_tokens)
    raise FormatError(f"{Path(path)} is no vocabulary that digram reads: neither its own JSON nor a .tiktoken file")
