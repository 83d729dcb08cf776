"""Text to vocabulary: counting pieces, learning merges."""

from __future__ import annotations

import os
import warnings
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from digram import _native, _threads
from digram._beginning import warn_of_cut
from digram._following import Following, Merge, check_places, numbered, trained
from digram._numbers import whole_number
from digram._setting import Setting, check_room, settled, sizes_of
from digram._text import printable
from digram.counts import ONE_TEXT, PieceCounts, Progress
from digram.definition import Alphabet, Definition
from digram.errors import TrainingWarning
from digram.tokenizer import Tokenizer

if TYPE_CHECKING:
    from digram._weighting import Weight, Weighting
    from digram.corpus import Corpus

__all__ = ["Merge", "PieceCounts", "Progress", "Ties", "train", "unused_tokens"]

Ties = Literal[
    "smallest-ids",
    "smallest-tokens",
    "largest-tokens",
    "first-seen",
    "tokenizers",
    "rustbpe",
    "minbpe",
    "sentencepiece",
]

_LARGEST = (1 << 64) - 1  # of counts

Text = str | bytes
# With weights, texts are several of these.
Source: TypeAlias = "Text | Iterable[Text] | Corpus | PieceCounts"
Texts: TypeAlias = "Source | Iterable[Source]"
AnyPath = str | os.PathLike[str]
Allow = Callable[[bytes, bytes, bytes], object]


