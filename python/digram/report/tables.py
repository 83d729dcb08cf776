"""A report as tables, for a terminal and in Markdown."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from digram._text import printable
from digram.report.results import MEASURES, Estimate, Group, Report, Row

__all__ = ["GROUP_BY_GROUP", "to_markdown", "to_text"]

GROUP_BY_GROUP = ("bytes_per_token", "fertility", "whole_words")
"""The measures that are shown for each group where nobody says which."""

_TOTALS = (
    "bytes_per_token",
    "characters_per_token",
    "words_per_token",
    "tokens_per_character",
    "fertility",
    "whole_words",
)
_NUMBERS_AND_CODE = (
    "tokens_per_digit",
    "tokens_per_identifier",
    "whole_identifiers",
    "tokens_per_indentation",
    "white_space_tokens",
)
_ALL = "all"
_ABREAST = 8
_NOTHING = "–"


@dataclass
class _Table:
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: list[str] = field(default_factory=list)


def to_text(report: Report, measures: Sequence[str] | None = None) -> str:
    """Tables with columns under each other."""
    return "\n".join(_as_text(table) for table in _tables(report, measures))


def to_markdown(report: Report, measures: Sequence[str] | None = None) -> str:
    """Tables as GitHub reads them."""
    return "\n".join(_as_markdown(table) for table in _tables(report, measures))


def _tables(report: Report, chosen: Sequence[str] | None) -> list[_Table]:
    measures = list(MEASURES) if chosen is not None and not chosen else list(chosen or GROUP_BY_GROUP)
    for name in measures:
        if name not in MEASURES:
            raise ValueError(f"there is no measure {name!r}: they are {', '.join(MEASURES)}")
    tables = [_texts(report), _vocabularies(report)]
    interval = report.settings["confidence"]
    plus = f"± is half of the {interval:g} % bootstrap interval"
    tables.append(_by_tokenizer("All texts", report, _TOTALS, [plus]))
    tables.append(_numbers(report))
    if len(report.vocabularies) == 1 and len(report.groups) > 1:
        tables += _by_group(report, measures, plus)
    elif len(report.groups) > 1:
        tables += [_matrix(report, name, plus) for name in measures]
    if report.parallel is not None:
        tables.append(_premiums(report, plus))
    return tables


def _texts(report: Report) -> _Table:
    rows = [
        [_marked(g), *(f"{n:,}" for n in (g.documents, g.bytes, g.characters, g.lines, g.words))] for g in report.groups
    ]
    notes = _words_notes(report)
    return _Table("Texts", ("text", "documents", "bytes", "characters", "lines", "words"), rows, notes)


def _words_notes(report: Report) -> list[str]:
    rule = report.settings["words"]
    what = "stands between white space" if rule == "spaces" else "is a run of letters and marks"
    notes = [f"a word is what {what}"]
    if not all(group.spaced for group in report.groups):
        notes.append(
            "* most letters are of scripts that put no white space between words: what is said of words says little, "
            "and cannot be compared"
        )
    return notes


def _vocabularies(report: Report) -> _Table:
    alpha = report.settings["alpha"]
    header = (
        "tokenizer",
        "tokens",
        "used",
        "never used",
        "unreachable",
        "not UTF-8",
        f"Rényi efficiency (α={alpha:g})",
        "Gini of frequencies",
        "Gini of costs",
    )
    rows = []
    notes = ["Rényi efficiency: over log2 of all tokens of the vocabulary, special ones too"]
    for vocabulary, row in zip(report.vocabularies, report.totals, strict=True):
        rows.append(
            [
                printable(vocabulary.name),
                f"{vocabulary.size:,}",
                _shown("vocabulary_use", row["vocabulary_use"]),
                f"{len(vocabulary.never_used):,}",
                f"{len(vocabulary.unreachable):,}",
                f"{len(vocabulary.not_utf8):,}",
                _shown("renyi_efficiency", row["renyi_efficiency"]),
                _shown("gini_of_frequencies", row["gini_of_frequencies"]),
                _value(vocabulary.gini_of_costs, 3),
            ]
        )
        if vocabulary.unreachable:
            some = " ".join(f"{id} {text!a}" for id, text in vocabulary.shown.items())
            more = " ..." if len(vocabulary.unreachable) > len(vocabulary.shown) else ""
            notes.append(f"no text gives, of {printable(vocabulary.name)}: {some}{more}")
    if any(vocabulary.gini_of_costs.value is not None for vocabulary in report.vocabularies):
        notes.append(f"Gini of costs: of {report.settings['gini_of_costs']}; 0 is the same for all")
    return _Table("Vocabularies", header, rows, notes)


def _by_tokenizer(title: str, report: Report, measures: Sequence[str], notes: list[str]) -> _Table:
    header = ["tokenizer", "tokens", *(MEASURES[name].title for name in measures)]
    rows = [
        [printable(row.tokenizer), f"{row.tokens:,}", *(_shown(name, row[name]) for name in measures)]
        for row in report.totals
    ]
    return _Table(title, header, rows, notes)


def _numbers(report: Report) -> _Table:
    table = _by_tokenizer("Numbers, white space and code, in all texts", report, _NUMBERS_AND_CODE, [])
    table.header = [*table.header, "digits a token: 1", "2", "3", "more"]
    table.rows = [[*cells, *_digits(row)] for cells, row in zip(table.rows, report.totals, strict=True)]
    for row in report.totals:
        told = _cuts(row)
        if told:
            table.notes.append(f"how {printable(row.tokenizer)} cuts most numbers by their digits: {told}")
    return table


def _digits(row: Row) -> list[str]:
    total = sum(row.digits.values())
    if not total:
        return [_NOTHING] * 4
    shares = [row.digits.get(n, 0) / total for n in (1, 2, 3)]
    return [f"{100 * share:.1f} %" for share in [*shares, 1 - sum(shares)]]


def _cuts(row: Row) -> str:
    """The most frequent way of cutting for numbers of two to six digits."""
    told = []
    for size in range(2, 7):
        found = {cut: n for cut, n in row.cuts.items() if sum(map(int, cut.split("+"))) == size}
        if found:
            best = max(found, key=lambda cut: found[cut])
            told.append(f"of {size} as {best} ({100 * found[best] / sum(found.values()):.0f} %)")
    return ", ".join(told)


def _by_group(report: Report, measures: Sequence[str], plus: str) -> list[_Table]:
    """Tables of some measures each, so that they are not too wide."""
    wanted = [*dict.fromkeys([*measures, *_TOTALS, "vocabulary_use", "renyi_efficiency"])]
    tables = []
    for at in range(0, len(wanted), _ABREAST):
        part = wanted[at : at + _ABREAST]
        rows: list[Sequence[str]] = [
            [_marked(group), f"{row.tokens:,}", *(_shown(name, row[name]) for name in part)]
            for group, row in zip(report.groups, report.rows, strict=True)
        ]
        header = ["text", "tokens", *(MEASURES[name].title for name in part)]
        tables.append(_Table(f"Each text, by {printable(report.vocabularies[0].name)}", header, rows, [plus]))
    return tables


def _matrix(report: Report, measure: str, plus: str) -> _Table:
    def row(label: str, group: str | None) -> list[str]:
        return [label, *(_shown(measure, report.row(v.name, group)[measure]) for v in report.vocabularies)]

    rows: list[Sequence[str]] = [row(_marked(group), group.name) for group in report.groups]
    rows.append(row(_ALL, None))
    found = MEASURES[measure]
    notes = [f"{found.what}; {plus}" if found.over else found.what]
    return _Table(_capital(found.title), ["text", *(printable(v.name) for v in report.vocabularies)], rows, notes)


def _premiums(report: Report, plus: str) -> _Table:
    parallel = report.parallel
    assert parallel is not None
    rows: list[Sequence[str]] = []
    for language in parallel.languages:
        cells = [_value(parallel.premiums[v.name][language], 2) for v in report.vocabularies]
        rows.append([printable(language), *cells, _number(parallel.byte_premiums[language], 2)])
    header = ["language", *(printable(v.name) for v in report.vocabularies), "bytes"]
    title = f"Premium: tokens relative to {printable(parallel.reference)}, on {parallel.units:,} parallel texts"
    return _Table(title, header, rows, [f"bytes: of the UTF-8, which a tokenizer without merges would have; {plus}"])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _marked(group: Group) -> str:
    return printable(group.name) + ("" if group.spaced else " *")


def _shown(measure: str, estimate: Estimate) -> str:
    if MEASURES[measure].share:
        scaled = Estimate(*(None if x is None else 100 * x for x in (estimate.value, estimate.low, estimate.high)))
        return _value(scaled, 1) + ("" if estimate.value is None else " %")
    return _value(estimate, 3 if measure.startswith(("renyi", "gini", "tokens_per_character")) else 2)


def _value(estimate: Estimate, places: int) -> str:
    text = _number(estimate.value, places)
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        text += f" ±{(estimate.high - estimate.low) / 2:.{places}f}"
    return text


def _number(value: float | None, places: int) -> str:
    return _NOTHING if value is None else f"{value:.{places}f}"


def _width(text: str) -> int:
    """How many columns printable text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _padded(text: str, size: int, right: bool) -> str:
    space = " " * (size - _width(text))
    return space + text if right else text + space


