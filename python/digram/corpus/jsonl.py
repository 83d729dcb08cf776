"""JSON lines: an object a line, one field of which holds the text.

orjson reads a line where it is installed. What it refuses, and what has no text where it should, is read again by the
standard library's json: so the documents and the messages are those of json, in any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

from digram.corpus import cut, text
from digram.corpus.batch import Chunk, bytes_of, place, utf8
from digram.corpus.fields import DEFAULT, text_of
from digram.corpus.others import LOOKED_AT, Rows
from digram.corpus.packed import Stream
from digram.corpus.paths import File
from digram.corpus.reading import SKIP, Reading, Tally
from digram.errors import CorpusError, DigramError

__all__ = ["documents"]

_BLANKS = b" \t\r\n"

# The escape of a half of a surrogate pair: such a half may be alone.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def documents(file: File, start: int, reading: Reading) -> Iterator[Chunk]:
    """The texts of a file of JSON lines, from line number `start` on."""
    field = DEFAULT if reading.field is None else reading.field
    read = partial(_read, file.name, field, _quick(), _getter(field))
    looks = reading.columns and not reading.other.begun
    with Stream(file.name, file.packing) as stream:
        found = cut.records(stream, b"\n", 0 if looks else start, reading.window, file.swept)
        if found is None:
            reading.tally.left_out.append(file.name)
            return
        if looks:
            found = cut.after(_looked_at(found, read, reading), start)
        for some in found:
            texts, numbers, columns = read(some, reading)
            yield Chunk(texts, numbers, some[0] + len(some[1]), bytes_of(texts), stream.passed, columns)


def _read(
    name: str,
    field: str,
    quick: Callable[[bytes], Any],
    value_of: Callable[[Any], Any],
    some: cut.Records,
    reading: Reading,
) -> tuple[list[str | bytes], list[int], Any]:
    """The texts of some lines, their numbers, the other columns."""
    first, lines, block = some
    kept = reading.selected(first, len(lines))
    chosen: Sequence[int] = range(len(lines)) if kept is None else kept
    texts: list[str | bytes] = []
    numbers: list[int] = []
    rows: list[Any] = []
    if chosen and isinstance(lines[0], cut.TooLong):
        reading.tally.bad(cut.too_long(name, "line", first + 1, lines[0]))
        chosen = ()
    for k in chosen:
        line = lines[k]
        try:
            record = quick(line)
            value = value_of(record)
        except Exception:
            record = value = None
        if type(value) is not str:
            if not line.strip(_BLANKS):
                continue
            where = place(name, "line", first + k + 1)
            try:
                record = _slow(line, where, reading)
                value = text_of(record, field, where)
            except DigramError as error:
                reading.tally.bad(error)
                continue
            if value is None:
                reading.tally.nulls += 1
                continue
        texts.append(value)
        numbers.append(first + k)
        if reading.columns:
            rows.append(record)
    if _SURROGATE.search(block):
        texts = [_whole(value) for value in texts]
    columns = reading.other.batch(rows, field, partial(_place, name, numbers)) if reading.columns else None
    return texts, numbers, columns


def _looked_at(
    found: Iterator[cut.Records], read: Callable[[cut.Records, Reading], Any], reading: Reading
) -> Iterator[cut.Records]:
    """The same lines, after the schema of the other columns was taken from the first records, whichever are read and
    wherever reading begins: of standard input, for a file is read twice for it."""
    rows, held = Rows(), []
    looking = replace(reading, other=rows, selected=lambda first, count: None, tally=Tally(True))
    for some in found:
        held.append(some)
        read(some, looking)
        if len(rows.rows) >= LOOKED_AT or some[0] >= 100 * LOOKED_AT:
            break
    if rows.rows:
        reading.other.begin(rows.rows)
    while held:
        yield held.pop(0)
    yield from found


def _place(name: str, numbers: list[int], i: int) -> str:
    return place(name, "line", numbers[i] + 1)


def _quick() -> Callable[[bytes], Any]:
    """What reads nearly all lines; it may refuse any, and must not read one otherwise than json does."""
    try:
        import orjson
    except ModuleNotFoundError:
        decode = _JSON.decode
        return lambda line: decode(line.decode())
    loads: Callable[[bytes], Any] = orjson.loads
    return loads


def _getter(field: str) -> Callable[[Any], Any]:
    """What takes the value of the field from a record. It may raise anything, of a record that is not as it should."""
    if "." not in field:
        return itemgetter(field)
    names = field.split(".")

    def within(record: Any) -> Any:
        if field in record:
            return record[field]
        for name in names:
            record = record[name]
        return record

    return within


def _number(digits: str) -> int | float:
    # Python refuses to read an int of very many digits.
    return int(digits) if len(digits) < 4000 else float(digits)


_JSON = json.JSONDecoder(parse_int=_number)


def _slow(line: bytes, where: str, reading: Reading) -> Any:
    """The record of a line, by json; TextError or CorpusError of a bad one."""
    decoded = text.well_formed(where, line, reading.errors).decode()
    try:
        record = _JSON.decode(decoded)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{where} is not JSON ({error.msg} at column {error.colno}): {SKIP}") from None
    except RecursionError:
        raise CorpusError(f"{where} has lists or objects within each other, too many to read: {SKIP}") from None
    if not isinstance(record, dict):
        raise CorpusError(f"{where} is no JSON object, and JSON lines have one in each line: {SKIP}")
    return record


def _whole(value: str | bytes) -> str | bytes:
    """Lone halves of surrogate pairs as U+FFFD."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return utf8(value)
    return value
