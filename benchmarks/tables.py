"""Figures, the ratio of digram to the fastest exact rival, and tables of them in Markdown."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Ratio:
    """digram beside the rival with the best median: the ratios of the rounds that both have, and their quartiles."""

    rival: str
    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}-{self.high:.2f})"


@dataclasses.dataclass(frozen=True)
class Figure:
    """One cell: megabytes a second of each engine, a figure a round. `wrong` says why engines were left out."""

    vocabulary: str
    corpus: str
    mode: str
    kind: str
    megabytes: float
    speeds: dict[str, list[float]]
    wrong: dict[str, str]
    cores: str = "one"
    clock: str = "wall"

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        ratio = self.ratio()
        return dataclasses.asdict(self) | {"ratio": dataclasses.asdict(ratio) if ratio else None}

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> Figure:
        """The figure that `as_data` gave."""
        return cls(**{field.name: data[field.name] for field in dataclasses.fields(cls)})

    def medians(self) -> dict[str, float]:
        """The median of each engine, the best first."""
        medians = {name: statistics.median(values) for name, values in self.speeds.items() if values}
        return dict(sorted(medians.items(), key=lambda item: -item[1]))

    def ratio(self) -> Ratio | None:
        """digram to the best rival; None where either is missing."""
        best = next((name for name in self.medians() if name != "digram"), None)
        ours = self.speeds.get("digram")
        if best is None or not ours:
            return None
        return spread(best, ours, self.speeds[best])


def spread(rival: str, ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """The median and the quartiles of the rounds' ratios: engines of one round met the same text and the same hour."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=False)]
    low, median, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    return Ratio(rival, median, low, high)


def line(figure: Figure) -> str:
    """The cell as a line of text."""
    title = f"{figure.vocabulary:11} {figure.corpus:12} {figure.mode:12} {figure.kind:5}"
    cells = "  ".join(f"{name} {speed:.3g}" for name, speed in figure.medians().items())
    ratio = figure.ratio()
    return f"{title} MB/s: {cells}" + (f"   digram/{ratio.rival} = {ratio}" if ratio else "")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A table in Markdown; the first `left` columns are words."""
    lines = [head, ["---"] * left + ["--:"] * (len(head) - left), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"
