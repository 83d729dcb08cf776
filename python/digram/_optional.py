"""Packages that digram can do without."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

__all__ = ["needed"]


def needed(package: str, what: str) -> Any:
    """A package; ModuleNotFoundError says that `what` needs it, and how to get it."""
    if (loaded := sys.modules.get(package)) is not None:
        return loaded  # the usual way: to import what is there takes a microsecond
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        message = f"{what} needs the package {package}, which is not installed: pip install {package}"
        raise ModuleNotFoundError(message, name=package) from None
