"""Changes to files of vocabularies that know their format: a field is damaged, and the rest stays whole.

`mutated(data, rng)` changes a case: the name of a format (one of `KINDS`), a line break, and the file.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
import struct
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from zlib import crc32

__all__ = ["KINDS", "PAIR", "mutated"]

PAIR = b"\n\x00\n"
"""Between the two files of GPT-2's."""

Path = tuple[Any, ...]

# Values that readers should expect, and do not find where they look.
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 255, 256, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 10**30),
    *(1.5, -0.0, 1e308, float("nan")),
    *("", "a", "ab", " ", "\0", "\ud800", "é", "▁", "👍", "<s>", "<unk>", "<0xE4>", "a b", "a\nb", "x" * 300),
    *("(", r"(a+)+b", r"\p{L}+", "bytes", "characters", "cl100k", "gpt2"),
    *([], {}, [[]], [None], [0], [[0, 1]], [["a", 0]], {"a": 0}, {"type": "Sequence"}, {"type": None}),
)
NUMBERS = ODD[3:14]
NAMES = (
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Lowercase",
    "Strip",
    "Prepend",
    "Replace",
    "Sequence",
    "ByteLevel",
    "Metaspace",
    "Split",
    "Digits",
    "Punctuation",
    "Whitespace",
    "WhitespaceSplit",
    "TemplateProcessing",
    "ByteFallback",
    "Fuse",
    "BPE",
    "Unigram",
    "Removed",
    "Isolated",
    "MergedWithPrevious",
    "MergedWithNext",
    "Contiguous",
    "always",
    "never",
    "first",
    "merges",
    "ranks",
    "list",
    "pairs",
    "error",
)
ODD_BYTES = (
    *(b"\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\0", b"{", b"[" * 2000, b'"', b"\\ud800", b"-", b"9" * 30, b"e9"),
)


