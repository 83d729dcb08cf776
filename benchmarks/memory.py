"""Peak memory of training on a text with many distinct pieces, with a memory limit and without one.

    python benchmarks/memory.py [--pieces 10000000] [--limit 64MB] [--size 8192] [--kind hex|words] [--no-plain]

Makes a text of so many pieces, nearly all of them different, and trains in processes of their own: once for each limit,
and once without one (leave that out by --no-plain where it has no room). Prints the time, the peak of resident memory,
and a checksum of the merges, which is the same for all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import load_average, machine, say
from train import peak_megabytes


def write_text(path: Path, pieces: int, kind: str) -> None:
    """Numbers of eight hexadecimal letters (a to p), or made-up words of syllables with an ending of three letters."""
    rng = random.Random(1)
    letters = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
    with path.open("w", encoding="ascii") as file:
        for start in range(0, pieces, 1 << 16):
            number = min(1 << 16, pieces - start)
            if kind == "hex":
                words = [f"{rng.getrandbits(32):08x}".translate(letters) for _ in range(number)]
            else:
                words = ["".join(rng.choices(syllables, k=3)) + f"{rng.getrandbits(12):03x}".translate(letters)
                         for _ in range(number)]  # fmt: skip
            file.write(" ".join(words) + "\n")


def child(path: str, limit: str, size: str) -> None:
    """One run; prints its figures as JSON."""
    import digram

    start, cpu = time.perf_counter(), time.process_time()
    counts = digram.PieceCounts("gpt2", memory_limit=None if limit == "none" else limit)
    counts.add(digram.Corpus(path))
    pieces = len(counts)
    counted, counting_peak = time.perf_counter() - start, peak_megabytes()
    tok = digram.train(counts, vocab_size=int(size), split="gpt2")
    merges = hashlib.sha256(repr(list(tok.merges)).encode()).hexdigest()
    figures = {
        "pieces": pieces,
        "merges": len(tok.merges),
        "checksum": merges[:16],
        "counting s": round(counted, 1),
        "training s": round(time.perf_counter() - start - counted, 1),
        "cpu s": round(time.process_time() - cpu, 1),
        "peak MB of counting": round(counting_peak),
        "peak MB": round(peak_megabytes()),
    }
    print(json.dumps(figures))


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("--pieces", type=int, default=10_000_000)
    cli.add_argument("--limit", nargs="+", default=["64MB"])
    cli.add_argument("--size", type=int, default=8192)
    cli.add_argument("--kind", choices=["hex", "words"], default="hex")
    cli.add_argument("--no-plain", action="store_true")
    args = cli.parse_args()
    say(f"{machine()}; load {load_average()}")
    sums = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        write_text(path, args.pieces, args.kind)
        for limit in [*args.limit, *([] if args.no_plain else ["none"])]:
            command = [sys.executable, __file__, "--child", str(path), limit, str(args.size)]
            figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            sums.add(figures["checksum"])
            told = "  ".join(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}"
                             for name, value in figures.items())  # fmt: skip
            print(f"memory_limit={limit}  {told}; load {load_average()}", flush=True)
    if len(sums) > 1:
        raise SystemExit("error: the merges differ")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
