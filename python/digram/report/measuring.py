"""From tokenizers and texts to a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from digram import _threads
from digram._text import printable
from digram.report import measures
from digram.report.blocks import FEWEST, resampled
from digram.report.characters import Array
from digram.report.gathering import Gathered, Tally, Texts, column, gather
from digram.report.parallel import Costs, costs
from digram.report.results import MEASURES, Estimate, Group, Parallel, Report, Row, Vocabulary
from digram.report.texts import RUNS, Words
from digram.report.vocabularies import KINDS, Facts, facts
from digram.tokenizer import Tokenizer

__all__ = ["measure"]

_SHOWN = 10
_RANKS = 120


def measure(
    tokenizers: Tokenizer | Mapping[str, Tokenizer],
    groups: Mapping[str, Texts],
    *,
    parallel: Mapping[str, Iterable[str | bytes]] | None = None,
    reference: str | None = None,
    words: Words = "spaces",
    alpha: float = 2.5,
    confidence: float = 95,
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Report:
    """Measures each tokenizer on each group of texts; docs/report.md defines what.

        texts = {"English": digram.Corpus("en/"), "Deutsch": ["ein Text", "noch einer"]}
        report = digram.report.measure({"gpt2": digram.load("gpt2"), "mine": tok}, texts)
        print(report.table())
        report.row("mine", "Deutsch")["fertility"]     # Estimate(value, low, high)
        report.plot("fertility", "fertility.svg")

    tokenizers  by name; a tokenizer by itself is named "tokenizer"
    groups      languages or domains by name: a text, an iterable of texts (str or bytes) or a Corpus. Each text is
                encoded as `tok.encode` does, special tokens being ordinary text
    parallel    languages by name: texts of which the i-th of one is the translation of the i-th of all others
    reference   the language that premiums are relative to; default: the first of `parallel`
    words       "spaces": what stands between white space; "letters": runs of letters and marks
    alpha       the order of Rényi's entropy
    confidence  of the intervals, in per cent. They come from `resamples` draws of blocks of lines with the `seed`, by
                percentiles; resamples=0 gives none
    progress    is called with a number of bytes each time so many were counted

    Texts are read once, some at a time. Needs numpy: ModuleNotFoundError says how to get it. ValueError: no tokenizer,
    no group, an option out of its range, parallel texts of different length. TypeError: an item that is no text. Errors
    of encoding name the tokenizer and the group.
    """
    named = {"tokenizer": tokenizers} if isinstance(tokenizers, Tokenizer) else tokenizers
    _check(named, groups, parallel, reference, words, alpha, confidence, resamples, seed)
    threads = _threads.checked(threads)
    about = {name: facts(tokenizer) for name, tokenizer in named.items()}
    told = _Told(alpha, confidence, {name: found.size for name, found in about.items()}, about, named)

    rows: list[Row] = []
    every = [Tally(np.zeros(t.n_vocab, np.int64)) for t in named.values()]
    gathered: list[Group] = []
    totals: list[Array] = []
    draws: list[Array | None] = []
    for number, found in enumerate(gather(named, groups, words, threads, progress)):
        total = found.blocks.total
        drawn = resampled(found.blocks.rows, resamples, np.random.default_rng([seed, 0, number]))
        gathered.append(_group(found, total))
        rows += [told.row(i, name, found.name, total, drawn, found.tallies[i]) for i, name in enumerate(named)]
        for tally, more in zip(every, found.tallies, strict=True):
            tally.counts += more.counts
            tally.digits += more.digits
            tally.cuts += more.cuts
        totals.append(total)
        draws.append(drawn)
    total = np.sum(totals, axis=0)
    # Groups are drawn each by itself. One too short to be resampled counts as it is.
    drawn = None
    if any(each is not None for each in draws):
        drawn = np.zeros((1, len(total)))
        for each, sums in zip(draws, totals, strict=True):
            drawn = drawn + (sums if each is None else each)
    counted = None if parallel is None else costs(named, parallel, threads, resamples, seed)
    if counted is not None:
        ginis = told.ginis(counted.sums[:-1], None if counted.drawn is None else counted.drawn[:, :-1])
    else:
        ginis = _ginis_of_groups(told, totals, draws, len(named))
    return Report(
        settings={
            "words": words,
            "alpha": alpha,
            "confidence": confidence,
            "resamples": resamples,
            "seed": seed,
            "gini_of_costs": "tokens per unit of the parallel text" if counted else "tokens per byte of the groups",
        },
        vocabularies=[
            _vocabulary(name, named[name], about[name], every[i].counts, ginis[i]) for i, name in enumerate(named)
        ],
        groups=gathered,
        rows=rows,
        totals=[told.row(i, name, None, total, drawn, every[i]) for i, name in enumerate(named)],
        parallel=None if counted is None else _parallel(told, counted, list(named), reference),
        counts={name: every[i].counts for i, name in enumerate(named)},
    )


def _check(
    tokenizers: Mapping[str, Tokenizer],
    groups: Mapping[str, Texts],
    parallel: Mapping[str, object] | None,
    reference: str | None,
    words: str,
    alpha: float,
    confidence: float,
    resamples: int,
    seed: int,
) -> None:
    for what, given, values in (("tokenizers", tokenizers, "tokenizers"), ("groups", groups, "texts")):
        if not isinstance(given, Mapping):
            raise TypeError(f"{what} must be a mapping of names to {values}, not {type(given).__name__}")
        if not given:
            raise ValueError(f"{what} are empty: a report needs at least one")
    for name, tokenizer in tokenizers.items():
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"{name!r} must be a digram.Tokenizer, not {type(tokenizer).__name__}")
    if words not in ("spaces", "letters"):
        raise ValueError(f'words must be "spaces" or "letters", not {words!r}')
    if not alpha >= 0:
        raise ValueError(f"alpha must be at least 0, not {alpha}")
    if not 0 < confidence < 100:
        raise ValueError(f"confidence must be between 0 and 100 per cent, not {confidence}")
    if resamples < 0 or seed < 0:
        raise ValueError(f"resamples and seed must be at least 0, not {min(resamples, seed)}")
    if reference is not None and (parallel is None or reference not in parallel):
        known = ", ".join(map(printable, list(parallel or ())[:20]))
        names = f"they are {known}" if known else "give parallel texts too"
        raise ValueError(f"the reference language {printable(reference)!r} is none of the parallel texts: {names}")
    if parallel is not None and not parallel:
        raise ValueError("parallel is empty: leave it out, or give at least one language")


class _Told:
    """Turns sums into measures."""

    def __init__(
        self,
        alpha: float,
        confidence: float,
        sizes: Mapping[str, int],
        about: Mapping[str, Facts],
        tokenizers: Mapping[str, Tokenizer],
    ) -> None:
        self._alpha = alpha
        self._ends = (50 - confidence / 2, 50 + confidence / 2)
        self._sizes = sizes
        self._tokenizers = tokenizers
        self._kinds = {
            name: np.array([KINDS.index(kind) if kind else len(KINDS) for kind in found.kinds], np.int64)
            for name, found in about.items()
        }
        self._broken = {name: np.array(found.not_utf8, np.int64) for name, found in about.items()}
        self._lengths = {name: np.array(found.lengths, np.int64) for name, found in about.items()}

    def row(self, i: int, name: str, group: str | None, total: Array, drawn: Array | None, tally: Tally) -> Row:
        """The row of the tokenizer with the number `i`."""
        counts = tally.counts
        kinds = np.bincount(self._kinds[name], counts, len(KINDS) + 1).astype(np.int64)
        lengths = np.bincount(self._lengths[name], counts)
        tokens = int(counts.sum())
        used = counts[counts > 0]
        found: dict[str, Estimate] = {}
        for measure in MEASURES.values():
            if measure.over is not None:
                above, below = (column(part, i) for part in measure.over)
                found[measure.name] = self._ratio(
                    total[above], total[below], None if drawn is None else (drawn[:, above], drawn[:, below])
                )
        unknown = self._unknown(name)
        plain: dict[str, float | None] = {
            "white_space_tokens": _share(int(kinds[KINDS.index("white space")]), tokens),
            "not_utf8_tokens": _share(int(counts[self._broken[name]].sum()), tokens),
            "unknown_tokens": _share(0 if unknown is None else int(counts[unknown]), tokens),
            "vocabulary_use": _share(len(used), self._sizes[name]),
            "entropy": measures.entropy(used),
            "renyi_efficiency": measures.efficiency(used, self._sizes[name], self._alpha),
            "renyi_efficiency_of_used": measures.efficiency(used, len(used), self._alpha),
            "gini_of_frequencies": measures.gini(
                np.concatenate([used, np.zeros(max(0, self._sizes[name] - len(used)), np.int64)])
            ),
        }
        found |= {name: Estimate(value) for name, value in plain.items()}
        return Row(
            tokenizer=name,
            group=group,
            tokens=tokens,
            types=len(used),
            measures={name: found[name] for name in MEASURES},
            kinds={kind: int(n) for kind, n in zip(KINDS, kinds, strict=False) if n},
            lengths={length: int(n) for length, n in enumerate(lengths) if n},
            digits=dict(sorted(tally.digits.items())),
            cuts={"+".join(map(str, cut)): n for cut, n in sorted(tally.cuts.items(), key=_by_size)},
            ranks=_ranks(used),
        )

    def estimate(self, value: float | None, drawn: Array | None) -> Estimate:
        """A value with the percentiles of what was drawn; nan is left out."""
        if value is None or drawn is None:
            return Estimate(value)
        drawn = drawn[np.isfinite(drawn)]
        if not len(drawn):
            return Estimate(value)
        low, high = np.percentile(drawn, self._ends)
        return Estimate(value, float(low), float(high))

    def _ratio(self, above: float, below: float, drawn: tuple[Array, Array] | None) -> Estimate:
        value = _share(int(above), int(below))
        if drawn is None:
            return Estimate(value)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.estimate(value, drawn[0] / drawn[1])

    def ginis(self, costs: Array, drawn: Array | None) -> list[Estimate]:
        """Gini's coefficient of costs (tokenizers, languages) for each tokenizer; nothing for fewer than two."""
        found = []
        for i in range(len(costs)):
            value = measures.gini(costs[i]) if costs.shape[1] > 1 else None
            spread = None
            if value is not None and drawn is not None:
                spread = np.array([measures.gini(each) or 0.0 for each in drawn[:, i]])
            found.append(self.estimate(value, spread))
        return found

    def _unknown(self, name: str) -> int | None:
        definition = self._tokenizers[name]._definition
        if definition.unknown_id is not None:
            return definition.unknown_id
        return definition.special_tokens.get(definition.unknown)


