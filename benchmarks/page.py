"""docs/speed.md, made of the figures that speed.py keeps."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modes import BATCH, HELP
from tables import Figure, spread, table

HEAD = """# Speed

digram beside the fastest libraries that give the same ids, in one run. A cell is digram's rate in megabytes of UTF-8 a
second, and after it the ratio to the *fastest exact* rival of that cell: the median of the rounds' ratios and, in
brackets, its quartiles. Above 1 digram is the faster; **bold** where a rival is.

{where}

How it is measured (`benchmarks/encode.py`):

- Engines take turns within a round, and each round begins with the next one: a busy moment slows all of them. Figures
  of two runs are not to be compared; ratios of one run are.
- The result of every timed call is compared with the ids of tiktoken or tokenizers for that text, once the clock has
  stopped. An engine that gives others is left out of that corpus, and named below.
- *fresh* is text that no earlier call of any engine met, {megabytes:g} MB a round; *warm* the same text a second time.
  Results are whole lists and arrays when the clock stops.
- One core, so that nobody wins by threads. Batches have a table of their own.
- Each engine is loaded once for a vocabulary and keeps what it learns, through all corpora in the order of the tables:
  from the second one on caches are full of other text, as they are in a long run.
- Python's garbage is collected before each timed call, so that no engine pays for the lists of another.
- {slow} are timed once a cell.

Known text goes at the speed of the cache; new text is a matter of the pieces that never came before. Of 10 MB of
English that follow 50 MB of it, three in a hundred pieces are new, and by sampling (cl100k, one core) they take half of
the time: a third of it to merge them, a tenth to wait for ranks of pairs that the nearer caches do not hold, the rest
to look for them and to keep them. Known pieces take three tenths, splitting a tenth, writing ids a twentieth. All
engines do that work; those that are level with digram there do it as fast.

It is repeated by `make bench`, which needs nothing by hand (minutes), or for figures to quote, on a machine that does
nothing else: `make bench ARGS="--bytes 10000000 --rounds 5 --markdown docs/speed.md"` (an hour or two).
"""


def load(folder: Path, name: str) -> list[dict[str, Any]]:
    """The figures of one part; none where it was not run."""
    path = folder / f"{name}.json"
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return found


def cell(figure: Figure | None) -> str:
    """digram's rate and its ratio to the best rival."""
    if figure is None or "digram" not in figure.speeds:
        return "–"
    ratio, ours = figure.ratio(), figure.medians()["digram"]
    if ratio is None:
        return f"{ours:.0f}, no exact rival"
    text = f"{ratio} {ratio.rival}"
    return f"{ours:.0f}, " + (f"**{text}**" if ratio.median < 1 else text)


def by_vocabulary(figures: Iterable[Figure], mode: str) -> str:
    """The table of one mode: a row for a vocabulary, corpus and kind of text."""
    cells = {(f.vocabulary, f.corpus, f.kind): f for f in figures if f.mode == mode}
    rows = [
        [
            vocabulary,
            corpus,
            cell(cells.get((vocabulary, corpus, "fresh"))),
            cell(cells.get((vocabulary, corpus, "warm"))),
        ]
        for vocabulary, corpus in dict.fromkeys((v, c) for v, c, _ in cells)
    ]
    return table(["vocabulary", "corpus", "fresh", "warm"], rows, left=2)


def all_engines(figures: Iterable[Figure]) -> str:
    """The rate of every engine on fresh text, a row for each cell."""
    shown = [f for f in figures if f.kind == "fresh"]
    names = list(dict.fromkeys(name for figure in shown for name in figure.speeds))
    rows = []
    for figure in shown:
        medians = figure.medians()
        rates = [f"{medians[name]:.0f}" if name in medians else "–" for name in names]
        rows.append([figure.vocabulary, figure.corpus, figure.mode, *rates])
    return table(["vocabulary", "corpus", "call", *names], rows, left=3)


