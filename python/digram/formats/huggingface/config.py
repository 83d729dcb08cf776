"""`tokenizer_config.json`: what transformers has to know beside `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from digram.definition import AddedToken, Definition
from digram.formats.huggingface import added

__all__ = ["END_OF_TEXT", "of"]

# What GPT-2 and most since call the end of a text, which no file says.
END_OF_TEXT = "<|endoftext|>"
# What transformers itself writes where nothing bounds the length of a text.
_NO_LIMIT = int(1e30)


def of(definition: Definition, tokens: Iterable[AddedToken], unknown: str | None) -> dict[str, Any]:
    """The configuration.

    A special token that the template puts first is `bos_token`, one that it puts last `eos_token`, else a special token
    `<|endoftext|>`; `unk_token` is the token for unknown symbols. Nothing says which token pads.
    """
    tokens = list(tokens)
    special = {token.id: token.content for token in tokens if token.special}
    before, after = definition.template
    end = END_OF_TEXT if END_OF_TEXT in special.values() else None
    named = {
        "bos_token": special.get(before[0]) if before else None,
        "eos_token": (special.get(after[-1]) if after else None) or end,
        "unk_token": unknown,
    }
    decoder = {str(entry.pop("id")): entry for entry in added.written(sorted(tokens, key=lambda token: token.id))}
    return {
        "added_tokens_decoder": decoder,
        **{key: name for key, name in named.items() if name is not None},
        "clean_up_tokenization_spaces": False,
        "model_max_length": _NO_LIMIT,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
