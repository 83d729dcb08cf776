"""Added tokens: strings that are cut out of a text, with flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from digram._warn import HERE, warn
from digram.definition import FLAGS, AddedToken
from digram.formats._json import Node

__all__ = ["ids", "read", "written"]


def ids(contents: Iterable[str], vocab: Mapping[str, int]) -> dict[str, int]:
    """The ids that tokenizers gives added tokens: the vocabulary's, or the next free ones in order."""
    found: dict[str, int] = {}
    free = len(vocab)
    for content in contents:
        if content in found:
            continue
        known = vocab.get(content)
        if known is None:
            known, free = free, free + 1
        found[content] = known
    return found


def read(root: Node, vocab: Mapping[str, int]) -> list[AddedToken]:
    """The added tokens of a file, with the ids that tokenizers gives them, whatever the file says."""
    if root["added_tokens"].value is None:
        return []
    nodes = root["added_tokens"].items()
    for node in nodes:
        node.expect(isinstance(node.value, dict), "an object")
    given = ids((node.get("content", str) for node in nodes if node.value.get("content") != ""), vocab)
    owners = {id: content for content, id in vocab.items()} if given else {}
    found: dict[str, AddedToken] = {}
    for node in nodes:
        content, stated = node.get("content", str), node.get("id", int)
        flags = {name: node.get(name, bool) for name in FLAGS}
        if content == "":
            continue
        id = given[content]
        if owners.setdefault(id, content) != content:
            node["id"].refuse(f"of {content!r} comes out as {id}, which another token has")
        if id != stated:
            warn(
                f"{node.where}.id of {HERE} says {stated}, but tokenizers gives {content!r} the id {id}: "
                "so does digram",
                UserWarning,
                str(root.path),
            )
        found[content] = AddedToken(content=content, id=id, **flags)
    return list(found.values())


def written(tokens: Iterable[AddedToken]) -> list[dict[str, Any]]:
    """The added tokens of a file, with their ids."""
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return [
        {"id": token.id, "content": token.content, **{name: getattr(token, name) for name in flags}} for token in tokens
    ]
