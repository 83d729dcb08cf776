"""What a vocabulary of a `tokenizer.json` has beyond tokens, merges, a split and special tokens; and what one lacks."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from digram._warn import HERE, warn
from digram.definition import Definition
from digram.errors import DigramError, FormatWarning, VocabularyError

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["check_plain", "flagged", "warn_of_missing_bytes", "warn_of_special_text"]


def warn_of_missing_bytes(tokenizer: Tokenizer, *paths: Path) -> None:
    """A warning that a byte-level vocabulary has no token for some bytes: a text that holds one will raise."""
    if tokenizer.alphabet != "bytes" or tokenizer._definition.unknown_id is not None:
        return
    missing = tokenizer._encoder.missing_bytes()
    if missing:
        some = ", ".join(f"0x{byte:02X}" for byte in missing[:3])
        warn(
            f"{HERE} has no token for {len(missing)} of the 256 bytes ({some}{' ...' if len(missing) > 3 else ''}): "
            "a text that holds one raises UnknownSymbolError when it is encoded",
            FormatWarning,
            *map(str, paths),
        )


def warn_of_special_text(tokenizer: Tokenizer, path: Path) -> None:
    """A warning that a special token is what its text is encoded as (a symbol, or made by merges)."""
    for marker, id in tokenizer.special_tokens.items():
        with suppress(DigramError):  # a character without a token
            if id in tokenizer.encode(marker):
                warn(
                    f"the special token {marker!r:.60} of {HERE} is an ordinary token too, so a text that spells it "
                    f"has its id {id}, allowed or not",
                    FormatWarning,
                    str(path),
                )
                return


def check_plain(definition: Definition, format: str) -> None:
    """VocabularyError names what decides about ids or text and has no place in a `format` of tokens and merges."""
    there = {
        "a normalizer": definition.normalizer,
        "a split of several steps": definition.steps,
        "a decoder": definition.decoder,
        "ranks of tokens that any two neighbours may spell": len(definition.ranked) > 0 and not definition.whole,
        "tokens that stand in for unknown symbols": definition.unknown_id is not None or definition.byte_ids,
        "added tokens that always match": any(not token.special for token in definition.added_tokens),
    }
    named = [name for name, present in there.items() if present]
    if named:
        lacking = " or ".join(named)
        raise VocabularyError(f"{format} cannot hold {lacking}: it would give other ids, so keep tokenizer.json")


def flagged(definition: Definition) -> list[str]:
    """What is lost of special tokens where only their ids are kept: flags, and the ids around a text."""
    flags = sum(bool(token.flags.replace("special", "").strip()) for token in definition.added_tokens)
    return [
        *([f"the flags of {flags} special tokens (lstrip, rstrip, single_word, normalized)"] if flags else []),
        *(["the ids that add_special_tokens puts around a text"] if any(definition.template) else []),
    ]
