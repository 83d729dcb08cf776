"""The HTML file of the page: its sources put together, with what it is to show.

All of it is one file that asks for nothing: style, script and the source of the worker (BPE and training, which run
beside the page) are parts of it. Its policy names script and style by their hashes, so nothing else can run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from digram.patterns import NAMED

__all__ = ["PATTERNS", "policy", "server_page", "static_page"]

PATTERNS = {name: NAMED[name] for name in ("cl100k", "cl100k-classic", "gpt2", "o200k")}
"""The named splits that page/worker/split.js reads as the engine does."""

# In the order in which they stand in the page.
_WORKER = ("classes.js", "split.js", "pairs.js", "vocabulary.js", "training.js", "worker.js")
_APP = (
    "basics.js",
    "backend.js",
    "state.js",
    "glyphs.js",
    "tokens.js",
    "card.js",
    "compare.js",
    "merges.js",
    "training.js",
    "start.js",
)


def server_page(names: Sequence[str]) -> bytes:
    """The page that asks the server for tokenizers of these names."""
    return _page({"server": True, "names": list(names), "patterns": PATTERNS}, [], "connect-src 'self'")


def static_page(facts: Sequence[dict[str, Any]], vocabularies: Sequence[bytes]) -> bytes:
    """The page that needs no server: `vocabularies` are those of `embedding.embedded`, packed by gzip."""
    config = {"server": False, "names": [fact["name"] for fact in facts], "patterns": PATTERNS, "facts": list(facts)}
    return _page(config, vocabularies, None)


def policy(page: bytes) -> str:
    """The policy of a page, and that it stands in no frame: this part only a header can say."""
    found = re.search(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert found is not None
    return found[1].decode() + "; frame-ancestors 'none'"


def _page(config: dict[str, Any], vocabularies: Sequence[bytes], connect: str | None) -> bytes:
    style, script = _text("style.css"), "\n".join(["'use strict';", *(_text(f"app/{name}") for name in _APP)])
    worker = "\n".join(["'use strict';", *(_text(f"worker/{name}") for name in _WORKER)])
    rules = [
        "default-src 'none'",
        f"script-src '{_hash(script)}'",
        f"style-src '{_hash(style)}'",
        "worker-src blob:",
        "img-src data:",
        *([connect] if connect else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    data = "".join(
        f'<script type="application/gzip" id="vocabulary-{i}">{base64.b64encode(packed).decode()}</script>\n'
        for i, packed in enumerate(vocabularies)
    )
    parts = {
        "policy": "; ".join(rules),
        "style": style,
        "config": json.dumps(config).replace("<", "\\u003c"),
        "vocabularies": data,
        "worker": worker,
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], _text("page.html")).encode()


@lru_cache(maxsize=64)
def _text(name: str) -> str:
    text = files("digram.playground").joinpath("page", name).read_text(encoding="utf-8")
    if name.endswith((".js", ".css")) and re.search(r"</(?:script|style)|<!--", text, re.IGNORECASE):
        raise AssertionError(f"{name} would end the element that it stands in")
    return text


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
