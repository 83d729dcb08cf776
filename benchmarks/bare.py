"""Training beside a bare C program that does the same work, on one core: what the machine can do.

    python benchmarks/bare.py FOLDER [--rounds 5] [--clock cpu] [--json figures.json]

bare/bare.c is compiled by `cc -O3 -march=native`. Two cases, in turns: counting pieces of GPT-2's split (prose,
multilingual, code), and training without a split (10 MB of prose to 4,096). What both give is compared first.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import digram
from common import CLOCKS, keep, load_average, machine, pin, say
from corpora import text_of
from tables import spread

CORPORA = ("prose", "multilingual", "code")
GIVEN = 10_000_000  # bytes of prose without a split
SIZE = 4096
SOURCE = Path(__file__).parent / "bare" / "bare.c"


def compiled(folder: Path) -> ctypes.CDLL:
    """The program as a library."""
    library = folder / "bare.so"
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", os.fspath(library), os.fspath(SOURCE)]
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        raise SystemExit("error: there is no C compiler: on Debian, apt-get install gcc libc6-dev") from None
    loaded = ctypes.CDLL(os.fspath(library))
    loaded.train.restype = ctypes.c_uint32
    return loaded


def classes() -> bytes:
    """A byte for each code point: 1 for letters, 2 for numbers, 3 for white space, 0 for others."""
    found = bytearray(sys.maxunicode + 1)
    every = [*map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1)))]
    # The engine's own tables, so that the same pieces are counted. A character of the class is a piece of its own, any
    # other one a piece with what stands between them.
    for number, (name, between) in enumerate(((r"\p{L}", "\n"), (r"\p{N}", "\n"), (r"\s", "a")), 1):
        counts = digram.PieceCounts(name)
        counts.add(between + between.join(every) + between)
        for piece, _ in counts.items():
            if len(text := piece.decode()) == 1 and text != between:
                found[ord(text)] = number
    return bytes(found)


def timed(clock: Callable[[], float], call: Callable[[], Any]) -> tuple[float, Any]:
    start = clock()
    result = call()
    return clock() - start, result


def counting(bare: ctypes.CDLL, text: bytes, table: bytes) -> dict[str, Callable[[], Any]]:
    padded = text + bytes(8)

    def c(scan_only: int) -> tuple[int, ...]:
        found = (ctypes.c_uint64 * 3)()
        bare.count_gpt2(padded, len(text), table, scan_only, found)
        return tuple(found)

    def ours() -> digram.PieceCounts:
        counts = digram.PieceCounts("gpt2")
        counts.add(text, threads=1)
        len(counts)  # puts them together
        return counts

    return {"digram": ours, "C": lambda: c(0), "C, scanning alone": lambda: c(1)}


def training(bare: ctypes.CDLL, text: bytes) -> dict[str, Callable[[], Any]]:
    def c() -> list[int]:
        found = (ctypes.c_uint32 * (2 * (SIZE - 256)))()
        number = bare.train(text, len(text), SIZE - 256, found)
        return list(found[: 2 * number])

    def ours() -> list[int]:
        merges = digram.train(text, vocab_size=SIZE, split=None, threads=1).merges
        return [id for pair in merges for id in pair]

    return {"digram": ours, "C": c}


def summed(counts: digram.PieceCounts) -> tuple[int, int, int]:
    """The same numbers that the C program gives."""
    items = list(counts.items())
    return sum(n for _, n in items), len(items), sum(n * n * len(piece) for piece, n in items) % (1 << 64)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path, nargs="?")
    cli.add_argument("--rounds", type=int, default=5)
    cli.add_argument("--clock", choices=list(CLOCKS), default="wall")
    cli.add_argument("--json", type=Path, help="keep all figures in this file")
    args = cli.parse_args()
    clock = CLOCKS[args.clock]
    pin()
    say(f"{machine()}; load {load_average()}; one core, {args.clock} time")
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        bare, table = compiled(Path(folder)), classes()
        cases = {f"count {name}": name for name in CORPORA} | {f"train prose, no split, {SIZE:,}": "prose"}
        for case, name in cases.items():
            text = text_of(name, args.folder)
            if case.startswith("train"):
                text = text[:GIVEN].decode("utf-8", "ignore").encode()
                calls = training(bare, text)
                same = calls["digram"]() == calls["C"]()
            else:
                calls = counting(bare, text, table)
                same = summed(calls["digram"]()) == calls["C"]()
            if not same:
                raise SystemExit(f"error: {case}: the C program gives something else: mend that before measuring")
            runs: dict[str, list[float]] = {engine: [] for engine in calls}
            for _ in range(args.rounds):
                for engine, call in calls.items():
                    runs[engine].append(timed(clock, call)[0])
            told = "  ".join(
                f"{engine} {statistics.median(done):.3g} s ({len(text) / statistics.median(done) / 1e6:.0f} MB/s)"
                for engine, done in runs.items()
            )
            ratio = spread("C", runs["digram"], runs["C"])
            print(f"{case:32} {told}  digram/C = {ratio}; load {load_average()}", flush=True)
            figures.append({"case": case, "runs": runs})
    keep(args.json, figures)


if __name__ == "__main__":
    main()
