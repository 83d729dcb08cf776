"""A report as plots that can go into a paper: matplotlib draws them, without a window and without state of its own.

Colours are those of M. Okabe and K. Ito, Color Universal Design, 2008, which colour-blind readers tell apart too; each
tokenizer also has a mark or a hatch of its own, so that a grey print will do.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from digram import _optional
from digram._text import printable
from digram._warn import warn
from digram.files import whole_file
from digram.report.results import Estimate, Report

__all__ = ["KINDS", "SUFFIXES", "plot"]

KINDS = {
    "compression": "bytes per token, a bar for each text and tokenizer",
    "fertility": "tokens per word with intervals, of texts whose words have white space between them",
    "parity": "premiums on parallel text with intervals",
    "frequency": "how often tokens occur, by rank, on logarithmic scales",
    "lengths": "how long tokens are, in the vocabulary and in the texts",
    "digits": "how many digits the tokens of numbers hold",
}
"""The plots that `Report.plot` draws."""

SUFFIXES = (".png", ".svg", ".pdf")

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "||||", "++++", "oo")
_LINES = ("-", "--", "-.", ":")

# Longer tokens are all in the last bar.
_LONGEST = 16


def plot(report: Report, kind: str, path: str | os.PathLike[str]) -> None:
    """Draws one of KINDS to a file, whose name says the format. ValueError for another kind or name, or a report
    without what it shows; ModuleNotFoundError where matplotlib is missing. The same report gives the same file.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no plot {kind!r}: they are {', '.join(KINDS)}")
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{os.fspath(path)!r} does not say what to draw: its name must end in {', '.join(SUFFIXES)}")
    matplotlib = _optional.needed("matplotlib", "a plot")
    # Made whole before anything is written.
    buffer = io.BytesIO()
    with _style(matplotlib, _labels(report)):
        figure = _DRAWN[kind](report)
        metadata = {"Date": None} if suffix == ".svg" else {"CreationDate": None} if suffix == ".pdf" else {}
        figure.savefig(buffer, format=suffix[1:], dpi=200, metadata=metadata)
    with whole_file(path) as file:
        file.write(buffer.getvalue())


def _labels(report: Report) -> str:
    names = [group.name for group in report.groups] + [v.name for v in report.vocabularies]
    return "".join(names + (list(report.parallel.languages) if report.parallel else []))


@contextmanager
def _style(matplotlib: Any, text: str) -> Iterator[None]:
    fonts, missing = _fonts(text)
    settings = {
        "font.family": fonts,
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "hatch.linewidth": 0.5,
        "svg.fonttype": "path",  # looks the same where the fonts are missing
        "svg.hashsalt": "digram",
        "pdf.fonttype": 42,
        "savefig.bbox": "tight",
        "text.usetex": False,
        "text.parse_math": False,  # a name may hold dollars
    }
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # whatever the user's style says; no window is asked for
        matplotlib.rcParams.update(settings)
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield
    if missing:
        warn(f"no installed font has {printable(''.join(missing))}: names with these are drawn as boxes", UserWarning)


