"""Parity-aware training: Foroutan, Meister, Paul, Niklaus, Ahmadi, Bosselut and Sennrich 2025, "Parity-aware byte-pair
encoding: improving cross-lingual fairness in tokenization".

    found = train_parity_aware({"en": english, "km": khmer}, vocab_size=32_000, dev={"en": ..., "km": ...})
    tok = found.tokenizer

In each round the language that is compressed worst chooses: the most frequent pair of its own texts is merged, in the
texts of all. What comes out is an ordinary vocabulary. Variants of the paper: base; hybrid (`global_merges`); with a
moving window (`window`). The paper's code, github.com/swiss-ai/parity-aware-bpe, ends where the language whose turn it
is has no pair left; here it is passed over.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from digram import _native, _threads
from digram._following import trained
from digram._numbers import whole_number
from digram._setting import TIES
from digram._warn import warn
from digram.counts import ONE_TEXT, PieceCounts, Progress
from digram.definition import Definition, special_ids
from digram.errors import TrainingWarning
from digram.tokenizer import Tokenizer
from digram.training import Ties, train

if TYPE_CHECKING:
    from digram.corpus import Corpus

__all__ = ["ParityAware", "train_parity_aware"]

Texts: TypeAlias = "str | bytes | Iterable[str | bytes] | Corpus | PieceCounts"


@dataclass(frozen=True, slots=True)
class ParityAware:
    """What `train_parity_aware` learnt.

    tokenizer  the vocabulary
    chosen     the language that chose each merge after the global ones, in order
    counts     how often each merge's pair occurred in the texts of the language that chose it; of a global one, in all
    tokens     the tokens of each language's measured texts (`dev`, or the training texts) at the end
    """

    tokenizer: Tokenizer
    chosen: tuple[str, ...]
    counts: tuple[int, ...]
    tokens: Mapping[str, int]

    @property
    def merges_of(self) -> Mapping[str, int]:
        """How many merges each language chose."""
        return Counter(self.chosen)


def train_parity_aware(
    groups: Mapping[str, Texts],
    vocab_size: int | None = None,
    *,
    dev: Mapping[str, Texts] | None = None,
    ratio: Mapping[str, float] | None = None,
    global_merges: int = 0,
    window: int | None = None,
    alpha: float = 2,
    min_count: int | None = None,
    special_tokens: Iterable[str] = (),
    split: str | None = "cl100k",
    ties: Ties = "smallest-ids",
    max_token_length: int | None = None,
    max_token_characters: int | None = None,
    whole_characters: bool = False,
    split_digits: bool = False,
    attach_marks: bool = False,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> ParityAware:
    """Learns a vocabulary of bytes from the texts of several languages, or any other groups, by name.

    dev            texts of the same content in each language (a parallel development set): the language whose dev
                   texts have the most tokens now is compressed worst. Without it, the language whose training texts
                   have the fewest bytes per token.
    ratio          without `dev`: what bytes per token are divided by before they are compared (the paper's desired
                   compression). Text of three bytes a character has more bytes a token at the same length in tokens.
    global_merges  so many merges come first that are learnt from all texts together, as by `digram.train` (hybrid)
    window, alpha  a language that made more than alpha / languages of the last `window` choices waits; the paper has
                   window=100, alpha=2

    Of equal languages the first one chooses. A language whose best pair occurs less than `min_count` times (default: 1
    where only `vocab_size` is given) chooses no more. The other options are those of `digram.train`.

    The result depends on the texts alone. It takes as long as training on each language, to as many merges.

    ValueError: no group, other names in `dev` or `ratio`, both of these; otherwise as `digram.train`.
    TrainingWarning: the texts ran out of pairs before `vocab_size`.
    """
    names = _names(groups, dev, ratio)
    limits = {"min_count": min_count, "max_token_length": max_token_length,
              "max_token_characters": max_token_characters, "window": window}  # fmt: skip
    for name, value in limits.items():
        if value is not None:
            whole_number(name, value)
    if vocab_size is not None:
        whole_number("vocab_size", vocab_size, least=0)
    if vocab_size is None and min_count is None:
        raise ValueError("training needs vocab_size or min_count, or it would not know when to stop")
    if isinstance(global_merges, bool) or not isinstance(global_merges, int) or global_merges < 0:
        raise ValueError(f"global_merges must be an int from 0 on, not {global_merges!r}")
    if not 1 <= alpha < float("inf"):
        raise ValueError(f"alpha must be 1 or more, not {alpha}: below, all languages would have to wait")
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(map(repr, TIES))}, not {ties!r}")
    threads = _threads.checked(threads)
    markers = tuple(special_ids(special_tokens, 0))

    def counted(texts: Texts) -> PieceCounts:
        if isinstance(texts, PieceCounts):
            if (texts.split, texts.special_tokens) != (split, markers):
                raise ValueError(
                    f"counts were cut by {texts.split!r} at {texts.special_tokens!r}, not by {split!r} at {markers!r}"
                )
            if ties in ("first-seen", "minbpe") and not texts.ordered:
                raise ValueError(f'counts carry no order of first appearance, which ties="{ties}" needs')
            return texts
        if not isinstance(texts, (Iterable, ONE_TEXT)):
            raise TypeError(f"texts must be str, bytes, an iterable of them, a Corpus or PieceCounts, "
                            f"not {type(texts).__name__}")  # fmt: skip
        counts = PieceCounts(split, markers)
        counts.add(texts, threads=threads, progress=progress)
        return counts

    counts = [counted(groups[name]) for name in names]
    measured = None if dev is None else [counted(dev[name]) for name in names]
    worth = [1.0] * len(names)
    if dev is None:  # tokens for a byte: the highest is worst
        bytes_of = [sum(len(piece) * n for piece, n in one.items()) for one in counts]
        worth = [
            max(size, 1) / (1 if ratio is None else ratio[name]) for size, name in zip(bytes_of, names, strict=True)
        ]
    rules: dict[str, Any] = {
        "max_token_length": max_token_length,
        "whole_characters": whole_characters,
        "split_digits": split_digits,
        "attach_marks": attach_marks,
    }
    begun = array("I")
    if global_merges:
        together = PieceCounts(split, markers)
        for one in counts:
            together.merge(one)
        most = 256 + len(markers) + global_merges
        size = most if vocab_size is None else min(most, vocab_size)
        ordinary = train(together, size, min_count=min_count, ties=ties, threads=threads, progress=progress,
                         max_token_characters=max_token_characters, **rules)  # fmt: skip
        begun = ordinary._definition.merges
    documents = sum(one.documents for one in counts)

    def told(merges: int, planned: int | None, best: int, *_: object) -> None:
        if progress is not None:
            progress(Progress("merging", documents, 0, merges, planned, best))

    flat, learned, chosen, tokens, exhausted = _native.train_parity(
        [one._native for one in counts],
        None if measured is None else [one._native for one in measured],
        worth,
        window=None if window is None else (window, float(alpha)),
        vocab_size=vocab_size,
        reserved=len(markers),
        min_count=min_count or 1,
        ties=TIES[ties],
        max_characters=max_token_characters,
        merges=begun or None,
        told=told if progress is not None else None,
        **rules,
    )
    merges = array("I", bytes(flat))
    planned = None if vocab_size is None else vocab_size - 256 - len(markers)
    told(len(merges) // 2, planned, array("Q", bytes(learned))[-1] if learned else 0)
    if exhausted and vocab_size is not None:
        size = 256 + len(markers) + len(merges) // 2
        warn(f"the texts ran out of pairs: the vocabulary has {size:,} ids, not {vocab_size:,}", TrainingWarning)
    empty = Definition(kind="merges", split=counts[0].split)
    return ParityAware(
        Tokenizer(trained(empty, "", merges, list(markers))),
        tuple(names[group] for group in array("I", bytes(chosen))),
        tuple(array("Q", bytes(learned))),
        dict(zip(names, array("Q", bytes(tokens)), strict=True)),
    )


def _names(
    groups: Mapping[str, Texts], dev: Mapping[str, Texts] | None, ratio: Mapping[str, float] | None
) -> list[str]:
    """The names of the groups, in order."""
    if not isinstance(groups, Mapping):
        raise TypeError(f"groups must be a mapping of names to texts, not {type(groups).__name__}")
    if not groups:
        raise ValueError("groups is empty: give the texts of one language or more")
    if dev is not None and ratio is not None:
        raise ValueError("ratio is for training texts: dev texts have the same content in each language")
    for name, given in (("dev", dev), ("ratio", ratio)):
        if given is not None and set(given) != set(groups):
            odd = sorted(map(str, set(given) ^ set(groups)))
            raise ValueError(f"{name} must have the names of groups, and differs in {', '.join(odd)}")
    for language, value in (ratio or {}).items():
        if not 0 < value < float("inf"):
            raise ValueError(f"the ratio of {language!r} must be above 0, not {value}")
    return list(groups)
