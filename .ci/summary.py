"""Adds up what a run of `.ci/run` did: `summary.py FOLDER [FAILED STAGE...]`. Exit code 1 where anything failed."""

import json
import re
import sys
from pathlib import Path

MAKE = re.compile(r"^make(?:\[\d+\])?: \*\*\* \[.*?([\w.-]+)\] Error", re.M)
# What cargo-nextest ("Summary [0.1s] 3 tests run: 2 passed, 1 failed, 4 skipped") and cargo test print, docs included.
NEXTEST = re.compile(r"^\s*Summary \[.*?\]\s+(?:\d+/)?\d+ tests? run: (.*)$", re.M)
CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.M)


def rust(log: str) -> tuple[int, int, int]:
    """Passed, failed and left out (ignored: those of `make exhaustive`) cases of the Rust tests."""
    totals = [0, 0, 0]
    for line in NEXTEST.findall(log):
        for n, kind in re.findall(r"(\d+) ([a-z ]+)", line.replace("timed out", "failed")):
            kind = kind.strip()
            if kind in ("passed", "failed", "skipped"):
                totals[("passed", "failed", "skipped").index(kind)] += int(n)
    for numbers in CARGO.findall(log):
        totals = [total + int(n) for total, n in zip(totals, numbers, strict=True)]
    return totals[0], totals[1], totals[2]


def main() -> int:
    folder, failed_stages = Path(sys.argv[1]), sys.argv[2:]
    logs = {log.stem: log.read_text(encoding="utf-8", errors="replace") for log in folder.glob("*.log")}
    rust_passed, rust_failed, rust_left_out = rust(logs["test"])
    summary = folder / "pytest.json"
    python = json.loads(summary.read_text(encoding="utf-8")) if summary.exists() else None
    problems = []
    for stage in failed_stages:
        # make names the target that failed: of `make test`, the parts.
        parts = MAKE.findall(logs.get(stage, "")) or [stage]
        problems += ["a clean checkout" if part == "checkout" else f"make {part}" for part in parts]
    if python is None:
        problems.append("pytest (it did not get to its end)")
        python = {"passed": 0, "failed": 0, "left out": 0, "skips": [], "unregistered": [], "oracle": {}}
    elif not python["passed"]:
        problems.append("pytest (no test passed)")
    if not rust_passed:
        problems.append("the Rust tests (none passed)")

    passed, failed = rust_passed + python["passed"], rust_failed + python["failed"] + len(python["unregistered"])
    # A failure that is no test case (a lint, a build, the demo) is one failure: the last line never says 0 then.
    failed = failed or len(problems)
    oracle = python["oracle"]
    named = ", ".join(f"{name} {n}" for name, n in sorted(oracle.items())) or "none"
    print("== summary")
    print(f"Rust: {rust_passed} passed, {rust_failed} failed; {rust_left_out} left for make exhaustive")
    print(
        f"Python: {python['passed']} passed, {python['failed']} failed; {python['left out']} left for make exhaustive"
    )
    for test, reason in python["skips"]:
        print(f"skipped: {test}: {reason}{' (not in tests/skips.toml)' if test in python['unregistered'] else ''}")
    print(f"compared with an oracle: {sum(oracle.values())} cases ({named})")
    for problem in problems:
        print(f"failed: {problem}")
    print(f"{passed} passed, {failed} failed, {len(python['skips'])} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
