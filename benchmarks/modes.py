"""What is done with a text in each mode, and whether what comes out is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from answers import Answer, answer, of_arrays
from corpora import documents
from encoders import Encoder

# The characters of a document, where the text is handed over in several.
DOCUMENT = {"docs": 4000, "batch": 4000, "batch_arrays": 4000, "short": 100}
ALL = ("numpy", "list", "docs", "short", "count", "bytes", "str", "offsets", "batch", "batch_arrays")
BATCH = ("batch", "batch_arrays")
DECODING = ("bytes", "str")
HELP = {
    "numpy": "one text to an array of ids (or the bytes of one)",
    "list": "one text to a Python list of ids",
    "docs": "documents of 4,000 characters, a call each, to lists",
    "short": "documents of 100 characters, a call each, to lists",
    "count": "the number of ids alone",
    "bytes": "ids to bytes",
    "str": "ids to str",
    "offsets": "one text to ids and where each stands",
    "batch": "documents of 4,000 characters in one call, to lists",
    "batch_arrays": "documents of 4,000 characters in one call, to arrays",
}


@dataclasses.dataclass(frozen=True)
class Work:
    """One text for one mode: what is handed over, and what is right."""

    mode: str
    text: str
    parts: list[str]
    right: Answer
    meant: str | None = None  # what its ids stand for, where that is not the text

    @property
    def megabytes(self) -> float:
        """Of UTF-8."""
        return len(self.text.encode()) / 1e6


def parts_of(mode: str, text: str) -> list[str]:
    """The documents that the text is in this mode."""
    size = DOCUMENT.get(mode)
    return [text] if size is None else documents(text, size)


def job(encoder: Encoder, work: Work, ids: list[int]) -> Callable[[], Any] | None:
    """A callable that does the work once, or None where the encoder cannot. `ids` are those to decode."""
    call = encoder.get("list" if work.mode in ("docs", "short") else work.mode)
    if call is None:
        return None
    if work.mode in BATCH:
        return lambda: call(work.parts)
    if work.mode in DOCUMENT:
        return lambda: [call(part) for part in work.parts]
    if work.mode in DECODING:
        return lambda: call(ids)
    return lambda: call(work.text)


def is_right(work: Work, result: Any) -> bool:
    """Whether the result of the job is that of the vocabulary's own library."""
    if work.mode == "count":
        return int(result) == work.right.count
    if work.mode == "bytes":
        return bytes(result) == (work.meant or work.text).encode()
    if work.mode == "str":
        return bool(result == (work.meant or work.text))
    if work.mode == "offsets":
        ids, spans = result
        return answer([ids]) == work.right and len(spans) == work.right.count
    if work.mode == "batch_arrays":
        return of_arrays(result) == work.right
    return answer(result if work.mode in DOCUMENT else [result]) == work.right
