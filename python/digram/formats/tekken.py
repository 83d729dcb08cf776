"""Mistral's tekken JSON: ranked bytes, a pattern and special tokens in one file.

Special tokens have the first ids, `default_num_special_tokens` of them, filled up with `<SPECIAL_n>`; the byte strings
of `vocab` follow in the order of their ranks, as many as `default_vocab_size` has room for. Files up to version v7 may
leave the special tokens out; then they are the ones that mistral-common gives them (`tokens/tokenizers/tekken.py`).
What mistral-common puts around a conversation is no part of the file, so `add_special_tokens` adds nothing.
"""

from __future__ import annotations

import base64
import os
from array import array
from pathlib import Path
from typing import Any

from digram import patterns
from digram.definition import Definition
from digram.errors import DigramError, FormatError
from digram.formats import _json
from digram.formats._json import Node
from digram.formats.limits import warn_of_missing_bytes
from digram.tokenizer import Tokenizer

__all__ = ["load", "looks_like"]


def looks_like(data: object) -> bool:
    """Whether parsed JSON is a tekken file."""
    return isinstance(data, dict) and isinstance(data.get("config"), dict) and isinstance(data.get("vocab"), list)


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """Reads the file. FormatError names the place in it and what was expected there."""
    path = Path(path)
    return tokenizer(_json.read(path, "tekken file"), path)


def tokenizer(data: object, path: Path) -> Tokenizer:
    """The tokenizer of parsed JSON; `path` is named in errors."""
    root = Node(data, "", path)
    root.expect(isinstance(data, dict), "an object")
    config = root["config"]
    size, reserved = config.get("default_vocab_size", int), config.get("default_num_special_tokens", int)
    config["default_num_special_tokens"].expect(0 <= reserved <= 1 << 16, "a number from 0 to 2^16")
    config["default_vocab_size"].expect(reserved <= size < 1 << 31, "at least default_num_special_tokens")
    specials = _specials(root, reserved)
    entries = root["vocab"].items()
    wanted = size - reserved
    root["vocab"].expect(len(entries) >= wanted, f"an array of at least {wanted} tokens")
    tokens: list[bytes | None] = [None] * wanted
    for entry in entries:
        rank = entry.get("rank", int)
        if not 0 <= rank < wanted:
            entry["rank"].expect(rank >= wanted, "a number from 0 on")
            continue  # beyond default_vocab_size: set aside, as mistral-common does
        if tokens[rank] is not None:
            entry["rank"].refuse(f"is {rank}, which an earlier token has")
        try:
            tokens[rank] = base64.b64decode(entry.get("token_bytes", str), validate=True)
        except ValueError as error:
            entry["token_bytes"].refuse(f"must be base64: {error}")
    present = [token for token in tokens if token is not None]
    if len(present) != wanted:
        root["vocab"].refuse(f"lacks the rank {tokens.index(None)}")
    pattern: str = config.get("pattern", str)
    names = {text: name for name, text in patterns.NAMED.items()}
    try:
        made = Tokenizer(
            Definition(
                kind="ranks",
                tokens=tuple(present),
                ids=array("I", range(reserved, size)),
                split=names.get(pattern, pattern),
                special_tokens=specials,
            )
        )
    except (DigramError, ValueError, OverflowError) as error:
        raise FormatError(f"{path} holds a vocabulary that is none: {error}") from error
    warn_of_missing_bytes(made, path)
    return made


# What files without special tokens have, from mistral-common's DEPRECATED_SPECIAL_TOKENS.
_UP_TO_V7 = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)


def _specials(root: Node, reserved: int) -> dict[str, int]:
    """Marker -> id, filled up to `reserved`."""
    listed: dict[str, int] = {}
    if root["special_tokens"].value is None:
        version: Any = root["config"].get("version", str)
        root["config"]["version"].expect(
            version in ("v1", "v2", "v3", "v7"), '"v1", "v2", "v3" or "v7" in a file without special_tokens'
        )
        listed = {marker: id for id, marker in enumerate(_UP_TO_V7)}
    else:
        for node in root["special_tokens"].items():
            marker, id = node.text("token_str"), node.get("rank", int)
            node["rank"].expect(0 <= id < reserved, f"an id below {reserved}")
            node["token_str"].expect(marker not in listed, "given once")
            listed[marker] = id
    root["config"]["default_num_special_tokens"].expect(
        len(listed) <= reserved, f"at least {len(listed)}, the number of special tokens"
    )
    if set(listed.values()) != set(range(len(listed))):
        root["special_tokens"].refuse("must have the ids from 0 on, without a gap")
    return listed | {f"<SPECIAL_{id}>": id for id in range(len(listed), reserved)}
