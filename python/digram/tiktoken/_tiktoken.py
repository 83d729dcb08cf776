"""The class that tiktoken writes in Rust, over digram's engine."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sized
from functools import cached_property
from itertools import islice
from typing import Any

from digram import _native
from digram.definition import Definition
from digram.errors import UnknownTokenError
from digram.tokenizer import Tokenizer

__all__ = ["CoreBPE"]

_SPACES = frozenset(b" \n\t")


class CoreBPE:
    """Ranked bytes, special tokens and a pattern. ValueError where they contradict themselves."""

    def __init__(self, encoder: Mapping[bytes, int], special_tokens_encoder: Mapping[str, int], pattern: str) -> None:
        self._tokenizer = Tokenizer(
            Definition(
                kind="ranks",
                tokens=tuple(encoder),
                ids=array("I", encoder.values()),
                split=pattern,
                special_tokens=dict(special_tokens_encoder),
            )
        )
        self._native = self._tokenizer._encoder
        self._special_tokens = dict(special_tokens_encoder)

    # Text to ids

    def encode_ordinary(self, text: str) -> list[int]:
        return self._native.encode(checked(text))

    def encode(self, text: str, allowed_special: Collection[str]) -> list[int]:
        return self._native.encode(checked(text), self.allowed(allowed_special))

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: Collection[str]) -> Any:
        return self._native.encode_flat(checked(text), self.allowed(allowed_special))

    def allowed(self, markers: Collection[str]) -> _native.Allowed | None:
        """What the engine calls the special tokens among `markers`; tiktoken ignores the others."""
        if not markers:
            return None
        return self._tokenizer._specials(self._special_tokens.keys() & set(markers), ())[0]

    def encode_single_token(self, piece: bytes) -> int:
        id = self._native.token_id(piece)
        if id is None:
            try:
                id = self._special_tokens.get(piece.decode())
            except UnicodeDecodeError:
                id = None
        if id is None:
            raise KeyError(piece)
        return id

    def encode_single_piece(self, piece: bytes) -> list[int]:
        return self._native.encode_piece(piece)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """The ids of bytes: what is no UTF-8 goes to the piece before it, and with it to the end of the text."""
        if not isinstance(text, bytes):
            raise TypeError(f"text must be bytes, not {type(text).__name__}")
        try:
            return self.encode_ordinary(text.decode())
        except UnicodeDecodeError as error:
            valid = error.start
        ids, last = self._native.encode_and_last(text[:valid])
        last = self._with_spaces_before(ids, last)
        stable, unstable = ids[: len(ids) - last], self._native.decode(ids[len(ids) - last :]) + text[valid:]
        return stable + self._native.encode_piece(unstable)

    # Ids that more text may change

    def encode_with_unstable(self, text: str, allowed_special: Collection[str]) -> tuple[list[int], list[list[int]]]:
        """The ids that come before the last piece, and the ways in which the last piece may go on.

        As tiktoken does it (src/lib.rs, _encode_unstable_native), and no more exactly: a pattern may move the end of an
        earlier piece when text is added.
        """
        return self.unstable(checked(text), self.allowed(allowed_special), None)

    def unstable(
        self, text: str, allowed: _native.Allowed | None, disallowed: _native.Markers | None
    ) -> tuple[list[int], list[list[int]]]:
        """The same, with the engine's own sets."""
        ids, last = self._native.encode_and_last(text, allowed, disallowed)
        if last == 0:
            return ids, []  # a special token ends the text
        last = self._with_spaces_before(ids, last)
        stable, unstable = ids[: len(ids) - last], self._native.decode(ids[len(ids) - last :])
        found: set[tuple[int, ...]] = {(self._ranks[token],) for token in self._starting_with(unstable)}
        # A token that begins inside the unstable bytes and goes on past their end: what it makes of them all.
        whole: list[str | bytes] = []
        broken: list[bytes] = []
        for i in range(1, len(unstable)):
            for token in self._starting_with(unstable[i:]):
                possibility = unstable[:i] + token
                try:
                    whole.append(possibility.decode())
                except UnicodeDecodeError:
                    broken.append(possibility)
        sequences = self._native.encode_batch(whole)
        sequences += (self._native.encode_piece(possibility, whole=False) for possibility in broken)
        lengths = self._lengths
        for sequence in sequences:
            length = n = 0
            while n < len(sequence) and length < len(unstable):
                length += lengths[sequence[n]]
                n += 1
            found.add(tuple(sequence[:n]))
        # White space at the end may become a piece of its own: `\s+(?!\S)` leaves it to the next word.
        rest, space = _last_character(unstable)
        if rest and space.isspace() and space not in "\x1c\x1d\x1e\x1f":  # these are white space to Python alone
            parts = (rest, unstable[len(rest) :])
            found.add(tuple(id for part in parts for id in self._native.encode_piece(part, whole=False)))
        return stable, [list(sequence) for sequence in found]

    def _with_spaces_before(self, ids: list[int], last: int) -> int:
        """How many ids at the end are unstable: with a last piece that begins with spaces, those before it too."""
        if last and self._is_space(ids[-last]):
            while last < len(ids) and self._is_space(ids[-last - 1]):
                last += 1
        return last

    def _is_space(self, id: int) -> bool:
        return not self._native.is_special(id) and _SPACES.issuperset(self._native.token_bytes(id) or b"x")

    def _starting_with(self, start: bytes) -> Iterator[bytes]:
        tokens = self._sorted
        for i in range(bisect_left(tokens, start), len(tokens)):
            if not tokens[i].startswith(start):
                return
            yield tokens[i]

    @cached_property
    def _ranks(self) -> dict[bytes, int]:
        definition = self._tokenizer._definition
        return dict(zip(definition.tokens, definition.ids, strict=True))

    @cached_property
    def _sorted(self) -> list[bytes]:
        return sorted(self._tokenizer._definition.tokens)

    @cached_property
    def _lengths(self) -> array[int]:
        return array("Q", self._native.token_lengths())

    # Ids to bytes

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        if not isinstance(tokens, Sized):
            # Part by part: of endlessly many, the first that is no id raises.
            return b"".join(map(self.decode_bytes, _parts(tokens)))
        try:
            return self._native.decode(tokens)
        except UnknownTokenError as error:
            for token in tokens:
                if not 0 <= token < 1 << 32:
                    raise OverflowError(f"token {token} is out of range") from error
            unknown = next(token for token in tokens if self._native.token_bytes(token) is None)
            raise KeyError(f"Invalid token for decoding: {unknown}") from error

    def decode_single_token_bytes(self, token: int) -> bytes:
        found = self._native.token_bytes(token)
        if found is None:
            raise KeyError(str(token))
        return found

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        if not isinstance(tokens, Sized):
            return [token for part in _parts(tokens) for token in self.decode_tokens_bytes(part)]
        tokens = list(tokens)
        try:
            return self._native.tokens_bytes(tokens)
        except UnknownTokenError:
            return [self.decode_single_token_bytes(token) for token in tokens]  # which names the token

    def token_byte_values(self) -> list[bytes]:
        return list(self._sorted)


def _parts(tokens: Iterable[int]) -> Iterator[list[int]]:
    """What an iterator gives, so many at a time."""
    tokens = iter(tokens)
    while part := list(islice(tokens, 1024)):
        yield part


def checked(text: str) -> str:
    """`text`, if it is one; the engine would take bytes as well."""
    if not isinstance(text, str):
        raise TypeError(f"argument 'text': {type(text).__name__!r} object is not an instance of 'str'")
    return text


def _last_character(data: bytes) -> tuple[bytes, str]:
    """The bytes before the last character, and that character; empty where it is none."""
    for length in range(1, min(len(data), 4) + 1):
        try:
            character = data[-length:].decode()
        except UnicodeDecodeError:
            continue
        return data[:-length], character
    return data[:-1], ""
