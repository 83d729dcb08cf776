"""Normalizers: what is done to a text before it is split."""

from __future__ import annotations

from typing import Any

from digram.definition import Step
from digram.errors import VocabularyError
from digram.formats._json import Node
from digram.formats.huggingface import pattern

__all__ = ["Normalizer", "written"]


class Normalizer:
    """Collects the steps of a normalizer."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.mapped = False
        # Whether a text may begin elsewhere afterwards.
        self.moves_start = False

    def add(self, node: Node) -> None:
        if node.value is None:
            return
        kind = node.type(_KINDS)
        if kind == "Sequence":
            for item in node["normalizers"].items():
                self.add(item)
        elif kind == "ByteLevel":
            self.mapped = True
            self.steps.append(("byte-characters",))
        else:
            self._add(kind, node)

    def _add(self, kind: str, node: Node) -> None:
        if self.mapped:
            node.refuse("follows ByteLevel, which must be the last normalizer")
        if kind == "Strip":
            left, right = node.get("strip_left", bool), node.get("strip_right", bool)
            self.moves_start |= left
            if left or right:
                self.steps.append(("strip", "both" if left and right else "left" if left else "right"))
        elif kind == "Prepend":
            self.moves_start = True
            self.steps.append(("prepend", node.get("prepend", str)))
        elif kind == "Replace":
            what, text = pattern.read(node["pattern"])
            content = node.get("content", str)
            self.moves_start |= content == "" or what == "regex"
            self.steps.append(("replace" if what == "text" else "replace-regex", text, content))
        else:
            self.moves_start |= kind != "Lowercase"
            self.steps.append((kind.lower(),))


_KINDS = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "Prepend", "Replace", "ByteLevel", "Sequence")
_NAMES = {"nfc": "NFC", "nfd": "NFD", "nfkc": "NFKC", "nfkd": "NFKD", "lowercase": "Lowercase"}


def written(steps: tuple[Step, ...]) -> dict[str, Any] | None:
    """The normalizer that is read as `steps`."""
    parts = list(map(_written, steps))
    if len(parts) == 1:
        return parts[0]
    return {"type": "Sequence", "normalizers": parts} if parts else None


def _written(step: Step) -> dict[str, Any]:
    kind, *arguments = step
    if kind in _NAMES:
        return {"type": _NAMES[kind]}
    if kind == "byte-characters":
        return {"type": "ByteLevel"}
    if kind == "prepend":
        return {"type": "Prepend", "prepend": arguments[0]}
    if kind == "strip":
        left, right = arguments[0] != "right", arguments[0] != "left"
        return {"type": "Strip", "strip_left": left, "strip_right": right}
    if kind in ("replace", "replace-regex"):
        what = "text" if kind == "replace" else "regex"
        return {"type": "Replace", "pattern": pattern.written(what, arguments[0]), "content": arguments[1]}
    raise VocabularyError(f"tokenizer.json has no normalizer for {' '.join(step)!r}")
