"""The rows about time of `cases.md` in the test data folder, each with its figure and the bound that the row states.

    python benchmarks/cases.py [ROW ...] [--rounds N] [--json FILE]

ROW is an id (P01, P13 ...); default: all. Each figure is the best of N rounds (5), for what else the machine does can
only add to it; in seconds of the processor, but for batches and processes. "Linear" means that a text of twice the
length takes at most 2.6 times as long. Exit code 1 where a figure is above its bound: try again before you believe it.
Which ids are right is a matter of the test suite; the other rows, and memory, are there too.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import digram
from common import keep, test_data
from support.texts import stdlib_prose

Figure = tuple[str, float, float, str]  # what, figure, bound, unit
LINEAR = 2.6
ROUNDS = 5


def best(work: Callable[[], object], times: int = 1, clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of the best of `ROUNDS` rounds; each does the work `times` times."""
    return min(_seconds(work, times, clock) for _ in range(ROUNDS))


def _seconds(work: Callable[[], object], times: int = 1, clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    for _ in range(times):
        work()
    return (clock() - start) / times


def ratio(
    one: Callable[[], object],
    other: Callable[[], object],
    times: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """How much longer `one` takes than `other`: the best rounds of each, which take turns."""
    rounds = [(_seconds(one, times, clock), _seconds(other, times, clock)) for _ in range(ROUNDS)]
    return min(first for first, _ in rounds) / min(second for _, second in rounds)


def published(name: str) -> digram.Tokenizer:
    """The named encoding, from the test data."""
    return digram.load(test_data().vocabulary(f"{name}.tiktoken"), name=name)


def linear(tok: digram.Tokenizer, what: str, unit: str, number: int) -> Figure:
    """How much longer twice the text takes."""
    short, long = unit * number, unit * (2 * number)
    return f"{what}: twice {len(short):,}", ratio(lambda: tok.encode(long), lambda: tok.encode(short)), LINEAR, "x"


def p01() -> Iterator[Figure]:
    yield linear(published("cl100k_base"), "'a' in cl100k", "a", 500_000)


def p02() -> Iterator[Figure]:
    for name in ("r50k_base", "cl100k_base", "o200k_base"):
        yield linear(published(name), f"'^' in {name}", "^", 500_000)


def p03() -> Iterator[Figure]:
    yield linear(published("o200k_base"), "' ' in o200k", " ", 500_000)


def p05() -> Iterator[Figure]:
    tok = published("o200k_base")
    yield "50,000 '_' in o200k", best(lambda: tok.encode("_" * 50_000)), 0.05, "s"


def p06() -> Iterator[Figure]:
    tok = published("o200k_base")
    short, long = ("Hello" + "-" * n for n in (500_000, 1_000_000))
    yield "Hello and 500,000 '-', twice", ratio(lambda: tok.encode(long), lambda: tok.encode(short)), LINEAR, "x"


def p08() -> Iterator[Figure]:
    tok = published("cl100k_base")
    item = {"name": "get_weather", "parameters": {"type": "object", "enum": ["a", 'q"q'], "n": [[[{}]]] * 3}}
    small = json.dumps([item] * 110, separators=(",", ":"))
    large = json.dumps([item] * 10_000, separators=(",", ":"))
    yield f"{len(small):,} characters of compact JSON", best(lambda: tok.encode(small), 20), 0.002, "s"
    doubled = ratio(lambda: tok.encode(large * 2), lambda: tok.encode(large))
    yield f"{len(large):,} of them, twice", doubled, LINEAR, "x"


def p09() -> Iterator[Figure]:
    prose = stdlib_prose(1 << 30).replace("\n", " ")
    texts = {
        "prose": (prose * (16_000_000 // len(prose) + 1))[:16_000_000],
        "base64": base64.b64encode(random.Random(0).randbytes(12_000_000)).decode(),
    }
    tok = published("cl100k_base")
    for name, text in texts.items():
        yield f"16 MB of {name} without line ends", best(partial(tok.encode, text)), 5, "s"
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            yield f"  peak memory beside the text, {name}", _peak(file.name) / len(text), 6, "x"


def _peak(path: str) -> float:
    """Bytes that encoding a file to an array takes at most, in a process of its own."""
    code = """
import sys, digram
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
tok = digram.load(sys.argv[1], name="cl100k_base")
text = open(sys.argv[2], encoding="utf-8").read()
tok.encode("warm up")
before = peak()
tok.encode_to_numpy(text)
print(peak() - before)
"""
    command = [sys.executable, "-c", code, str(test_data().vocabulary("cl100k_base.tiktoken")), path]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def p10() -> Iterator[Figure]:
    tok = published("cl100k_base")
    for unit in ("\n", "\t", " \n", "\r\n", "é", "中", "\u0301", "👍", "1", "'", "/", "\u200b"):
        yield linear(tok, f"{unit!a} in cl100k", unit, 300_000)


def p13() -> Iterator[Figure]:
    tok, words = published("cl100k_base"), stdlib_prose(100_000).split()
    for what, texts in (
        ("3 texts of 20 characters", ["twenty characters, ok"[:20]] * 3),
        ("10,000 words", (words * 9)[:10_000]),
        ("one text", ["hello world"]),
        ("one text of 100 kB", [stdlib_prose(100_000)]),
        ("two texts of 1 MB", [stdlib_prose(400_000) * 3] * 2),
    ):
        times = max(1, 2_000 // sum(map(len, texts)))
        # Not of the processor: a batch has several threads.
        found = ratio(partial(tok.encode_batch, texts), partial(_loop, tok, texts), times, time.perf_counter)
        yield f"a batch beside a loop: {what}", found, 1.3, "x"


def _loop(tok: digram.Tokenizer, texts: list[str]) -> list[list[int]]:
    return [tok.encode(text) for text in texts]


def p15() -> Iterator[Figure]:
    os.environ["DIGRAM_CACHE"] = "0"
    markers = [f"tok_{i}" for i in range(100_000)]

    def train() -> digram.Tokenizer:
        return digram.train("the cat sat on the mat " * 9, 256 + 9 + len(markers), special_tokens=markers)

    tok = train()
    yield "100,000 added tokens: to add them", best(train), 1, "s"
    with tempfile.TemporaryDirectory() as folder:
        for format in ("digram", "huggingface"):
            path = f"{folder}/{format}"
            yield f"  save as {format}", best(partial(tok.save, path, format)), 1, "s"
            yield f"  load {format}", best(partial(digram.load, path)), 1, "s"
    text = "a short text with tok_77777"
    for allowed in ((), "all"):
        seconds = best(partial(tok.encode, text, allowed_special=allowed), 100)
        yield f"  encode a short text, allowed_special={allowed!r}", seconds, 0.001, "s"
    del os.environ["DIGRAM_CACHE"]


def p16() -> Iterator[Figure]:
    def run(*arguments: str) -> float:
        command: list[str] = [sys.executable, *arguments]
        work = partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return best(work, clock=time.perf_counter)

    alone = run("-c", "pass")
    yield "import digram, beyond Python itself", run("-c", "import digram") - alone, 0.03, "s"
    with tempfile.TemporaryDirectory() as folder:
        path, text = f"{folder}/tok.json", Path(folder, "hi.txt")
        digram.train("hi hi", 257).save(path)
        text.write_text("hi", encoding="utf-8")
        yield "digram count of 'hi', with Python itself", run("-m", "digram", "count", "-t", path, str(text)), 0.1, "s"


def x03() -> Iterator[Figure]:
    data = pickle.dumps(published("o200k_base"))
    yield "o200k from a pickle", best(lambda: pickle.loads(data)), 0.1, "s"


CASES = {f.__name__.upper(): f for f in (p01, p02, p03, p05, p06, p08, p09, p10, p13, p15, p16, x03)}


def main() -> int:
    global ROUNDS  # noqa: PLW0603
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("row", nargs="*", type=str.upper, choices=[*CASES, []], default=[])
    cli.add_argument("--rounds", type=int, default=ROUNDS)
    cli.add_argument("--json", type=Path, help="keep all figures in this file")
    args = cli.parse_args()
    ROUNDS = args.rounds
    figures, above = [], 0
    for row in args.row or CASES:
        for what, figure, bound, unit in CASES[row]():
            above += figure > bound
            mark = "" if figure <= bound else "   ABOVE ITS BOUND"
            print(f"{row}  {what:60} {figure:9.3g} {unit}  of {bound:g} {unit}{mark}", flush=True)
            figures.append({"row": row, "what": what, "figure": figure, "bound": bound, "unit": unit})
    keep(args.json, figures)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
