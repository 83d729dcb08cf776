"""What a report holds: plain data, with the ways to show it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from digram.report.characters import Array

__all__ = ["MEASURES", "Estimate", "Group", "Measure", "Parallel", "Report", "Row", "Vocabulary"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: its name in data, what it is called in tables, and what it is.

    One that is a `share` is from 0 to 1, and shown as a percentage. One with `over` is a ratio of two sums of
    `digram.report.gathering`, and has an interval.
    """

    name: str
    title: str
    what: str
    share: bool = False
    over: tuple[str, str] | None = None


def _measures(*given: Measure) -> Mapping[str, Measure]:
    return {measure.name: measure for measure in given}


MEASURES = _measures(
    Measure("bytes_per_token", "bytes per token", "bytes of UTF-8 / tokens", over=("bytes", "tokens")),
    Measure("characters_per_token", "characters per token", "code points / tokens", over=("characters", "tokens")),
    Measure("words_per_token", "words per token", "words / tokens", over=("words", "tokens")),
    Measure("tokens_per_character", "tokens per character", "tokens / code points", over=("tokens", "characters")),
    Measure("fertility", "fertility", "tokens / words", over=("tokens", "words")),
    Measure(
        "parts_per_word",
        "parts per word",
        "tokens that hold something of a word, a word",
        over=("tokens of words", "words"),
    ),
    Measure(
        "whole_words",
        "words kept whole",
        "words that one token holds all of / words",
        share=True,
        over=("whole words", "words"),
    ),
    Measure(
        "tokens_per_digit",
        "tokens per digit",
        "tokens that hold something of a number / digits",
        over=("tokens of numbers", "characters of numbers"),
    ),
    Measure("tokens_per_number", "tokens per number", "the same / numbers", over=("tokens of numbers", "numbers")),
    Measure(
        "tokens_per_identifier",
        "tokens per identifier",
        "tokens that hold something of an identifier / identifiers",
        over=("tokens of identifiers", "identifiers"),
    ),
    Measure(
        "whole_identifiers",
        "identifiers kept whole",
        "identifiers that one token holds all of / identifiers",
        share=True,
        over=("whole identifiers", "identifiers"),
    ),
    Measure(
        "tokens_per_indentation",
        "tokens per indentation",
        "tokens that hold something of an indentation / indentations",
        over=("tokens of indentation", "indentation"),
    ),
    Measure(
        "characters_per_white_space_token",
        "white space per token",
        "characters of white space / tokens that hold something of a run of white space",
        over=("characters of white space", "tokens of white space"),
    ),
    Measure("white_space_tokens", "tokens of white space alone", "their share of the tokens", share=True),
    Measure("not_utf8_tokens", "tokens that are not UTF-8 alone", "their share of the tokens", share=True),
    Measure("unknown_tokens", "unknown tokens", "their share of the tokens", share=True),
    Measure("vocabulary_use", "vocabulary used", "tokens of the vocabulary that occur / its tokens", share=True),
    Measure("entropy", "entropy", "Shannon's, of the tokens' frequencies, in bits"),
    Measure("renyi_efficiency", "Rényi efficiency", "Rényi entropy / log2 of the size of the vocabulary"),
    Measure("renyi_efficiency_of_used", "Rényi efficiency (used)", "Rényi entropy / log2 of the tokens that occur"),
    Measure("gini_of_frequencies", "Gini of frequencies", "of all tokens of the vocabulary, also those of none"),
)
"""All measures of a tokenizer on a group of texts, in the order of tables."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, and the ends of its bootstrap interval. None where there is nothing to divide by, or no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The texts of a language or domain, before any tokenizer: sums.

    `runs` and `run_characters` are by kind of run (`digram.report.texts.RUNS`). `unspaced` is the share of the letters
    whose scripts put no white space between words: where it is large, words are none. `blocks` is how many blocks
    the intervals come from, of about `block_bytes` bytes each.
    """

    name: str
    documents: int
    bytes: int
    characters: int
    lines: int
    words: int
    runs: Mapping[str, int]
    run_characters: Mapping[str, int]
    unspaced: float
    blocks: int
    block_bytes: int

    @property
    def spaced(self) -> bool:
        """Whether white space separates words, in at least half of the text."""
        return self.unspaced < 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """One tokenizer on one group; `group` is None for all groups together.

    `measures` has each of MEASURES by name. `kinds`: how many tokens are of each kind (`digram.report.vocabularies`).
    `lengths`: how many tokens have so many bytes. `digits`: how many tokens of numbers hold so many digits. `cuts`: how
    often numbers of up to twelve digits are cut so ("3+1": a token that holds three digits, then one that holds one).
    `ranks`: (rank, count) of tokens by frequency, at ranks that are about evenly spaced on a logarithmic scale.
    """

    tokenizer: str
    group: str | None
    tokens: int
    types: int
    measures: Mapping[str, Estimate]
    kinds: Mapping[str, int]
    lengths: Mapping[int, int]
    digits: Mapping[int, int]
    cuts: Mapping[str, int]
    ranks: Sequence[tuple[int, int]]

    def __getitem__(self, measure: str) -> Estimate:
        return self.measures[measure]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer without any text, and what no text of the report used.

    `size` counts the tokens, special ones too. `never_used` are the ids of ordinary tokens that occur in no group,
    `unreachable` of those that no text gives (`digram.report.vocabularies`), `not_utf8` of those that are no whole
    characters, `not_canonical` of those of `Tokenizer.not_canonical`. `kinds` and `lengths` count the tokens of the
    vocabulary, `shown` has the text of some that are unreachable. `gini_of_costs` is Gini's coefficient over languages.
    """

    name: str
    n_vocab: int
    size: int
    special: int
    kinds: Mapping[str, int]
    lengths: Mapping[int, int]
    unreachable: Sequence[int]
    not_utf8: Sequence[int]
    not_canonical: Sequence[int]
    never_used: Sequence[int]
    gini_of_costs: Estimate
    shown: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Parallel:
    """The same content in several languages, in `units` lines or documents that belong together.

    `tokens` and `premiums` are by tokenizer, then by language: a premium is the tokens of a language over those of the
    reference language. `byte_premiums` is the same of bytes of UTF-8: what a tokenizer without merges would have.
    """

    reference: str
    units: int
    blocks: int
    languages: Sequence[str]
    tokens: Mapping[str, Mapping[str, int]]
    premiums: Mapping[str, Mapping[str, Estimate]]
    byte_premiums: Mapping[str, float | None]


@dataclass(frozen=True)
class Report:
    """What `digram.report.measure` found: rows for each tokenizer and group, and the ways to show them.

    `totals` has a row for each tokenizer on all groups together. `counts` is how often each id occurs in all groups, by
    tokenizer: numpy arrays. `settings` has the options that change what figures mean.
    """

    settings: Mapping[str, Any]
    vocabularies: Sequence[Vocabulary]
    groups: Sequence[Group]
    rows: Sequence[Row]
    totals: Sequence[Row]
    parallel: Parallel | None
    counts: Mapping[str, Array]

    def row(self, tokenizer: str, group: str | None = None) -> Row:
        """The row of a tokenizer and a group, or of all groups together. KeyError where there is none."""
        for row in self.totals if group is None else self.rows:
            if (row.tokenizer, row.group) == (tokenizer, group):
                return row
        raise KeyError(f"the report has no row for {tokenizer!r} on {group!r}")

    def table(self, measures: Sequence[str] | None = None) -> str:
        """Tables for a terminal. `measures` are those that are shown group by group, all of them where it is empty."""
        from digram.report.tables import to_text

        return to_text(self, measures)

    def to_markdown(self, measures: Sequence[str] | None = None) -> str:
        """The same tables in Markdown."""
        from digram.report.tables import to_markdown

        return to_markdown(self, measures)

    def to_csv(self) -> str:
        """A line for each tokenizer and group, with the sums and the measures; group "" is all of them together.

        An interval is in two columns more, NAME_low and NAME_high. What has no value is empty.
        """
        from digram.report.data import to_csv

        return to_csv(self)

    def to_json(self) -> str:
        """All of the report but for `counts`, as one JSON object; `None` is null."""
        from digram.report.data import to_json

        return to_json(self)

    def to_dict(self) -> dict[str, Any]:
        """What `to_json` writes, as dictionaries and lists."""
        from digram.report.data import to_dict

        return to_dict(self)

    def plot(self, kind: str, path: str | os.PathLike[str]) -> None:
        """Draws one of `digram.report.plots.KINDS` to a PNG, SVG or PDF file, as its name says. Needs matplotlib."""
        from digram.report.plots import plot

        plot(self, kind, path)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __repr__(self) -> str:
        tokenizers, groups = len(self.vocabularies), len(self.groups)
        return (
            f"<digram.Report: {tokenizers} tokenizer{'' if tokenizers == 1 else 's'}, "
            f"{groups} group{'' if groups == 1 else 's'}>"
        )
