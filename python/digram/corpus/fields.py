"""The field of a record that holds the text: by its name, or by a path of names with dots between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from digram._text import printable
from digram.corpus.reading import SKIP, Errors
from digram.corpus.text import well_formed
from digram.errors import CorpusError

__all__ = ["DEFAULT", "listed", "text_of"]

_SKIP = SKIP.partition(", or ")[2]

DEFAULT = "text"
"""The field where none is named, in files that can hold nothing else than records."""


def listed(names: Iterable[object]) -> str:
    """Names for a sentence, the first of many."""
    shown = [printable(str(name))[:60] for name in names]
    more = f" and {len(shown) - 20} more" if len(shown) > 20 else ""
    return (", ".join(shown[:20]) + more) if shown else "none"


def text_of(record: object, field: str, where: str, errors: Errors = "strict") -> str | bytes | None:
    """The text of a record; None where that is null. CorpusError or TextError for a bad record; `where` names it."""
    if not isinstance(record, Mapping):
        raise CorpusError(f"{where} is {_kind(record)}, not an object with the field {field!r}: {SKIP}")
    value: Any = record
    if field in record:
        value = record[field]
    else:
        for name in field.split("."):
            if value is None:
                break
            if not isinstance(value, Mapping) or name not in value:
                has = f"its fields are {listed(record)}"
                raise CorpusError(f"{where} has no field {field!r}; {has}: name the one with the text, or {_SKIP}")
            value = value[name]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return well_formed(where, value, errors)
    raise CorpusError(f"{where} has {_kind(value)} in the field {field!r}, not a text: {SKIP}")


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    bytes: "bytes",
    list: "a list",
    dict: "an object",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), f"an object of the type {type(value).__name__}")
