"""Training time of digram beside other libraries, in one run.

Wall time, processor time and peak memory; each run in a process of its own, engines in turn.

    python benchmarks/train.py [FOLDER] [--case CORPUS:CHARACTERS:SIZE:PATTERN ...] [--engine NAME ...] [--rounds N]

FOLDER holds prose.txt, code.txt, multilingual.txt; without it the text is what every machine has. A case such as
prose:0:32768:gpt2 names the corpus, how much of it (0: all), the size of the vocabulary, and gpt2, cl100k or none.
Times are of training alone, from text on disk to merges in memory.

Before anything is timed, every engine learns from a small part of the text, and its tokens are compared with those of
the naive loop of `digram.reference`, under the tie rule that the engine is known to follow (`ties` in cases.toml): one
with others is left out; where digram is the one, nothing is timed. How far the tokens of whole runs agree with digram's
is said too.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, cast

from common import CASES, installed, keep, load_average, machine, say
from corpora import text_of
from tables import Ratio, spread
from train_page import page
from trainers import PATTERNS, TRAINERS, byte_characters, of_characters

SETTINGS = CASES["train"]
MEASURES = {"wall": "s", "cpu": "s", "peak": "MB"}

# Of the small part that is compared with the naive loop: characters, and merges.
SAMPLE, MERGES = 20_000, 300


def oracle(text: str, pattern: str, rule: str) -> list[str] | None:
    """The tokens of the naive loop, in hex; None where nothing else can split so (the package `regex` is missing).

    The rule is one of `digram.reference`, or "byte-level": smallest ids, where a byte has the place of the character
    that stands for it in byte-level libraries.
    """
    from digram import reference

    if pattern == "none":
        pieces: dict[bytes, int] = {text.encode(): 1}
    elif pattern == "gpt2":
        pieces = reference.piece_counts([text], reference.gpt2_split)
    else:
        try:
            import regex
        except ImportError:
            return None
        pieces = reference.piece_counts([text], regex.compile(PATTERNS[pattern]).findall)
    if rule == "byte-level":
        written = byte_characters()
        as_text = {"".join(written[byte] for byte in piece): n for piece, n in pieces.items()}
        size = len(set("".join(as_text)))
        vocabulary = reference.train_naive(as_text, alphabet="characters", vocab_size=size + MERGES)
        tokens = [of_characters(token.decode()) for token in vocabulary.vocab.values()]
    else:
        size = 256
        vocabulary = reference.train_naive(pieces, vocab_size=size + MERGES, ties=cast(Any, rule))
        tokens = list(vocabulary.vocab.values())
    return [token.hex() for token in tokens[size:]]


def check(names: list[str], text: str, pattern: str) -> list[str]:
    """The engines whose tokens on a small part of the text are those of the naive loop, or cannot be compared."""
    rules = {engine["name"]: engine["ties"] for engine in CASES["trainer"]}
    right = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sample.txt"
        # One record, so that the libraries that take each record, or each line, for a document see what the others see.
        sample = " ".join(text[:SAMPLE].split())
        file.write_text(sample, encoding="utf-8", newline="")
        expected = {rule: oracle(sample, pattern, rule) for rule in {rules[name] for name in names}}
        for name in names:
            done = run_once(name, file, 256 + MERGES, pattern)
            if done is None:
                if name == "digram":
                    raise SystemExit("error: digram fails on a small text: mend that before measuring")
                continue
            wanted = expected.get(rules[name])
            if wanted is None:
                say(f"{name}: unchecked, for the package regex is missing")
            elif done["tokens"] != wanted:
                if name == "digram":
                    raise SystemExit("error: digram's merges differ from the reference's: mend that before measuring")
                say(f"{name} left out: its tokens are not those of the naive loop (ties: {rules[name]})")
                continue
            else:
                say(f"{name}: its first {len(wanted)} tokens are those of the naive loop (ties: {rules[name]})")
            right.append(name)
    return right


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
    tell = run()
    wall, cpu = time.perf_counter() - start, time.process_time() - before
    peak = peak_megabytes()
    tokens = tell()
    learnt = [tokens[i].hex() for i in sorted(tokens)[256:]]
    print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak, "tokens": learnt}))


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


def ratios(kind: str, runs: dict[str, list[dict[str, Any]]]) -> list[Ratio]:
    """digram to each rival, of rounds that both have, the best rival first: below 1 digram takes less."""
    if "digram" not in runs:
        return []
    ours = [run[kind] for run in runs["digram"]]
    found = [spread(engine, ours, [run[kind] for run in done]) for engine, done in runs.items() if engine != "digram"]
    return sorted(found, key=lambda ratio: -ratio.median)


def measure(file: Path, names: list[str], size: int, pattern: str, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """The figures of every round of every engine that can do the case."""
    slow = {engine["name"] for engine in CASES["trainer"] if engine.get("slow")}
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    able = list(names)
    for number in range(rounds):
        turn = number % len(able) if able else 0
        for engine in able[turn:] + able[:turn]:
            if number and engine in slow:
                continue  # once is enough to see that it is slow
            if done := run_once(engine, file, size, pattern):
                runs[engine].append(done)
            else:
                able.remove(engine)
    return {engine: done for engine, done in runs.items() if engine in able}


def report(case: str, runs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Prints medians, the least first, and the ratios of digram to the others; gives them as data."""
    found = []
    for kind, unit in MEASURES.items():
        medians = {engine: statistics.median(run[kind] for run in done) for engine, done in runs.items()}
        medians = dict(sorted(medians.items(), key=lambda item: item[1]))
        beside = ratios(kind, runs)
        print(f"{f'{case} {kind}':36} {unit}: " + "  ".join(f"{name} {value:.3g}" for name, value in medians.items()))
        if beside:
            print(f"{'':36} " + "  ".join(f"digram/{ratio.rival} = {ratio}" for ratio in beside), flush=True)
        values = {engine: [run[kind] for run in done] for engine, done in runs.items()}
        told = {ratio.rival: [ratio.median, ratio.low, ratio.high] for ratio in beside}
        found.append({"case": case, "measure": kind, "unit": unit, "medians": medians, "runs": values, "ratios": told})
    return found


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path, nargs="?")
    cli.add_argument("--case", nargs="+", default=[":".join(map(str, case)) for case in SETTINGS["cases"]])
    cli.add_argument("--engine", nargs="+", choices=list(TRAINERS))
    cli.add_argument("--rounds", type=int, default=SETTINGS["rounds"])
    cli.add_argument("--json", type=Path, help="keep all figures in this file")
    cli.add_argument("--markdown", type=Path, metavar="FILE", help="write the page docs/training-speed.md")
    args = cli.parse_args()

    names = installed("trainer", args.engine)
    say(f"{machine()}; load {load_average()}")
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for case in args.case:
            name, characters, size, pattern = case.split(":")
            text = text_of(name, args.folder).decode("utf-8", "ignore")
            file = Path(folder) / f"{name}-{characters}.txt"
            if not file.exists():
                file.write_text(text[: int(characters) or len(text)], encoding="utf-8", newline="")
            right = check(names, text, pattern)
            del text
            about = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "load": load_average()}
            runs = measure(file, right, int(size), pattern, args.rounds)
            agreement(runs)
            figures += [figure | about for figure in report(case, runs)]
    keep(args.json, figures)
    if args.markdown is not None:
        args.markdown.write_text(page(figures), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
