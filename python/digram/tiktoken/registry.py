"""Encodings by name, with the names of tiktoken/registry.py.

The named encodings are digram's own. Modules of the namespace package `tiktoken_ext` add others, as with tiktoken: each
has a dict `ENCODING_CONSTRUCTORS` from name to a function that returns the arguments of `Encoding`. tiktoken's own
module there, `openai_public`, is left out: digram's takes its place.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .core import Encoding

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

_lock = threading.RLock()
ENCODINGS: dict[str, Encoding] = {}
ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] | None = None


@functools.lru_cache
def _available_plugin_modules() -> Sequence[str]:
    # By a statement, not by name: tools that freeze programs, such as PyInstaller, pack what statements import.
    from digram.tiktoken import openai_public

    modules = [openai_public.__name__]
    try:
        package = importlib.import_module("tiktoken_ext")
    except ImportError:
        return modules
    for _, name, _ in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if name != "tiktoken_ext.openai_public":
            modules.append(name)
    return modules


def _find_constructors() -> None:
    global ENCODING_CONSTRUCTORS  # noqa: PLW0603 - other programs look at it
    with _lock:
        if ENCODING_CONSTRUCTORS is not None:
            return
        found: dict[str, Callable[[], dict[str, Any]]] = {}
        for name in _available_plugin_modules():
            module = importlib.import_module(name)
            try:
                constructors = module.ENCODING_CONSTRUCTORS
            except AttributeError as error:
                raise ValueError(f"tiktoken plugin {name} does not define ENCODING_CONSTRUCTORS") from error
            for encoding, constructor in constructors.items():
                if encoding in found:
                    raise ValueError(f"Duplicate encoding name {encoding} in tiktoken plugin {name}")
                found[encoding] = constructor
        ENCODING_CONSTRUCTORS = found


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding of that name, made once. ValueError for a name that is not known."""
    if not isinstance(encoding_name, str):
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    if encoding_name in ENCODINGS:
        return ENCODINGS[encoding_name]
    with _lock:
        if encoding_name in ENCODINGS:
            return ENCODINGS[encoding_name]
        _find_constructors()
        assert ENCODING_CONSTRUCTORS is not None
        if encoding_name not in ENCODING_CONSTRUCTORS:
            from digram.tiktoken import __version__

            raise ValueError(
                f"Unknown encoding {encoding_name}.\n"
                f"Plugins found: {_available_plugin_modules()}\n"
                f"tiktoken version: {__version__} (are you on latest?)"
            )
        encoding = Encoding(**ENCODING_CONSTRUCTORS[encoding_name]())
        ENCODINGS[encoding_name] = encoding
        return encoding


def list_encoding_names() -> list[str]:
    """The names that `get_encoding` knows."""
    with _lock:
        _find_constructors()
        assert ENCODING_CONSTRUCTORS is not None
        return list(ENCODING_CONSTRUCTORS)
