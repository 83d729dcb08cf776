"""Time against length, for inputs that made other tokenizers slow: the table of docs/linear.md.

    python benchmarks/linear.py [--longest BYTES] [--json FILE] > docs/linear.md

Each input is made 10 kB, 100 kB, ... long, and its tokens are counted under each vocabulary of the test data folder;
the time is the least of three. Linear means that ten times the text takes about ten times as long: the last column is
the time for a byte of the longest text, divided by that of the text a hundredth as long. The ids of the shortest text
are compared with the vocabulary's own library before anything is timed.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import sys
import time
import warnings
from array import array
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import digram
from common import keep, machine, say, test_data
from digram.definition import Definition
from support.data import Data

VOCABULARIES = {
    "r50k_base": "r50k_base.tiktoken",
    "cl100k_base": "cl100k_base.tiktoken",
    "o200k_base": "o200k_base.tiktoken",
    "Qwen 3": "qwen3-tokenizer.json",
    "Llama 2": "llama2-tokenizer.json",
}
SHORTEST = 10_000
INTRODUCTION = """# Time against length

What `count` takes for inputs that made other tokenizers slow, wrong or dead: long runs and mixtures that no split
pattern cuts, or that a regular expression looks at again and again. Ten times the text takes about ten times as long,
whatever it holds. The last column is the time for a byte of the longest text over that for a byte of one a hundredth
as long. 1 is exactly linear; caches that no longer hold a text, and the heap of long pieces, make it a little more.

Made by `python benchmarks/linear.py`; the ids were first compared with tiktoken's and tokenizers', and each time is the
least of three. Measured on {machine}, on {day}.
"""
ROUNDS = 3


def repeated(unit: str) -> Callable[[int], str]:
    """`unit` again and again, up to so many bytes."""
    return lambda size: unit * (size // len(unit.encode()))


def letters(size: int) -> str:
    """Random small letters."""
    return "".join(random.Random(size).choices("abcdefghijklmnopqrstuvwxyz", k=size))


def encoded(size: int) -> str:
    """Random bytes in base64, without line ends."""
    return base64.b64encode(random.Random(size).randbytes(size * 3 // 4)).decode()


def compact_json(size: int) -> str:
    """JSON without white space, nested."""
    rng = random.Random(size)
    values = [{"id": i, "k": [rng.random(), None, True], "s": {"t": f"v{i}"}} for i in range(size // 50)]
    return json.dumps(values, separators=(",", ":"))[:size]


OTHERS = """
## Other calls

