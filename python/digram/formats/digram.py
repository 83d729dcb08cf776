"""digram's own format: one JSON object with a version and a checksum, a merge (or a token) a line.

format          "digram"
version         1
checksum        "sha256:" and the digest of everything but this key, as compact JSON with sorted keys
kind            "merges", "ranks", "list" or "pairs" (see `digram.definition`)
alphabet        "bytes" or "characters"
characters      of a character alphabet: the base symbols, ids from 0
unknown         "error", "bytes" or a special token
split           null, or {"name": of digram.patterns or null, "pattern": regular expression}
special_tokens  marker -> id
merges          [left id, right id], in learned order                         (kind "merges")
tokens          [base64 of the bytes, id]                                     (kind "ranks")
                strings, or base64 of byte tokens, in order                   (kind "list")

Kind "pairs" has more of both, and what surrounds them; `digram.definition` says what each means:

tokens          [string, or base64 of a byte token, id]
merges          [left id, right id, new id]
ranked          [id]
whole, fuse_unknown, byte_characters                                          true or false
unknown_id      null or an id               byte_ids                          [] or 256 ids
normalizer, steps, decoder                                                    arrays of arrays of strings
added_tokens    [string, id, the names of its flags]                          template   [ids before, ids after]
"""

from __future__ import annotations

import base64
import json
import os
from array import array
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from digram import patterns
from digram.definition import FLAGS, NO_ID, AddedToken, Definition
from digram.errors import DigramError, FormatError
from digram.files import written_whole
from digram.formats import _json
from digram.tokenizer import Tokenizer

__all__ = ["load", "save"]

_VERSION = 1


