"""SentencePiece `.model` files of type BPE.

Such a model merges two neighbours wherever their joined text is a piece, the piece of the highest score first, leftmost
first among equals; characters without a piece become byte pieces, or one unknown piece a run. Text is not split; spaces
are written as U+2581, with one put in front (or at the end) and repeated ones removed as the file says. User-defined
pieces are cut out first, the leftmost and longest of them, as added tokens that are not special. One with a space in it
never matches where spaces become U+2581, as in SentencePiece.

Nothing in the file says that a text begins or ends with control pieces, so `add_special_tokens` adds nothing. Control
pieces decode to their text unless they are skipped, the unknown piece to its own (SentencePiece writes " ⁇ "); bytes
that are not UTF-8 when decoded become U+FFFD as Python does it.

Refused when read, never approximated, with FormatError: other model types; a table of rules (`normalization_rule_name`
other than "identity"); unused pieces; user-defined pieces in a model that puts a space in front of texts, and those
that end in a space in one that removes spaces; two pieces that can be merged and have the same score; a piece with a
character that is no piece; byte pieces that are not all 256.

Written is what was read, and any other vocabulary of characters without a split whose merges are ranks of their tokens:
a trained one (with "<unk>" among its special tokens, which a model must have), or Llama 2's `tokenizer.json`. Scores
are minus the rank. VocabularyError names what a model cannot hold: bytes as an alphabet, a split, other normalizers,
ids without a token, tokens that are not canonical.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from digram._warn import warn
from digram.definition import Definition
from digram.errors import DigramError, FormatError, FormatWarning, VocabularyError
from digram.files import contents, whole_file
from digram.formats.pieces import BYTE, NORMAL, UNKNOWN, Flags, Piece, definition_of, pieces_of
from digram.tokenizer import Tokenizer

__all__ = ["load", "looks_like", "save"]

_BPE = 2  # TrainerSpec.ModelType


def looks_like(start: bytes) -> bool:
    """Whether a file that starts so is a SentencePiece model: its first field is a piece that starts with its text."""
    return len(start) > 4 and start[0] == start[2] == 0x0A and 2 < start[1] < 0x80 and start[3] <= start[1] - 2


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """Reads the file. FormatError says what is wrong with it, or not supported in it."""
    path = Path(path)
    try:
        definition = _definition(contents(path), path)
        return Tokenizer(definition)
    except FormatError:
        raise
    except (DigramError, ValueError, OverflowError) as error:
        raise FormatError(f"{path} holds a vocabulary that is none: {error}") from error


def save(tokenizer: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Writes a model with the same ids.

    FormatWarning says what the file cannot hold, VocabularyError why no model gives the same ids.
    """
    found = pieces_of(tokenizer, "a SentencePiece model")
    texts = {kind: text for text, _, kind in found.pieces}
    if [kind for _, _, kind in found.pieces].count(UNKNOWN) != 1:
        raise VocabularyError(
            'a SentencePiece model must have one unknown piece: train with special_tokens=["<unk>"] for this format'
        )
    if len(found.pieces) != tokenizer.n_vocab:
        raise VocabularyError("a SentencePiece model cannot hold ids without a token")
    if any("\0" in text for text, _, _ in found.pieces):
        raise VocabularyError("a SentencePiece model cannot hold a token with the character U+0000")
    flags = found.flags
    trainer = (
        _number(3, _BPE)
        + _number(4, len(found.pieces))
        + _number(24, flags.suffix)
        + _number(35, BYTE in texts)
        + _bytes(45, texts[UNKNOWN].encode())
    )
    normalizer = (
        _bytes(1, b"identity") + _number(3, flags.prefix) + _number(4, flags.collapse) + _number(5, flags.escape)
    )
    with whole_file(path) as file:
        file.writelines(_bytes(1, _written(piece)) for piece in found.pieces)
        file.write(_bytes(2, trainer) + _bytes(3, normalizer))
    if found.lost:
        warn(f"{Path(path)} does not hold {'; nor '.join(found.lost)}", FormatWarning)


def _written(piece: Piece) -> bytes:
    text, score, kind = piece
    return _bytes(1, text.encode()) + b"\x15" + struct.pack("<f", score) + (_number(3, kind) if kind != NORMAL else b"")


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(int(value))


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def _fields(data: bytes, path: Path) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protocol buffer message: number and value; FormatError where it is cut off."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at >= len(data) or shift > 63:
                raise FormatError(f"{path} is no SentencePiece model: it is cut off or damaged at byte {at}")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        length = {1: 8, 5: 4}.get(kind)
        if length is None:
            if kind != 2:
                raise FormatError(f"{path} is no SentencePiece model: it is damaged at byte {at}")
            length = varint()
        if at + length > len(data):
            raise FormatError(f"{path} is no SentencePiece model: it is cut off at byte {at}")
        yield key >> 3, data[at : at + length]
        at += length


def _message(data: bytes, path: Path) -> dict[int, int | bytes]:
    """The last value of each field."""
    return dict(_fields(data, path))


def _definition(data: bytes, path: Path) -> Definition:
    pieces: list[Piece] = []
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] | None = None
    denormalizer: dict[int, int | bytes] = {}
    for number, value in _fields(data, path):
        if number not in (1, 2, 3, 5):
            continue
        if not isinstance(value, bytes):
            raise FormatError(f"{path} is no SentencePiece model: field {number} is a number")
        if number == 1:
            pieces.append(_piece(_message(value, path), len(pieces), path))
        elif number == 2:
            trainer = _message(value, path)
        elif number == 3:
            normalizer = _message(value, path)
        else:
            denormalizer = _message(value, path)
    if trainer.get(3, 1) != _BPE:
        name = {1: "unigram", 3: "word", 4: "char"}.get(_int(trainer, 3, 1, path), "unknown")
        raise FormatError(f"trainer_spec.model_type of {path} must be BPE, not {name}: digram reads no other one")
    if normalizer is None:
        raise FormatError(f"{path} is no SentencePiece model: it lacks its normalizer_spec, and may be cut off")
    for name, spec in (("normalizer", normalizer), ("denormalizer", denormalizer)):
        if spec.get(2, b""):
            raise FormatError(
                f"{name}_spec.precompiled_charsmap of {path} must be empty: digram reads no table of rules"
            )
    prefix, collapse, escape = (bool(_int(normalizer, field, 1, path)) for field in (3, 4, 5))
    flags = Flags(prefix, collapse, escape, suffix=bool(_int(trainer, 24, 0, path)))
    return definition_of(pieces, flags, path)


def _int(fields: dict[int, int | bytes], number: int, default: int, path: Path) -> int:
    value = fields.get(number, default)
    if not isinstance(value, int):
        raise FormatError(f"{path} is no SentencePiece model: field {number} of its settings is no number")
    return value


def _piece(fields: dict[int, int | bytes], id: int, path: Path) -> Piece:
    text, score, kind = fields.get(1, b""), fields.get(2, b"\0\0\0\0"), fields.get(3, NORMAL)
    if not (isinstance(text, bytes) and isinstance(score, bytes) and len(score) == 4 and isinstance(kind, int)):
        raise FormatError(f"pieces[{id}] of {path} is damaged")
    if not NORMAL <= kind <= BYTE:
        raise FormatError(f"pieces[{id}].type of {path} is {kind}, which SentencePiece does not have")
    try:
        return text.decode(), struct.unpack("<f", score)[0], kind
    except UnicodeDecodeError:
        raise FormatError(f"pieces[{id}].piece of {path} is not UTF-8") from None
