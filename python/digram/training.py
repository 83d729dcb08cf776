"""Text to vocabulary: counting pieces, learning merges."""

from __future__ import annotations

import os
import warnings
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from digram import _native, _threads
from digram._beginning import initial_characters, resumed, seeds, warn_of_cut
from digram._following import Following, Merge, check_places, numbered, trained
from digram.counts import ONE_TEXT, PieceCounts, Progress
from digram.definition import Alphabet, Definition, special_ids
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

# Each rule by the engine's name for it. Libraries differ in nothing but the rule, given the same pieces.
_TIES = {
    "smallest-ids": "smallest-ids",
    "smallest-tokens": "smallest-tokens",
    "largest-tokens": "largest-tokens",
    "first-seen": "first-seen",
    "tokenizers": "smallest-characters",
    "rustbpe": "smallest-ids",
    "minbpe": "first-seen",
    "sentencepiece": "shortest-token",
}

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
    sizes = [vocab_size] if vocab_size is None or isinstance(vocab_size, int) else _sizes(vocab_size)
    for size in sizes:
        _check_numbers(vocab_size=size)
    _check_numbers(
        min_count=min_count,
        max_token_length=max_token_length,
        max_token_characters=max_token_characters,
        limit_alphabet=limit_alphabet,
    )
    if vocab_size is None and min_count is None:
        raise ValueError("training needs vocab_size or min_count, or it would not know when to stop")
    for name, given, choices in (("alphabet", alphabet, ("bytes", "characters")), ("ties", ties, tuple(_TIES))):
        if given not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {given!r}")
    if not checkpoint_every > 0:
        raise ValueError(f"checkpoint_every must be a number of seconds above 0, not {checkpoint_every}")
    check_places(log, checkpoint)
    threads, rule = _threads.checked(threads), _TIES[ties]
    asked = tuple(special_ids(special_tokens, 0))
    begun = None if resume is None else resumed(resume)
    if begun is not None:
        alphabet, split, unknown = begun.settled(alphabet=alphabet, split=split, unknown=unknown)
    characters = alphabet == "characters"
    if unknown != "error" and not characters:
        raise ValueError('unknown is for alphabet="characters": no byte is ever unknown')
    seeded = seeds(seed_tokens)
    initial = initial_characters(initial_alphabet, seeded if characters else [])
    if (initial or limit_alphabet is not None) and not characters:
        name = "initial_alphabet" if initial else "limit_alphabet"
        raise ValueError(f'{name} is for alphabet="characters": with bytes, all 256 are in the alphabet')
    if begun is not None and characters:
        initial, limit_alphabet = begun.definition.characters, len(begun.definition.characters)

    ready = texts if isinstance(texts, PieceCounts) else None
    weighting = None if weights is None else _weighting(texts, weights)
    sources = [] if weighting is None else weighting.sources
    counted = [source for source in (*sources, ready) if isinstance(source, PieceCounts)]
    for source in counted:
        if asked and asked != source.special_tokens:
            raise ValueError(f"these counts were cut at {source.special_tokens!r}: give no special tokens, or the same")
        if begun is None and split not in ("cl100k", source.split):
            raise ValueError(f"these counts were cut by {source.split!r}: give no split, or the same")
        if begun is not None and source.split != split:
            raise ValueError(f"these counts were cut by {source.split!r}, the vocabulary to go on from by {split!r}")
        if begun is not None and not asked and tuple(begun.definition.special_tokens) != source.special_tokens:
            raise ValueError(
                f"these counts were cut at {source.special_tokens!r}, the vocabulary to go on from has "
                f"{tuple(begun.definition.special_tokens)!r}: count with the same, or give those of the counts"
            )
        if rule == "first-seen" and not source.ordered:
            raise ValueError('these counts carry no order of first appearance, which ties="first-seen" needs')
    if counted:
        split, cut_at = counted[0].split, counted[0].special_tokens
    else:
        cut_at = asked if begun is None else asked or tuple(begun.definition.special_tokens)
    if not characters and not counted:
        for size in sizes:  # said before all texts are counted
            _check_room(size, 256 + len(cut_at), len(cut_at))
    scale = 1

    def no_counts() -> PieceCounts:
        return PieceCounts(split, cut_at, memory_limit=memory_limit, temporary_folder=temporary_folder)

    if weighting is not None:
        counts, scale = weighting.counts(no_counts, threads, progress)
    elif ready is not None:
        counts = ready
    else:
        counts = _counted(texts, no_counts(), threads, progress)
    warn_of_cut(seeded, split)
    markers = [*cut_at, *([unknown] if unknown not in ("error", "bytes", *cut_at) else [])]

    largest = None if sizes[0] is None else max(size for size in sizes if size is not None)
    empty = Definition(kind="merges", alphabet=alphabet, unknown=unknown, split=split)
    documents = counts.documents

    def tell(merges: int, planned: int | None, best: int) -> None:
        if progress is not None:
            progress(Progress("merging", documents, 0, merges, planned, best // scale))

    rules: dict[str, Any] = {
        "characters": characters,
        "reserved": len(markers) + (256 if unknown == "bytes" else 0),
        "min_count": 1 if min_count is None else min(min_count * scale, _LARGEST),
        "ties": rule,
        "max_token_length": max_token_length,
        "max_characters": max_token_characters,
        "split_digits": bool(split_digits),
        "whole_characters": bool(whole_characters),
        "attach_marks": bool(attach_marks),
        "initial": initial,
        "limit": limit_alphabet,
        "merges": (begun.merges if begun is not None else None) or None,  # an empty buffer has no place
        "seeds": seeded,
    }
    first = 0
    if len(sizes) > 1:  # of one size the engine says it; without a text only what comes first is made
        before = _native.train(PieceCounts(split)._native, vocab_size=None, **rules)
        first = len(bytes(before[1])) // 8
    with Following(empty, markers, scale, log, checkpoint, checkpoint_every) as following:

        def told(merges: int, planned: int | None, best: int, pairs: bytearray, n: bytearray, alphabet: str) -> None:
            if following:
                following.add(pairs, n, alphabet)
            tell(merges, planned, best)

        found, flat, learned, exhausted = _native.train(
            counts._native,
            vocab_size=largest,
            **rules,
            told=told if following or progress is not None else None,
            follow=bool(following),
            allow=allow,
        )
        if following:
            following.rest(flat, learned, found or "")
    merges = numbered(array("I", bytes(flat)), empty, found or "")
    least = replace(empty, characters=found or "").first_merge + len(markers)
    tokenizers = []
    for size in sizes:
        if size is not None and size < least + first:
            raise ValueError(
                f"vocab_size={size} is below the {least + first} ids that there are before the first round: ask for at "
                f"least {least + first}"
            )
        kept = merges if size is None else merges[: 2 * (size - least)]
        tokenizers.append(Tokenizer(trained(empty, found or "", kept, markers)))
    # The engine tells every so often; the end is told always, so that a bar gets there.
    best = array("Q", bytes(learned))[-1] if learned else 0
    tell(len(merges) // 2, None if largest is None else largest - least, best)
    size = least + len(merges) // 2
    if not len(counts):
        warnings.warn(
            f"the texts are empty: the vocabulary is the bare alphabet, {size:,} ids", TrainingWarning, stacklevel=2
        )
    elif exhausted and largest is not None:
        warnings.warn(
            f"the texts ran out of pairs after {_number(len(merges) // 2, 'merge')}: "
            f"the vocabulary has {size:,} ids, not {largest:,}",
            TrainingWarning,
            stacklevel=2,
        )
    return tokenizers[0] if vocab_size is None or isinstance(vocab_size, int) else tokenizers


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
        raise TypeError(
            f"texts must be str, bytes, an iterable of them, a Corpus or PieceCounts, not {type(texts).__name__}"
        )
    counts.add(texts, threads=threads, progress=progress)
    return counts


def _sizes(sizes: Iterable[int]) -> list[int]:
    if isinstance(sizes, (str, bytes)) or not isinstance(sizes, Iterable):
        raise TypeError(f"vocab_size must be an int, not {type(sizes).__name__}, or a list of ints")
    found = list(sizes)
    if not found:
        raise ValueError("vocab_size is an empty list: give one size or more")
    if None in found:
        raise TypeError("a size of the list vocab_size is None: give an int, or leave it out")
    return found


def _check_room(vocab_size: int | None, least: int, specials: int) -> None:
    if vocab_size is not None and vocab_size < least:
        alphabet = f"{least - specials} {'bytes' if least - specials == 256 else 'ids'}"
        raise ValueError(
            f"vocab_size={vocab_size} is below the {alphabet} of the alphabet plus {specials} special "
            f"tokens: ask for at least {least}"
        )


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
