"""One pass over the texts, with all tokenizers at once: sums over blocks, and how often each token occurs.

Memory does not grow with the number of texts: besides the vocabularies it is some 16 MB of documents at a time with
what is found in them, or one document and its ids where that is longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from digram.errors import DigramError
from digram.report.blocks import Blocks, borders
from digram.report.characters import Array
from digram.report.spans import Places, encoded
from digram.report.texts import RUNS, Runs, Stretch, Words, batches, stretches
from digram.tokenizer import Tokenizer

__all__ = ["LONGEST_CUT", "Gathered", "Tally", "column", "gather", "width"]

# The columns of a block: those of the text, then for each tokenizer its own.
_OF_TEXT = ("bytes", "characters", *RUNS, *(f"characters of {kind}" for kind in RUNS))
_OF_TOKENS = ("tokens", *(f"tokens of {kind}" for kind in RUNS), *(f"whole {kind}" for kind in RUNS))

LONGEST_CUT = 12
"""How numbers of more digits are cut is not told one by one; nor tokens of more digits."""

# A batch that is longer than this (one long document) is looked at again for each tokenizer, not kept.
_KEPT = 64 << 20

Texts = str | bytes | Iterable[str | bytes]


def column(name: str, tokenizer: int = 0) -> int:
    """The place in a block's row of a sum of the text, or of the tokenizer with this number."""
    if name in _OF_TEXT:
        return _OF_TEXT.index(name)
    return len(_OF_TEXT) + tokenizer * len(_OF_TOKENS) + _OF_TOKENS.index(name)


def width(tokenizers: int) -> int:
    """The number of columns."""
    return len(_OF_TEXT) + tokenizers * len(_OF_TOKENS)


@dataclass
class Tally:
    """What one tokenizer does with one group: how often each id occurs, how many digits tokens hold, and how numbers
    of each length are cut: (2, 1) is a token that holds two digits, and one that holds one."""

    counts: Array
    digits: Counter[int] = field(default_factory=Counter)
    cuts: Counter[tuple[int, ...]] = field(default_factory=Counter)


@dataclass
class Gathered:
    """All that was counted of one group of texts."""

    name: str
    blocks: Blocks
    tallies: list[Tally]
    documents: int = 0
    lines: int = 0
    letters: int = 0
    unspaced: int = 0


def gather(
    tokenizers: Mapping[str, Tokenizer],
    groups: Mapping[str, Texts],
    words: Words,
    threads: int | None,
    progress: Callable[[int], object] | None,
) -> Iterator[Gathered]:
    """Each group, once it is counted. `progress` is told how many bytes were."""
    lengths = [np.frombuffer(t._encoder.token_lengths(), np.uint64).astype(np.int64) for t in tokenizers.values()]
    for name, texts in groups.items():
        found = Gathered(
            name, Blocks(width(len(tokenizers))), [Tally(np.zeros(t.n_vocab, np.int64)) for t in tokenizers.values()]
        )
        for batch in batches(texts, name):
            found.documents += len(batch)
            found.lines += sum(text.count(b"\n") + (text[-1:] not in (b"", b"\n")) for text in batch)
            _add(found, tokenizers, lengths, batch, words, threads)
            if progress is not None:
                progress(sum(map(len, batch)))
        yield found