def _as_text(table: _Table) -> str:
    columns = list(zip(table.header, *table.rows, strict=True))
    lines = [table.title, ""]
    # Long titles of columns are put in several lines, so that numbers stand close to each other.
    heads = [_wrapped(head, max([8, *map(_width, cells)])) for head, *cells in columns]
    sizes = [max([*map(_width, head), *map(_width, cells)]) for head, (_, *cells) in zip(heads, columns, strict=True)]
    height = max(map(len, heads))
    for i in range(height):
        parts = [head[i - height + len(head)] if i >= height - len(head) else "" for head in heads]
        lines.append(_joined(parts, sizes))
    lines.append("  ".join("─" * size for size in sizes))
    lines += [_joined(row, sizes) for row in table.rows]
    lines += [f"  {note}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _joined(cells: Sequence[str], sizes: Sequence[int]) -> str:
    padded = [_padded(cell, size, i > 0) for i, (cell, size) in enumerate(zip(cells, sizes, strict=True))]
    return "  ".join(padded).rstrip()


def _wrapped(text: str, size: int) -> list[str]:
    lines: list[str] = []
    for word in text.split(" "):
        if lines and _width(lines[-1]) + 1 + _width(word) <= size:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def _as_markdown(table: _Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(_escaped(cell) for cell in cells)} |"

    lines = [f"**{_escaped(table.title)}**", "", line(table.header), "|---|" + "--:|" * (len(table.header) - 1)]
    lines += [line(row) for row in table.rows]
    if table.notes:
        lines += ["", "<br>".join(_escaped(note) for note in table.notes)]
    return "\n".join(lines) + "\n"


_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|~$"})


def _escaped(text: str) -> str:
    """Text that means itself in Markdown, in a cell of a table too."""
    return text.translate(_MARKUP)
