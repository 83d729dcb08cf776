"""Post-processors: the ids that are put around a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from digram.formats._json import Node

__all__ = ["read", "written"]

Template = tuple[tuple[int, ...], tuple[int, ...]]


def read(node: Node) -> Template:
    """The ids before and after one text."""
    if node.value is None:
        return (), ()
    kind = node.type(("TemplateProcessing", "RobertaProcessing", "BertProcessing", "ByteLevel", "Sequence"))
    if kind == "Sequence":
        before: tuple[int, ...] = ()
        after: tuple[int, ...] = ()
        for item in node["processors"].items():
            outer = read(item)
            before, after = outer[0] + before, after + outer[1]
        return before, after
    if kind == "ByteLevel":
        return (), ()
    if kind in ("RobertaProcessing", "BertProcessing"):
        return (_pair_id(node["cls"]),), (_pair_id(node["sep"]),)
    sides: list[list[int]] = [[]]
    for item in node["single"].items():
        if isinstance(item.value, dict) and set(item.value) == {"Sequence"}:
            sequence = item["Sequence"]
            sequence["id"].expect(sequence["id"].value == "A" and len(sides) == 1, '"A", once, for one text')
            sides.append([])
        elif isinstance(item.value, dict) and set(item.value) == {"SpecialToken"}:
            name = item["SpecialToken"].get("id", str)
            ids = node["special_tokens"][name]["ids"]
            ids.expect(isinstance(ids.value, list) and all(map(_is_id, ids.value)), "an array of ids")
            sides[-1].extend(ids.value)
        else:
            item.expect(False, '{"Sequence": ...} or {"SpecialToken": ...}')
    node["single"].expect(len(sides) == 2, 'a template with {"Sequence": {"id": "A"}} in it')
    return tuple(sides[0]), tuple(sides[1])


def _pair_id(node: Node) -> int:
    node.expect(isinstance(node.value, list) and len(node.value) == 2 and _is_id(node.value[1]), "[token, id]")
    return int(node.value[1])


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def written(template: Template, name_of: Callable[[int], str]) -> dict[str, Any] | None:
    """The post-processor that puts these ids around a text, and around each of a pair of texts."""
    if not any(template):
        return None
    names = {id: name_of(id) for side in template for id in side}

    def around(text: str, type_id: int) -> list[dict[str, Any]]:
        before, after = ([{"SpecialToken": {"id": names[id], "type_id": type_id}} for id in side] for side in template)
        return [*before, {"Sequence": {"id": text, "type_id": type_id}}, *after]

    return {
        "type": "TemplateProcessing",
        "single": around("A", 0),
        "pair": [*around("A", 0), *around("B", 1)],
        "special_tokens": {name: {"id": name, "ids": [id], "tokens": [name]} for id, name in names.items()},
    }