def save(tokenizer: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Writes the file under a temporary name and renames it when it is whole: an old file stays until then."""
    with written_whole(path) as file:
        write(tokenizer._definition, file)


def write(definition: Definition, file: TextIO) -> None:
    """Writes what a tokenizer is into an open file."""
    body = _body(definition)
    listed = [key for key in ("tokens", "merges") if key in body]
    file.write("{\n")
    head = {"format": "digram", "version": _VERSION, "checksum": _checksum(body), **body}
    for key, value in head.items():
        if key not in listed:
            file.write(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n")
    for key in listed:
        file.write(f' "{key}": [')
        # Lists of numbers are written alike in both languages, and a vocabulary has some hundred thousand of them.
        numbers = key == "merges"
        items = map(str, body[key]) if numbers else (json.dumps(item, ensure_ascii=False) for item in body[key])
        file.write(",\n".join(chain([""], items))[1:])
        file.write("\n ],\n" if key != listed[-1] else "\n ]\n}\n")


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """Reads the file. FormatError says what is wrong and where; nothing in a file is ever executed."""
    path = Path(path)
    return tokenizer(_json.read(path, "digram file"), path)


def tokenizer(data: Any, path: Path) -> Tokenizer:
    """The tokenizer of parsed JSON; `path` is named in errors."""
    check = _Check(path, data)
    if not isinstance(data, dict) or data.get("format") != "digram":
        raise FormatError(f'{path} is no digram file: it lacks "format": "digram"')
    version = data.get("version")
    if type(version) is not int or version != _VERSION:  # true is 1, to Python
        raise FormatError(
            f"{path} has format version {_short(version)}, but this digram reads {_VERSION}: update digram"
        )
    stated = check("checksum", str)
    body = {key: value for key, value in data.items() if key not in ("format", "version", "checksum")}
    try:
        actual = _checksum(body)
    except RecursionError:  # what is nested just as deeply as can be read is too deep to be written
        raise FormatError(f"{path} is no digram file: it is nested too deeply") from None
    if stated != actual:
        raise FormatError(
            f"{path} was changed or damaged: it says checksum {stated[:80]} but holds {actual}; save it anew"
        )
    try:
        return Tokenizer(_definition(check))
    except FormatError:
        raise
    except (DigramError, ValueError, OverflowError) as error:
        raise FormatError(f"{path} holds a vocabulary that is none: {error}") from error


def _body(definition: Definition) -> dict[str, Any]:
    body: dict[str, Any] = {"kind": definition.kind, "alphabet": definition.alphabet}
    if definition.kind == "merges" and definition.alphabet == "characters":
        body["characters"] = definition.characters
    body["unknown"] = definition.unknown
    split = definition.split
    body["split"] = None
    if split is not None:
        body["split"] = {"name": split if split in patterns.NAMED else None, "pattern": definition.pattern}
    body["special_tokens"] = dict(definition.special_tokens)
    if definition.kind == "merges":
        flat = definition.merges
        body["merges"] = list(map(list, zip(flat[0::2], flat[1::2], strict=True)))
    elif definition.kind == "ranks":
        pairs = zip(definition.tokens, definition.ids, strict=True)
        body["tokens"] = [[base64.b64encode(token).decode(), id] for token, id in pairs]
    elif definition.kind == "pairs":
        body.update(_pairs_body(definition))
    elif definition.alphabet == "characters":
        body["tokens"] = [token.decode() for token in definition.tokens]
    else:
        body["tokens"] = [base64.b64encode(token).decode() for token in definition.tokens]
    return body


def _pairs_body(definition: Definition) -> dict[str, Any]:
    written = bytes.decode if definition.alphabet == "characters" else lambda token: base64.b64encode(token).decode()
    pairs = zip(definition.tokens, definition.ids, strict=True)
    flat = definition.merges
    return {
        **{key: getattr(definition, key) for key in _FLAGS},
        "ranked": list(definition.ranked),
        "unknown_id": definition.unknown_id,
        "byte_ids": list(definition.byte_ids),
        **{key: list(map(list, getattr(definition, key))) for key in _STEPS},
        "added_tokens": [[token.content, token.id, token.flags] for token in definition.added_tokens],
        "template": [list(side) for side in definition.template],
        "tokens": [[written(token), id] for token, id in pairs],
        "merges": list(map(list, zip(flat[0::3], flat[1::3], flat[2::3], strict=True))),
    }


_FLAGS = ("whole", "fuse_unknown", "byte_characters")
_STEPS = ("normalizer", "steps", "decoder")


def _pairs(check: _Check, alphabet: str) -> dict[str, Any]:
    values: dict[str, Any] = {key: check(key, bool) for key in _FLAGS}
    values["ranked"] = array("I", check.each("ranked", _is_id, "an id"))
    values["unknown_id"] = check("unknown_id", (int, type(None)), lambda v: v is None or _is_id(v))
    byte_ids = check("byte_ids", list, lambda v: len(v) in (0, 256), "256 ids or none")
    known = check.each("byte_ids", lambda v: _is_id(v) or v == NO_ID, "an id")
    values["byte_ids"] = tuple(known if byte_ids else ())
    for key in _STEPS:
        steps = check.each(
            key, lambda v: isinstance(v, list) and v != [] and all(isinstance(w, str) for w in v), "a step"
        )
        values[key] = tuple(map(tuple, steps))
    added = check.each(
        "added_tokens",
        lambda v: _is_list(v, 3) and isinstance(v[0], str) and _is_id(v[1]) and {*str(v[2]).split()} <= {*FLAGS},
        "[string, id, flags]",
    )
    values["added_tokens"] = tuple(
        AddedToken(content=content, id=id, **dict.fromkeys(flags.split(), True)) for content, id, flags in added
    )
    sides = check.each("template", lambda v: isinstance(v, list) and all(map(_is_id, v)), "an array of ids")
    check("template", list, lambda v: len(v) == 2, "two arrays of ids")
    values["template"] = tuple(map(tuple, sides))
    tokens = check.each("tokens", _is_ranked, "[string, id]" if alphabet == "characters" else "[base64, id]")
    if alphabet == "characters":
        values["tokens"] = tuple(token.encode() for token, _ in tokens)
    else:
        values["tokens"] = tuple(check.base64(f"tokens[{i}][0]", token) for i, (token, _) in enumerate(tokens))
    values["ids"] = array("I", (id for _, id in tokens))
    merges = check.each("merges", lambda v: _is_list(v, 3) and all(map(_is_id, v)), "[left id, right id, new id]")
    values["merges"] = array("I", chain.from_iterable(merges))
    return values


def _definition(check: _Check) -> Definition:
    kinds = ("merges", "ranks", "list", "pairs")
    kind = check("kind", str, lambda v: v in kinds, '"merges", "ranks", "list" or "pairs"')
    alphabet = check("alphabet", str, lambda v: v in ("bytes", "characters"), '"bytes" or "characters"')
    split = check("split", (dict, type(None)))
    if split is not None:
        name, pattern = check("split.name", (str, type(None))), check("split.pattern", str)
        # The pattern counts; the name only where it still stands for it.
        split = name if name is not None and patterns.NAMED.get(name) == pattern else pattern
    specials = check("special_tokens", dict, lambda v: all(map(_is_id, v.values())), "an object of marker: id")
    characters = ""
    if kind == "merges" and alphabet == "characters":
        characters = check("characters", str, lambda v: len(set(v)) == len(v), "a string of distinct characters")
    values: dict[str, Any] = {
        "kind": kind,
        "alphabet": alphabet,
        "characters": characters,
        "unknown": check("unknown", str),
        "split": split,
        "special_tokens": specials,
    }
    if kind == "pairs":
        values.update(_pairs(check, alphabet))
    elif kind == "merges":
        values["merges"] = array("I", _flat(check, "merges"))
    elif kind == "ranks":
        pairs = check.each("tokens", _is_ranked, "[base64, id]")
        values["tokens"] = tuple(check.base64(f"tokens[{i}][0]", token) for i, (token, _) in enumerate(pairs))
        values["ids"] = array("I", (id for _, id in pairs))
    else:
        tokens = check.each("tokens", lambda v: isinstance(v, str), "a string")
        if alphabet == "characters":
            values["tokens"] = tuple(token.encode() for token in tokens)
        else:
            values["tokens"] = tuple(check.base64(f"tokens[{i}]", token) for i, token in enumerate(tokens))
    return Definition(**values)


def _flat(check: _Check, key: str) -> Iterator[int]:
    pairs = check.each(key, lambda v: _is_list(v, 2) and _is_id(v[0]) and _is_id(v[1]), "[left id, right id]")
    return chain.from_iterable(pairs)


def _is_ranked(value: Any) -> bool:
    return _is_list(value, 2) and isinstance(value[0], str) and _is_id(value[1])


def _is_list(value: object, length: int) -> bool:
    return isinstance(value, list) and len(value) == length


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


class _Check:
    """Values of a JSON object by dotted path, with a sentence for what is missing or wrong."""

    def __init__(self, path: Path, data: Any) -> None:
        self.path, self.data = path, data

    def __call__(
        self,
        key: str,
        types: type | tuple[type, ...],
        right: Callable[[Any], bool] = lambda _: True,
        expected: str | None = None,
    ) -> Any:
        value = self.data
        for part in key.split("."):
            if part not in value:
                raise FormatError(f'{self.path} lacks "{key}"')
            value = value[part]
        if not isinstance(value, types) or not right(value):
            names = types if isinstance(types, tuple) else (types,)
            what = expected or " or ".join(_JSON_NAMES[name] for name in names)
            raise FormatError(f'"{key}" of {self.path} must be {what}, not {_short(value)}')
        return value

    def each(self, key: str, right: Callable[[Any], bool], expected: str) -> list[Any]:
        values: list[Any] = self(key, list)
        for i, value in enumerate(values):
            if not right(value):
                raise FormatError(f'"{key}[{i}]" of {self.path} must be {expected}, not {_short(value)}')
        return values

    def base64(self, key: str, text: str) -> bytes:
        try:
            return base64.b64decode(text, validate=True)
        except ValueError as error:
            raise FormatError(f'"{key}" of {self.path} must be base64: {error}') from None


_JSON_NAMES = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    dict: "an object",
    list: "an array",
    type(None): "null",
}


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _checksum(body: dict[str, Any]) -> str:
    import hashlib  # 5 ms, for commands that load no file of this kind

    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
