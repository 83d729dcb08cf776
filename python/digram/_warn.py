"""Warnings that reading a source gives: shown at the caller's line, or held for whoever keeps what was read."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from digram._text import sentence

__all__ = ["HERE", "Warned", "holding", "warn"]

Warned = tuple[str, type[Warning], tuple[str, ...]]
"""What `warn` was given."""

HERE = "\0"
"""Stands in the text of a warning where the paths go: the same source may have another path the next time."""

# Where the files of digram are: a warning points to the line outside of it that set the call off.
_PACKAGE = os.path.dirname(__file__) + os.sep

# Of this thread alone; `warnings.catch_warnings` would hold those of all threads.
_held: ContextVar[list[Warned] | None] = ContextVar("held", default=None)


def warn(text: str, category: type[Warning] = UserWarning, *paths: str) -> None:
    """Warns, with the line that called digram and `paths` in the place of `HERE`; within `holding`, only notes it.

    The message is made safe to print, as those of errors are.
    """
    held = _held.get()
    if held is not None:
        held.append((text, category, paths))
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence(text.replace(HERE, " with ".join(paths))), category, stacklevel=level)


@contextmanager
def holding() -> Iterator[list[Warned]]:
    """Holds the warnings of this thread: the list fills up with them, and none is shown."""
    held: list[Warned] = []
    token = _held.set(held)
    try:
        yield held
    finally:
        _held.reset(token)
