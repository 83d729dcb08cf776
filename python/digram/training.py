"""Text to vocabulary: counting pieces, learning merges."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from digram import _native, _threads
from digram.counts import PieceCounts, Progress
from digram.definition import Alphabet, Definition, special_ids
from digram.errors import TrainingWarning
from digram.tokenizer import Tokenizer

if TYPE_CHECKING:
    from digram.corpus import Corpus

__all__ = ["PieceCounts", "Progress", "Ties", "train"]

Ties = Literal["smallest-ids", "smallest-tokens", "first-seen"]

_TIES = ("smallest-ids", "smallest-tokens", "first-seen")

Text = str | bytes


def train(
    texts: Text | Iterable[Text] | Corpus | PieceCounts,
    vocab_size: int | None = None,
    *,
    min_count: int | None = None,
    special_tokens: Iterable[str] = (),
    alphabet: Alphabet = "bytes",
    ties: Ties = "smallest-ids",
    max_token_length: int | None = None,
    split: str | None = "cl100k",
    unknown: str = "error",
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Tokenizer:
    """Learns a vocabulary: each round the most frequent pair of neighbours becomes the next token.

    texts             a text, an iterable of texts (a text is one document), a Corpus, or PieceCounts, which bring
                      their split and special tokens with them
    vocab_size        stop at this many ids: alphabet, merges and special tokens together
    min_count         stop when the best pair occurs less often; 1 where only `vocab_size` is given
    special_tokens    markers that are cut out of the texts and get the last ids, in this order
    alphabet          "bytes": ids 0 to 255, nothing is ever unknown; "characters": those of the texts, by code point
    ties              of the pairs with the highest count: "smallest-ids" (left id, right id), "smallest-tokens"
                      (left token, right token, as strings), "first-seen" (whose first occurrence in the current
                      sequence comes first)
    max_token_length  never make a token of more bytes (or characters) than this
    split             cuts each document into pieces that merges never cross: a name of `digram.patterns`, a regular
                      expression, or None
    unknown           for a character alphabet: "error", "bytes" (256 byte tokens, ids after the characters) or a
                      special token (added where `special_tokens` lacks it) that stands in for other characters
    threads           for counting; default: one a core. The result does not depend on it.
    progress          called with a Progress every so often and at the end; what it raises ends training

    ValueError: neither `vocab_size` nor `min_count`, `min_count` below 1, `vocab_size` below alphabet and special
    tokens. TypeError: an item that is no text, with its index. TrainingWarning: the texts are empty, or ran out of
    pairs before `vocab_size`.
    """
    _check_numbers(vocab_size=vocab_size, min_count=min_count, max_token_length=max_token_length)
    if vocab_size is None and min_count is None:
        raise ValueError("training needs vocab_size or min_count, or it would not know when to stop")
    for name, given, choices in (("alphabet", alphabet, ("bytes", "characters")), ("ties", ties, _TIES)):
        if given not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {given!r}")
    if unknown != "error" and alphabet == "bytes":
        raise ValueError('unknown is for alphabet="characters": no byte is ever unknown')
    special_tokens = tuple(special_ids(special_tokens, 0))
    if alphabet == "bytes" and vocab_size is not None and not isinstance(texts, PieceCounts):
        least = 256 + len(special_tokens)
        if vocab_size < least:  # said before all texts are counted
            raise ValueError(
                f"vocab_size={vocab_size} is below the 256 bytes of the alphabet plus {len(special_tokens)} special "
                f"tokens: ask for at least {least}"
            )
    characters, threads = alphabet == "characters", _threads.checked(threads)

    if isinstance(texts, PieceCounts):
        counts = texts
        if special_tokens and special_tokens != counts.special_tokens:
            raise ValueError(f"these counts were cut at {counts.special_tokens!r}: give no special tokens, or the same")
        split = counts.split
        if ties == "first-seen" and not counts.ordered:
            raise ValueError('these counts carry no order of first appearance, which ties="first-seen" needs')
    else:
        if isinstance(texts, Mapping):
            raise TypeError("texts must be texts, not a mapping: use PieceCounts.from_mapping for counts of pieces")
        if not isinstance(texts, Iterable):
            raise TypeError(
                f"texts must be str, bytes, an iterable of them, a Corpus or PieceCounts, not {type(texts).__name__}"
            )
        counts = PieceCounts(split, special_tokens)
        counts.add(texts, threads=threads, progress=progress)
    markers = list(counts.special_tokens)
    if unknown not in ("error", "bytes") and unknown not in markers:
        markers.append(unknown)

    reserved = len(markers) + (256 if unknown == "bytes" else 0)
    told = None if progress is None else lambda merges, planned, best: progress(_merging(counts, merges, planned, best))
    symbols, flat, learned, exhausted = _native.train(
        counts._native,
        characters=characters,
        vocab_size=vocab_size,
        reserved=reserved,
        min_count=min_count or 1,
        ties=ties,
        max_token_length=max_token_length,
        progress=told,
    )
    merges = array("I", flat)
    if unknown == "bytes":
        # The engine knows of no byte tokens: they stand between the characters and the merges.
        size = len(symbols or "")
        merges = array("I", (id + 256 if id >= size else id for id in merges))
    definition = Definition(
        kind="merges",
        alphabet=alphabet,
        characters=symbols or "",
        unknown=unknown,
        merges=merges,
        split=split,
    )
    first = definition.first_merge + len(merges) // 2
    tokenizer = Tokenizer(replace(definition, special_tokens=special_ids(markers, first)))
    if told is not None:
        # The engine tells every so often; the end is told always, so that a bar gets there.
        planned = None if vocab_size is None else vocab_size - first - len(markers) + len(merges) // 2
        told(len(merges) // 2, planned, array("Q", learned)[-1] if learned else 0)
    if not len(counts):
        warnings.warn(
            f"the texts are empty: the vocabulary is the bare alphabet, {tokenizer.n_vocab:,} ids",
            TrainingWarning,
            stacklevel=2,
        )
    elif exhausted and vocab_size is not None:
        warnings.warn(
            f"the texts ran out of pairs after {_number(len(merges) // 2, 'merge')}: "
            f"the vocabulary has {tokenizer.n_vocab:,} ids, not {vocab_size:,}",
            TrainingWarning,
            stacklevel=2,
        )
    return tokenizer


def _number(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def _check_numbers(**values: int | None) -> None:
    for name, value in values.items():
        least = 0 if name == "vocab_size" else 1  # 0 is refused with the sentence that names the alphabet
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} must be an int, not {type(value).__name__}")
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")
        if value >= 1 << 64:
            raise ValueError(f"{name} must be at most 2^64 - 1, not {value}")


def _merging(counts: PieceCounts, merges: int, planned: int | None, best: int) -> Progress:
    return Progress("merging", counts.documents, 0, merges, planned, best)
