"""Packages that digram can do without."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

__all__ = ["needed"]


def needed(package: str, what: str) -> Any:
    """A package; ModuleNotFoundError says that `what` needs it, and how to get it."""
    loaded = sys.modules.get(package)
    # The usual way: to import takes a microsecond. What another thread is importing is there too, in part.
    if loaded is not None and not getattr(getattr(loaded, "__spec__", None), "_initializing", False):
        return loaded
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        top = package.partition(".")[0]  # of pyarrow.parquet that is pyarrow
        if error.name not in (package, top):
            raise
        message = f"{what} needs the package {top}, which is not installed: pip install {top}"
        raise ModuleNotFoundError(message, name=top) from None
