"""`.tiktoken` files: a line per token, its bytes in base64 and its rank."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import os
import re
from array import array
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

from digram._text import printable
from digram._warn import warn
from digram.definition import Definition, special_ids
from digram.errors import FormatError, FormatWarning, VocabularyError
from digram.files import contents, whole_file
from digram.formats.limits import check_plain, flagged, warn_of_missing_bytes
from digram.patterns import checked
from digram.tokenizer import Tokenizer

__all__ = ["load", "looks_like", "read", "save"]

_LINE = re.compile(rb"([A-Za-z0-9+/]+={0,2}) ([0-9]{1,10})\r?\n?")
_LINES = re.compile(rb"(?:[A-Za-z0-9+/]+={0,2} [0-9]{1,9}\r?\n)*+")


def looks_like(start: bytes) -> bool:
    """Whether a file that starts so is a `.tiktoken` file."""
    match = _LINE.match(start)
    return match is not None and len(match[1]) % 4 == 0


def load(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    published: str | None = None,
) -> Tokenizer:
    """The tokenizer of ranked bytes. `split` is needed: the file does not hold it, and nothing is guessed.

    `published` is the SHA-256 of the file that it is said to be: nothing in a file shows that its end was cut off.

    FormatError names the line that is not base64 and rank, or gives a token or rank again; VocabularyError the special
    token whose id a token has; FormatWarning bytes that have no token, and another file than the published one.
    """
    if split is None:
        raise ValueError(
            f"{printable(str(path))} does not say how text is split: give split=, a name of digram.patterns "
            '("cl100k" for cl100k_base, "o200k" for o200k_base, "gpt2" for r50k_base) or a regular expression, '
            'or name=, a named encoding such as "cl100k_base"'
        )
    data = contents(path)
    tokenizer = read(data, str(Path(path)), split=split, special_tokens=special_tokens)
    warn_of_missing_bytes(tokenizer, Path(path))
    if published is not None and hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest() != published:
        warn(
            f"{Path(path)} is not the file that was published under that name (its SHA-256 is another one): it may be "
            "cut off, or another vocabulary's",
            FormatWarning,
        )
    return tokenizer


def read(
    data: bytes, where: str, *, split: str | None, special_tokens: Iterable[str] | Mapping[str, int] = ()
) -> Tokenizer:
    """As `load`, of what a file holds; `where` names it in messages."""
    tokens, ids = _parse(data, where)
    specials = special_ids(special_tokens, max(ids, default=-1) + 1)
    try:
        return Tokenizer(
            Definition(kind="ranks", tokens=tokens, ids=ids, split=checked(split), special_tokens=specials)
        )
    except VocabularyError as error:
        _check_once(tokens, ids, where)
        # An id out of range, or special tokens that contradict the file.
        raise VocabularyError(f"{where} is not read: {error}") from None


def _parse(data: bytes, where: str) -> tuple[tuple[bytes, ...], array[int]]:
    data = data.removeprefix(codecs.BOM_UTF8)
    if _LINES.fullmatch(data):
        fields = data.split()
        try:
            tokens = tuple(map(partial(binascii.a2b_base64, strict_mode=True), fields[0::2]))
            return tokens, array("I", map(int, fields[1::2]))
        except binascii.Error:
            pass  # and now to the line
    found, ids = [], array("I")
    for number, line in enumerate(data.split(b"\n"), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            if not line.strip():
                continue
            raise FormatError(f"line {number} of {where} is no base64 token and rank: {line[:60]!r}")
        try:
            found.append(base64.b64decode(match[1], validate=True))
        except binascii.Error as error:
            raise FormatError(f"line {number} of {where} holds a token that is not base64: {error}") from None
        id = int(match[2])
        if id >= 1 << 31:
            raise FormatError(f"line {number} of {where} has the rank {id}, which is above 2^31 - 1")
        ids.append(id)
    return tuple(found), ids


def _check_once(tokens: Iterable[bytes], ids: Iterable[int], where: str) -> None:
    """FormatError where a token or a rank stands in the file twice."""
    lines: dict[bytes | int, int] = {}
    for number, (token, id) in enumerate(zip(tokens, ids, strict=True), 1):
        for value, what in ((token, "token"), (id, "rank")):
            before = lines.setdefault(value, number)
            if before != number:
                raise FormatError(f"token {number} of {where} has the {what} {value!r:.60}, as token {before} has")


def save(tokenizer: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Writes the tokens with their ids as ranks, in the order of the ids.

    FormatWarning says what the file cannot hold: the split and the special tokens, which are given when it is loaded.
    VocabularyError where ranked bytes would give other ids.
    """
    ranked = ranks(tokenizer)
    with whole_file(path) as file:
        file.write(b"".join(base64.b64encode(token) + b" %d\n" % id for id, token in ranked))
    left_out = [f"the split ({tokenizer.split})"] if tokenizer.split is not None else []
    left_out += [f"{len(tokenizer.special_tokens)} special tokens"] if tokenizer.special_tokens else []
    left_out += flagged(tokenizer._definition)
    if left_out:
        warn(
            f"{Path(path)} does not hold {' nor '.join(left_out)}, for which a .tiktoken file has no place: "
            "give split= and special_tokens= when it is loaded",
            FormatWarning,
        )


def ranks(tokenizer: Tokenizer) -> list[tuple[int, bytes]]:
    """(id, bytes) of all tokens but the special ones, by id, where ranked bytes give the same ids as `tokenizer`.

    VocabularyError says why they would not.
    """
    check_plain(tokenizer._definition, "a .tiktoken file")
    if tokenizer.alphabet != "bytes":
        raise VocabularyError(
            "ranked bytes cannot hold a character alphabet: train with alphabet='bytes' for this format"
        )
    if tokenizer._definition.kind != "ranks":
        if tokenizer.not_canonical:
            raise VocabularyError(
                f"ranked bytes would give other ids: {len(tokenizer.not_canonical)} tokens are not canonical "
                f"(the first is id {tokenizer.not_canonical[0]})"
            )
        merged = list(tokenizer.merges.values())
        if any(later < earlier for earlier, later in pairwise(merged)):
            raise VocabularyError("ranked bytes would give other ids: the ids of the merges are not in their order")
    ranked = [(id, token) for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)]
    if not all(token for _, token in ranked) or len({token for _, token in ranked}) != len(ranked):
        raise VocabularyError("ranked bytes cannot hold a token that is empty, nor two with the same bytes")
    return ranked