def _fonts(text: str) -> tuple[list[str], list[str]]:
    """Fonts that together have all characters of `text`, and the characters that none has."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    default = font_manager.findfont("DejaVu Sans")
    missing = {ord(c) for c in text if c.isprintable()} - set(FT2Font(default).get_charmap())
    fonts = ["DejaVu Sans"]
    seen: set[Any] = {default}
    for entry in sorted(font_manager.fontManager.ttflist, key=_by_likeness):
        if not missing:
            break
        if entry.fname in seen:
            continue
        seen.add(entry.fname)
        try:
            has = missing & set(FT2Font(entry.fname).get_charmap())
        except (OSError, RuntimeError):  # a font that cannot be read
            continue
        if has:
            fonts.append(entry.name)
            missing -= has
    return fonts, sorted(map(chr, missing))


def _by_likeness(entry: Any) -> tuple[bool, bool, bool, str, str]:
    """Upright sans serif of normal weight first; then by name, so that the order is always the same."""
    return (
        entry.style != "normal",
        entry.weight not in (400, "normal"),
        "Sans" not in entry.name,
        entry.name,
        entry.fname,
    )


def _figure(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def _legend(figure: Any, axes: Any, names: Sequence[str]) -> None:
    """Above the plot, where it covers nothing."""
    if len(names) < 2:
        axes.set_title(names[0], loc="left")
        return
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=min(4, len(names)),
        borderaxespad=0.2,
        handlelength=1.6,
        columnspacing=1.4,
    )


def _names(report: Report) -> list[str]:
    return [printable(vocabulary.name) for vocabulary in report.vocabularies]


def _compression(report: Report) -> Any:
    names, groups = _names(report), report.groups
    each = 0.8 / len(names)
    figure, (axes,) = _figure(6.4, 1.0 + max(1.2, len(groups) * (0.14 * len(names) + 0.12)))
    for i, vocabulary in enumerate(report.vocabularies):
        rows = [report.row(vocabulary.name, group.name)["bytes_per_token"] for group in groups]
        at = [j - 0.4 + each * (i + 0.5) for j in range(len(groups))]
        axes.barh(
            at,
            [row.value or 0 for row in rows],
            each * 0.92,
            color=_of(_COLOURS, i),
            hatch=_of(_HATCHES, i),
            edgecolor="white",
            linewidth=0.4,
            xerr=_errors(rows),
            error_kw={"elinewidth": 0.7, "ecolor": "#222222"},
            label=names[i],
        )
    _texts(axes, [printable(group.name) for group in groups])
    axes.set_xlabel("bytes per token (more is better)")
    _legend(figure, axes, names)
    return figure


def _fertility(report: Report) -> Any:
    groups = [group for group in report.groups if group.spaced and group.words]
    if not groups:
        raise ValueError("no text has words with white space between them: there is no fertility to draw")
    found = {v.name: [report.row(v.name, g.name)["fertility"] for g in groups] for v in report.vocabularies}
    figure = _dots(report, [printable(group.name) for group in groups], found, "tokens per word (less is better)")
    left_out = [printable(group.name) for group in report.groups if not (group.spaced and group.words)]
    if left_out:
        told = f"Not shown, being written without spaces: {', '.join(left_out)}"
        below = {"xycoords": "axes fraction", "xytext": (0, -36), "textcoords": "offset points"}
        figure.axes[0].annotate(told, (0, 0), **below, fontsize=7.5, va="top")
    return figure


def _parity(report: Report) -> Any:
    parallel = report.parallel
    if parallel is None:
        raise ValueError("the report has no parallel text: give some to draw parity")
    found = {name: [premiums[x] for x in parallel.languages] for name, premiums in parallel.premiums.items()}
    label = f"tokens relative to {printable(parallel.reference)}, logarithmic (1 is parity)"
    figure = _dots(report, [printable(x) for x in parallel.languages], found, label)
    axes = figure.axes[0]
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    ticks = [x for x in (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32) if low <= x <= high]
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axes.minorticks_off()
    axes.axvline(1, color="#666666", linewidth=0.9, zorder=1)
    axes.set_xlim(low, high)
    return figure


def _dots(report: Report, labels: list[str], found: dict[str, list[Estimate]], label: str) -> Any:
    """A mark for each label and tokenizer, a little under each other, with intervals."""
    names = _names(report)
    figure, (axes,) = _figure(6.4, 1.0 + max(1.2, len(labels) * (0.055 * len(names) + 0.13)))
    each = 0.7 / len(names)
    for i, rows in enumerate(found.values()):
        axes.errorbar(
            [float("nan") if row.value is None else row.value for row in rows],
            [j - 0.35 + each * (i + 0.5) for j in range(len(rows))],
            xerr=_errors(rows),
            fmt=_of(_MARKS, i),
            markersize=4.2,
            color=_of(_COLOURS, i),
            markeredgecolor="#222222",
            markeredgewidth=0.4,
            elinewidth=0.9,
            label=names[i],
        )
    _texts(axes, labels)
    for j in range(1, len(labels)):
        axes.axhline(j - 0.5, color="#eeeeee", linewidth=0.6, zorder=0)
    axes.set_xlabel(label)
    _legend(figure, axes, names)
    return figure


def _frequency(report: Report) -> Any:
    names = _names(report)
    figure, (axes,) = _figure(5.2, 3.9)
    for i, row in enumerate(report.totals):
        if row.ranks:
            axes.plot(
                *zip(*row.ranks, strict=True),
                color=_of(_COLOURS, i),
                linestyle=_of(_LINES, i),
                linewidth=1.5,
                label=names[i],
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rank of the token")
    axes.set_ylabel("occurrences")
    _legend(figure, axes, names)
    return figure


def _lengths(report: Report) -> Any:
    figure, (left, right) = _figure(7.2, 3.3, 2)
    names = _names(report)
    _histogram(left, [v.lengths for v in report.vocabularies], names, "tokens of the vocabulary")
    _histogram(right, [row.lengths for row in report.totals], names, "tokens of the texts")
    _legend(figure, left, names)
    figure.subplots_adjust(wspace=0.28)
    return figure


def _histogram(axes: Any, found: list[Any], names: list[str], label: str) -> None:
    each = 0.84 / len(found)
    for i, lengths in enumerate(found):
        total = sum(n for length, n in lengths.items() if length) or 1
        shares = [100 * lengths.get(length, 0) / total for length in range(1, _LONGEST)]
        shares.append(max(0.0, 100 * sum(n for length, n in lengths.items() if length >= _LONGEST) / total))
        at = [length - 0.42 + each * (i + 0.5) for length in range(1, _LONGEST + 1)]
        axes.bar(at, shares, each, color=_of(_COLOURS, i), label=names[i])
    axes.set_xticks([1, 4, 8, 12, _LONGEST], ["1", "4", "8", "12", f"{_LONGEST}+"])
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("bytes")
    axes.set_ylabel(f"% of the {label}")


def _digits(report: Report) -> Any:
    if not any(row.digits for row in report.totals):
        raise ValueError("there are no numbers in the texts: nothing is to be drawn of digits")
    names = _names(report)
    figure, (axes,) = _figure(5.2, 3.3)
    each = 0.84 / len(names)
    last = 6
    for i, row in enumerate(report.totals):
        total = sum(row.digits.values()) or 1
        shares = [100 * row.digits.get(n, 0) / total for n in range(1, last)]
        shares.append(100 * sum(n for size, n in row.digits.items() if size >= last) / total)
        axes.bar(
            [n - 0.42 + each * (i + 0.5) for n in range(1, last + 1)],
            shares,
            each,
            color=_of(_COLOURS, i),
            hatch=_of(_HATCHES, i),
            edgecolor="white",
            linewidth=0.4,
            label=names[i],
        )
    axes.set_xticks(range(1, last + 1), [*map(str, range(1, last)), f"{last}+"])
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("digits in a token")
    axes.set_ylabel("% of the tokens of numbers")
    _legend(figure, axes, names)
    return figure


def _texts(axes: Any, labels: list[str]) -> None:
    """Texts from top to bottom."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def _errors(rows: list[Estimate]) -> list[list[float]] | None:
    """How far intervals reach to both sides of the values; None where there are none."""
    if all(row.low is None for row in rows):
        return None
    below = [max(0.0, row.value - row.low) if row.value is not None and row.low is not None else 0.0 for row in rows]
    above = [max(0.0, row.high - row.value) if row.value is not None and row.high is not None else 0.0 for row in rows]
    return [below, above]


def _of(choices: Sequence[str], i: int) -> str:
    return choices[i % len(choices)]


_DRAWN: dict[str, Callable[[Report], Any]] = {
    "compression": _compression,
    "fertility": _fertility,
    "parity": _parity,
    "frequency": _frequency,
    "lengths": _lengths,
    "digits": _digits,
}
