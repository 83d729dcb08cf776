"""Patterns: a string that is looked for, or a regular expression of Oniguruma's."""

from __future__ import annotations

import re
from typing import Any

from digram.formats._json import Node

__all__ = ["read", "written"]


def read(node: Node) -> tuple[str, str]:
    """("text", string) or ("regex", pattern). FormatError for what the engine reads otherwise than Oniguruma."""
    right = isinstance(node.value, dict) and len(node.value) == 1
    node.expect(right and set(node.value) <= {"String", "Regex"}, '{"String": text} or {"Regex": pattern}')
    if "String" in node.value:
        return "text", node.text("String")
    pattern = node.text("Regex")
    for construct, why in _DIFFERENT:
        found = construct.search(pattern)
        if found:
            node["Regex"].refuse(f"has {found[0]!r}, {why}")
    return "regex", pattern


def written(what: str, pattern: str) -> dict[str, Any]:
    """The inverse of `read`."""
    return {"String" if what == "text" else "Regex": pattern}


# What the engine does not give the meaning that Oniguruma does. Even numbers of backslashes before a construct are the
# backslash itself.
_UNESCAPED = r"(?<!\\)(?:\\\\)*"
_DIFFERENT = [
    (
        re.compile(_UNESCAPED + r"\\[^dDwWsSpPnrtfvbBAzGKxuk0-9\W_]"),
        "an escape that regular expression engines differ in",
    ),
    (re.compile(_UNESCAPED + r"\(\?(?!i?-?i?[:)])-?[a-zA-Z]+(?:-[a-zA-Z]*)?[:)]"), "flags other than i"),
    (re.compile(_UNESCAPED + r"\[:\^?[a-z]+:\]"), "a POSIX class: write it as \\p{...}"),
    (re.compile(_UNESCAPED + r"\(\?i(?::[^()]*|\).*)(?i:ss|st|ff|fi|fl)"), "which may match letters that fold to two"),
    (re.compile(r"\[[^\]]*(?:--|~~)"), "which some engines read as the difference of two classes"),
]
