"""Training beside training of another shape of the same text: long pieces, characters, threads.

    python benchmarks/shapes.py FOLDER [--rounds 3] [--case long characters threads] [--json FIGURES]

    long        10 MB and all of the prose to 32,768 (cl100k), each alone, and with a piece of 70,000 random letters
                and one of a million in it
    characters  20,000,000 characters of prose without a split, alphabet "characters", min_count=2, beside as many
                bytes and merges with the alphabet "bytes"
    threads     prose and large (where the folder has it) to 32,768, one thread and two

Each run is a process of its own, the two of a pair take turns; wall time and peak memory, and what the second takes of
the first: the median of the rounds' ratios, and their quartiles.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from common import keep, load_average, machine, say
from corpora import text_of
from tables import spread
from train import peak_megabytes

PIECES = (70_000, 1_000_000)


def child(path: str, options: str) -> None:
    """One run; prints its figures as JSON."""
    import digram

    start = time.perf_counter()
    tok = digram.train(digram.Corpus(path), **json.loads(options))
    figures = {"wall": time.perf_counter() - start, "peak": peak_megabytes(), "merges": len(tok.merges)}
    print(json.dumps(figures))


def run(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", str(path), json.dumps(options)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def pair(title: str, first: tuple[str, Path, dict[str, Any]], second: tuple[str, Path, dict[str, Any]], rounds: int,
         merges: bool = False) -> list[dict[str, Any]]:  # fmt: skip
    """Two kinds of training in turns; with `merges` the second one makes as many as the first one made."""
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number in range(rounds):
        for name, path, options in (first, second) if number % 2 == 0 or merges else (second, first):
            if merges and name == second[0]:
                options = options | {"vocab_size": 256 + runs[first[0]][-1]["merges"]}
            runs[name].append(run(path, options))
    found = []
    for kind, unit in {"wall": "s", "peak": "MB"}.items():
        values = {name: [figures[kind] for figures in done] for name, done in runs.items()}
        ratio = spread(first[0], values[second[0]], values[first[0]])
        if merges:
            ratio = spread(second[0], values[first[0]], values[second[0]])
        medians = "  ".join(f"{name} {statistics.median(seen):.3g}" for name, seen in values.items())
        count = runs[first[0]][0]["merges"]
        print(f"{title} {kind}, {unit}: {medians}  ratio {ratio}; {count:,} merges; load {load_average()}", flush=True)
        told = [ratio.median, ratio.low, ratio.high]
        found.append({"case": title, "measure": kind, "runs": values, "ratio": told, "merges": count})
    return found


def with_long_pieces(text: str) -> str:
    """The text, with two words of random letters in the middle."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=length)) for length in PIECES]
    middle = text.index("\n", len(text) // 2) + 1
    return f"{text[:middle]}{words[0]}\n{words[1]}\n{text[middle:]}"


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path)
    cli.add_argument("--case", nargs="+", choices=["long", "characters", "threads"])
    cli.add_argument("--rounds", type=int, default=3)
    cli.add_argument("--json", type=Path)
    args = cli.parse_args()
    cases = args.case or ["long", "characters", "threads"]
    say(f"{machine()}; load {load_average()}")
    figures: list[dict[str, Any]] = []
    prose = text_of("prose", args.folder).decode("utf-8", "ignore")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def kept(name: str, text: str) -> Path:
            path = folder / name
            path.write_text(text, encoding="utf-8", newline="")
            return path

        if "long" in cases:
            options = {"vocab_size": 32_768, "split": "cl100k"}
            for name, text in (("10 MB", prose[:10_000_000]), ("all", prose)):
                without, longer = kept("without.txt", text), kept("longer.txt", with_long_pieces(text))
                title = f"prose, {name}, with two long pieces to without"
                figures += pair(title, ("without", without, options), ("with", longer, options), args.rounds)
        if "characters" in cases:
            text = prose[:20_000_000]
            path, options = kept("characters.txt", text), {"split": None, "min_count": 2}
            short = kept("bytes.txt", text.encode()[:20_000_000].decode("utf-8", "ignore"))
            figures += pair(
                "20,000,000 characters to as many bytes, no split",
                ("characters", path, options | {"alphabet": "characters", "vocab_size": 100_000_000}),
                ("bytes", short, {"split": None}),
                args.rounds,
                merges=True,
            )
        if "threads" in cases:
            names = ["prose", *(["large"] if (args.folder / "large.txt").exists() else [])]
            for name in names:
                path, options = args.folder / f"{name}.txt", {"vocab_size": 32_768, "split": "gpt2"}
                one, two = options | {"threads": 1}, options | {"threads": 2}
                title = f"{name}, two threads to one"
                figures += pair(title, ("one", path, one), ("two", path, two), args.rounds)
    keep(args.json, figures)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