Offsets, streams, chunks and training; a vocabulary of 600 random merges, which is not canonical, without a split; and
the pattern `[a-z]+:|[a-z]|\\s+(?!\\S)|[^a-z\\s]+=|[\\s\\S]`, which looks at the rest of a run from each place in it.
"""

INPUTS: dict[str, Callable[[int], str]] = {
    "one letter": repeated("a"),
    "random letters": letters,
    "spaces": repeated(" "),
    "spaces and line ends": repeated("  \n "),
    "digits": repeated("1234567890"),
    "one symbol": repeated("^"),
    "emoji, joined": repeated("👩\u200d💻"),
    "combining marks": repeated("e\u0301\u0323"),
    "base64": encoded,
    "JSON without spaces": compact_json,
}


def seconds(work: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work(text)
        best = min(best, time.perf_counter() - start)
    return best


def oracle(name: str, path: Path, tok: digram.Tokenizer) -> Callable[[str], list[int]]:
    """The library that the vocabulary was made for."""
    if path.suffix == ".tiktoken":
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        pattern, ranks = tok.pattern, load_tiktoken_bpe(str(path))
        assert pattern is not None
        return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}).encode_ordinary
    import tokenizers

    other = tokenizers.Tokenizer.from_file(str(path))
    return lambda text: list(other.encode(text, add_special_tokens=False).ids)


def check(name: str, path: Path, tok: digram.Tokenizer) -> None:
    """The ids of each input are those of the library that the vocabulary was made for."""
    expected = oracle(name, path, tok)
    for label, make in INPUTS.items():
        text = make(SHORTEST)
        if tok.encode(text) != expected(text):
            raise SystemExit(f"{name}: the ids of {label!r} are wrong")


def calls(data: Data) -> dict[str, Callable[[str], object]]:
    """What else is done with a text, by name."""
    cl100k = digram.load(data.vocabulary("cl100k_base.tiktoken"), name="cl100k_base")
    rng = random.Random(0)
    pairs = dict.fromkeys((rng.randrange(97, 123), rng.randrange(97, 123)) for _ in range(300))
    pairs |= dict.fromkeys((rng.randrange(97, 256 + len(pairs)), rng.randrange(97, 123)) for _ in range(300))
    merges = array("I", (number for pair in pairs for number in pair))
    random_merges = digram.Tokenizer(Definition(kind="merges", merges=merges))
    own = digram.train("abc", 256, split="[a-z]+:|[a-z]|\\s+(?!\\S)|[^a-z\\s]+=|[\\s\\S]")
    return {
        "offsets, cl100k": cl100k.encode_with_offsets,
        "stream, cl100k": lambda text: deque(cl100k.stream_encoder().run([text]), maxlen=0),
        "chunks of 500, cl100k": lambda text: deque(cl100k.chunks(text, 500), maxlen=0),
        "count, not canonical, no split": random_merges.count,
        "count, a pattern of one's own": own.count,
        "train 500, cl100k": lambda text: digram.train(text, 500, split="cl100k"),
        "train 500, no split": lambda text: digram.train(text, 500, split=None),
    }


def heading(what: str, sizes: list[int]) -> None:
    """The head of a table."""
    heads = [f"{size / 1e6:g} MB" if size >= 1_000_000 else f"{size // 1000} kB" for size in sizes]
    print(f"| input | {what} | " + " | ".join(heads) + " | MB/s | per byte |")
    print("|---|---|" + "--:|" * (len(sizes) + 2))


def line(
    label: str, name: str, work: Callable[[str], object], make: Callable[[int], str], sizes: list[int]
) -> dict[str, object]:
    """A row: prints it, and gives it as data."""
    times = []
    for size in sizes:
        text = make(size)
        times.append((len(text.encode()), seconds(work, text)))
    (size, last), (few, earlier) = times[-1], times[max(len(times) - 3, 0)]
    growth = (last / size) / (earlier / few)
    cells = " | ".join(f"{time:.3g} s" if time >= 1 else f"{time * 1e3:.3g} ms" for _, time in times)
    rate = size / last / 1e6
    print(f"| {label} | {name} | {cells} | {rate:.{0 if rate >= 10 else 1}f} | {growth:.2f} |")
    sys.stdout.flush()
    return {"input": label, "of": name, "times": times, "growth": growth}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longest", type=int, default=10_000_000, help="the longest text, in bytes")
    parser.add_argument("--json", dest="figures", type=Path, help="keep the figures in this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore", digram.errors.TrainingWarning)  # runs have few pairs
    sizes = [SHORTEST]
    while sizes[-1] * 10 <= options.longest:
        sizes.append(sizes[-1] * 10)

    print(INTRODUCTION.format(machine=machine(), day=datetime.now(UTC).date()))
    figures = []
    data = test_data()
    heading("vocabulary", sizes)
    for name, file in VOCABULARIES.items():
        path = data.vocabulary(file)
        tok = digram.load(path, name=name if path.suffix == ".tiktoken" else None)
        check(name, path, tok)
        say(f"{name}: ids are right")
        for label, make in INPUTS.items():
            figures.append(line(label, name, tok.count, make, sizes))
    print(OTHERS)
    heading("call", sizes)
    for name, work in calls(data).items():
        for label, make in INPUTS.items():
            figures.append(line(label, name, work, make, sizes))
    keep(options.figures, figures)


if __name__ == "__main__":
    main()
