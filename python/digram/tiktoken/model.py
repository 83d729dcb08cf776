"""Model names and their encodings, with the names of tiktoken/model.py."""

from __future__ import annotations

from digram.models import MODELS as MODEL_TO_ENCODING
from digram.models import PREFIXES as MODEL_PREFIX_TO_ENCODING

from .core import Encoding
from .registry import get_encoding

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING", "encoding_for_model", "encoding_name_for_model"]


def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding that a model uses. KeyError for a model that is not known."""
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    for prefix, encoding_name in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return encoding_name
    raise KeyError(
        f"Could not automatically map {model_name} to a tokeniser. "
        "Please use `tiktoken.get_encoding` to explicitly get the tokeniser you expect."
    )


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding that a model uses. KeyError for a model that is not known."""
    return get_encoding(encoding_name_for_model(model_name))
