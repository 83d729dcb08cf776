"""SentencePiece `.model` files of type BPE.

Such a model merges two neighbours wherever their joined text is a piece, the piece of the highest score first, leftmost
first among equals; characters without a piece become byte pieces, or one unknown piece a run. Text is not split; spaces
are written as U+2581, with one put in front and repeated ones removed as the file says.

Nothing in the file says that a text begins or ends with control pieces, so `add_special_tokens` adds nothing. Control
pieces decode to their text unless they are skipped, the unknown piece to its own (SentencePiece writes " ⁇ "); bytes
that are not UTF-8 when decoded become U+FFFD as Python does it.

Refused, never approximated, with FormatError: other model types; a table of rules (`normalization_rule_name` other
than "identity"); user-defined and unused pieces; white space as a suffix or not escaped; two pieces that can be
merged and have the same score; a piece with a character that is no piece.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from digram.definition import NO_ID, Definition, Step
from digram.errors import DigramError, FormatError
from digram.tokenizer import Tokenizer

__all__ = ["load", "looks_like"]

# sentencepiece_model.proto, SentencePiece.Type
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_BPE = 2
_MARK = "\u2581"


def looks_like(start: bytes) -> bool:
    """Whether a file that starts so is a SentencePiece model: its first field is a piece that starts with its text."""
    return len(start) > 4 and start[0] == start[2] == 0x0A and 2 < start[1] < 0x80 and start[3] <= start[1] - 2


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """Reads the file. FormatError says what is wrong with it, or not supported in it."""
    path = Path(path)
    try:
        definition = _definition(path.read_bytes(), path)
        return Tokenizer(definition)
    except FormatError:
        raise
    except (DigramError, ValueError, OverflowError) as error:
        raise FormatError(f"{path} holds a vocabulary that is none: {error}") from error


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
    pieces: list[tuple[str, float, int]] = []
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    for number, value in _fields(data, path):
        if number not in (1, 2, 3):
            continue
        if not isinstance(value, bytes):
            raise FormatError(f"{path} is no SentencePiece model: field {number} is a number")
        if number == 1:
            pieces.append(_piece(_message(value, path), len(pieces), path))
        elif number == 2:
            trainer = _message(value, path)
        else:
            normalizer = _message(value, path)
    if trainer.get(3, 1) != _BPE:
        name = {1: "unigram", 3: "word", 4: "char"}.get(int(trainer.get(3, 1)), "unknown")
        raise FormatError(f"trainer_spec.model_type of {path} must be BPE, not {name}: digram reads no other one")
    if trainer.get(24, 0):
        raise FormatError(f"trainer_spec.treat_whitespace_as_suffix of {path} must be false")
    return _of_pieces(pieces, _steps(normalizer, path), bool(normalizer.get(3, 1)), bool(normalizer.get(4, 1)), path)


def _piece(fields: dict[int, int | bytes], id: int, path: Path) -> tuple[str, float, int]:
    text, score, kind = fields.get(1, b""), fields.get(2, b"\0\0\0\0"), fields.get(3, _NORMAL)
    if not (isinstance(text, bytes) and isinstance(score, bytes) and len(score) == 4 and isinstance(kind, int)):
        raise FormatError(f"pieces[{id}] of {path} is damaged")
    try:
        piece = text.decode()
    except UnicodeDecodeError:
        raise FormatError(f"pieces[{id}].piece of {path} is not UTF-8") from None
    if kind in (_USER_DEFINED, _UNUSED):
        name = "USER_DEFINED" if kind == _USER_DEFINED else "UNUSED"
        raise FormatError(f"pieces[{id}].type of {path} is {name} ({piece!r}): digram reads no such pieces")
    return piece, struct.unpack("<f", score)[0], kind


def _steps(fields: dict[int, int | bytes], path: Path) -> tuple[Step, ...]:
    """What is done to a text first."""
    if fields.get(2, b""):
        raise FormatError(
            f"normalizer_spec.precompiled_charsmap of {path} must be empty: digram reads no table of rules"
        )
    if not fields.get(5, 1):
        raise FormatError(f"normalizer_spec.escape_whitespaces of {path} must be true")
    steps: list[Step] = []
    collapse = bool(fields.get(4, 1))
    if collapse:
        steps += [("replace-regex", r"\A +", ""), ("replace-regex", " {2,}", " ")]
    if fields.get(3, 1):
        steps.append(("prepend", _MARK))
    steps.append(("replace", " ", _MARK))
    if collapse:
        steps.append(("replace-regex", rf"{_MARK}+\z", ""))
    return tuple(steps)


def _of_pieces(
    pieces: list[tuple[str, float, int]], steps: tuple[Step, ...], prefix: bool, collapse: bool, path: Path
) -> Definition:
    normal = {text: (id, score) for id, (text, score, kind) in enumerate(pieces) if kind == _NORMAL}
    byte_ids = [NO_ID] * 256
    specials: dict[str, int] = {}
    unknown = None
    for id, (text, _, kind) in enumerate(pieces):
        if kind == _BYTE:
            if len(text) != 6 or text[:3] != "<0x":
                raise FormatError(f"pieces[{id}] of {path} is a byte piece, but its text is {text!r}")
            byte_ids[int(text[3:5], 16)] = id
        elif kind in (_UNKNOWN, _CONTROL):
            specials[text] = id
            unknown = id if kind == _UNKNOWN else unknown
    missing = next((c for text in normal for c in text if c not in normal), None)
    if missing is not None:
        raise FormatError(
            f"{path} has pieces with the character {missing!r}, which is no piece: digram reads none such"
        )
    longer = sorted((text for text in normal if len(text) > 1), key=lambda text: -normal[text][1])
    for one, other in pairwise(longer):
        if normal[one][1] == normal[other][1]:
            raise FormatError(f"{path} gives {one!r} and {other!r} the same score: digram reads no such models")
    texts = [*normal, *(text for text, _, kind in pieces if kind == _BYTE)]
    ids = [*(id for id, _ in normal.values()), *(id for id, (_, _, kind) in enumerate(pieces) if kind == _BYTE)]
    fallback = NO_ID not in byte_ids
    decoder: list[Step] = [("replace", _MARK, " "), ("byte-pieces",)]
    if prefix or collapse:
        decoder.insert(0, ("leading-mark", _MARK, "all" if collapse else "first"))
    return Definition(
        kind="pairs",
        alphabet="characters",
        tokens=tuple(text.encode() for text in texts),
        ids=array("I", ids),
        ranked=array("I", (normal[text][0] for text in longer)),
        byte_ids=tuple(byte_ids) if fallback else (),
        unknown_id=unknown,
        fuse_unknown=True,
        normalizer=steps,
        special_tokens=specials,
        decoder=tuple(decoder),
    )
