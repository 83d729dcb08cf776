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
from collections.abc import Callable
from pathlib import Path

import digram
from common import keep, say, test_data

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
whatever it holds; the last column is the time for a byte of the longest text over that for a byte of one a hundredth
as long (1 is exactly linear; caches that no longer hold a text, and the heap of long pieces, make it a little more).

Made by `python benchmarks/linear.py`, on one core; the ids were first compared with tiktoken's and tokenizers'.
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


def check(name: str, path: Path, tok: digram.Tokenizer) -> None:
    """The ids of each input, by the library that the vocabulary was made for."""
    for label, make in INPUTS.items():
        text = make(SHORTEST)
        if path.suffix == ".tiktoken":
            import tiktoken
            from tiktoken.load import load_tiktoken_bpe

            pattern = tok.pattern
            assert pattern is not None
            other = tiktoken.Encoding(
                name, pat_str=pattern, mergeable_ranks=load_tiktoken_bpe(str(path)), special_tokens={}
            )
            expected = other.encode_ordinary(text)
        else:
            import tokenizers

            expected = tokenizers.Tokenizer.from_file(str(path)).encode(text, add_special_tokens=False).ids
        if tok.encode(text) != expected:
            raise SystemExit(f"{name}: the ids of {label!r} are wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longest", type=int, default=10_000_000, help="the longest text, in bytes")
    parser.add_argument("--json", dest="figures", type=Path, help="keep the figures in this file")
    options = parser.parse_args()
    sizes = [SHORTEST]
    while sizes[-1] * 10 <= options.longest:
        sizes.append(sizes[-1] * 10)

    print(INTRODUCTION)
    heads = [f"{size / 1e6:g} MB" if size >= 1_000_000 else f"{size // 1000} kB" for size in sizes]
    print("| input | vocabulary | " + " | ".join(heads) + " | MB/s | per byte |")
    print("|---|---|" + "--:|" * (len(sizes) + 2))
    figures = []
    data = test_data()
    for name, file in VOCABULARIES.items():
        path = data.vocabulary(file)
        tok = digram.load(path, name=name if path.suffix == ".tiktoken" else None)
        check(name, path, tok)
        say(f"{name}: ids are right")
        for label, make in INPUTS.items():
            times = []
            for size in sizes:
                text = make(size)
                times.append((len(text.encode()), seconds(tok.count, text)))
            (bytes_, last), (few, earlier) = times[-1], times[max(len(times) - 3, 0)]
            growth = (last / bytes_) / (earlier / few)
            cells = " | ".join(f"{time * 1e3:.3g} ms" for _, time in times)
            print(f"| {label} | {name} | {cells} | {bytes_ / last / 1e6:.0f} | {growth:.2f} |")
            sys.stdout.flush()
            figures.append({"input": label, "vocabulary": name, "times": times, "growth": growth})
    keep(options.figures, figures)


if __name__ == "__main__":
    main()