def _ginis_of_groups(told: _Told, totals: Sequence[Array], draws: Sequence[Array | None], n: int) -> list[Estimate]:
    """Gini's coefficient of tokens per byte, over the groups that have text."""
    here = [i for i, total in enumerate(totals) if total[column("bytes")]]
    known = [drawn for i in here if (drawn := draws[i]) is not None]

    def cost(sums: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([sums[..., column("tokens", i)] / sums[..., column("bytes")] for i in range(n)])

    values = np.stack([cost(totals[i]) for i in here], axis=1) if here else np.zeros((n, 0))
    if not here or len(known) != len(here):
        return told.ginis(values, None)
    return told.ginis(values, np.stack([cost(drawn) for drawn in known], axis=-1).transpose(1, 0, 2))


def _group(found: Gathered, total: Array) -> Group:
    blocks = len(found.blocks.rows)
    return Group(
        name=found.name,
        documents=found.documents,
        bytes=int(total[column("bytes")]),
        characters=int(total[column("characters")]),
        lines=found.lines,
        words=int(total[column("words")]),
        runs={kind: int(total[column(kind)]) for kind in RUNS},
        run_characters={kind: int(total[column(f"characters of {kind}")]) for kind in RUNS},
        unspaced=found.unspaced / found.letters if found.letters else 0.0,
        blocks=blocks if blocks >= FEWEST else 0,
        block_bytes=found.blocks.size,
    )


def _vocabulary(name: str, tokenizer: Tokenizer, found: Facts, counts: Array, gini: Estimate) -> Vocabulary:
    kinds = Counter(kind for kind in found.kinds if kind)
    lengths = Counter(length for length, kind in zip(found.lengths, found.kinds, strict=True) if kind)
    return Vocabulary(
        name=name,
        n_vocab=tokenizer.n_vocab,
        size=found.size,
        special=kinds["special"],
        kinds={kind: kinds[kind] for kind in KINDS if kinds[kind]},
        lengths=dict(sorted(lengths.items())),
        unreachable=found.unreachable,
        not_utf8=found.not_utf8,
        not_canonical=list(tokenizer.not_canonical),
        never_used=[id for id, kind in enumerate(found.kinds) if kind not in ("", "special") and not counts[id]],
        gini_of_costs=gini,
        shown={id: tokenizer.token_bytes(id).decode("utf-8", "backslashreplace") for id in found.unreachable[:_SHOWN]},
    )


def _parallel(told: _Told, found: Costs, names: list[str], reference: str | None) -> Parallel:
    reference = found.languages[0] if reference is None else reference
    base = found.languages.index(reference)
    premiums: dict[str, dict[str, Estimate]] = {}
    for i, name in enumerate(names):
        premiums[name] = {}
        for j, language in enumerate(found.languages):
            drawn = None
            if found.drawn is not None and j != base:
                with np.errstate(divide="ignore", invalid="ignore"):
                    drawn = found.drawn[:, i, j] / found.drawn[:, i, base]
            premiums[name][language] = told.estimate(_share(int(found.sums[i, j]), int(found.sums[i, base])), drawn)
    return Parallel(
        reference=reference,
        units=found.units,
        blocks=found.blocks,
        languages=found.languages,
        tokens={name: dict(zip(found.languages, found.sums[i].tolist(), strict=True)) for i, name in enumerate(names)},
        premiums=premiums,
        byte_premiums={
            language: _share(int(found.sums[-1, j]), int(found.sums[-1, base]))
            for j, language in enumerate(found.languages)
        },
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _by_size(cut: tuple[tuple[int, ...], int]) -> tuple[int, int, tuple[int, ...]]:
    """Short numbers first, and for each length the most frequent cut first."""
    return sum(cut[0]), -cut[1], cut[0]


def _ranks(used: Array) -> list[tuple[int, int]]:
    """(rank, count) from the most frequent on, at some ranks between the first and the last."""
    counts = np.sort(used)[::-1]
    if not len(counts):
        return []
    ranks = np.unique(np.round(np.geomspace(1, len(counts), _RANKS)).astype(np.int64))
    return list(zip(ranks.tolist(), counts[ranks - 1].tolist(), strict=True))
