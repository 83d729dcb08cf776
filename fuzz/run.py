"""Runs the fuzz targets: `make fuzz`. Standard library only.

The engine's targets (`src/`) run under libFuzzer with coverage, AddressSanitizer, overflow checks and debug assertions,
on the stable toolchain: the flags are those that cargo-fuzz gives, and `RUSTC_BOOTSTRAP=1` lets rustc take them. The C
code of libsais is built with the same sanitizer. The readers of files (`loaders.py`) run under atheris.

What a target has learnt stays in `target/fuzz/corpus`, a finding is kept in `fuzz/artifacts`, and each run adds a line
to `target/fuzz/log.tsv`: date, target, seconds, seconds of the processor, cases, result.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = ROOT / "target" / "fuzz"
ARTIFACTS = HERE / "artifacts"

ENGINE = ("split", "encode", "cut", "decode", "train")
LOADERS = "loaders"

# What cargo-fuzz passes for coverage (its `src/project.rs`), and the sanitizer. Overflow checks and debug assertions
# are those of the profile `dev`, which is optimised.
FLAGS = (
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-sanitizer-coverage-stack-depth",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Zsanitizer=address",
    "-Cforce-frame-pointers=yes",
)

# A case that takes longer, or more memory, is a finding: cases are small, and a machine may have much else to do.
CASE_SECONDS = 60
CASE_MEGABYTES = 2048


class Missing(Exception):
    """Something that has to be installed first; the sentence says how."""


def rustc(*arguments: str) -> str:
    return subprocess.run(["rustc", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def host() -> str:
    """The target triple of this machine, once it is sure that it can build the targets."""
    if not shutil.which("cargo") or not shutil.which("rustc"):
        raise Missing("cargo is missing: install Rust (see CONTRIBUTING.md)")
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "c++", "g++", "clang++")):
        raise Missing("a C++ compiler is missing, which builds libFuzzer: on Debian, apt-get install g++")
    found = re.search(r"^host: (\S+)$", rustc("-vV"), re.MULTILINE)
    assert found is not None, "rustc -vV names its host"
    triple = found.group(1)
    runtimes = Path(rustc("--print", "sysroot"), "lib", "rustlib", triple, "lib")
    if not any("asan" in file.name for file in runtimes.iterdir()):
        raise Missing(f"Rust for {triple} comes without AddressSanitizer: install it by rustup, on Linux or macOS")
    return triple


def environment(triple: str, flags: Sequence[str]) -> dict[str, str]:
    """For cargo: both languages with AddressSanitizer, in a target folder of their own."""
    sanitized = "-fsanitize=address -fno-omit-frame-pointer"
    return os.environ | {
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": " ".join(flags),
        f"CFLAGS_{triple.replace('-', '_')}": sanitized,
        "CARGO_TARGET_DIR": str(OUT),
    }


def build() -> Path:
    """The folder of the built targets."""
    triple = host()
    print("building the fuzz targets: some minutes the first time", flush=True)
    command = ["cargo", "build", "--locked", "--quiet", "-p", "digram-fuzz", "--features", "libfuzzer", "--bins"]
    subprocess.run([*command, "--target", triple], check=True, cwd=ROOT, env=environment(triple, FLAGS))
    return OUT / triple / "debug"


def sanitize() -> None:
    """The engine's own tests under AddressSanitizer: its dependencies have unsafe code."""
    triple = host()
    command = ["cargo", "test", "--locked", "-p", "digram", "-p", "digram-fuzz", "--tests", "--target", triple]
    flags = ("-Zsanitizer=address", "-Cforce-frame-pointers=yes")
    environ = environment(triple, flags) | {"CARGO_TARGET_DIR": str(ROOT / "target" / "sanitize")}
    subprocess.run(command, check=True, cwd=ROOT, env=environ)


def command_of(target: str, built: Path | None) -> list[str]:
    """What runs a target, without its arguments."""
    if built is None:
        return [sys.executable, str(HERE / "loaders.py")]
    return [str(built / f"fuzz_{target}")]


def processor_seconds() -> float:
    """What the processes that ended have used: beside other work on the machine less than the time that passed."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(target: str, built: Path | None, seconds: int) -> bool:
    """One target for so long; whether it found nothing."""
    corpus, seeds = OUT / "corpus" / target, HERE / "seeds" / target
    corpus.mkdir(parents=True, exist_ok=True)
    ARTIFACTS.mkdir(exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-timeout={CASE_SECONDS}",
        f"-rss_limit_mb={CASE_MEGABYTES}",
        f"-artifact_prefix={ARTIFACTS}/{target}-",
        "-len_control=0",
        "-print_final_stats=1",
        *(["-max_len=1024", f"-dict={HERE / 'dictionary.txt'}"] if built else ["-max_len=16384"]),
    ]
    command = command_of(target, built)
    folders = [str(corpus), str(seeds)]
    log = OUT / f"{target}.log"
    began, used = time.monotonic(), processor_seconds()
    with log.open("wb") as out:
        done = subprocess.run([*command, *options, *folders], check=False, stdout=out, stderr=out, cwd=ROOT)
    code = done.returncode
    took, used = time.monotonic() - began, processor_seconds() - used
    text = log.read_text(encoding="utf-8", errors="replace")
    cases = re.search(r"stat::number_of_executed_units:\s*(\d+)", text) or re.search(r"Done (\d+) runs", text)
    number = cases.group(1) if cases else "?"
    line = [
        datetime.datetime.now().isoformat(timespec="seconds"),
        target,
        f"{took:.0f}",
        f"{used:.0f}",
        number,
        f"exit {code}",
    ]
    with (OUT / "log.tsv").open("a", encoding="utf-8") as lines:
        lines.write("\t".join(line) + "\n")
    if code == 0:
        print(f"fuzz {target}: {took:.0f} s, {number} cases, nothing found", flush=True)
        return True
    kept = re.search(r"Test unit written to (\S+)", text)
    print(f"fuzz {target}: FAILED after {took:.0f} s ({log} has all of it)", flush=True)
    told = [line for line in text.splitlines() if re.search(r"panicked at|ERROR:|SUMMARY:|Error: |Exception", line)]
    print("\n".join(f"    {line[:300]}" for line in (told or text.splitlines()[-6:])[:6]))
    if kept:
        case = kept.group(1)
        print(f"    again: {shlex.join([*command, case])}")
        print(f"    mend it, and keep the case: mv {shlex.quote(case)} {HERE / 'seeds' / target}/")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the fuzz targets.")
    parser.add_argument("--seconds", type=int, default=60, help="how long each target runs")
    parser.add_argument("--sanitize", action="store_true", help="only the engine's tests under AddressSanitizer")
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join((*ENGINE, LOADERS))}; by default all")
    arguments = parser.parse_args()
    targets = arguments.targets or [*ENGINE, LOADERS]
    unknown = [target for target in targets if target not in (*ENGINE, LOADERS)]
    try:
        if unknown:
            raise Missing(f"there is no fuzz target {unknown[0]!r}: there are {', '.join((*ENGINE, LOADERS))}")
        if arguments.sanitize:
            sanitize()
            return 0
        built = build() if any(target in ENGINE for target in targets) else None
    except Missing as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failed:
        return failed.returncode
    results = [run(target, built if target in ENGINE else None, arguments.seconds) for target in targets]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
