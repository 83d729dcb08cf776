"""docs/training-speed.md, made of the figures that train.py, bare.py and shapes.py keep.

python benchmarks/train_page.py FIGURES.json... -o docs/training-speed.md     # of several runs
"""

from __future__ import annotations

import argparse
import json
import statistics
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tables import Ratio, spread, table

HEAD = """# Speed of training

digram beside other trainers, each in a process of its own, in turns. Before anything is timed, the first merges of each
on a small text are compared with the naive loop under the tie rule that the library follows; a library that differs is
left out. In brackets: the quartiles of the rounds' ratios. Ratios are digram's time or memory to the rival's: below 1
digram takes less; **bold** where a rival takes less. Figures of two runs are not to be compared; ratios of one run are.

{where}

It is repeated by `make bench-train`. The corpora: English prose, text in many languages, and code, 90 to 100 MB each;
`large` is 1.3 GB of them and more. gigabpe takes each line for a document, so it never meets two line ends in a piece,
and it has GPT-2's pattern only.
"""
UNITS = {"wall": "wall, s", "cpu": "processor, s", "peak": "peak, MB"}


def where(figures: Iterable[dict[str, Any]]) -> str:
    """The machines and loads."""
    told = dict.fromkeys((figure.get("machine", "?"), figure.get("date", "?")) for figure in figures)
    text = " ".join(f"Measured on {machine}, on {date}." for machine, date in told)
    return textwrap.fill(text, 120, break_on_hyphens=False)


def ratio(figure: dict[str, Any], rival: str) -> str:
    """digram to a rival, bold where the rival takes less."""
    if rival not in figure["ratios"]:
        return "–"
    found = Ratio(rival, *figure["ratios"][rival])
    text = str(found) if found.low != found.high else f"{found.median:.2f}"
    return f"**{text}**" if found.median > 1 else text


def case_table(figures: list[dict[str, Any]]) -> str:
    """All engines of one case: medians, and digram's ratio."""
    by_measure = {figure["measure"]: figure for figure in figures}
    wall = by_measure["wall"]
    rows = []
    for engine in wall["medians"]:
        cells = []
        for measure in UNITS:
            figure = by_measure[measure]
            median = figure["medians"][engine]
            cells += [f"{median:.0f}" if measure == "peak" else f"{median:.3g}"]
            cells += ["" if engine == "digram" else ratio(figure, engine)]
        rows.append([engine, len(wall["runs"][engine]), *cells])
    head = ["trainer", "rounds"]
    for unit in UNITS.values():
        head += [unit, "digram to it"]
    return table(head, rows)


def title(case: str) -> str:
    """A case in words."""
    corpus, characters, size, pattern = case.split(":")
    much = f"the first {int(characters):,} characters of {corpus}" if int(characters) else corpus
    split = {"gpt2": "GPT-2's pattern", "cl100k": "GPT-4's pattern", "none": "no split"}[pattern]
    return f"{much}, {int(size):,} tokens, {split}"


BARE = """## Beside a bare C program

On one core: a scanner of GPT-2's pattern with a hash table, and training without a split on a linked list with a heap
(`benchmarks/bare.py`, whose C is compiled by `-O3 -march=native`). Both give digram's result.
"""
SHAPES = """## Beside itself

Two trainings in turns (`benchmarks/shapes.py`); the ratio is that of the second one to the first one, and of characters
to bytes.
"""


def bare_table(figures: list[dict[str, Any]]) -> str:
    """Seconds of digram and of the C program, from `bare.py`."""
    rows = []
    for figure in figures:
        ours, theirs = figure["runs"]["digram"], figure["runs"]["C"]
        medians = [f"{statistics.median(runs):.3g}" for runs in (ours, theirs)]
        rows.append([figure["case"], *medians, str(spread("C", ours, theirs))])
    return table(["case", "digram, s", "C, s", "digram to C"], rows)


def shapes_table(figures: list[dict[str, Any]]) -> str:
    """Pairs of trainings, from `shapes.py`."""
    rows = []
    for figure in figures:
        medians = ", ".join(f"{name} {statistics.median(runs):.3g}" for name, runs in figure["runs"].items())
        unit = UNITS[figure["measure"]]
        rows.append([figure["case"], unit, medians, str(Ratio("", *figure["ratio"])), f"{figure['merges']:,}"])
    return table(["case", "measure", "medians", "ratio", "merges"], rows)


def page(every: list[dict[str, Any]]) -> str:
    """The page as Markdown."""
    figures = [figure for figure in every if "medians" in figure]
    bare = [figure for figure in every if "C" in figure["runs"]]
    shapes = [figure for figure in every if "ratio" in figure]
    parts = [HEAD.format(where=where(figures))]
    for case in dict.fromkeys(figure["case"] for figure in figures):
        own = [figure for figure in figures if figure["case"] == case]
        load = own[0].get("load", "unknown")
        head = title(case)
        parts.append(f"## {head[0].upper()}{head[1:]}\n\nLoad of the machine before: {load}.\n\n{case_table(own)}")
    parts += [f"{BARE}\n{bare_table(bare)}"] if bare else []
    parts += [f"{SHAPES}\n{shapes_table(shapes)}"] if shapes else []
    return "\n".join(parts)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("figures", type=Path, nargs="+")
    cli.add_argument("-o", "--output", type=Path, required=True)
    args = cli.parse_args()
    figures = [figure for path in args.figures for figure in json.loads(path.read_text(encoding="utf-8"))]
    args.output.write_text(page(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
