"""The tokenizer: text to ids and back."""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from digram import _arrow, _decoding, _native, _optional, _threads
from digram._text import character_places, whole_characters
from digram.cutting import Cutting, Specials
from digram.definition import AddedToken, Alphabet, Definition, Found, special_ids
from digram.errors import UnknownTokenError, VocabularyError
from digram.patterns import checked

if TYPE_CHECKING:
    from mmap import mmap

    import numpy
    import pyarrow

    from digram.explain import Explanation
    from digram.showing import Shown
    from digram.streaming import StreamDecoder, StreamEncoder

__all__ = ["Text", "Tokenizer", "from_token_list"]

if TYPE_CHECKING:
    Text = str | bytes | bytearray | memoryview | mmap
else:
    Text = str | bytes
_NativeSpecials = tuple[_native.Allowed | None, _native.Markers | None]

# How many pairs of `allowed_special` and `disallowed_special` a tokenizer keeps ready, with the automata for them.
_MOST_SPECIAL_SETS = 16


class Tokenizer(Cutting):
    """A frozen tokenizer; made by `digram.train`, `digram.load` and `digram.from_token_list`.

    It may be shared between threads, pickled and forked. Text is str or bytes. In a str, pairs of surrogates are
    joined and lone ones become U+FFFD; bytes need not be UTF-8. Where bytes may stand, so may any object with a buffer
    of bytes: a file that is mapped to be read (`mmap.ACCESS_READ`) is read where it is, and so is a memoryview of one
    or of bytes; what others may write to (bytearray) is copied first.

    What is kept for the next call has bounds, and never shows in what a call gives: pieces of up to 255 bytes with
    their ids (one table of at most about 36 MB for each thread that encodes at the same time, 16 of them at most
    between calls); 16 pairs of `allowed_special` and `disallowed_special`; `merges`, `vocab` and `not_canonical`
    once they were asked for. Lists of ids share their int objects: the tokenizer keeps one for each id that it ever
    gave, of 28 bytes.

    Special tokens: by default all text is ordinary, so a user who types a marker gets its characters, never its id.
    `allowed_special` is a set of special tokens that become their ids where they stand in the text, or "all": for text
    you trust. `disallowed_special` is a set of strings that raise SpecialTokenError, or "all" for every special token
    that is not allowed. `add_special_tokens` adds what the vocabulary's file puts around a text; digram's own
    vocabularies add nothing. Tokens that a file adds without calling them special are vocabulary: they always match.
    """

    def __init__(self, definition: Definition, found: Found | None = None) -> None:
        self._definition = definition
        self._encoder: _native.Encoder = definition.build(found)
        self._special_sets: dict[object, _NativeSpecials] = {}

    def __reduce__(self) -> tuple[object, ...]:
        from digram import prepared

        return prepared.unpacked, (prepared.packed(self),)

    def __repr__(self) -> str:
        return f"<digram.Tokenizer: {self.n_vocab:,} ids, {self.alphabet}, split={self.split!r}>"

    # Text to ids

    def encode(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> list[int]:
        """The ids of a text.

        UnknownSymbolError names a character that a character alphabet lacks, SpecialTokenError a disallowed special
        token, each with its position; PatternError says that the split pattern backtracks without end.
        """
        if not (allowed_special or disallowed_special or add_special_tokens):
            return self._encoder.encode(text)
        return self._encoder.encode(text, *self._specials(allowed_special, disallowed_special), add_special_tokens)

    def encode_batch(
        self,
        texts: Iterable[Text] | pyarrow.Array | pyarrow.ChunkedArray,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[list[int]]:
        """The ids of each text, as `encode` gives them, on `threads` threads (default: one a core).

        `texts` is an iterable of texts, or an Arrow array or column of strings or of binary (pyarrow's, or what has
        `__arrow_c_array__` or `__arrow_c_stream__`), whose memory is read where it is: no Python object is made of a
        text. Messages call a text by its index: TypeError for what is none, null too, TextError for an Arrow string
        that is not UTF-8, and those of `encode`.
        """
        specials = self._specials(allowed_special, disallowed_special)
        return self._encoder.encode_batch(_texts(texts), *specials, _threads.checked(threads), add_special_tokens)

    def encode_batch_to_arrow(
        self,
        texts: Iterable[Text] | pyarrow.Array | pyarrow.ChunkedArray,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> pyarrow.Array:
        """The ids of each text as a `pyarrow.ListArray` of uint32: `encode_batch` without a Python int for each id.

        The memory of the ids is where they were written. Above 2^31 - 1 ids it is a `LargeListArray`.
        """
        specials = self._specials(allowed_special, disallowed_special)
        threads = _threads.checked(threads)
        return _arrow.lists(*self._encoder.encode_batch_flat(_texts(texts), *specials, threads, add_special_tokens))

    def encode_to_numpy(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> numpy.ndarray[Any, numpy.dtype[numpy.uint32]]:
        """The ids of a text as a numpy array of uint32, without a Python int for each.

        The array can be written to. Its memory is where the ids were written in the first place.
        """
        numpy = _optional.needed("numpy", "encode_to_numpy")
        flat = self._encoder.encode_flat(text, *self._specials(allowed_special, disallowed_special), add_special_tokens)
        return numpy.frombuffer(flat, dtype=numpy.uint32)  # type: ignore[no-any-return]

    def encode_batch_to_numpy(
        self,
        texts: Iterable[Text],
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> tuple[numpy.ndarray[Any, numpy.dtype[numpy.uint32]], numpy.ndarray[Any, numpy.dtype[numpy.uint64]]]:
        """The ids of all texts end to end as a numpy array of uint32, and where each text's end among them.

        Those of text i are `ids[ends[i - 1]:ends[i]]`, of the first `ids[:ends[0]]`.
        """
        numpy = _optional.needed("numpy", "encode_batch_to_numpy")
        specials = self._specials(allowed_special, disallowed_special)
        flat, ends = self._encoder.encode_batch_flat(
            _texts(texts), *specials, _threads.checked(threads), add_special_tokens
        )
        return numpy.frombuffer(flat, dtype=numpy.uint32), numpy.frombuffer(ends, dtype=numpy.uint64)

    def count(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> int:
        """The number of ids of a text: `len(encode(text))`, without the list."""
        if not (allowed_special or disallowed_special or add_special_tokens):
            return self._encoder.count(text)
        return self._encoder.count(text, *self._specials(allowed_special, disallowed_special), add_special_tokens)

    def count_batch(
        self,
        texts: Iterable[Text] | pyarrow.Array | pyarrow.ChunkedArray,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[int]:
        """The number of ids of each text; `texts` is as for `encode_batch`."""
        specials = self._specials(allowed_special, disallowed_special)
        counts = self._encoder.count_batch(_texts(texts), *specials, _threads.checked(threads), add_special_tokens)
        return array("Q", counts).tolist()

    def encode_with_offsets(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        unit: Literal["characters", "bytes"] = "characters",
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids of a text, and for each the (start, end) of what it stands for in the text.

        In characters, `text[start:end]` is the token's text; a token that begins or ends inside a character has the
        whole of it, so the spans of neighbours may overlap by one character. The start is what `decode_with_offsets` of
        tiktoken calls the offset. Starts ascend, and so do ends. A pair of surrogates counts two, as in the str that
        was given. What `add_special_tokens` puts around the text has empty spans at its ends.

        Where the vocabulary's file changes the text, spans are still those of the text as it was given:

        - a character that was written otherwise (lower case, U+2581 for a space) stands for itself, and so does each
          of several that it was written as (NFD, the "f" and the "i" of a ligature under NFKC);
        - one that was composed of several (NFC), or replaced them (a pattern), stands for all of them, where tokenizers
          names the first, or the last. Marks that canonical order moves past each other each stand for the whole
          stretch that they moved in;
        - what was put in front of a text or word (Prepend, prefix spaces, Metaspace) stands for the first character
          that it was put in front of, as in tokenizers; what a pattern puts where nothing was has an empty span;
        - what was removed is in no span, unless a token goes on after it;
        - an added token has the white space that it takes (lstrip, rstrip), a byte token its character, and an unknown
          token that stands for a run all of the run.

        Spaces that a token begins or ends with are in its span: a file's `trim_offsets` is not followed.

        unit="bytes" counts in the UTF-8 of the text (surrogates joined or replaced). There a token that begins or ends
        inside a character has its own bytes alone, so spans overlap only where the text was changed, and what was put
        in front stands for one byte. A text in bytes has no other offsets: ValueError.
        """
        if unit not in ("characters", "bytes"):
            raise ValueError(f'unit must be "characters" or "bytes", not {unit!r}')
        if unit == "characters" and not isinstance(text, str):
            with suppress(TypeError):  # what is no text at all is told of below
                memoryview(text)
                raise ValueError('bytes have no offsets in characters: give unit="bytes", or decode the text first')
        specials = self._specials(allowed_special, disallowed_special)
        ids, starts, ends, joined = self._encoder.encode_with_spans(
            text, *specials, add_special_tokens, characters=unit == "characters"
        )
        first, last = array("Q", starts), array("Q", ends)
        if joined and unit == "characters":
            assert isinstance(text, str)
            places = character_places(text)
            return ids, [(places[start], places[end]) for start, end in zip(first, last, strict=True)]
        return ids, list(zip(first, last, strict=True))

    def tokens(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> list[bytes]:
        """The bytes of each token of a text. A token may be a part of a character.

        They are those of `token_bytes`: where a file spells tokens otherwise ("▁the" and "<0xF0>" of Llama 2), they do
        not join to the text. `encode_with_offsets` says what each stands for.
        """
        ids = self.encode(text, allowed_special, disallowed_special, add_special_tokens)
        return self._encoder.tokens_bytes(ids)

    def show(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
        limit: int | None = 5000,
    ) -> Shown:
        """The tokens of a text to look at: in a notebook as HTML, printed as rows of tokens above their ids.

        Colours are those of the ids, the same in every run; white space is visible; tokens that end inside characters
        stand together; special tokens are apart. At most `limit` tokens are drawn (None: all). See `digram.showing`.
        """
        from digram.showing import show

        return show(self, text, allowed_special, disallowed_special, add_special_tokens, limit)

    def explain(
        self,
        text: Text,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> Explanation:
        """How the ids of a text come about: its pieces, and the merges of each in the order in which they happen, with
        their ranks. To be read as data, printed, or drawn in a notebook. See `digram.explain`.
        """
        from digram.explain import explain

        return explain(self, text, allowed_special, disallowed_special, add_special_tokens)

    def stream_encoder(
        self,
        allowed_special: Specials = (),
        disallowed_special: Specials = (),
        add_special_tokens: bool = False,
    ) -> StreamEncoder:
        """An encoder of text that comes in parts, with `feed`, `flush`, `run`, `run_async`; see `digram.streaming`.

        With the splits that have a scanner (docs/splits.md: those with a name, Qwen's, DeepSeek V3's, tekken's ...) ids
        come as soon as no later text can change them. Where the split is another one, or the vocabulary changes the
        text (Llama 2; but not NFC alone), all of them come at the end.
        """
        from digram.streaming import StreamEncoder

        specials = self._specials(allowed_special, disallowed_special)
        return StreamEncoder(self._encoder, *specials, add_special_tokens)

    # Ids to text

    def decode(self, ids: Iterable[int], errors: str = "replace", skip_special_tokens: bool = False) -> str:
        """The text of ids: the bytes of all tokens joined, then decoded as UTF-8 once.

        `errors` is "replace" (the default: U+FFFD for what is no UTF-8), "strict" (UnicodeDecodeError) or "ignore".
        UnknownTokenError, a KeyError and a ValueError, names an id without a token, and its place among them.
        """
        _decoding.check_errors(errors)
        try:
            return self._encoder.decode_text(ids, errors, skip_special_tokens)
        except UnknownTokenError as error:
            raise _decoding.placed(error, ids, self._encoder) from None
        except TypeError as error:
            raise _decoding.no_ids(error, ids) from None

    def decode_bytes(self, ids: Iterable[int], skip_special_tokens: bool = False) -> bytes:
        """The bytes of ids: the text in UTF-8, with bytes that are no character as they are.

        Where a vocabulary's file says how tokens become text (spaces for U+2581, byte tokens), this is that text.
        UnknownTokenError names an id without a token.
        """
        try:
            return self._encoder.decode(ids, skip_special_tokens)
        except UnknownTokenError as error:
            raise _decoding.placed(error, ids, self._encoder) from None
        except TypeError as error:
            raise _decoding.no_ids(error, ids) from None

    def decode_batch(
        self, lists: Iterable[Iterable[int]], errors: str = "replace", skip_special_tokens: bool = False
    ) -> list[str]:
        """The text of each list of ids, on all cores where there are many."""
        _decoding.check_errors(errors)
        if not isinstance(lists, list):
            try:
                lists = list(lists)
            except TypeError as error:
                raise _decoding.no_ids(error, lists, "lists") from None
        # What has no length may come but once, and have no end.
        if all(hasattr(ids, "__len__") for ids in lists):
            with suppress(Exception):  # told of below, of the first list that has one
                return self._encoder.decode_batch(lists, errors, skip_special_tokens)
        texts = []
        for ids in lists:
            try:
                texts.append(self.decode(ids, errors, skip_special_tokens))
            except UnknownTokenError as error:
                raise UnknownTokenError(f"list {len(texts)}: {error}") from None
            except TypeError as error:
                wrong = f"must be a list of ids, not {type(ids).__name__}; decode takes one list"
                raise TypeError(f"list {len(texts)}: {error if isinstance(ids, Iterable) else wrong}") from None
        return texts

    def stream_decoder(self, errors: str = "replace", skip_special_tokens: bool = False) -> StreamDecoder:
        """A decoder of ids that come one by one, with `feed`, `flush`, `run`, `run_async`; see `digram.streaming`.

        `errors` is that of `decode`.
        """
        from digram.streaming import StreamDecoder

        return StreamDecoder(self._encoder, errors, skip_special_tokens)

    # The vocabulary

    @cached_property
    def merges(self) -> Mapping[tuple[int, int], int]:
        """(left id, right id) -> new id, in learned order. Of ranked bytes and token lists: the recovered pairs.

        VocabularyError where a vocabulary of those kinds is not canonical: then some tokens have no one pair.
        """
        lost = self.not_canonical
        given = self._definition.kind == "merges" or (self._definition.kind == "pairs" and not self._definition.ranked)
        if lost and not given:
            raise VocabularyError(
                f"{len(lost)} tokens of this vocabulary have no one pair of parts (the first is id {lost[0]}): "
                "it is not canonical, so it has no merges"
            )
        flat = array("I", self._encoder.merges())
        return MappingProxyType(dict(zip(zip(flat[0::3], flat[1::3], strict=True), flat[2::3], strict=True)))

    @cached_property
    def vocab(self) -> Mapping[int, bytes]:
        """id -> bytes, special tokens included."""
        return _Vocabulary(self._encoder)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Marker -> id."""
        return MappingProxyType(dict(self._definition.special_tokens))

    @property
    def n_vocab(self) -> int:
        """The highest id + 1."""
        return self._encoder.n_vocab

    @property
    def split(self) -> str | None:
        """The split: a name of `digram.patterns`, a regular expression, or None.

        None too where a vocabulary's file splits in several steps, or by a pattern that only Oniguruma reads so.
        """
        return self._definition.split

    @property
    def pattern(self) -> str | None:
        """The regular expression that splits, or None."""
        return self._definition.pattern

    @property
    def alphabet(self) -> Alphabet:
        """What the base symbols are: "bytes" or "characters"."""
        return self._definition.alphabet

    @property
    def unknown(self) -> str:
        """What becomes of a symbol outside the alphabet: "error", "bytes", or the token that stands in for it."""
        definition = self._definition
        if definition.byte_ids:
            return "bytes"
        return definition.unknown if definition.unknown_id is None else self.vocab[definition.unknown_id].decode()

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """Tokens that a vocabulary's file cuts out of text, with their flags; special ones among them."""
        return self._definition.added_tokens

    @cached_property
    def not_canonical(self) -> tuple[int, ...]:
        """The ids of tokens that, encoded with lower ranks only, do not end in exactly their two parts; mostly none."""
        return tuple(array("I", self._encoder.not_canonical()))

    def token_id(self, token: Text) -> int:
        """The id of the token that is spelt `token`, or of the special token. UnknownTokenError where there is none."""
        if isinstance(token, str):
            token = whole_characters(token)
            if token in self._definition.special_tokens:
                return self._definition.special_tokens[token]
        elif not isinstance(token, bytes):
            raise TypeError(f"token must be str or bytes, not {type(token).__name__}")
        found = self._encoder.token_id(token.encode() if isinstance(token, str) else token)
        if found is None:
            raise UnknownTokenError(f"no token of this vocabulary is spelt {token!r}")
        return found

    def token_bytes(self, id: int) -> bytes:
        """The bytes of a token, as the vocabulary spells it. UnknownTokenError for an id without one."""
        return self.vocab[id]

    def is_special(self, id: int) -> bool:
        """Whether an id is a special token's."""
        return 0 <= id < self.n_vocab and self._encoder.is_special(id)

    def to_token_list(self) -> list[str] | list[bytes]:
        """The ordered token list with the same ids, for `from_token_list`; without special tokens.

        Strings for a character alphabet, else bytes. It spells every token out, which of a vocabulary trained without
        a split on repetitive text can take much memory. VocabularyError where no such list gives the same ids.
        """
        if self.unknown == "bytes":
            raise VocabularyError('unknown="bytes" has byte tokens, which an ordered token list of strings cannot hold')
        if self._definition.kind == "list":
            tokens = list(self._definition.tokens)
        else:
            if self._definition.kind == "pairs":
                raise VocabularyError(
                    "a vocabulary of another tool's pairs has no ordered token list with the same ids"
                )
            if self.not_canonical:
                raise VocabularyError("this vocabulary is not canonical, so no ordered token list gives the same ids")
            ids = [id for id in self.vocab if not self.is_special(id)]
            if ids != list(range(len(ids))):
                raise VocabularyError("the ids have gaps, so no ordered token list gives the same ids")
            merged = list(self.merges.values())
            if merged != list(range(len(ids) - len(merged), len(ids))):
                raise VocabularyError("a base symbol follows a merge, so no ordered token list gives the same ids")
            tokens = [self.vocab[id] for id in ids]
        return [token.decode() for token in tokens] if self.alphabet == "characters" else tokens

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Writes `format`, or what the name of the file says; an old file stays until the new one is whole.

        `format` is "digram" (its own JSON), "gguf", "gpt2", "huggingface", "sentencepiece" or "tiktoken". Without it,
        x.gguf is "gguf", x.model "sentencepiece", x.tiktoken "tiktoken", tokenizer.json "huggingface", vocab.json and
        merges.txt "gpt2", any other name "digram". "gpt2" and "huggingface" write two files into the folder `path`;
        transformers loads the folder of the latter. With a `path` that ends in .json "huggingface" writes what
        tokenizer.json holds to that file alone.

        FormatWarning says what a format cannot hold, VocabularyError why it cannot give the same ids, ValueError that
        the name belongs to another format than `format`.
        """
        from digram import formats

        formats.save(self, path, format)

    def _specials(self, allowed: Specials, disallowed: Specials) -> _NativeSpecials:
        if not allowed and not disallowed:
            return None, None
        allow = _markers("allowed_special", allowed)
        forbid = _markers("disallowed_special", disallowed)
        native = self._special_sets.get((allow, forbid))
        if native is None:
            refusing: Collection[str] | None = forbid
            if refusing is None:
                refusing = () if allow is None else self._definition.special_tokens.keys() - allow
            allowing = self._encoder.allow(None if allow is None else sorted(allow)) if allow != frozenset() else None
            native = allowing, _native.Markers(sorted(refusing)) if refusing else None
            # A server uses a handful of sets; the bound is for one that makes them up. All go at once: the handful is
            # soon back, and threads that are here at the same time take nothing from each other's hands.
            if len(self._special_sets) >= _MOST_SPECIAL_SETS:
                self._special_sets = {}
            self._special_sets[allow, forbid] = native
        return native


class _Vocabulary(Mapping[int, bytes]):
    """id -> bytes; bytes are put together when they are asked for."""

    def __init__(self, encoder: _native.Encoder) -> None:
        self._encoder = encoder

    @cached_property
    def _ids(self) -> array[int]:
        # A token list may hold the empty string, whose length is 0 as a gap's.
        lengths = array("Q", self._encoder.token_lengths())
        return array("I", (i for i, n in enumerate(lengths) if n or self._encoder.token_bytes(i) is not None))

    def __getitem__(self, id: int) -> bytes:
        if type(id) is not int:
            with suppress(TypeError):
                id = index(id)  # numpy's
        known = isinstance(id, int) and 0 <= id < self._encoder.n_vocab
        token = self._encoder.token_bytes(id) if known else None
        if token is None:
            raise UnknownTokenError(f"id {id!r} has no token in this vocabulary")
        return token

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return f"<vocabulary of {len(self):,} tokens>"


def from_token_list(
    tokens: Iterable[str] | Iterable[bytes],
    *,
    split: str | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    unknown: str = "error",
) -> Tokenizer:
    """A tokenizer of an ordered token list: entry i says "wherever two neighbours spell entry i, replace them by i".

    The entries of one symbol that begin the list (characters of str tokens, bytes of bytes tokens) are the base
    symbols; of a repeated one the last id counts. Entries apply in order, one left-to-right pass each; both parts must
    be earlier entries, any split counts, and an entry without such a split never matches. Special tokens have the ids
    after the list.
    """
    if isinstance(tokens, (str, bytes)):
        raise TypeError(f"tokens must be a list of str or of bytes, not one {type(tokens).__name__}")
    entries: list[bytes] = []
    kinds = set()
    for i, token in enumerate(tokens):
        if not isinstance(token, (str, bytes)):
            raise TypeError(f"token {i} must be str or bytes, not {type(token).__name__}")
        kinds.add(type(token) if type(token) in (str, bytes) else (str if isinstance(token, str) else bytes))
        if len(kinds) > 1:
            raise TypeError(f"token {i} is {type(token).__name__}, but the ones before are not: use one type in a list")
        entries.append(whole_characters(token).encode() if isinstance(token, str) else token)
    specials = special_ids(special_tokens, len(entries))
    if unknown not in ("error", "bytes") and unknown not in specials:
        specials = MappingProxyType({**specials, unknown: max([len(entries) - 1, *specials.values()]) + 1})
    return Tokenizer(
        Definition(
            kind="list",
            alphabet="bytes" if kinds == {bytes} else "characters",
            tokens=tuple(entries),
            split=checked(split),
            special_tokens=specials,
            unknown=unknown,
        )
    )


def _markers(name: str, given: Specials) -> frozenset[str] | None:
    """The markers of an argument `name`, with surrogates joined or replaced; None for "all"."""
    if isinstance(given, str):
        if given != "all":
            raise ValueError(f'{name} must be "all" or a set of strings, not the string {given!r}')
        return None
    if not isinstance(given, Iterable):
        raise TypeError(f'{name} must be "all" or a set of strings, not {type(given).__name__}')
    markers = set()
    for marker in given:
        if not isinstance(marker, str):
            raise TypeError(
                f'{name} must be "all" or a set of strings, but it holds a {type(marker).__name__}: {marker!r}'
            )
        markers.add(whole_characters(marker))
    return frozenset(markers)


def _texts(texts: Iterable[Text] | pyarrow.Array | pyarrow.ChunkedArray) -> list[Text] | _native.FlatTexts:
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts must be a list of texts, not one {type(texts).__name__}: use [text]")
    if not isinstance(texts, list) and _arrow.is_arrow(texts):
        return _arrow.flat(texts)
    return texts if isinstance(texts, list) else list(texts)
