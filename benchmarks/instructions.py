"""Instructions of the engine's kernels for a byte of text, by valgrind: a regression shows without a stopwatch.

    python benchmarks/instructions.py [KERNEL ...] [--update]

Builds and runs the example `kernels` of the engine (crates/digram/examples/kernels.rs) with one pass over fixed,
generated text and with three; half of the difference is one pass. The figures are compared with those that
instructions.toml keeps, and the exit code is 1 where one is higher by more than the tolerance. A figure that is lower
by as much is told: `--update` keeps the new ones. They hold for the processors and the compiler that the file names:
valgrind has no AVX-512, so of the vectors it is the AVX2 paths that are counted.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import HERE, say

KEPT = HERE / "instructions.toml"
ROOT = HERE.parent
TOLERANCE = 0.05
COUNTED = re.compile(r"Collected\s*:\s*(\d+)")


def program() -> Path:
    """The example, built."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "digram", "--example", "kernels"]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise SystemExit("error: the example kernels of crates/digram does not build: see the lines above")
    return ROOT / "target" / "release" / "examples" / "kernels"


def kernels(path: Path) -> dict[str, int]:
    """The kernels, and the bytes of one pass."""
    printed = subprocess.run([path], check=True, capture_output=True, text=True).stdout
    return {name: int(size) for name, size in (line.split() for line in printed.splitlines())}


def instructions(path: Path, kernel: str, passes: int) -> int:
    """All instructions of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", str(path), kernel, str(passes)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    found = COUNTED.search(done.stderr)
    if done.returncode or not found:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise SystemExit(f"error: valgrind could not run the kernel {kernel}: {last}")
    return int(found[1])


def per_byte(path: Path, kernel: str, size: int) -> float:
    """The instructions of one pass for a byte of its text."""
    return (instructions(path, kernel, 3) - instructions(path, kernel, 1)) / 2 / size


def compiler() -> str:
    """The compiler that the figures hold for."""
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def verdict(kernel: str, now: float, before: float | None) -> tuple[bool, str]:
    """Whether the kernel is as good as it was, and a line that says so."""
    if before is None:
        return False, f"{kernel:24} {now:9.2f}   no figure is kept: --update keeps it"
    change = now / before - 1
    line = f"{kernel:24} {now:9.2f}   was {before:.2f} ({change:+.1%})"
    if change > TOLERANCE:
        return False, line + "   REGRESSION"
    return True, line + ("   better: --update keeps it" if change < -TOLERANCE else "")


def keep(figures: dict[str, float]) -> None:
    """Writes the file of figures."""
    lines = [
        "# Instructions for a byte of text, by `make instructions ARGS=--update`; x86-64 with AVX2.",
        f'compiler = "{compiler()}"',
        "",
        "[kernels]",
        *(f"{kernel} = {figure:.2f}" for kernel, figure in figures.items()),
    ]
    KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("kernel", nargs="*", help="default: all")
    cli.add_argument("--update", action="store_true", help="keep what is counted now")
    args = cli.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("error: valgrind, which counts instructions, is missing: on Debian, apt-get install valgrind")
    kept = tomllib.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    known: dict[str, float] = kept.get("kernels", {})
    if kept and kept["compiler"] != compiler():
        say(f"the figures were kept with {kept['compiler']}; this is {compiler()}, which may differ by itself")
    path = program()
    sizes = kernels(path)
    for kernel in args.kernel:
        if kernel not in sizes:
            raise SystemExit(f"error: no kernel {kernel!r}: there are {', '.join(sizes)}")
    wanted = args.kernel or list(sizes)
    with ThreadPoolExecutor(2) as pool:
        counted = pool.map(lambda kernel: (kernel, per_byte(path, kernel, sizes[kernel])), wanted)
        figures: dict[str, float] = {}
        good = True
        for kernel, figure in counted:
            figures[kernel] = figure
            fine, line = verdict(kernel, figure, known.get(kernel))
            good &= fine
            print(line, flush=True)
    if args.update:
        keep(known | figures)
    elif not good:
        sys.exit(1)


if __name__ == "__main__":
    main()
