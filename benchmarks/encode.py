"""Encoding speed of digram beside other libraries, in one run: megabytes of UTF-8 a second.

On text met for the first time (fresh) and met again (warm).

    python benchmarks/encode.py [FOLDER] [--vocabulary NAME ...] [--corpus NAME ...] [--mode NAME ...] [--rounds N]

FOLDER holds prose.txt, code.txt, multilingual.txt; without it they are built, or are what every machine has. The result
of each timed call is compared with the ids of the vocabulary's own library (tiktoken or tokenizers) once the clock has
stopped; an engine that gives others is named and left out. Engines take turns within a round, each round begins with
the next one, and each mode has texts of its own: what counts as fresh was met in no earlier call. All on one core, so
that no engine wins by threads; `--cores all` has them all. `--clock cpu` counts the processor's time instead of the
wall's: for ratios on one core of a machine that has other work.

Before each timed call Python's garbage is collected: else the collection of everything, which comes once in so many
lists and took a third of a run of short texts, falls to whichever engine happens to be at work then, each round.
"""

from __future__ import annotations

import argparse
import gc
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import modes
from answers import answers
from common import CASES, CLOCKS, installed, keep, pin, say
from corpora import stretches, text_of
from encoders import ENCODERS, Encoder
from modes import Work, is_right, job, parts_of
from tables import Figure, line
from vocabularies import Vocabulary, vocabulary

SETTINGS = CASES["encode"]


class Cell:
    """The engines that are still exact in one corpus under one vocabulary, and those that are not."""

    def __init__(self, encoders: dict[str, Encoder], title: str) -> None:
        self.encoders = dict(encoders)
        self.title = title
        self.wrong: dict[str, str] = {}

    def leave_out(self, engine: str, why: str) -> None:
        """The engine is timed no more, and what was timed of it counts no more."""
        say(f"{self.title}: {engine} left out: {why}")
        self.wrong[engine] = why
        self.encoders.pop(engine, None)

    def run(self, engine: str, work: Work, run: Callable[[], Any], clock: Callable[[], float]) -> float | None:
        """Megabytes a second of one call, or None where it fails or gives other ids."""
        gc.collect()
        try:
            start = clock()
            result = run()
            took = clock() - start
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of a Rust library is no Exception
            self.leave_out(engine, f"{type(error).__name__}: {str(error)[:100]}")
            return None
        if not is_right(work, result):
            self.leave_out(engine, f"its result is not that of the vocabulary's own library ({work.mode})")
            return None
        return work.megabytes / max(took, 1e-9)


def load(names: list[str], of: Vocabulary) -> dict[str, Encoder]:
    """The encoders that can load the vocabulary; says which cannot."""
    encoders = {}
    for name in names:
        try:
            encoders[name] = ENCODERS[name](of)
        except Exception as error:
            say(f"{of.name}: {name} cannot load it, left out: {type(error).__name__}: {str(error)[:100]}")
    return encoders


