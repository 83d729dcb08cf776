"""Arguments that are checked in many places."""

from __future__ import annotations

__all__ = ["check_tokenizer"]


def check_tokenizer(value: object, name: str = "tokenizer") -> None:
    """TypeError for what is no Tokenizer."""
    from digram.tokenizer import Tokenizer

    if not isinstance(value, Tokenizer):
        raise TypeError(f"{name} must be a digram.Tokenizer, not {type(value).__name__}: load it first")
