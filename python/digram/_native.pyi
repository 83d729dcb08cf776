"""The engine of digram. Private: use the `digram` package. Flat buffers hold numbers in native byte order."""

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, TypeVar, final

from typing_extensions import Buffer

__all__ = [
    "Allowed",
    "Encoder",
    "FlatTexts",
    "Markers",
    "PieceCounts",
    "PieceReader",
    "StreamDecoder",
    "StreamEncoder",
    "chunks",
    "encode_batch_dropped",
    "encode_dropped",
    "fits",
    "from_list",
    "from_merges",
    "from_pairs",
    "from_ranks",
    "train",
    "train_parity",
    "truncate",
]

_Text = TypeVar("_Text", str, bytes)
_Ids = TypeVar("_Ids", bound=Iterable[int] | Buffer)
_Item = TypeVar("_Item", bound=str | Buffer)

@final
class Allowed:
    """Special tokens that a call lets through; made by `Encoder.allow`."""

@final
class Markers:
    """Strings that a call refuses."""

    def __new__(cls, markers: Sequence[str]) -> Markers: ...

@final
class FlatTexts:
    """Texts in flat buffers."""

    def __new__(cls, parts: Sequence[tuple[Buffer, Buffer, bool, int, int]], utf8: bool) -> FlatTexts: ...
    def __len__(self) -> int: ...

@final
class Encoder:
    """A frozen tokenizer."""

    def allow(self, markers: Sequence[str] | None = None) -> Allowed: ...
    def encode(
        self,
        text: str | Buffer,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        template: bool = False,
    ) -> list[int]: ...
    def encode_flat(
        self,
        text: str | Buffer,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        template: bool = False,
    ) -> Buffer: ...
    def encode_with_spans(
        self,
        text: str | Buffer,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        template: bool = False,
        characters: bool = True,
    ) -> tuple[list[int], bytearray, bytearray, bool]: ...
    def encode_and_last(
        self, text: str | Buffer, allowed: Allowed | None = None, disallowed: Markers | None = None
    ) -> tuple[list[int], int]: ...
    def parts(
        self,
        text: str | Buffer,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        template: bool = False,
    ) -> list[tuple[int, int, bytes | None, list[int], list[tuple[int, int, int]], list[int]]]: ...
    def symbols(self, piece: bytes) -> tuple[list[int], list[tuple[int, int, int]]]: ...
    def rule(self, left: int, right: int, reached: int = 0) -> tuple[int, int] | None: ...
    def encode_piece(self, piece: bytes, whole: bool = True) -> list[int]: ...
    def count(
        self,
        text: str | Buffer,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        template: bool = False,
    ) -> int: ...
    def encode_batch(
        self,
        texts: list[_Item] | FlatTexts,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        threads: int | None = None,
        template: bool = False,
    ) -> list[list[int]]: ...
    def encode_batch_flat(
        self,
        texts: list[_Item] | FlatTexts,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        threads: int | None = None,
        template: bool = False,
    ) -> tuple[Buffer, bytearray]: ...
    def count_batch(
        self,
        texts: list[_Item] | FlatTexts,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        threads: int | None = None,
        template: bool = False,
    ) -> bytearray: ...
    def decode(self, ids: Iterable[int] | Buffer, skip_special: bool = False, replace: bool = False) -> bytes: ...
    def decode_text(self, ids: Iterable[int] | Buffer, errors: str = "replace", skip_special: bool = False) -> str: ...
    def decode_batch(self, lists: list[_Ids], errors: str = "replace", skip_special: bool = False) -> list[str]: ...
    def tokens_bytes(self, ids: Iterable[int] | Buffer) -> list[bytes]: ...
    def token_bytes(self, id: int) -> bytes | None: ...
    def token_id(self, token: bytes) -> int | None: ...
    def is_special(self, id: int) -> bool: ...
    def token_lengths(self) -> bytearray: ...
    @property
    def n_vocab(self) -> int: ...
    def merges(self) -> bytearray: ...
    def not_canonical(self) -> bytearray: ...
    def found(self) -> tuple[bytearray, bytearray, bytearray] | None: ...
    def missing_bytes(self) -> bytes: ...
    @property
    def split_engine(self) -> str: ...

@final
class StreamDecoder:
    """Ids to bytes as the ids come."""

    def __new__(cls, encoder: Encoder, skip_special: bool = False, replace: bool = False) -> StreamDecoder: ...
    def feed(self, object: int | Iterable[int]) -> bytes: ...
    def finish(self) -> bytes: ...
    def held(self) -> bytes: ...

@final
class StreamEncoder:
    """Text to ids as the text comes."""

    def __new__(
        cls,
        encoder: Encoder,
        allowed: Allowed | None = None,
        disallowed: Markers | None = None,
        template: bool = False,
    ) -> StreamEncoder: ...
    def feed(self, part: str | Buffer) -> list[int]: ...
    def finish(self) -> list[int]: ...
    def held(self) -> bytes: ...