def prepare(
    of: Vocabulary, data: bytes, args: argparse.Namespace, cores: set[int] | None
) -> tuple[Work, dict[str, list[Work]]]:
    """A sample to try each engine on, and for each mode a text a round; no two of them share anything."""
    wanted, rounds = args.mode, args.rounds
    texts = list(stretches(data, len(wanted) * rounds + 1, args.bytes))
    sample, texts = texts[0][:100_000], texts[1:]
    plan = [("list", sample), *((mode, text) for i, text in enumerate(texts) for mode in [wanted[i // rounds]])]
    cut = [(mode, text, parts_of(mode, text)) for mode, text in plan]
    right = answers(of, [parts for _, _, parts in cut], cores)
    works = [
        Work(mode, text, parts, answer, of.meant(text)) for (mode, text, parts), answer in zip(cut, right, strict=True)
    ]
    by_mode: dict[str, list[Work]] = defaultdict(list)
    for work in works[1:]:
        by_mode[work.mode].append(work)
    return works[0], by_mode


def warm_up(cell: Cell, sample: Work, clock: Callable[[], float]) -> None:
    """Every engine on a small text, which also finds those that are wrong at once."""
    for engine, encoder in list(cell.encoders.items()):
        if run := job(encoder, sample, []):
            cell.run(engine, sample, run, clock)


def ids_of(cell: Cell, text: str) -> list[int]:
    """The ids of the text, by an engine that has shown to be exact."""
    oracles = {engine["name"] for engine in CASES["encoder"] if engine.get("slow")}
    fast = [e for name, e in cell.encoders.items() if name not in oracles] or list(cell.encoders.values())
    return list(fast[0]["list"](text)) if fast else []


def measure(cell: Cell, works: list[Work], clock: Callable[[], float]) -> dict[str, dict[str, list[float]]]:
    """Megabytes a second of each engine and round, by "fresh" and "warm"."""
    speeds: dict[str, dict[str, list[float]]] = {"fresh": defaultdict(list), "warm": defaultdict(list)}
    slow = {engine["name"] for engine in CASES["encoder"] if engine.get("slow")}
    for number, work in enumerate(works):
        ids = ids_of(cell, work.text) if work.mode in modes.DECODING else []
        names = list(cell.encoders)
        names = names[number % len(names) :] + names[: number % len(names)] if names else []
        for kind in ("fresh", "warm"):
            for name in names:
                if name in slow and (number or kind == "warm"):
                    continue  # once is enough to see that it is slow
                encoder = cell.encoders.get(name)
                run = job(encoder, work, ids) if encoder else None
                speed = cell.run(name, work, run, clock) if run else None
                if speed is not None:
                    speeds[kind][name].append(speed)
    return {kind: {n: v for n, v in found.items() if n in cell.encoders} for kind, found in speeds.items()}


def figures(args: argparse.Namespace, names: list[str]) -> Iterator[Figure]:
    """All cells that were asked for, one after the other."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if args.cores == "one":
        pin()
    for name in args.vocabulary:
        of = vocabulary(name, args.folder)
        encoders = load(names, of)
        for corpus in args.corpus:
            data = text_of(corpus, args.folder)
            sample, by_mode = prepare(of, data, args, cores)
            cell = Cell(encoders, f"{of.name} {corpus}")
            warm_up(cell, sample, CLOCKS[args.clock])
            for mode, works in by_mode.items():
                for kind, speeds in measure(cell, works, CLOCKS[args.clock]).items():
                    if speeds:
                        yield Figure(of.name, corpus, mode, kind, works[0].megabytes, speeds, dict(cell.wrong))
                if not any(job(encoder, works[0], []) for encoder in cell.encoders.values()):
                    say(f"{cell.title}: no engine can do {mode}")


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path, nargs="?")
    cli.add_argument("--vocabulary", nargs="+", default=SETTINGS["vocabularies"])
    cli.add_argument("--corpus", nargs="+", default=SETTINGS["corpora"])
    cli.add_argument("--mode", nargs="+", default=SETTINGS["modes"], choices=modes.ALL)
    cli.add_argument("--engine", nargs="+", choices=list(ENCODERS))
    cli.add_argument("--rounds", type=int, default=SETTINGS["rounds"])
    cli.add_argument("--bytes", type=int, default=SETTINGS["bytes"], help="of text a round")
    cli.add_argument("--cores", choices=("one", "all"), default="one")
    cli.add_argument("--clock", choices=list(CLOCKS), default="wall")
    cli.add_argument("--json", type=Path, help="keep all figures in this file")
    args = cli.parse_args()
    if args.cores == "all" and args.clock == "cpu":
        cli.error("--clock cpu is for one core: of several it adds up the time of all")

    os.environ["DIGRAM_CACHE"] = "0"
    found = []
    for figure in figures(args, installed("encoder", args.engine)):
        print(line(figure), flush=True)
        found.append(figure)
    keep(args.json, [figure.as_data() | {"cores": args.cores, "clock": args.clock} for figure in found])


if __name__ == "__main__":
    main()