def scaling(one: list[Figure], every: list[Figure]) -> str:
    """digram's batches on all cores beside rivals, and beside itself on one."""
    alone = {(f.vocabulary, f.corpus, f.mode, f.kind): f for f in one}
    rows = []
    for figure in every:
        single = alone.get((figure.vocabulary, figure.corpus, figure.mode, figure.kind))
        gain = "–"
        if single and single.clock == figure.clock and "digram" in single.speeds and "digram" in figure.speeds:
            gain = str(spread("digram", figure.speeds["digram"], single.speeds["digram"]))
        rows.append([figure.vocabulary, figure.corpus, figure.mode, figure.kind, cell(figure), gain])
    return table(["vocabulary", "corpus", "call", "text", "all cores", "times one core"], rows, left=4)


def wrong(figures: Iterable[Figure]) -> str:
    """Which engines were left out where, and why."""
    found: dict[tuple[str, str], list[str]] = {}
    for figure in figures:
        for engine, why in figure.wrong.items():
            places = found.setdefault((engine, why), [])
            place = f"{figure.vocabulary} {figure.corpus}"
            if place not in places:
                places.append(place)
    if not found:
        return "Every engine that could load a vocabulary gave the right ids.\n"
    return "".join(f"- {engine}: {', '.join(places)}: {why}\n" for (engine, why), places in found.items())


def fresh_process(figures: list[dict[str, Any]]) -> str:
    """Import, load, first text, memory: a row for each engine."""
    rows = []
    for vocabulary, mode in dict.fromkeys((f["vocabulary"], f["mode"]) for f in figures):
        columns = {f["what"]: f["medians"] for f in figures if (f["vocabulary"], f["mode"]) == (vocabulary, mode)}
        for engine in columns["first"]:
            values = [f"{columns[what][engine]:.0f}" for what in ("import", "load", "first", "again", "peak")]
            rows.append([vocabulary, mode, engine, *values])
    head = ["vocabulary", "call", "engine", "import, ms", "load, ms", "first text, MB/s", "again, MB/s", "peak, MB"]
    return table(head, rows, left=3)


def where(about: dict[str, Any]) -> str:
    """The machine, the day and the versions."""
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    texts = "" if about["folder"] else " Texts: built of Debian packages where that could be, else of this machine."
    if about["clock"] == "cpu":
        texts += " The machine had other work: on one core, processor time was taken instead of the wall's."
    text = (
        f"Measured on {about['machine']}, on {about['date']} (load before the run: {about['load']}), "
        f"{about['rounds']} rounds.{texts} Versions: {versions}."
    )
    return textwrap.fill(text, 120, break_on_hyphens=False)


def page(folder: Path) -> str:
    """The page as Markdown."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    encode = [Figure.of_data(data) for data in load(folder, "encode")]
    one, every = ([Figure.of_data(data) for data in load(folder, name)] for name in ("batch_one", "batch_all"))
    megabytes = about["bytes"] / 1e6
    parts = [
        HEAD.format(where=where(about), megabytes=megabytes, slow="tiktoken, tokenizers, kitoken and sentencepiece")
    ]
    for mode in dict.fromkeys(figure.mode for figure in encode):
        if mode not in BATCH:
            parts.append(f"## {HELP[mode][0].upper()}{HELP[mode][1:]} (`{mode}`)\n\n" + by_vocabulary(encode, mode))
    if every:
        parts.append("## Batches on all cores\n\n" + scaling(one, every))
    if processes := load(folder, "fresh_process"):
        text = "A process of its own for each figure; the text is in the peak; digram keeps nothing of an earlier load."
        parts.append(f"## A fresh process\n\n{text}\n\n" + fresh_process(processes))
    parts.append("## Left out\n\n" + wrong([*encode, *one, *every]))
    parts.append("## Every engine, fresh text, MB/s\n\n" + all_engines(encode))
    return "\n".join(parts)
