"""What makes each named encoding, with the names of tiktoken_ext/openai_public.py; the facts are `digram.encodings`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from digram import encodings, patterns

from .load import data_gym_to_mergeable_bpe_ranks, load_tiktoken_bpe

__all__ = ["ENCODING_CONSTRUCTORS", "r50k_pat_str"]

# GPT-2's pattern as tiktoken spells it; the engine knows it as the same.
r50k_pat_str = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""

_EXPLICIT_SIZES = {"gpt2": 50257, "r50k_base": 50257, "p50k_base": 50281}


def _arguments(name: str) -> dict[str, Any]:
    encoding = encodings.ENCODINGS[name]
    files = encoding.files
    if len(files) == 2:
        ranks = data_gym_to_mergeable_bpe_ranks(
            vocab_bpe_file=files[0].address,
            encoder_json_file=files[1].address,
            vocab_bpe_hash=files[0].sha256,
            encoder_json_hash=files[1].sha256,
        )
    else:
        ranks = load_tiktoken_bpe(files[0].address, expected_hash=files[0].sha256)
    arguments: dict[str, Any] = {
        "name": name,
        "pat_str": r50k_pat_str if encoding.split == "gpt2" else patterns.NAMED[encoding.split],
        "mergeable_ranks": ranks,
        "special_tokens": dict(encoding.special_tokens),
    }
    if name in _EXPLICIT_SIZES:
        arguments["explicit_n_vocab"] = _EXPLICIT_SIZES[name]
    return arguments


ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] = {
    name: partial(_arguments, name) for name in encodings.ENCODINGS
}
