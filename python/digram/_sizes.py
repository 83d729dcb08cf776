"""Amounts of memory, as people write them."""

from __future__ import annotations

import re

__all__ = ["number_of_bytes"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(|k|m|g|t|ki|mi|gi|ti)b?", re.ASCII | re.IGNORECASE)


def number_of_bytes(name: str, size: int | str) -> int:
    """`size` in bytes: an int, or a str such as "4GB" (4 * 10^9), "512 MiB" (512 * 2^20) or "1.5G"; `name` is for
    messages. TypeError for what is neither, ValueError for what is no size, or none of at least a byte."""
    if isinstance(size, str):
        if not (found := _SIZE.fullmatch(size.strip())):
            raise ValueError(f'{name} must be a size such as "4GB", "512 MiB" or a number of bytes, not {size!r}')
        number, unit = found.groups()
        bytes_ = int(min(float(number), 1e30) * (_UNITS | _BINARY)[unit.lower()])
    elif isinstance(size, int) and not isinstance(size, bool):
        bytes_ = size
    else:
        raise TypeError(f"{name} must be an int or a str, not {type(size).__name__}")
    if not 1 <= bytes_ < 1 << 63:
        raise ValueError(f"{name} must be at least one byte and less than 2^63, not {size}")
    return bytes_