# fmt: off
@overload
def train(
    texts: Texts, vocab_size: int | None = None, *, min_count: int | None = None, special_tokens: Iterable[str] = (),
    alphabet: Alphabet = "bytes", ties: Ties = "smallest-ids",
    max_token_length: int | None = None, split: str | None = "cl100k", unknown: str = "error",
    threads: int | None = None, progress: Callable[[Progress], object] | None = None,
    max_token_characters: int | None = None, split_digits: bool = False,
    whole_characters: bool = False, attach_marks: bool = False, allow: Allow | None = None,
    initial_alphabet: str | Iterable[str] = "", limit_alphabet: int | None = None,
    seed_tokens: Iterable[Text] = (), weights: Iterable[Weight] | None = None,
    resume: Tokenizer | AnyPath | None = None, checkpoint: AnyPath | None = None, checkpoint_every: float = 60,
    log: AnyPath | Callable[[Merge], object] | None = None, memory_limit: int | str | None = None,
    temporary_folder: AnyPath | None = None,
) -> Tokenizer: ...
@overload
def train(
    texts: Texts, vocab_size: Sequence[int], *, min_count: int | None = None, special_tokens: Iterable[str] = (),
    alphabet: Alphabet = "bytes", ties: Ties = "smallest-ids",
    max_token_length: int | None = None, split: str | None = "cl100k", unknown: str = "error",
    threads: int | None = None, progress: Callable[[Progress], object] | None = None,
    max_token_characters: int | None = None, split_digits: bool = False,
    whole_characters: bool = False, attach_marks: bool = False, allow: Allow | None = None,
    initial_alphabet: str | Iterable[str] = "", limit_alphabet: int | None = None,
    seed_tokens: Iterable[Text] = (), weights: Iterable[Weight] | None = None,
    resume: Tokenizer | AnyPath | None = None, checkpoint: AnyPath | None = None, checkpoint_every: float = 60,
    log: AnyPath | Callable[[Merge], object] | None = None, memory_limit: int | str | None = None,
    temporary_folder: AnyPath | None = None,
) -> list[Tokenizer]: ...
# fmt: on
def train(
    texts: Texts,
    vocab_size: int | Sequence[int] | None = None,
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
    max_token_characters: int | None = None,
    split_digits: bool = False,
    whole_characters: bool = False,
    attach_marks: bool = False,
    allow: Allow | None = None,
    initial_alphabet: str | Iterable[str] = "",
    limit_alphabet: int | None = None,
    seed_tokens: Iterable[Text] = (),
    weights: Iterable[Weight] | None = None,
    resume: Tokenizer | AnyPath | None = None,
    checkpoint: AnyPath | None = None,
    checkpoint_every: float = 60,
    log: AnyPath | Callable[[Merge], object] | None = None,
    memory_limit: int | str | None = None,
    temporary_folder: AnyPath | None = None,
) -> Tokenizer | list[Tokenizer]:
    """Learns a vocabulary: each round the most frequent pair of neighbours becomes the next token.

    docs/training.md tells each option with an example.

    texts             a text, an iterable of texts (a text is one document), a Corpus, or PieceCounts, which bring
                      their split and special tokens with them
    vocab_size        stop at this many ids: alphabet, merges and special tokens together. A list of sizes gives a list
                      of tokenizers from one training, each as if it had been trained alone.
    min_count         stop when the best pair occurs less often; 1 where only `vocab_size` is given
    special_tokens    markers that are cut out of the texts and get the last ids, in this order
    alphabet          "bytes": ids 0 to 255, nothing is ever unknown; "characters": those of the texts, by code point
    ties              of the pairs with the highest count: "smallest-ids" (left id, right id), "smallest-tokens" or
                      "largest-tokens" (left token, right token, as strings), "first-seen" (whose first occurrence in
                      the current sequence comes first); "tokenizers", "rustbpe", "minbpe", "sentencepiece" do as
                      these libraries do
    split             cuts each document into pieces that merges never cross: a name of `digram.patterns`, a regular
                      expression, or None
    unknown           for a character alphabet: "error", "bytes" (256 byte tokens, ids after the characters) or a
                      special token (added where `special_tokens` lacks it) that stands in for other characters

    What is never merged:

    max_token_length      tokens of more bytes (of a character alphabet: characters) than this
    max_token_characters  tokens that reach over more characters than this
    split_digits          digits (`\\p{N}`) with anything: each is a token of its own
    whole_characters      parts of a character with what is beside it: a token is whole characters, or a part of one
    attach_marks          a combining mark (`\\p{M}`) with what follows it, unless what it stands on is in the token too
    allow                 pairs for which this function of (left, right, joined), all bytes, is false. It is called when
                          a pair is the next to merge, once for each pair of ids.

    What there is before the first round:

    initial_alphabet  characters that a character alphabet has in any case
    limit_alphabet    the most characters of a character alphabet: the initial ones, then the most frequent ones
    seed_tokens       tokens to make first, in this order, whatever they count: the parts from left to right
    resume            a tokenizer, or the path of one or of a checkpoint: its merges are made first, then training goes
                      on. Alphabet, split and unknown are its own; the special tokens too, unless others are given.

    weights           of the sources: `texts` is a list of texts, iterables of texts, Corpora or PieceCounts, and what
                      is in source i counts `weights[i]` times; whole numbers, Fractions, or floats (taken as the
                      decimal numbers that they print as)
    checkpoint        a file that is written every `checkpoint_every` seconds, and at the end, however it comes: a
                      vocabulary of what was learnt so far, for `resume`
    log               a path that gets a line for each merge with its count, or a function of a `Merge`
    threads           for counting; default: one a core. The result does not depend on it.
    memory_limit      bytes, or such as "4GB", for the counts of pieces: what does not fit goes to temporary files in
                      `temporary_folder` (see PieceCounts, which also says what the rounds need). Same result.
    progress          called with a Progress every so often and at the end; what it raises ends training

    ValueError: neither `vocab_size` nor `min_count`, `min_count` below 1, `vocab_size` below alphabet, special tokens
    and what there is before the first round; a character alphabet's options with bytes. TypeError: an item that is no
    text, with its index. TrainingWarning: the texts are empty, or ran out of pairs before `vocab_size`; a seed token
    is cut by the split.
    """
    sizes, several = sizes_of(vocab_size)
    if vocab_size is None and min_count is None:
        raise ValueError("training needs vocab_size or min_count, or it would not know when to stop")
    least = None if min_count is None else whole_number("min_count", min_count)
    limits: dict[str, Any] = {
        "max_token_length": _optional("max_token_length", max_token_length),
        "max_characters": _optional("max_token_characters", max_token_characters),
        "split_digits": bool(split_digits),
        "whole_characters": bool(whole_characters),
        "attach_marks": bool(attach_marks),
    }
    setting = settled(
        alphabet=alphabet,
        ties=ties,
        split=split,
        unknown=unknown,
        special_tokens=special_tokens,
        resume=resume,
        seed_tokens=seed_tokens,
        initial_alphabet=initial_alphabet,
        limit_alphabet=_optional("limit_alphabet", limit_alphabet),
    )
    if allow is not None and not callable(allow):
        raise TypeError(f"allow must be a function of (left, right, joined), not {type(allow).__name__}")
    check_places(log, checkpoint, checkpoint_every)
    threads = _threads.checked(threads)
    memory = {"memory_limit": memory_limit, "temporary_folder": temporary_folder}
    counts, scale = _counts(texts, weights, setting, sizes, threads, progress, memory)
    warn_of_cut(setting.seeds, counts.split)

    markers = setting.markers(counts.special_tokens)
    empty = setting.definition(counts.split)
    rules: dict[str, Any] = limits | {
        "characters": setting.characters,
        "reserved": len(markers) + (256 if setting.unknown == "bytes" else 0),
        "min_count": 1 if least is None else min(least * scale, _LARGEST),
        "ties": setting.rule,
        "initial": setting.initial,
        "limit": setting.limit,
        "merges": setting.merges,
        "seeds": setting.seeds,
    }
    first = 0
    if len(sizes) > 1:  # of one size the engine says it; without a text only what comes first is made
        before = _native.train(PieceCounts(counts.split)._native, vocab_size=None, **rules)
        first = len(bytes(before[1])) // 8
    largest = None if sizes[0] is None else max(size for size in sizes if size is not None)
    following = Following(empty, markers, scale, log, checkpoint, checkpoint_every)
    found = _learned(counts, largest, rules, following, allow, progress)
    tokenizers = _tokenizers(found, sizes, empty, markers, first)
    ids = _bare_size(empty, found, markers) + len(found.merges) // 2
    if progress is not None:
        # The engine tells every so often; the end is told always, so that a bar gets there.
        planned = None if largest is None else largest - _bare_size(empty, found, markers)
        progress(Progress("merging", counts.documents, 0, len(found.merges) // 2, planned, found.best // scale))
    if not len(counts):
        warnings.warn(
            f"the texts are empty: the vocabulary is the bare alphabet, {ids:,} ids", TrainingWarning, stacklevel=2
        )
    elif found.exhausted and largest is not None:
        warnings.warn(
            f"the texts ran out of pairs after {_number(len(found.merges) // 2, 'merge')}: "
            f"the vocabulary has {ids:,} ids, not {largest:,}{_if_files(texts)}",
            TrainingWarning,
            stacklevel=2,
        )
    return tokenizers if several else tokenizers[0]


def _if_files(texts: object) -> str:
    """More to say of texts that ran out: the first one is the name of a file, which nothing opened."""
    first = texts[0] if isinstance(texts, (list, tuple)) and texts else texts
    try:
        found = isinstance(first, str) and len(first) < 1000 and os.path.isfile(first)
    except ValueError:  # U+0000, or what no name can hold
        found = False
    return f" ({printable(str(first))} was taken for a text: digram.Corpus(...) reads files)" if found else ""


@dataclass(frozen=True, slots=True)
class _Learned:
    """What the engine found: the characters of the alphabet, flat merges with the ids of the vocabulary, the count of
    the last one, and whether no pair was left."""

    characters: str
    merges: array[int]
    best: int
    exhausted: bool


def _counts(
    texts: Texts,
    weights: Iterable[Weight] | None,
    setting: Setting,
    sizes: list[int | None],
    threads: int | None,
    progress: Callable[[Progress], object] | None,
    memory: dict[str, Any],
) -> tuple[PieceCounts, int]:
    """The counts to learn from, and the number that they are multiples of, by weights that are no whole numbers."""
    weighting = None if weights is None else _weighting(texts, weights)
    sources: list[Any] = [texts] if weighting is None else weighting.sources
    counted = [source for source in sources if isinstance(source, PieceCounts)]
    for source in counted:
        setting.check_counts(source)
    split, cut_at = (counted[0].split, counted[0].special_tokens) if counted else (setting.split, setting.cut_at)
    if not setting.characters and not counted:
        for size in sizes:  # said before all texts are counted
            check_room(size, 256 + len(cut_at), len(cut_at))

    def no_counts() -> PieceCounts:
        return PieceCounts(split, cut_at, **memory)

    if weighting is not None:
        return weighting.counts(no_counts, threads, progress)
    if isinstance(texts, PieceCounts):
        return texts, 1
    return _counted(texts, no_counts(), threads, progress), 1


def _learned(
    counts: PieceCounts,
    vocab_size: int | None,
    rules: dict[str, Any],
    following: Following,
    allow: Allow | None,
    progress: Callable[[Progress], object] | None,
) -> _Learned:
    """Runs the engine, with what follows it."""
    documents = counts.documents

    def told(merges: int, planned: int | None, best: int, pairs: bytearray, n: bytearray, alphabet: str) -> None:
        if following:
            following.add(pairs, n, alphabet)
        if progress is not None:
            progress(Progress("merging", documents, 0, merges, planned, best // following.scale))

    with following:
        found, flat, learned, exhausted = _native.train(
            counts._native,
            vocab_size=vocab_size,
            **rules,
            told=told if following or progress is not None else None,
            follow=bool(following),
            allow=allow,
        )
        if following:
            following.rest(flat, learned, found or "")
    best = array("Q", bytes(learned))[-1] if learned else 0
    merges = numbered(array("I", bytes(flat)), following.definition, found or "")
    return _Learned(found or "", merges, best, exhausted)


def _bare_size(empty: Definition, found: _Learned, markers: list[str]) -> int:
    """The ids of a vocabulary without merges."""
    return replace(empty, characters=found.characters).first_merge + len(markers)


def _tokenizers(
    found: _Learned, sizes: list[int | None], empty: Definition, markers: list[str], first: int
) -> list[Tokenizer]:
    """A tokenizer for each size; `first` merges come before the first round."""
    least = _bare_size(empty, found, markers)
    tokenizers = []
    for size in sizes:
        if size is not None and size < least + first:
            raise ValueError(
                f"vocab_size={size} is below the {least + first} ids that there are before the first round: ask for at "
                f"least {least + first}"
            )
        kept = found.merges if size is None else found.merges[: 2 * (size - least)]
        tokenizers.append(Tokenizer(trained(empty, found.characters, kept, markers)))
    return tokenizers


def _weighting(texts: object, weights: Iterable[Weight]) -> Weighting:
    from digram._weighting import Weighting  # loads fractions, which few need

    return Weighting(texts, weights)


def _counted(
    texts: object,
    counts: PieceCounts,
    threads: int | None,
    progress: Callable[[Progress], object] | None,
) -> PieceCounts:
    if not isinstance(texts, (Iterable, ONE_TEXT)):
        way_out = ": digram.Corpus(path) reads files" if isinstance(texts, os.PathLike) else ""
        raise TypeError(
            f"texts must be str, bytes, an iterable of them, a Corpus or PieceCounts, not {type(texts).__name__}"
            f"{way_out}"
        )
    counts.add(texts, threads=threads, progress=progress)
    return counts


def unused_tokens(tokenizer: Tokenizer, texts: Text | Iterable[Text] | Corpus) -> list[int]:
    """The ids of merges that no text is encoded with.

    Of the texts that a vocabulary was trained on, these are tokens that later merges took all places of: each occurred
    as often as its count when it was made, and served as a part.
    """
    unused = set(tokenizer.merges.values())
    for text in [texts] if isinstance(texts, (str, bytes)) else texts:
        unused.difference_update(tokenizer.encode(text, allowed_special="all"))
    return sorted(unused)


def _number(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def _optional(name: str, value: int | None) -> int | None:
    return None if value is None else whole_number(name, value)
