"""Text and ids that come in parts: each part gives what no later one can change.

    >>> import digram
    >>> tok = digram.train(["the cat sat on the mat"], 260)
    >>> stream = tok.stream_decoder()
    >>> "".join(map(stream.feed, tok.encode("the mat"))) + stream.flush()
    'the mat'

Both streams give, for every way of cutting, what the whole gives. Both may be fed by hand (`feed`, `flush`), or run
over an iterable or an asynchronous iterable with `run` and `run_async`. A stream is for one text after another, not for
several at a time; sharing one between threads mixes their parts, and breaks nothing.
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from operator import index
from typing import TYPE_CHECKING

from digram import _decoding, _native

if TYPE_CHECKING:
    from digram.tokenizer import Text

__all__ = ["StreamDecoder", "StreamEncoder"]


class StreamDecoder:
    """Ids to text, id by id; made by `Tokenizer.stream_decoder`.

    An incomplete character is held back, and so is what a vocabulary's own decoder may yet change: a run of byte tokens
    until it is a character or cannot become one, a space that may be the last. Time for an id does not depend on how
    many came before.
    """

    def __init__(self, encoder: _native.Encoder, errors: str, skip_special_tokens: bool) -> None:
        _decoding.check_errors(errors)
        self._stream = _native.StreamDecoder(encoder, skip_special_tokens, errors == "replace")
        self._characters = codecs.getincrementaldecoder("utf-8")(errors)

    def feed(self, ids: int | Iterable[int]) -> str:
        """The text that the next id, or several, make certain.

        UnknownTokenError for an id without a token: then none of `ids` was taken. With errors="strict",
        UnicodeDecodeError for bytes that are no UTF-8: they and all of `ids` are dropped, and the stream goes on.
        """
        if not isinstance(ids, (int, list)):
            with suppress(TypeError):  # several
                ids = index(ids)  # type: ignore[arg-type]  # numpy's
        return self._text(self._stream.feed(ids), final=False)

    def flush(self) -> str:
        """The rest: what was held back, no id follows. The stream then begins anew."""
        return self._text(self._stream.finish(), final=True)

    @property
    def pending(self) -> bytes:
        """The bytes that are held back."""
        return self._characters.getstate()[0] + self._stream.held()

    def run(self, ids: Iterable[int]) -> Iterator[str]:
        """The text of `ids`, a part for each id that makes some certain, and the rest at the end."""
        for id in ids:
            if text := self.feed(id):
                yield text
        if text := self.flush():
            yield text

    async def run_async(self, ids: AsyncIterable[int]) -> AsyncIterator[str]:
        """As `run`, for ids that are waited for."""
        async for id in ids:
            if text := self.feed(id):
                yield text
        if text := self.flush():
            yield text

    def _text(self, data: bytes, final: bool) -> str:
        try:
            text = self._characters.decode(data, final)
        except UnicodeDecodeError:
            self._characters.reset()
            raise
        if final:
            self._characters.reset()
        return text


class StreamEncoder:
    """Text to ids, part by part; made by `Tokenizer.stream_encoder`.

    Parts are all str or all bytes, cut anywhere: within a word, a special token, a pair of surrogates, a character's
    bytes. With a split that has a scanner (docs/splits.md), ids come as far as a place where it always begins a new
    piece, as most words are. With another split, with none, and where the vocabulary changes the text (Llama 2 writes
    U+2581 for spaces), all of them come with `flush`, and all the text is held till then; but NFC alone (Qwen 3) holds
    nothing up.
    """

    def __init__(
        self,
        encoder: _native.Encoder,
        allowed: _native.Allowed | None,
        disallowed: _native.Markers | None,
        add_special_tokens: bool,
    ) -> None:
        self._stream = _native.StreamEncoder(encoder, allowed, disallowed, add_special_tokens)
        self._half = ""  # the first half of a pair of surrogates

    def feed(self, text: Text) -> list[int]:
        """The ids that no later part can change, after those that were given before.

        Errors are those of `Tokenizer.encode`, with positions in the whole text (a pair of surrogates counts one); the
        part was then not taken.
        """
        if not isinstance(text, str):
            return self._stream.feed(text)
        whole = self._half + text
        half = whole[-1] if whole and "\ud800" <= whole[-1] <= "\udbff" else ""
        ids = self._stream.feed(whole.removesuffix(half) if half else whole)
        self._half = half
        return ids

    def flush(self) -> list[int]:
        """The rest of the ids: no text follows. The stream then begins anew."""
        ids = self._stream.feed(self._half) if self._half else []
        self._half = ""
        return ids + self._stream.finish()

    @property
    def pending(self) -> bytes:
        """The text that is held back, in UTF-8."""
        return self._stream.held()

    @property
    def half(self) -> str:
        """The first half of a pair of surrogates that is held back too, as no UTF-8 can hold it; mostly empty."""
        return self._half

    def run(self, texts: Iterable[Text]) -> Iterator[int]:
        """The ids of the parts `texts`, joined."""
        for text in texts:
            yield from self.feed(text)
        yield from self.flush()

    async def run_async(self, texts: AsyncIterable[Text]) -> AsyncIterator[int]:
        """As `run`, for parts that are waited for."""
        async for text in texts:
            for id in self.feed(text):
                yield id
        for id in self.flush():
            yield id
