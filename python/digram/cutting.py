"""Texts within a number of tokens: whether one fits, its longest beginning, its chunks, what of it stays.

    >>> import digram
    >>> tok = digram.train(["the cat sat on the mat"], 260)
    >>> tok.fits("the cat", 10), tok.truncate("the cat sat", 5)
    (True, 'the cat')

The number of tokens of a text does not grow evenly: with one more character two tokens may become one ("internationa"
has more tokens than "international"), so the longest text that fits is not found by halving. How it is found, and why
no longer one fits, is told in `crates/digram/src/encode/truncate.rs`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from digram import _native
from digram._numbers import whole_number
from digram._text import whole_characters

if TYPE_CHECKING:
    from digram.streaming import StreamEncoder

__all__ = ["Cutting", "Specials"]

Specials = Collection[str] | Literal["all"]
Text = TypeVar("Text", str, bytes)

_LARGEST = 2**62


class Cutting:
    """The methods of `digram.Tokenizer` that count up to a limit, and cut."""

    _encoder: _native.Encoder

    def _specials(self, allowed: Specials, disallowed: Specials) -> tuple[Any, Any]:
        raise NotImplementedError

    def stream_encoder(
        self, allowed_special: Specials = (), disallowed_special: Specials = (), add_special_tokens: bool = False
    ) -> StreamEncoder:
        """See `digram.Tokenizer`."""
        raise NotImplementedError

    def fits(
        self,
        text: str | bytes,
        limit: int,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> bool:
        """Whether a text has at most `limit` ids: `count(text) <= limit`, without counting further than it must.

        Errors are those of `encode`, for as much of the text as was looked at; ValueError for a negative limit.
        """
        limit = _checked("limit", limit, 0)
        return _native.fits(
            self._encoder, text, limit, *self._specials(allowed_special, disallowed_special), add_special_tokens
        )

    def truncate(
        self,
        text: Text,
        max_tokens: int,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> Text:
        """The longest beginning of a text, cut between characters, that has at most `max_tokens` ids.

        What is returned encodes to so many ids by the same arguments: those that `add_special_tokens` puts around it
        are counted. Of bytes, those outside any well-formed character may be cut anywhere. A special token may be cut
        in two; its first half is then ordinary text.

        Exact for the splits that have a scanner (docs/splits.md), and without one. With another pattern, and where the
        vocabulary changes the text (Llama 2, Gemma), a longer text may fit only where those up to a longest token
        longer do not.

        Errors are those of `encode`, for as much of the text as was looked at; ValueError for a negative number, or one
        below the number of ids that are put around every text.
        """
        max_tokens = _checked("max_tokens", max_tokens, 0)
        specials = self._specials(allowed_special, disallowed_special)
        return _native.truncate(self._encoder, text, max_tokens, *specials, add_special_tokens)

    def chunks(
        self,
        text: Text,
        max_tokens: int,
        overlap: int = 0,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> Iterator[Text]:
        """A text in parts, each of which has at most `max_tokens` ids by itself; cut between characters.

        Each part is the longest that fits (see `truncate`), but that no allowed special token is cut in two. Without
        `overlap`, the parts join to the text (in a str, surrogates are joined or replaced first). With it, a part
        begins where the last `overlap` ids of the part before begin, or a little later: never inside a character, and
        far enough that the part ends behind the one before. The parts are made as they are asked for.

        Errors are those of `encode`; ValueError where a single character has more than `max_tokens` ids, for
        `max_tokens` below 1, and for an `overlap` that is not below `max_tokens`.
        """
        max_tokens = _checked("max_tokens", max_tokens, 1)
        overlap = _checked("overlap", overlap, 0)
        if overlap >= max_tokens:
            raise ValueError(
                f"overlap ({overlap}) must be less than max_tokens ({max_tokens}): a part must go on from the last"
            )
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"text must be str or bytes, not {type(text).__name__}")
        specials = self._specials(allowed_special, disallowed_special)
        return self._chunks(text, max_tokens, overlap, specials, add_special_tokens)

    def _chunks(
        self, text: Text, max_tokens: int, overlap: int, specials: tuple[Any, Any], add_special_tokens: bool
    ) -> Iterator[Text]:
        if isinstance(text, str):
            text = whole_characters(text)
        start, parts = 0, [text]
        while parts:
            parts, start = _native.chunks(
                self._encoder, text, start, max_tokens, overlap, *specials, add_special_tokens
            )
            yield from parts

    def stable_prefix(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> tuple[list[int], Text]:
        """The ids that stay whatever text follows, and the rest of the text, whose ids may change.

        For every continuation, the ids begin `encode(text + continuation)`: what a prompt can be cut back to, so that
        a model that goes on writes whole tokens ("token healing": it is to go on with the rest), and what may be
        encoded once of a text that grows. tiktoken's `encode_with_unstable` answers the same question with the ids
        that the end may yet get. They are the ids that `stream_encoder` gives for the text: up to the last place
        where the split always begins a new piece. With a split of your own, with none, and where the vocabulary
        changes the text, all of the text is the rest.

        Errors are those of `encode`.
        """
        stream = self.stream_encoder(allowed_special, disallowed_special, add_special_tokens)
        ids = stream.feed(text)
        rest = stream.pending
        return ids, rest.decode() + stream.half if isinstance(text, str) else rest


def _checked(name: str, number: int, least: int) -> int:
    """A number of tokens, as an int; TypeError for what is none, ValueError where it is below `least`."""
    return min(whole_number(name, number, least, most=None), _LARGEST)
