"""A text that comes in stretches, cut into records: into lines, or at a separator."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

from digram.corpus import batch
from digram.corpus.packed import Stream
from digram.corpus.reading import SKIP
from digram.errors import CorpusError

__all__ = ["MOST", "Records", "TooLong", "after", "records", "split_at", "too_long"]

MOST = 1 << 31
"""The bytes that a record may have. Without a bound, a stream in which none ends would take all the memory there is."""


Records = tuple[int, list[bytes], bytes]
"""The number of the first, what they are, and the stretch of text whose last ones they are."""


class TooLong(bytes):
    """Stands for a record of more than `MOST` bytes, of which nothing is held."""

    at: int
    """The byte of the text that it begins at."""


def _too_long(at: int) -> TooLong:
    part = TooLong()
    part.at = at
    return part


def too_long(name: str, unit: str, number: int, part: TooLong) -> CorpusError:
    """The error for a record, whose number in the file is that for people."""
    return CorpusError(
        f"{batch.place(name, unit, number)}, which begins at byte {part.at}, has more than {MOST:,} bytes, and no "
        f"record may have more: {SKIP}"
    )


def split_at(stretches: Iterable[bytes], end: bytes, at: int = 0) -> Iterator[tuple[list[bytes], bytes]]:
    """What stands before each `end` in a text that comes in stretches, and what follows the last one, if anything does;
    in lists, each with the stretch that it was, ends included. `at` is the byte that the first stretch begins at.

    As `bytes.split` does it, from left to right, wherever the stretches are cut; in linear time however long a part is.
    A part of more than `MOST` bytes comes as TooLong, in a list of its own; no stretch may have more.
    """
    held: list[bytes] = []  # a part that goes on
    size = 0  # bytes of it
    begin = at  # where it begins
    dropped = False  # it was too long
    reach = len(end) - 1
    last = b""  # its last bytes: an end may begin there
    for stretch in stretches:
        near = last + stretch if reach else stretch
        found = near.find(end)
        if found >= 0 and (dropped or size - len(last) + found > MOST):
            if not dropped:
                yield [_too_long(begin)], b""
            after = found + len(end) - len(last)
            at += after
            begin, near = at, stretch[after:]
            stretch = near
            held, size, last, dropped = [], 0, b"", False
            found = near.find(end)
        if found >= 0:
            data = b"".join([*held, stretch]) if held else stretch
            parts = data.split(end)
            rest = parts.pop()
            held, size, last = [rest] if rest else [], len(rest), rest[-reach:] if reach else b""
            begin = at + len(stretch) - size
            yield parts, data[: len(data) - size] if rest else data
        else:
            last = near[-reach:] if reach else b""
            if not dropped:
                held.append(stretch)
                size += len(stretch)
                if size - reach > MOST:
                    held, dropped = [], True
                    yield [_too_long(begin)], b""
        at += len(stretch)
    if not dropped and size:
        if size > MOST:
            yield [_too_long(begin)], b""
        else:
            rest = b"".join(held)
            yield [rest], rest


def records(stream: Stream, end: bytes, start: int, window: int, swept: bool) -> Iterator[Records] | None:
    """The parts of a text that end with `end`, from number `start` on. A byte order mark at the beginning is left out.
    None where `swept`, and the beginning has a NUL byte: it is no text."""
    stretches = stream.stretches(window)
    beginning = b""
    for stretch in stretches:
        beginning += stretch
        if len(beginning) >= 3:
            break
    if swept and b"\0" in beginning:
        return None
    text = beginning.removeprefix(codecs.BOM_UTF8)
    return after(_numbered(split_at(chain([text], stretches), end, len(beginning) - len(text))), start)


def _numbered(parts: Iterable[tuple[list[bytes], bytes]]) -> Iterator[Records]:
    first = 0
    for some, block in parts:
        yield first, some, block
        first += len(some)


def after(found: Iterable[Records], start: int) -> Iterator[Records]:
    """Those from number `start` on."""
    for first, some, block in found:
        if first + len(some) > start:
            skipped = max(start - first, 0)
            yield first + skipped, some[skipped:], block
