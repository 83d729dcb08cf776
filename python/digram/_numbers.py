"""The one check of whole numbers that are given by name."""

from __future__ import annotations

import operator
from typing import Any

__all__ = ["whole_number"]


def whole_number(name: str, value: Any, least: int = 1, most: int | None = (1 << 64) - 1) -> int:
    """`value` as an int: anything that is a whole number, numpy's too, but no bool. TypeError for what is none,
    ValueError for one below `least` or above `most`, which is a power of two less one, or None."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most 2^{most.bit_length()} - 1, not {number}")
    return number