@final
class PieceCounts:
    """Distinct pieces and how often each occurs."""

    def __new__(
        cls,
        split: str | None = None,
        specials: Sequence[str] = ...,
        limit: tuple[int, str | PathLike[str]] | None = None,
        part: int | None = None,
    ) -> PieceCounts: ...
    def add(self, texts: list[_Item] | FlatTexts, first: int = 0, threads: int | None = None) -> None: ...
    def add_file(
        self, path: str | PathLike[str], threads: int | None = None, progress: Callable[[int], Any] | None = None
    ) -> tuple[int, int] | None: ...
    def add_stream(
        self,
        read: Callable[[int], bytes | None],
        threads: int | None = None,
        progress: Callable[[int], Any] | None = None,
    ) -> tuple[int, int] | None: ...
    def add_counts(self, pieces: bytes, ends: Buffer, counts: Buffer) -> None: ...
    def merge(self, other: PieceCounts) -> None: ...
    def flat(self) -> tuple[bytes, bytearray, bytearray]: ...
    def reader(self) -> PieceReader: ...
    def __len__(self) -> int: ...
    @property
    def split_engine(self) -> str: ...

@final
class PieceReader:
    """Reads pieces and counts, as they were when it was made."""

    def read(self) -> tuple[bytes, bytearray, bytearray] | None: ...

def train(
    counts: PieceCounts,
    *,
    characters: bool,
    vocab_size: int | None,
    reserved: int,
    min_count: int,
    ties: str,
    max_token_length: int | None = None,
    max_characters: int | None = None,
    whole_characters: bool = False,
    split_digits: bool = False,
    attach_marks: bool = False,
    initial: str = "",
    limit: int | None = None,
    merges: Buffer | None = None,
    seeds: Sequence[bytes] = ...,
    told: Callable[[int, int | None, int, bytearray, bytearray, str], Any] | None = None,
    follow: bool = False,
    allow: Callable[[bytes, bytes, bytes], Any] | None = None,
) -> tuple[str | None, bytearray, bytearray, bool]: ...
def fits(
    encoder: Encoder,
    text: str | Buffer,
    limit: int,
    allowed: Allowed | None = None,
    disallowed: Markers | None = None,
    template: bool = False,
) -> bool: ...
def truncate(
    encoder: Encoder,
    text: _Text,
    limit: int,
    allowed: Allowed | None = None,
    disallowed: Markers | None = None,
    template: bool = False,
) -> _Text: ...
def chunks(
    encoder: Encoder,
    text: _Text,
    start: int,
    limit: int,
    overlap: int,
    allowed: Allowed | None = None,
    disallowed: Markers | None = None,
    template: bool = False,
) -> tuple[list[_Text], int]: ...
def from_merges(
    merges: Buffer,
    *,
    characters: str | None = None,
    unknown_id: int | None = None,
    first_byte_id: int | None = None,
    specials: Sequence[tuple[str, int]] = ...,
    split: str | None = None,
    found: tuple[Buffer, Buffer, Buffer] | None = None,
) -> Encoder: ...
def from_ranks(
    tokens: bytes,
    ends: Buffer,
    ids: Buffer,
    *,
    specials: Sequence[tuple[str, int]] = ...,
    split: str | None = None,
    found: tuple[Buffer, Buffer, Buffer] | None = None,
) -> Encoder: ...
def from_list(
    tokens: bytes,
    ends: Buffer,
    characters: bool,
    *,
    unknown_id: int | None = None,
    specials: Sequence[tuple[str, int]] = ...,
    split: str | None = None,
    found: tuple[Buffer, Buffer, Buffer] | None = None,
) -> Encoder: ...
def from_pairs(
    tokens: bytes,
    ends: Buffer,
    ids: Buffer,
    merges: Buffer,
    ranked: Buffer,
    *,
    characters: bool = False,
    whole: bool = False,
    byte_ids: Sequence[int] | None = None,
    unknown_id: int | None = None,
    fuse_unknown: bool = False,
    specials: Sequence[tuple[str, int]] = ...,
    split: str | None = None,
    steps: Sequence[Sequence[str]] = ...,
    normalizer: Sequence[Sequence[str]] = ...,
    byte_characters: bool = False,
    added: Sequence[tuple[str, int, str]] = ...,
    decoder: Sequence[Sequence[str]] = ...,
    template: tuple[Sequence[int], Sequence[int]] = ...,
    found: tuple[Buffer, Buffer, Buffer] | None = None,
) -> Encoder: ...
def encode_dropped(
    encoder: Encoder,
    text: str | Buffer,
    p: float,
    seed: int,
    index: int,
    allowed: Allowed | None = None,
    disallowed: Markers | None = None,
    template: bool = False,
) -> Buffer: ...
def encode_batch_dropped(
    encoder: Encoder,
    texts: list[_Item] | FlatTexts,
    p: float,
    seed: int,
    first: int,
    allowed: Allowed | None = None,
    disallowed: Markers | None = None,
    threads: int | None = None,
    template: bool = False,
) -> list[list[int]]: ...
def train_parity(
    groups: Sequence[PieceCounts],
    measured: Sequence[PieceCounts] | None,
    worth: Sequence[float],
    *,
    window: tuple[int, float] | None = None,
    vocab_size: int | None = None,
    reserved: int = 0,
    min_count: int = 1,
    ties: str = "smallest-ids",
    max_token_length: int | None = None,
    max_characters: int | None = None,
    whole_characters: bool = False,
    split_digits: bool = False,
    attach_marks: bool = False,
    merges: Buffer | None = None,
    told: Callable[..., object] | None = None,
) -> tuple[bytearray, bytearray, bytearray, bytearray, bool]: ...
