"""Damaged copies of a file, for tests of what reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from digram.errors import FormatError, UnknownSymbolError
from digram.tokenizer import Tokenizer

__all__ = ["assert_cuts_are_refused", "assert_refused_or_read", "read_or_refused"]


def _changed(whole: bytes, n: int, first: int) -> Iterator[bytes]:
    """`n` copies with a byte of another value, from byte `first` on."""
    rng = Random(3)
    for _ in range(n):
        damaged = bytearray(whole)
        damaged[rng.randrange(first, len(whole))] = rng.randrange(256)
        yield bytes(damaged)


def read_or_refused(path: Path, load: Callable[[], Tokenizer]) -> Tokenizer | None:
    """The tokenizer; None where there is a FormatError, which must be a sentence that names the file."""
    try:
        return load()
    except FormatError as error:
        _assert_message(error, path)
        return None


def assert_refused_or_read(
    path: Path, load: Callable[[], Tokenizer], *, n: int = 200, first: int = 0, text: str = "ab c"
) -> None:
    """The file with one byte changed, again and again: a FormatError that names it, or a tokenizer that works."""
    whole = path.read_bytes()
    for damaged in _changed(whole, n, first):
        path.write_bytes(damaged)
        tokenizer = read_or_refused(path, load)
        if tokenizer is not None:
            with suppress(UnknownSymbolError):
                tokenizer.decode(tokenizer.encode(text))
    path.write_bytes(whole)


def assert_cuts_are_refused(
    path: Path, load: Callable[[], Tokenizer], lengths: Any, *, may_be_whole: Callable[[bytes], bool] = lambda _: False
) -> None:
    """The file cut off at each of `lengths`: a FormatError that names it, unless what is left `may_be_whole`."""
    whole = path.read_bytes()
    for length in lengths:
        path.write_bytes(whole[:length])
        if may_be_whole(whole[:length]):
            continue
        with pytest.raises(FormatError) as caught:
            load()
        _assert_message(caught.value, path)
    path.write_bytes(whole)


def _assert_message(error: FormatError, path: Path) -> None:
    message = str(error)
    assert str(path) in message
    assert message.isprintable()
    assert len(message) < 1000