def _add(
    found: Gathered,
    tokenizers: Mapping[str, Tokenizer],
    lengths: list[Array],
    batch: list[bytes],
    words: Words,
    threads: int | None,
) -> None:
    joined = batch[0] if len(batch) == 1 else b"".join(batch)
    begins = np.array([0, *accumulate(map(len, batch))][:-1], np.int64)

    def cut() -> Iterable[Stretch]:
        return stretches(joined, begins, words)

    kept = list(cut()) if len(joined) <= _KEPT else None
    size = found.blocks.size
    rows: list[Array] = []
    for stretch in kept or cut():
        letters, unspaced = stretch.unspaced
        found.letters += letters
        found.unspaced += unspaced
        rows.append(_of_text(stretch, size, len(tokenizers)))
    for i, ((name, tokenizer), tally) in enumerate(zip(tokenizers.items(), found.tallies, strict=True)):
        try:
            ids, reader = encoded(tokenizer, batch, lengths[i], threads)
        except DigramError as error:
            raise type(error)(f"{name}, on {found.name}: {error}") from None
        tally.counts += np.bincount(ids, minlength=len(tally.counts))
        places = reader()
        at, last = column("tokens", i), column("tokens", i + 1)
        for stretch, row in zip(kept or cut(), rows, strict=True):
            _of_tokens(stretch, places(stretch), size, row[:, at:last], tally)
    for row in rows:
        found.blocks.add(row)


def _of_text(stretch: Stretch, size: int, tokenizers: int) -> Array:
    """The rows of the blocks of a stretch, with what is to be said of the text alone."""
    edges = borders(stretch.line_starts, len(stretch.text), size)
    rows = np.zeros((len(edges) - 1, width(tokenizers)), np.int64)
    rows[:, 0] = np.diff(edges)
    rows[:, 1] = np.diff(np.searchsorted(stretch.places, edges))
    for kind, runs in stretch.runs.items():
        rows[:, column(kind)] = _by_block(runs, edges)
        rows[:, column(f"characters of {kind}")] = _by_block(runs, edges, runs.last - runs.first)
    return rows


def _of_tokens(stretch: Stretch, places: Places, size: int, rows: Array, tally: Tally) -> None:
    """Fills in what a tokenizer makes of each block; a run belongs to the block in which it begins."""
    edges = borders(stretch.line_starts, len(stretch.text), size)
    rows[:, 0] = np.diff(places.before(edges))
    for kind, runs in stretch.runs.items():
        over = places.over(runs.starts, runs.ends)
        rows[:, _OF_TOKENS.index(f"tokens of {kind}")] = _by_block(runs, edges, over)
        rows[:, _OF_TOKENS.index(f"whole {kind}")] = _by_block(runs, edges, over == 1)
    _numbers(stretch.runs["numbers"], stretch.places, places, tally)


def _by_block(runs: Runs, edges: Array, values: Array | None = None) -> Array:
    """How many runs begin in each block, or the sum of their values."""
    at = np.searchsorted(runs.starts, edges)
    if values is None:
        return np.diff(at)
    sums = np.zeros(len(runs.starts) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return np.diff(sums[at])


def _numbers(runs: Runs, characters: Array, places: Places, tally: Tally) -> None:
    """How many digits each token of a number holds."""
    if not len(runs.first):
        return
    sizes = runs.last - runs.first
    begins = np.cumsum(sizes) - sizes  # where each number begins, in the row of all digits
    which = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(which)) - begins[which]
    digits = characters[runs.first[which] + within]
    # A token begins at a digit, or inside of it, if one more has begun right after its first byte.
    begun = places.before(digits + 1)
    cut = np.diff(begun, prepend=-1) > 0
    cut[begins] = True
    tally.digits.update(_counted(np.diff(np.append(np.flatnonzero(cut), len(cut)))))
    marks = np.add.reduceat(np.where(within < LONGEST_CUT, cut.astype(np.int64) << np.minimum(within, 62), 0), begins)
    short = sizes <= LONGEST_CUT
    for key, n in _counted(sizes[short] << LONGEST_CUT | marks[short]).items():
        tally.cuts[_parts(key >> LONGEST_CUT, key)] += n


def _counted(values: Array) -> dict[int, int]:
    numbers, counts = np.unique(values, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


def _parts(size: int, marks: int) -> tuple[int, ...]:
    """The parts of a number of `size` digits, bit i of `marks` saying that one begins at digit i."""
    begins = [i for i in range(size) if marks >> i & 1]
    return tuple(b - a for a, b in zip(begins, [*begins[1:], size], strict=True))