def mutated(data: bytes, rng: Random, most: int = 1 << 16) -> bytes:
    """The case with one to three changes, mostly within its format; at most so many bytes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind, _, file = data.partition(b"\n")
        change = _CHANGES.get(kind, _bytes)
        if rng.random() < 0.1:
            change = _bytes
        try:
            file = change(file, rng)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError, struct.error):
            file = _bytes(file, rng)  # it is no such file any more
        if rng.random() < 0.9:
            file = _signed(kind, file)
        data = kind + b"\n" + file
    return data[:most]


def _bytes(file: bytes, rng: Random) -> bytes:
    """Bytes changed without regard to what they mean."""
    data = bytearray(file)
    at = rng.randrange(len(data) + 1)
    length = rng.choice((1, 1, 2, 4, 8, 40))
    match rng.randrange(7):
        case 0:
            del data[at : at + length]
        case 1:
            data[at:at] = rng.randbytes(length)
        case 2:
            data[at : at + length] = rng.randbytes(length)
        case 3:
            del data[at:]
        case 4:
            data[at:at] = data[at : at + length] * rng.choice((1, 2, 100))
        case 5:
            data[at:at] = rng.choice(
                (
                    b"\xff",
                    b"\xef\xbb\xbf",
                    b"\r",
                    b"\r\n",
                    b"\0",
                    b"{",
                    b"[" * 2000,
                    b'"',
                    b"\\ud800",
                    b"-",
                    b"9" * 30,
                    b"e9",
                )
            )
        case _:
            if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
    return bytes(data)


# JSON


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _paths(value[key], (*path, key))
    elif isinstance(value, list):
        # All elements of a long list are alike.
        for i in range(len(value)) if len(value) < 40 else (*range(10), len(value) // 2, len(value) - 1):
            yield from _paths(value[i], (*path, i))


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _json(file: bytes, rng: Random) -> bytes:
    root = [json.loads(file)]
    for _ in range(rng.choice((1, 1, 1, 2))):
        paths = list(_paths(root))[1:]
        # Places near the top are few and matter most.
        paths.sort(key=len)
        path = paths[int(len(paths) * rng.random() ** 1.4)]
        inside, key = _at(root, path[:-1]), path[-1]
        match rng.randrange(6):
            case 0 if len(path) > 1:
                del inside[key]
            case 1:
                inside[key] = copy.deepcopy(rng.choice(ODD))
            case 2:
                inside[key] = copy.deepcopy(_at(root, rng.choice(paths)))
            case 3 if isinstance(inside, dict):
                inside[rng.choice((*inside, *NAMES, "type", "id", "pattern", "content"))] = inside.pop(key)
            case 4 if isinstance(inside, list) and len(path) > 1:
                inside.insert(rng.randrange(len(inside) + 1), copy.deepcopy(rng.choice((inside[key], rng.choice(ODD)))))
            case _:
                inside[key] = _changed(inside[key], rng)
    text = json.dumps(root[0], ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.05:  # a key that stands twice
        text = re.sub(
            r'("[^"\\]*": ?)', lambda match: match[1] + ("0, " + match[1] if rng.random() < 0.1 else ""), text
        )
    return text.encode("utf-8", "surrogatepass")


def _changed(value: Any, rng: Random) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return rng.choice((value + 1, value - 1, -value, value * 2, value + 2**32, rng.randrange(600)))
    if isinstance(value, str):
        at = rng.randrange(len(value) + 1)
        piece = rng.choice(("", *(odd for odd in ODD if isinstance(odd, str)), *NAMES))
        return rng.choice((value[:at] + piece + value[at:], value[:at], value[at:], piece, value * 2))
    if isinstance(value, list):
        value = list(value)
        match rng.randrange(5):
            case 0:
                rng.shuffle(value)
            case 1:
                value += value
            case 2:
                del value[rng.randrange(len(value) + 1) :]
            case 3:
                value.reverse()
            case _:
                value = [value]
        return value
    keys = list(value)
    rng.shuffle(keys)
    return {key: value[other] for key, other in zip(keys, value, strict=True)}


# Lines: .tiktoken, merges.txt


def _lines(file: bytes, rng: Random) -> bytes:
    lines = file.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(7):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = rng.choice((b" ", b"\t", b"  ", b"")).join(reversed(lines[at].split(b" ")))
        case 4:
            lines[at] = re.sub(rb"\d+$", str(rng.choice(NUMBERS)).encode(), lines[at])
        case 5:
            token = base64.b64encode(rng.randbytes(rng.randrange(5)))
            lines[at] = token + b" " + lines[at].rpartition(b" ")[2]
        case _:
            lines[at] = _bytes(lines[at], rng)
    return rng.choice((b"\n", b"\n", b"\n", b"\r\n")).join(lines)


def _pair(file: bytes, rng: Random) -> bytes:
    vocabulary, _, merges = file.partition(PAIR)
    if rng.random() < 0.5:
        return _json(vocabulary, rng) + PAIR + merges
    return vocabulary + PAIR + _lines(merges, rng)


# Protocol buffers


ODD_FLOATS = tuple(struct.pack("<f", value) for value in (0, float("nan"), float("inf"), float("-inf"), 1e-45))


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def _fields(data: bytes) -> list[list[Any]]:
    """[number, wire type, value] of each field."""
    fields: list[list[Any]] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            fields.append([key >> 3, 0, varint()])
            continue
        length = {1: 8, 5: 4}.get(key & 7) or varint()
        fields.append([key >> 3, key & 7, data[at : at + length]])
        at += length
    return fields


def _message(fields: list[list[Any]]) -> bytes:
    parts: list[bytes] = []
    for number, kind, value in fields:
        parts.append(_varint(number << 3 | kind))
        if kind == 0:
            parts.append(_varint(value))
        else:
            parts += [_varint(len(value)), value] if kind == 2 else [value]
    return b"".join(parts)


def _protobuf(file: bytes, rng: Random, depth: int = 0) -> bytes:
    fields = _fields(file)
    at, other = rng.randrange(len(fields)), rng.randrange(len(fields))
    if depth == 0 and rng.random() < 0.3:  # what is not a piece
        at = rng.choice([i for i, field in enumerate(fields) if field[0] != 1])
    field = fields[at]
    match rng.randrange(8):
        case 0:
            del fields[at]
        case 1:
            fields.insert(other, copy.copy(field))
        case 2:
            fields[at], fields[other] = fields[other], field
        case 3:
            field[0] = rng.choice((0, 1, 2, 3, 4, 5, 10, 2**28, *range(20, 50)))
        case 4:
            fields.insert(at, [rng.choice((1, 2, 3, 35, 45)), 0, rng.choice((0, 1, 2, 3, 6, 2**31, 2**63 - 1, 2**64))])
        case _:
            if field[1] == 0:
                field[2] = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, field[2] + 1, 2**31, 2**32, 2**63, 2**70))
            elif field[1] == 2 and depth == 0:
                field[2] = _protobuf(field[2], rng, 1)
            elif field[1] == 5:
                field[2] = rng.choice(
                    (
                        b"\0\0\xc0\x7f",
                        b"\0\0\x80\x7f",
                        b"\0\0\x80\xff",
                        bytes(4),
                        rng.randbytes(4),
                        fields[other][2][:4],
                    )
                )
            else:
                field[2] = _bytes(field[2], rng)
    return _message(fields)


# GGUF

_WIDTHS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


def _gguf(file: bytes, rng: Random) -> bytes:
    """Header, then key, type and value of each entry; values are kept as bytes, arrays as [type, length, elements]."""
    head, at = list(struct.unpack_from("<4sIQQ", file)), 24

    def string() -> bytes:
        nonlocal at
        (length,) = struct.unpack_from("<Q", file, at)
        at += 8 + length
        return file[at - length : at]

    def value(kind: int) -> Any:
        nonlocal at
        if kind == _STRING:
            return string()
        if kind == _ARRAY:
            inner, length = struct.unpack_from("<IQ", file, at)
            at += 12
            if length > len(file):
                raise ValueError("damaged before")
            return [inner, length, [value(inner) for _ in range(length)]]
        size = struct.calcsize("<" + _WIDTHS[kind])
        at += size
        return file[at - size : at]

    entries: list[list[Any]] = []
    for _ in range(head[3]):
        key = string()
        (kind,) = struct.unpack_from("<I", file, at)
        at += 4
        entries.append([key, kind, value(kind)])
    rest = file[at:]

    i, j = rng.randrange(len(entries)), rng.randrange(len(entries))
    entry = entries[i]
    huge = (0, 1, 2**31, 2**32, 2**40, 2**63, 2**64 - 1)
    match rng.randrange(9):
        case 0:
            del entries[i]
            head[3] -= rng.randrange(2)
        case 1:
            entries.insert(j, copy.deepcopy(entry))
            head[3] += rng.randrange(2)
        case 2:
            entry[1] = rng.choice((*range(14), 2**32 - 1))
        case 3:
            entry[0], entries[j][0] = entries[j][0], entry[0]
        case 4:
            head[rng.choice((1, 2, 3))] = rng.choice((0, 1, 2, 3, 4, 2**31))
        case 5:
            entry[0] = _bytes(entry[0], rng)
        case _ if isinstance(entry[2], list):
            elements = entry[2][2]
            k = rng.randrange(len(elements) + 1)
            match rng.randrange(6):
                case 0:
                    entry[2][1] = rng.choice((*huge, len(elements) + 1))
                case 1:
                    entry[2][0] = rng.choice((*range(14), 2**32 - 1))
                case 2:
                    del elements[k:]
                    entry[2][1] = len(elements)
                case 3:
                    elements.insert(k, rng.choice(elements))
                    entry[2][1] = len(elements)
                case 4:
                    rng.shuffle(elements)
                case _:
                    if k < len(elements) and isinstance(elements[k], bytes):
                        text = entry[2][0] == _STRING
                        elements[k] = _bytes(elements[k], rng) if text else rng.randbytes(len(elements[k]))
        case _ if entry[1] == _STRING:
            entry[2] = rng.choice((b"gpt2", b"llama", b"bert", b"qwen2", b"default", b"", _bytes(entry[2], rng)))
        case _:
            entry[2] = rng.choice((bytes(len(entry[2])), rng.randbytes(len(entry[2])), b"\xff" * len(entry[2])))

    def written(kind: int, value: bytes | list[Any]) -> bytes:
        if isinstance(value, list):
            inner, length, elements = value
            return struct.pack("<IQ", inner, length) + b"".join(written(inner, element) for element in elements)
        # A number that goes by the type of a string, or the other way round, stays as it is.
        return struct.pack("<Q", len(value)) + value if kind == _STRING else value

    parts = [struct.pack("<4sIQQ", *head)]
    for key, kind, content in entries:
        parts += [struct.pack("<Q", len(key)), key, struct.pack("<I", kind), written(kind, content)]
    return b"".join((*parts, rest))


# Prepared tokenizers


def _prepared(file: bytes, rng: Random) -> bytes:
    length = int.from_bytes(file[12:16], "little")
    header, flat = file[16 : 16 + length], file[16 + length :]
    if rng.random() < 0.5:
        header = _json(header, rng)
    else:
        # A number of an array.
        data = bytearray(flat)
        at = rng.randrange(len(data) // 4) * 4
        data[at : at + 4] = struct.pack("<I", rng.choice((0, 1, 255, 2**31, 2**32 - 1, rng.randrange(600))))
        flat = bytes(data)
    return file[:12] + len(header).to_bytes(4, "little") + header + flat


def _signed(kind: bytes, file: bytes) -> bytes:
    """The file with the checksum that it should have, so that damage gets past it."""
    if kind == b"prepared" and len(file) > 16:
        return file[:8] + crc32(file[12:]).to_bytes(4, "little") + file[12:]
    if kind == b"digram":
        try:
            data = json.loads(file)
            body = {key: value for key, value in data.items() if key not in ("format", "version", "checksum")}
            text = json.dumps(body, sort_keys=True, separators=(",", ":"))
            data["checksum"] = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
            return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
        except (AttributeError, TypeError, ValueError, RecursionError):
            return file
    return file


_CHANGES: dict[bytes, Callable[[bytes, Random], bytes]] = {
    b"digram": _json,
    b"huggingface": _json,
    b"tekken": _json,
    b"tiktoken": _lines,
    b"gpt2": _pair,
    b"sentencepiece": _protobuf,
    b"gguf": _gguf,
    b"prepared": _prepared,
}

KINDS = frozenset(_CHANGES)
"""The names that cases begin with."""
