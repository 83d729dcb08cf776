"""What all that decodes checks of its arguments and says of ids."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, Any

from digram.errors import UnknownTokenError

if TYPE_CHECKING:
    from digram import _native

__all__ = ["check_errors", "no_ids", "placed"]


def check_errors(errors: str) -> None:
    """ValueError for what is no error handler: Python itself would say so only where there is an error to handle."""
    if errors not in ("replace", "strict", "ignore"):
        try:
            codecs.lookup_error(errors)
        except LookupError:
            raise ValueError(
                f'errors must be "replace", "strict", "ignore" or another error handler of codecs, not {errors!r}'
            ) from None


def no_ids(error: TypeError, ids: object, what: str = "ids") -> TypeError:
    """The error where `ids` are no list at all, with the way out; the same for a list that holds what is no id."""
    if isinstance(ids, Iterable):
        return error
    way_out = f": use [{ids}]" if isinstance(ids, int) else ""
    return TypeError(f"{what} must be a list of ids, not {type(ids).__name__}{way_out}")


def placed(error: UnknownTokenError, ids: Any, encoder: _native.Encoder) -> UnknownTokenError:
    """The error with the place of the id among `ids`; the same where that cannot be told, as of an iterator."""
    if hasattr(ids, "__len__"):
        for i, id in enumerate(ids):
            number = index(id)
            if not 0 <= number < encoder.n_vocab or encoder.token_bytes(number) is None:
                return UnknownTokenError(f"{error} (item {i})")
    return error
