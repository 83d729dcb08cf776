"""`.tiktoken` files: a line per token, its bytes in base64 and its rank."""

from __future__ import annotations

import base64
import binascii
import os
import re
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path

from digram.definition import Definition, special_ids
from digram.errors import FormatError
from digram.patterns import checked
from digram.tokenizer import Tokenizer

__all__ = ["load", "looks_like"]

_LINE = re.compile(rb"([A-Za-z0-9+/]+={0,2}) ([0-9]{1,10})\r?\n?")


def looks_like(start: bytes) -> bool:
    """Whether a file that starts so is a `.tiktoken` file."""
    return _LINE.match(start) is not None


def load(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
) -> Tokenizer:
    """The tokenizer of ranked bytes. `split` is needed: the file does not hold it, and nothing is guessed.

    FormatError names the line that is not base64 and rank; VocabularyError a token or id that is given twice.
    """
    if split is None:
        raise ValueError(
            f"{Path(path)} does not say how text is split: give split=, a name of digram.patterns "
            '("cl100k" for cl100k_base, "o200k" for o200k_base, "gpt2" for r50k_base) or a regular expression'
        )
    tokens, ids = [], array("I")
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            match = _LINE.fullmatch(line)
            if match is None:
                if not line.strip():
                    continue
                raise FormatError(f"line {number} of {Path(path)} is no base64 token and rank: {line[:60]!r}")
            try:
                tokens.append(base64.b64decode(match[1], validate=True))
            except binascii.Error as error:
                raise FormatError(f"line {number} of {Path(path)} holds a token that is not base64: {error}") from None
            id = int(match[2])
            if id >= 1 << 31:
                raise FormatError(f"line {number} of {Path(path)} has the rank {id}, which is above 2^31 - 1")
            ids.append(id)
    specials = special_ids(special_tokens, max(ids, default=-1) + 1)
    return Tokenizer(
        Definition(kind="ranks", tokens=tuple(tokens), ids=ids, split=checked(split), special_tokens=specials)
    )
