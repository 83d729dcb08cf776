"""digram's own files as JSON."""

from __future__ import annotations

import hashlib
import json
from typing import Any

__all__ = ["checksum"]


def checksum(file: dict[str, Any]) -> str:
    """The checksum that a file of this content has."""
    body = {key: value for key, value in file.items() if key not in ("format", "version", "checksum")}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
