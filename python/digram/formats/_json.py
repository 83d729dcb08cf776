"""The JSON of vocabulary files: read strictly, and with the place of each value, so that errors can name it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from digram.errors import FormatError
from digram.files import contents

__all__ = ["Node", "parse", "read"]


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read(path: Path, kind: str) -> Any:
    """The JSON value of a file, as `parse` reads it."""
    return parse(contents(path), str(path), kind)


def parse(data: bytes, where: str, kind: str) -> Any:
    """The JSON value of `data`, in which no object has a key twice: all but the last would vanish unseen.

    FormatError says that `where` is not UTF-8 or not JSON, and at which place, or why it is no `kind`.
    """
    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once)
        if _SURROGATE.search(data):
            json.dumps(value, ensure_ascii=False).encode()  # pairs are joined, which leaves the halves
        return value
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{where} is no {kind}: it holds {error.object[error.start]!r}, half a pair of surrogates, which is no text"
        ) from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{where} is not UTF-8 at byte {error.start}: it is damaged, or no {kind}") from None
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{where} is not JSON at line {error.lineno}, column {error.colno}: {error.msg}; is it cut off?"
        ) from None
    except RecursionError:
        raise FormatError(f"{where} is no {kind}: it is nested too deeply") from None
    except ValueError as error:  # a repeated key, a number of thousands of digits
        raise FormatError(f"{where} is no {kind}: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {json.dumps(twice, ensure_ascii=False)} stands in it twice")
    return data


class Node:
    """A value of a file with its JSON path, so that whatever is wrong with it can be named."""

    __slots__ = ("path", "value", "where")

    def __init__(self, value: Any, where: str, path: Path) -> None:
        self.value, self.where, self.path = value, where, path

    def __getitem__(self, key: str | int) -> Node:
        if isinstance(key, int):
            return Node(self.value[key], f"{self.where}[{key}]", self.path)
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return Node(value, f"{self.where}.{key}" if self.where else key, self.path)

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = NoReturn) -> Any:
        """The value under `key`; `default` where it is missing or null, if one is given."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        if type(value) is kind:  # the usual case; paths are put together where they are needed
            return value
        node = self[key]
        if node.value is None and default is not NoReturn:
            return default
        kinds = kind if isinstance(kind, tuple) else (kind,)
        right = isinstance(node.value, kinds) and (bool in kinds or not isinstance(node.value, bool))
        node.expect(right, " or ".join(_KINDS[one] for one in kinds))
        return node.value

    def items(self) -> list[Node]:
        """The elements of an array."""
        self.expect(isinstance(self.value, list), "an array")
        return [self[i] for i in range(len(self.value))]

    def text(self, key: str) -> str:
        """A string under `key` that is not empty."""
        value: str = self.get(key, str)
        self[key].expect(value != "", "a string that is not empty")
        return value

    def character(self, key: str) -> str:
        """A string of one character under `key`."""
        value: str = self.get(key, str)
        self[key].expect(len(value) == 1, "one character")
        return value

    def type(self, known: Iterable[str]) -> str:
        """The value's "type", one of `known`."""
        self.expect(isinstance(self.value, dict), "an object or null")
        name = self["type"]
        name.expect(
            isinstance(name.value, str) and name.value in known, f"one of {', '.join(known)}: digram reads no other one"
        )
        return str(name.value)

    def expect(self, right: bool, expected: str) -> None:
        """FormatError where the value is not `right`."""
        if not right:
            self.refuse(f"must be {expected}, not {self.short}")

    def refuse(self, why: str) -> NoReturn:
        """FormatError that begins with the value's place."""
        raise FormatError(f"{self.where or 'the whole'} of {self.path} {why}")

    @property
    def short(self) -> str:
        """The value as JSON, cut off where it is long."""
        text = json.dumps(self.value, ensure_ascii=False)
        return text if len(text) <= 60 else text[:57] + "..."


_KINDS = {str: "a string", bool: "true or false", int: "a whole number", dict: "an object", list: "an array"}
