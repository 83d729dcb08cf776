"""Encoding speed of digram beside other libraries, in one run: megabytes of UTF-8 a second.

On text met for the first time (fresh) and met again (warm).

    python benchmarks/encode.py [FOLDER] [--vocabulary NAME ...] [--corpus NAME ...] [--mode NAME ...] [--rounds N]

FOLDER holds prose.txt, code.txt, multilingual.txt; without it the text is what every machine has. An engine whose ids
differ from tiktoken's is listed and left out before anything is timed. The engines take turns within a round. All runs
on one core, so that no engine wins by threads; `--mode batch`, a run of its own, has all of them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from common import CASES, corpus, installed, keep, row, say
from encoders import ENCODERS, Encoder

# "fresh" or "warm" -> engine -> megabytes a second, a figure a round.
Speeds = dict[str, dict[str, list[float]]]

SETTINGS = CASES["encode"]
DOCUMENTS = {"docs": 4000, "short": 100, "batch": 4000}


def documents(text: str, size: int) -> list[str]:
    """The text in stretches of `size` characters."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def fresh_texts(text: str, rounds: int, characters: int) -> Iterator[str]:
    """A text a round, none of them met before, each made of twenty stretches spread over the corpus."""
    stretch = min(characters, len(text) // rounds) // 20
    step = len(text) // 20
    for r in range(rounds):
        yield "".join(text[i * step + r * stretch :][:stretch] for i in range(20))


def job(encoder: Encoder, mode: str, text: str, ids: list[int]) -> Callable[[], Any] | None:
    """The work of `mode` on `text`, or None where the encoder cannot do it."""
    call = encoder.get("list" if mode in ("docs", "short") else mode)
    if call is None:
        return None
    if mode in DOCUMENTS:
        docs = documents(text, DOCUMENTS[mode])
        return (lambda: call(docs)) if mode == "batch" else (lambda: [call(doc) for doc in docs])
    return (lambda: call(ids)) if mode == "decode" else (lambda: call(text))


def exact(name: str, encoder: Encoder, sample: str, want: list[int]) -> bool:
    """Whether the encoder gives the oracle's ids; says so where it does not."""
    try:
        got = list(encoder["list"](sample))
    except Exception as error:
        say(f"{name} fails on the sample, left out: {type(error).__name__}: {str(error)[:100]}")
        return False
    if got != want:
        say(f"{name} gives other ids than tiktoken, left out")
    return got == want


def load(names: list[str], vocabulary: str) -> dict[str, Encoder]:
    """The encoders that can load the vocabulary; says which cannot."""
    encoders = {}
    for name in names:
        try:
            encoders[name] = ENCODERS[name](vocabulary)
        except Exception as error:
            say(f"{name} cannot load {vocabulary}, left out: {type(error).__name__}: {str(error)[:100]}")
    return encoders


def measure(encoders: dict[str, Encoder], oracle: Encoder, mode: str, texts: list[str]) -> Speeds:
    """Megabytes a second of each engine and round, by "fresh" and "warm"."""
    speeds: Speeds = {"fresh": defaultdict(list), "warm": defaultdict(list)}
    for text in texts:
        megabytes = len(text.encode()) / 1e6
        ids = oracle["list"](text) if mode == "decode" else []
        jobs = {name: run for name, e in encoders.items() if (run := job(e, mode, text, ids))}
        for rows in speeds.values():
            for name, run in jobs.items():
                start = time.perf_counter()
                run()
                rows[name].append(megabytes / (time.perf_counter() - start))
    return speeds


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path, nargs="?")
    cli.add_argument("--vocabulary", nargs="+", default=SETTINGS["vocabularies"])
    cli.add_argument("--corpus", nargs="+", default=SETTINGS["corpora"])
    cli.add_argument("--mode", nargs="+", default=SETTINGS["modes"], choices=[*SETTINGS["modes"], "batch"])
    cli.add_argument("--engine", nargs="+", choices=list(ENCODERS))
    cli.add_argument("--rounds", type=int, default=SETTINGS["rounds"])
    cli.add_argument("--characters", type=int, default=SETTINGS["characters"])
    cli.add_argument("--json", type=Path, help="keep all figures in this file")
    args = cli.parse_args()
    if "batch" in args.mode and len(args.mode) > 1:
        cli.error("run --mode batch by itself: it uses all cores, the others one")

    names = installed("encoder", args.engine)
    if args.mode != ["batch"] and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before any engine makes its threads
    figures = []
    for vocabulary in args.vocabulary:
        encoders, oracle = load(names, vocabulary), ENCODERS["tiktoken"](vocabulary)
        for name in args.corpus:
            texts = list(fresh_texts(corpus(name, args.folder), args.rounds, args.characters))
            sample = texts[0][:300_000]
            want = oracle["list"](sample)
            right = {engine: e for engine, e in encoders.items() if exact(engine, e, sample, want)}
            for mode in args.mode:
                if not any(job(e, mode, "", []) for e in right.values()):
                    say(f"no engine can do {mode}")
                    continue
                for kind, speeds in measure(right, oracle, mode, texts).items():
                    title = f"{vocabulary} {name} {mode} {kind}"
                    figures.append(row(title, "MB/s", speeds, higher_is_better=True))
    keep(args.json, figures)


if __name__ == "__main__":
    main()
