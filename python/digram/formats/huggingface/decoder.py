"""Decoders: how the strings of tokens become text."""

from __future__ import annotations

from typing import Any

from digram.definition import Step
from digram.errors import VocabularyError
from digram.formats._json import Node
from digram.formats.huggingface import pattern
from digram.formats.huggingface.pre_tokenizer import scheme

__all__ = ["nearest", "read", "written"]

_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def read(node: Node, byte_level: bool) -> tuple[Step, ...]:
    """The steps; none where the bytes of tokens are the text."""
    if node.value is None:
        return (("spaced",),)
    steps: list[Step] = []
    _add(node, steps)
    joined = (("byte-characters",),)
    if tuple(steps) in ((), joined, (*joined, ("fuse",))) and byte_level == bool(steps):
        return ()
    return tuple(steps) or (("fuse",),)


def _add(node: Node, steps: list[Step]) -> None:
    kind = node.type(("ByteLevel", "Metaspace", "Replace", "ByteFallback", "Fuse", "Strip", "Sequence"))
    if kind == "Sequence":
        for item in node["decoders"].items():
            _add(item, steps)
    elif kind == "ByteLevel":
        steps.append(("byte-characters",))
    elif kind == "Metaspace":
        steps.append(("metaspace", node.character("replacement"), scheme(node)))
    elif kind == "Replace":
        what, text = pattern.read(node["pattern"])
        node["pattern"].expect(what == "text", '{"String": text} in a decoder')
        steps.append(("replace", text, node.get("content", str)))
    elif kind == "Strip":
        mark = node.character("content")
        counts = [node.get(key, int) for key in ("start", "stop")]
        for key, count in zip(("start", "stop"), counts, strict=True):
            node[key].expect(0 <= count < 1 << 31, "a number from 0 on")
        steps.append(("strip", mark, *map(str, counts)))
    else:
        steps.append(("byte-fallback",) if kind == "ByteFallback" else ("fuse",))


def nearest(steps: tuple[Step, ...], has_byte_tokens: bool) -> tuple[tuple[Step, ...], list[str]]:
    """The steps with SentencePiece's in Hugging Face's terms, and what of their meaning is lost, in words.

    The text of ids that come from ordinary text stays the same.
    """
    kinds = {step[0] for step in steps}
    lost = []
    kept: list[Step] = [step for step in steps if step[0] not in ("leading-mark", "byte-pieces")]
    if "byte-pieces" in kinds:
        kept.append(("byte-fallback",))
    if "byte-pieces" in kinds and has_byte_tokens:
        lost.append("how byte tokens that make no UTF-8 are decoded: there each of them becomes U+FFFD")
    if kinds & {"byte-pieces", "leading-mark"}:
        kept.append(("fuse",))
    if "leading-mark" in kinds:
        kept.append(("strip", " ", "1", "0"))
        lost.append("how ids whose text begins with more than one space are decoded: there one space vanishes")
    return tuple(kept), lost


def written(steps: tuple[Step, ...], byte_level: bool) -> dict[str, Any] | None:
    """The decoder that is read as `steps`."""
    if steps == (("spaced",),):
        return None
    if not steps:
        return _BYTE_LEVEL if byte_level else {"type": "Sequence", "decoders": []}
    parts = list(map(_written, steps))
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "decoders": parts}


def _written(step: Step) -> dict[str, Any]:
    kind, *arguments = step
    if kind == "byte-characters":
        return _BYTE_LEVEL
    if kind == "metaspace":
        mark, where = arguments
        return {"type": "Metaspace", "replacement": mark, "prepend_scheme": where, "split": True}
    if kind == "replace":
        return {"type": "Replace", "pattern": {"String": arguments[0]}, "content": arguments[1]}
    if kind == "strip":
        mark, start, stop = arguments
        return {"type": "Strip", "content": mark, "start": int(start), "stop": int(stop)}
    if kind in ("byte-fallback", "fuse"):
        return {"type": "ByteFallback" if kind == "byte-fallback" else "Fuse"}
    raise VocabularyError(f"tokenizer.json has no decoder for {' '.join(step)!r}")
