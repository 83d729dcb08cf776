"""Training time of digram beside other libraries, in one run.

Wall time and peak memory, each run in a process of its own, in turn.

    python benchmarks/train.py [FOLDER] [--case CORPUS:CHARACTERS:SIZE:PATTERN ...] [--engine NAME ...] [--rounds N]

FOLDER holds prose.txt, code.txt, multilingual.txt; without it the text is what every machine has. A case such as
prose:0:32768:gpt2 names the corpus, how much of it (0: all), the size of the vocabulary, and gpt2, cl100k or none.
Times are of training alone, from text on disk to merges in memory. Before anything is timed, digram's merges on a small
text are compared with those of the naive loop in digram.reference; how far another library's tokens agree with
digram's is said, for libraries break ties in different ways.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from common import CASES, installed, keep, row, say
from corpora import text_of
from support.texts import stdlib_prose
from trainers import TRAINERS

SETTINGS = CASES["train"]


def check() -> None:
    """digram's merges on a small text are the definition's, or nothing is timed."""
    import digram
    from digram.reference import BPETokenizer

    text, size = stdlib_prose(5_000), 400
    naive = BPETokenizer()
    naive.train(text, size)
    fast = digram.train(text, vocab_size=size, split=None)
    if list(fast.merges.items()) != list(naive.merges.items()):
        raise SystemExit("error: digram's merges differ from the reference's: mend that before measuring")
    say("digram's merges on a small text are the reference's")


def peak_megabytes() -> float:
    """The most memory that this process held."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage counts what the parent held before this program took its place.
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def child(engine: str, file: str, size: str, pattern: str) -> None:
    """One run; prints its figures as JSON."""
    run = TRAINERS[engine](Path(file), int(size), pattern)
    before, start = time.process_time(), time.perf_counter()
    tokens = run()
    wall, cpu = time.perf_counter() - start, time.process_time() - before
    learnt = [tokens[i].hex() for i in sorted(tokens)[256:]] if tokens else None
    print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak_megabytes(), "tokens": learnt}))


def run_once(engine: str, file: Path, size: int, pattern: str) -> dict[str, Any] | None:
    """The figures of one run in a process of its own, or None (and a remark) where it fails."""
    command = [sys.executable, __file__, "--child", engine, str(file), str(size), pattern]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=SETTINGS["seconds"])
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        last = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1:]
        say(f"{engine} left out: {' '.join(map(str, last))[:200]}")
        return None
    return figures


def agreement(runs: dict[str, list[dict[str, Any]]]) -> None:
    """Says how many tokens each library shares with digram, in order, before the first difference."""
    ours = runs["digram"][0]["tokens"] if runs.get("digram") else None
    for engine, figures in runs.items():
        theirs = figures[0]["tokens"] if figures else None
        if ours and theirs and engine != "digram":
            shorter = min(len(ours), len(theirs))
            same = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
            shared = len(set(ours) & set(theirs))
            say(f"{engine}: the first {same} of {len(ours)} merges are digram's, {shared} in any order")


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path, nargs="?")
    cli.add_argument("--case", nargs="+", default=[":".join(map(str, case)) for case in SETTINGS["cases"]])
    cli.add_argument("--engine", nargs="+", choices=list(TRAINERS))
    cli.add_argument("--rounds", type=int, default=SETTINGS["rounds"])
    cli.add_argument("--json", type=Path, help="keep all figures in this file")
    args = cli.parse_args()

    names = installed("trainer", args.engine)
    if "digram" in names:
        check()
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for case in args.case:
            name, characters, size, pattern = case.split(":")
            file = Path(folder) / f"{name}-{characters}.txt"
            if not file.exists():
                text = text_of(name, args.folder).decode("utf-8", "ignore")
                file.write_text(text[: int(characters) or len(text)], encoding="utf-8", newline="")
            runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
            able = list(names)
            for _ in range(args.rounds):
                for engine in list(able):
                    if done := run_once(engine, file, int(size), pattern):
                        runs[engine].append(done)
                    else:
                        able.remove(engine)
            agreement(runs)
            for kind, unit in (("wall", "s"), ("cpu", "s"), ("peak", "MB")):
                values = {engine: [run[kind] for run in done] for engine, done in runs.items() if engine in able}
                figures.append(row(f"{case} {kind}", unit, values, higher_is_better=False))
    keep(args.json, figures)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
