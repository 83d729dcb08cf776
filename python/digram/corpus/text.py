"""Text files: a document a file, a line, or between separators."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from collections.abc import Iterator, Sequence

from digram._text import printable
from digram.corpus import cut, paths
from digram.corpus.batch import Chunk, place
from digram.corpus.packed import Stream, check_whole
from digram.corpus.reading import Errors, Reading
from digram.errors import CorpusError, TextError

__all__ = ["contents", "documents", "has_nul", "not_utf8", "unpacks_to", "well_formed"]

# Texts are checked in stretches of this many bytes, so that a check needs no second copy of a large file.
_STRETCH = 1 << 20

# /dev/null is empty, and /dev/stdin may be short; /dev/zero never ends.
_MOST_OF_A_DEVICE = 1 << 26


def contents(name: str) -> bytes | None:
    """All of a file, or of standard input; None of what is no file on a disk and has more bytes than a record may."""
    try:
        with paths.opened(name) as file:
            mode = 0 if name == "-" or paths.is_address(name) else os.stat(name).st_mode
            if stat.S_ISREG(mode):
                before = paths.regular(name)
                data = file.read()
                check_whole(name, before)
                return data
            if not stat.S_ISCHR(mode):
                return _joined(iter(lambda: file.read(_STRETCH), b""))
            data = file.read(_MOST_OF_A_DEVICE + 1)
            if len(data) > _MOST_OF_A_DEVICE:
                raise OSError(errno.EFBIG, "The device gives bytes without end")
            return data
    except OSError as error:
        # Opening names the file, reading does not.
        error.filename = paths.shown(name)
        raise


def _joined(stretches: Iterator[bytes]) -> bytes | None:
    """A document of stretches; None where it has more bytes than a record may have."""
    parts, size = [], 0
    for stretch in stretches:
        parts.append(stretch)
        size += len(stretch)
        if size > cut.MOST:
            return None
    return b"".join(parts)


def has_nul(file: paths.File) -> bool:
    """Whether a text has a NUL byte; it is read in stretches."""
    with Stream(file.name, file.packing) as stream:
        return any(b"\0" in data for data in stream.stretches(_STRETCH))


def unpacks_to(file: paths.File, least: int) -> bool:
    """Whether a packed file holds so many bytes, at least. One that is no file on a disk can be read but once, and is
    held for large; of one that hardly can be large nothing is read."""
    size = paths.regular_size(file.name)
    if size * 8 < least:
        return size == 0
    with Stream(file.name, file.packing) as stream:
        return len(stream.some(least)) >= least


def well_formed(name: str, data: bytes, errors: Errors) -> bytes:
    """`data` if it is UTF-8, else what `errors` says; `name` is that of the file or of its place."""
    if data.isascii():
        return data
    view, start = memoryview(data), 0
    try:
        while start < len(data):
            end = start + _STRETCH
            # Of a stretch that cuts a character in two, the beginning of the character is left for the next one.
            start += codecs.utf_8_decode(view[start:end], "strict", end >= len(data))[1]
    except UnicodeDecodeError as error:
        if errors != "strict":
            return data.decode("utf-8", errors).encode()
        at = start + error.start
        raise not_utf8(name, at, data[at]) from None
    return data


def not_utf8(name: str, at: int, byte: int) -> TextError:
    """The error for a file that is not UTF-8 from `at` on, where `byte` stands."""
    said = f"{printable(name)} is not UTF-8 at byte {at} (0x{byte:02x})"
    if at == 0 and byte in (0xFE, 0xFF):  # to replace what is not UTF-8 would leave letters with NUL bytes between
        return TextError(f"{said}, and begins as UTF-16 does: `iconv -f UTF-16 -t UTF-8` converts it")
    return TextError(f'{said}: convert it, or go on with errors="replace"')


def documents(file: paths.File, start: int, reading: Reading) -> Iterator[Chunk]:
    """The documents of a text file from number `start` on, as they lie between the ends that `reading` names."""
    if reading.end is None:
        if start == 0 and reading.selected(0, 1) != []:
            yield from _whole(file, reading)
        return
    unit = reading.unit(file)
    with Stream(file.name, file.packing) as stream:
        found = cut.records(stream, reading.end, start, reading.window, file.swept)
        if found is None:
            reading.tally.left_out.append(file.name)
            return
        for first, parts, block in found:
            kept = reading.selected(first, len(parts))
            numbers: Sequence[int] = range(first, first + len(parts))
            end = first + len(parts)
            if kept is not None:
                parts = [parts[k] for k in kept]
                numbers = [first + k for k in kept]
            if reading.lines and b"\r\n" in block:
                parts = [part.removesuffix(b"\r") for part in parts]
            if parts and isinstance(parts[0], cut.TooLong):
                reading.tally.bad(cut.too_long(file.name, unit, first + 1, parts[0]))
                parts, numbers = [], ()
            if not _is_utf8(block):
                parts, numbers = _mended(file.name, unit, parts, numbers, reading)
            yield Chunk(parts, numbers, end, sum(map(len, parts)), stream.passed)


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        codecs.utf_8_decode(data, "strict", True)
    except UnicodeDecodeError:
        return False
    return True


def _mended(
    name: str, unit: str, parts: list[bytes], numbers: Sequence[int], reading: Reading
) -> tuple[list[bytes], list[int]]:
    """Of documents that may not be UTF-8, what `errors` and `skip_bad` say."""
    good, their_numbers = [], []
    for part, number in zip(parts, numbers, strict=True):
        try:
            good.append(well_formed(place(name, unit, number + 1), part, reading.errors))
        except TextError as error:
            reading.tally.bad(error)
            continue
        their_numbers.append(number)
    return good, their_numbers


def _whole(file: paths.File, reading: Reading) -> Iterator[Chunk]:
    """A file as one document."""
    if file.packing is None:
        data = contents(file.name)
        passed = 0 if data is None else len(data)
    else:
        with Stream(file.name, file.packing) as stream:
            data = _joined(stream.stretches(1 << 22))
            passed = stream.passed
    if data is None:
        reading.tally.bad(
            CorpusError(
                f"{paths.quoted(file.name)} holds more than {cut.MOST:,} bytes, and is one document, which may have no "
                "more: cut it by lines or by a separator, or unpack it into a file"
            )
        )
        return
    if file.swept and b"\0" in data:
        reading.tally.left_out.append(file.name)
        return
    try:
        data = well_formed(paths.shown(file.name), data, reading.errors)
    except TextError as error:
        reading.tally.bad(error)
        return
    yield Chunk([data], range(1), 1, len(data), passed)
