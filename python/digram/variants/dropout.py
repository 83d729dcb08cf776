"""BPE-dropout: Provilkov, Emelianenko and Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization".

    dropout = Dropout(tok, p=0.1, seed=epoch)
    ids = dropout.encode("unrelated", document=7)     # another segmentation for another seed or place
    assert tok.decode(ids) == "unrelated"

In each step of merging a piece, every pair that has a rule is dropped with probability p, by itself; of the others the
one of the lowest rank is merged, its leftmost occurrence; where none is left, the piece is done. That is algorithm 1 of
the paper, for each occurrence. `digram.reference.encode_dropout` is the same in plain Python, with the same random
numbers: `random_numbers(seed, document)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from digram import _native, _optional, _threads
from digram.cutting import Specials
from digram.tokenizer import Text, Tokenizer, _texts

if TYPE_CHECKING:
    import numpy

__all__ = ["Dropout"]

_NUMBERS = 1 << 64


class Dropout:
    """Encodes with the merges of a tokenizer, each dropped with probability `p` in each step.

    With p=0 ids are those of the tokenizer, with p=1 base symbols; they always decode to the text. They depend on the
    text, `seed`, p and the document's place alone: not on threads, batches, machines, or what was encoded before. Take
    another seed for each epoch. It may be shared between threads and pickled.

    A piece is what the tokenizer's split cuts. Where it cuts nothing (Llama 2, Gemma), a text is one piece, and the
    paper's algorithm drops little of it: a merge that was dropped is there again in the next step. A piece that is a
    token is merged like any other, also where the tokenizer takes it whole (`ignore_merges`, tiktoken).

    ValueError: p outside 0 to 1, a seed or place outside 0 to 2^64 - 1; in a call, a vocabulary that is an ordered
    token list with a repeated string.
    """

    __slots__ = ("p", "seed", "tokenizer")

    def __init__(self, tokenizer: Tokenizer, p: float = 0.1, seed: int = 0) -> None:
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"tokenizer must be a Tokenizer, not {type(tokenizer).__name__}")
        if isinstance(p, bool) or not isinstance(p, (int, float)):
            raise TypeError(f"p must be a number, not {type(p).__name__}")
        if not 0 <= p <= 1:
            raise ValueError(f"p must be a probability from 0 to 1, not {p}")
        self.tokenizer, self.p, self.seed = tokenizer, float(p), _checked("seed", seed)

    def __repr__(self) -> str:
        return f"Dropout({self.tokenizer!r}, p={self.p}, seed={self.seed})"

    def __reduce__(self) -> tuple[object, ...]:
        return Dropout, (self.tokenizer, self.p, self.seed)

    def encode(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        document: int = 0,
    ) -> list[int]:
        """The ids of a text, as `Tokenizer.encode` takes and checks it. `document` is its place among documents."""
        flat = self._flat(text, allowed_special, disallowed_special, add_special_tokens, document)
        return memoryview(flat).cast("I").tolist()

    def encode_to_numpy(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        document: int = 0,
    ) -> numpy.ndarray[Any, numpy.dtype[numpy.uint32]]:
        """The same as a numpy array of uint32."""
        numpy = _optional.needed("numpy", "encode_to_numpy")
        flat = self._flat(text, allowed_special, disallowed_special, add_special_tokens, document)
        return numpy.frombuffer(flat, dtype=numpy.uint32)  # type: ignore[no-any-return]

    def encode_batch(
        self,
        texts: Iterable[Text],
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        threads: int | None = None,
        first_document: int = 0,
    ) -> list[list[int]]:
        """The ids of each text, on `threads` threads (default: one a core): those of `encode` with the places
        `first_document`, `first_document` + 1 and so on."""
        specials = self.tokenizer._specials(allowed_special, disallowed_special)
        return _native.encode_batch_dropped(
            self.tokenizer._encoder,
            _texts(texts),
            self.p,
            self.seed,
            _checked("first_document", first_document),
            *specials,
            _threads.checked(threads),
            add_special_tokens,
        )

    def _flat(self, text: Text, allowed: Specials, disallowed: Specials, template: bool, document: int) -> Any:
        specials = self.tokenizer._specials(allowed, disallowed)
        place = _checked("document", document)
        return _native.encode_dropped(self.tokenizer._encoder, text, self.p, self.seed, place, *specials, template)


def _checked(name: str, number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"{name} must be an int, not {type(number).__name__}")
    if not 0 <= number < _NUMBERS:
        raise ValueError(f"{name} must be from 0 to 2^64 - 1, not {number}")
    return number
