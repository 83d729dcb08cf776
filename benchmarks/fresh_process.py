"""What an encoder costs a new process, beside other libraries: import, load, the first text ever, and memory.

    python benchmarks/fresh_process.py [FOLDER] [--vocabulary NAME ...] [--mode numpy list] [--rounds N] [--json FILE]

Every figure comes of a process of its own, on one core, engines in turn:

    import    milliseconds of the import alone
    load      milliseconds from the file to the first ids of a short text; digram keeps nothing of an earlier load
    first     megabytes a second of the first text ever, to an array (numpy) or a list
    again     the same text again
    peak      the most memory that the process held, in megabytes, the text included

The ids are compared with those of the vocabulary's own library once the clock has stopped.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from answers import Answer, answers
from common import CASES, CLOCKS, installed, keep, pin, row, say, test_data
from corpora import stretches, text_of
from encoders import ENCODERS
from modes import Work, is_right, job
from vocabularies import Vocabulary, vocabulary

SETTINGS = CASES["fresh_process"]
UNITS = {"import": "ms", "load": "ms", "first": "MB/s", "again": "MB/s", "peak": "MB"}
SAMPLE = "Loading is fast: 12345 words.\n\n\tdef f(x): return x"


def peak_megabytes() -> float:
    """The most memory that this process held."""
    import resource

    status = Path("/proc/self/status")
    if status.exists():
        # getrusage counts what the parent held before this program took its place.
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def child(
    engine: str, of: Vocabulary, mode: str, file: Path, right: Answer, clock: Callable[[], float]
) -> dict[str, float]:
    """The figures of one engine, in this process, which has not met it yet."""
    case = next(case for case in CASES["encoder"] if case["name"] == engine)
    text = file.read_text(encoding="utf-8")
    work = Work(mode, text, [text], right)
    start = clock()
    importlib.import_module(case["module"])
    found = {"import": (clock() - start) * 1e3}
    start = clock()
    encoder = ENCODERS[engine](of)
    run = job(encoder, work, [])
    if run is None:
        raise ValueError(f"it has no mode {mode}")
    encoder["list"](SAMPLE)
    found["load"] = (clock() - start) * 1e3
    results = []
    for name in ("first", "again"):
        start = clock()
        result = run()
        found[name] = work.megabytes / (clock() - start)
        if name == "first":
            found["peak"] = peak_megabytes()
            results.append(result)
        del result
    if not is_right(work, results[0]):
        raise ValueError("its result is not that of the vocabulary's own library")
    return found


def run_once(engine: str, of: Vocabulary, mode: str, file: Path, right: Answer, clock: str) -> dict[str, float]:
    """The figures of one engine, by a process of its own."""
    files = json.dumps(dataclasses.asdict(of), default=str)
    command = [sys.executable, __file__, "--clock", clock, "--child", engine, files, mode, str(file)]
    command += [right.checksum, str(right.count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:150])
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def compare(args: argparse.Namespace) -> list[dict[str, Any]]:
    """All cells, one after the other; prints them."""
    names, figures = installed("encoder", args.engine), []
    for name in args.vocabulary:
        of = vocabulary(name, args.folder)
        text = next(stretches(text_of(args.corpus, args.folder), 1, args.bytes))
        right = answers(of, [[text]])[0]
        file = test_data().cache / f"fresh-{os.getpid()}.txt"
        file.write_text(text, encoding="utf-8", newline="")
        try:
            for mode in args.mode:
                able = list(names)
                runs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
                for _ in range(args.rounds):
                    for engine in list(able):
                        try:
                            done = run_once(engine, of, mode, file, right, args.clock)
                        except RuntimeError as error:
                            say(f"{name} {mode}: {engine} left out: {error}")
                            able.remove(engine)
                            continue
                        for what, value in done.items():
                            runs[what][engine].append(value)
                for what, unit in UNITS.items():
                    kept = {engine: values for engine, values in runs[what].items() if engine in able}
                    if kept:
                        title = f"{name} {args.corpus} {mode} {what}"
                        figure = row(title, unit, kept, higher_is_better=unit == "MB/s")
                        figures.append(figure | {"vocabulary": name, "mode": mode, "what": what})
        finally:
            file.unlink()
    return figures


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path, nargs="?")
    cli.add_argument("--vocabulary", nargs="+", default=SETTINGS["vocabularies"])
    cli.add_argument("--corpus", default=SETTINGS["corpus"])
    cli.add_argument("--mode", nargs="+", default=SETTINGS["modes"], choices=("numpy", "list", "count"))
    cli.add_argument("--engine", nargs="+", choices=list(ENCODERS))
    cli.add_argument("--rounds", type=int, default=SETTINGS["rounds"])
    cli.add_argument("--bytes", type=int, default=SETTINGS["bytes"], help="of text")
    cli.add_argument("--clock", choices=list(CLOCKS), default="wall", help="cpu: for a machine that has other work")
    cli.add_argument("--json", type=Path, help="keep all figures in this file")
    cli.add_argument("--child", nargs=6, help=argparse.SUPPRESS)
    args = cli.parse_args()
    os.environ["DIGRAM_CACHE"] = "0"
    if args.child:
        pin()
        engine, files, mode, file, checksum, count = args.child
        of, right = Vocabulary.of_data(json.loads(files)), Answer(checksum, int(count))
        print(json.dumps(child(engine, of, mode, Path(file), right, CLOCKS[args.clock])))
    else:
        keep(args.json, compare(args))


if __name__ == "__main__":
    main()
