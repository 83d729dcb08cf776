"""`Encoding`, with the interface of tiktoken/core.py."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from digram import _native, _optional, _threads
from digram._text import whole_characters
from digram.errors import SpecialTokenError

from . import _tiktoken

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Encoding", "raise_disallowed_special_token"]


class Encoding:
    """Ranked bytes with a pattern and special tokens, as in tiktoken."""

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        """`mergeable_ranks` gives each token its id, which is its rank; `special_tokens` each marker its id.

        With `explicit_n_vocab`, AssertionError where the ids are not all of 0 to that number. ValueError for a pattern
        that does not compile, an empty token or marker, and ids that are given twice.
        """
        self.name = name
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        self.max_token_value = max([max(mergeable_ranks.values()), *special_tokens.values()])
        if explicit_n_vocab:
            assert len(mergeable_ranks) + len(special_tokens) == explicit_n_vocab
            assert self.max_token_value == explicit_n_vocab - 1
        self._special_token_values = set(special_tokens.values())
        self._core_bpe = _tiktoken.CoreBPE(mergeable_ranks, special_tokens, pat_str)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text in which special tokens are ordinary text."""
        return self._core_bpe.encode_ordinary(text)

    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = set(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[int]:
        """The ids of a text.

        Special tokens of `allowed_special` become their ids. ValueError where the text holds one of
        `disallowed_special`, by default all that are not allowed; `disallowed_special=()` takes them as ordinary text.
        """
        specials = self._specials(allowed_special, disallowed_special)
        try:
            return self._core_bpe._native.encode(_tiktoken.checked(text), *specials)
        except SpecialTokenError:
            self._raise_disallowed([text], allowed_special, disallowed_special)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = set(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> npt.NDArray[np.uint32]:
        """As `encode`, as a numpy array."""
        specials = self._specials(allowed_special, disallowed_special)
        try:
            flat = self._core_bpe._native.encode_flat(_tiktoken.checked(text), *specials)
        except SpecialTokenError:
            self._raise_disallowed([text], allowed_special, disallowed_special)
        numpy = _optional.needed("numpy", "encode_to_numpy")
        return numpy.frombuffer(flat, dtype=numpy.uint32)  # type: ignore[no-any-return]

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """The ids of each text, special tokens being ordinary text."""
        texts: list[str | bytes] = list(map(_tiktoken.checked, text))
        return self._core_bpe._native.encode_batch(texts, threads=_threads.checked(num_threads))

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Literal["all"] | AbstractSet[str] = set(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[list[int]]:
        """The ids of each text, as `encode` gives them."""
        specials = self._specials(allowed_special, disallowed_special)
        texts: list[str | bytes] = list(map(_tiktoken.checked, text))
        try:
            return self._core_bpe._native.encode_batch(texts, *specials, threads=_threads.checked(num_threads))
        except SpecialTokenError:
            self._raise_disallowed(texts, allowed_special, disallowed_special)

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = set(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that more text is not expected to change, and the sequences that the rest may become.

        Each sequence decodes to at least the rest of the text, and begins with it.
        """
        specials = self._specials(allowed_special, disallowed_special)
        try:
            return self._core_bpe.unstable(_tiktoken.checked(text), *specials)
        except SpecialTokenError:
            self._raise_disallowed([text], allowed_special, disallowed_special)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of a token, special ones included. KeyError where there is none."""
        if isinstance(text_or_bytes, str):
            text_or_bytes = text_or_bytes.encode("utf-8")
        return self._core_bpe.encode_single_token(text_or_bytes)

    # Ids to text

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of ids. KeyError for an id without a token."""
        return self._core_bpe.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text of ids; `errors` as in `bytes.decode`. KeyError for an id without a token."""
        return self._core_bpe.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of a token, special ones included. KeyError where there is none."""
        return self._core_bpe.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """The bytes of each token. KeyError for an id without a token."""
        return self._core_bpe.decode_tokens_bytes(tokens)

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of ids, and where each token begins: the first character that holds bytes of the token.

        UnicodeDecodeError where the bytes are no UTF-8.
        """
        parts = self.decode_tokens_bytes(tokens)
        length = 0
        offsets = []
        for part in parts:
            begins_inside = 0x80 <= part[0] < 0xC0
            offsets.append(max(0, length - begins_inside))
            length += sum(1 for byte in part if not 0x80 <= byte < 0xC0)
        return b"".join(parts).decode("utf-8", errors="strict"), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """The text of each list of ids."""
        _threads.checked(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(self, batch: Sequence[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
        """The bytes of each list of ids."""
        _threads.checked(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # The vocabulary

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens but the special ones, sorted."""
        return self._core_bpe.token_byte_values()

    @property
    def eot_token(self) -> int:
        """The id of <|endoftext|>. KeyError where there is none."""
        return self._special_tokens["<|endoftext|>"]

    @functools.cached_property
    def special_tokens_set(self) -> set[str]:
        """The markers of all special tokens."""
        return set(self._special_tokens.keys())

    def is_special_token(self, token: int) -> bool:
        """Whether an id is a special token's."""
        assert isinstance(token, int)
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """The highest id + 1."""
        return self.max_token_value + 1

    # What tiktoken keeps to itself, and others use all the same

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """The ids of a text that no pattern splits."""
        if isinstance(text_or_bytes, str):
            text_or_bytes = text_or_bytes.encode("utf-8")
        return self._core_bpe.encode_single_piece(text_or_bytes)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """As `encode_ordinary`; there, another engine splits the text."""
        return self._core_bpe.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """The ids of bytes, which may be no UTF-8."""
        return self._core_bpe._encode_bytes(text)

    def __getstate__(self) -> object:
        from .registry import ENCODINGS

        # An encoding of the registry travels as its name.
        if self is ENCODINGS.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: object) -> None:
        from .registry import get_encoding

        if isinstance(value, str):
            self.__dict__ = get_encoding(value).__dict__
            return
        arguments: Any = value
        self.__init__(**arguments)  # type: ignore[misc]

    def _specials(
        self, allowed: Literal["all"] | AbstractSet[str], disallowed: Literal["all"] | Collection[str]
    ) -> tuple[_native.Allowed | None, _native.Markers | None]:
        """What the engine calls the two sets; it keeps those that were asked for before."""
        if allowed != "all":
            allowed = allowed & self._special_tokens.keys()  # others are ignored
        if disallowed != "all":
            disallowed = frozenset(disallowed)
            if "" in disallowed:
                raise_disallowed_special_token("")
        return self._core_bpe._tokenizer._specials(allowed, disallowed)

    def _raise_disallowed(
        self,
        texts: Sequence[str | bytes],
        allowed: Literal["all"] | AbstractSet[str],
        disallowed: Literal["all"] | Collection[str],
    ) -> NoReturn:
        """The error that tiktoken raises for the first text that holds one of the markers."""
        if disallowed == "all":
            disallowed = self.special_tokens_set - (self.special_tokens_set if allowed == "all" else allowed)
        find = _special_token_regex(frozenset(map(whole_characters, disallowed))).search
        for text in texts:
            assert isinstance(text, str)
            if match := find(whole_characters(text)):
                raise_disallowed_special_token(match.group())
        raise AssertionError("the engine found a special token that is not there; please report this")


@functools.lru_cache(maxsize=128)
def _special_token_regex(tokens: frozenset[str]) -> re.Pattern[str]:
    # The longest first, as the engine finds them.
    inner = "|".join(re.escape(token) for token in sorted(tokens, key=lambda token: (-len(token), token)))
    return re.compile(f"({inner})")


def raise_disallowed_special_token(token: str) -> NoReturn:
    """The ValueError of `encode`, in tiktoken's words."""
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        f"If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )
