"""What shards are to be like: the options of `write`, checked, and as the manifest keeps them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from digram._text import printable
from digram.errors import UnknownTokenError

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = [
    "DEFAULT_EOD",
    "DEFAULT_SHARD_SIZE",
    "FORMATS",
    "MOST_OF_A_DOCUMENT",
    "Format",
    "Options",
    "number_of_tokens",
]

Format = Literal["bin", "npy", "megatron", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)

DEFAULT_EOD = "<|endoftext|>"
DEFAULT_SHARD_SIZE = 100_000_000

MOST_OF_A_DOCUMENT: dict[Format, int] = {"megatron": (1 << 31) - 1, "parquet": 1 << 30}
"""How many ids a document may have: lengths have 32 bits with a sign there, in Parquet those of several together."""

_LONGEST_ROW = 1 << 24
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([kmbg]?)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Options:
    """All that decides which bytes are written, but for the tokenizer and the corpus."""

    format: Format
    dtype: str
    eod: int | None
    eod_token: str | None
    pack: int | None
    validation: float
    seed: int
    shard_size: int
    allowed_special: str | list[str]
    add_special_tokens: bool
    columns: bool

    @classmethod
    def of(
        cls,
        tokenizer: Tokenizer,
        *,
        format: str,
        eod: str | bool,
        pack: int | None,
        validation: float,
        seed: int,
        shard_size: int | str,
        allowed_special: str | Collection[str],
        add_special_tokens: bool,
        columns: bool,
    ) -> Options:
        """The options, checked. ValueError, TypeError and UnknownTokenError say what is wrong with one."""
        if format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
        if pack is not None:
            _whole("pack", pack, 1, _LONGEST_ROW)
            if format == "megatron":
                raise ValueError(
                    "pack is not for the format megatron, whose trainer packs documents itself: "
                    "leave it out, or write another format"
                )
        if isinstance(validation, bool) or not isinstance(validation, (int, float)):
            raise TypeError(f"validation must be a number, not {type(validation).__name__}")
        if not 0 <= validation < 1:
            raise ValueError(f"validation is the part that is held out, from 0 to less than 1, not {validation}")
        _whole("seed", seed, 0, (1 << 64) - 1)
        token, id = _eod(tokenizer, eod)
        if not isinstance(allowed_special, str):
            allowed_special = sorted(set(allowed_special))
        small = tokenizer.n_vocab <= 1 << 16 and format != "parquet"
        return cls(
            format=format,
            dtype="uint16" if small else "int32" if format == "megatron" else "uint32",
            eod=id,
            eod_token=token,
            pack=pack,
            validation=float(validation),
            seed=seed,
            shard_size=number_of_tokens("shard_size", shard_size),
            allowed_special=allowed_special,
            add_special_tokens=bool(add_special_tokens),
            columns=bool(columns) and format == "parquet" and pack is None,
        )

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits; "" where there is but one."""
        return ("train", "validation") if self.validation else ("",)

    def as_json(self) -> dict[str, Any]:
        """The options as values of JSON."""
        return asdict(self)


def number_of_tokens(name: str, amount: int | str) -> int:
    """An int, or a str such as "100M", "250k" or "1B", as a number of tokens from 1 on."""
    if isinstance(amount, str):
        found = _AMOUNT.fullmatch(amount.strip())
        if not found or ("." in found[1] and not found[2]):
            raise ValueError(f'{name} must be a number of tokens such as 250000, "250k" or "100M", not {amount!r}')
        amount = int(min(float(found[1]), 1e30) * _UNITS[found[2].lower()])
    return _whole(name, amount, 1, (1 << 62))


def _whole(name: str, value: int, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most:,}, not {value}")
    return value


def _eod(tokenizer: Tokenizer, eod: str | bool) -> tuple[str | None, int | None]:
    """The token that ends a document, and its id."""
    if eod is False:
        return None, None
    if eod is True:
        id = tokenizer.special_tokens.get(DEFAULT_EOD)
        return (None, None) if id is None else (DEFAULT_EOD, id)
    if not isinstance(eod, str):
        raise TypeError(f"eod must be the text of a token, True or False, not {type(eod).__name__}")
    try:
        return eod, tokenizer.token_id(eod)
    except UnknownTokenError:
        known = ", ".join(map(printable, list(tokenizer.special_tokens)[:8]))
        has = f"its special tokens begin with {known}" if known else "it has no special tokens"
        raise UnknownTokenError(f"the vocabulary has no token {eod!r} to end documents with: {has}") from None
