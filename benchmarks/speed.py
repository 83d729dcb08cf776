"""All of the encoding benchmarks, and the page docs/speed.md of them.

    python benchmarks/speed.py [FOLDER] [--bytes N] [--rounds N] [--markdown FILE] [--keep FOLDER]
    python benchmarks/speed.py --from FOLDER --markdown FILE        # the page again, of figures that are kept

Runs encode.py on one core, its batches on one core and on all, and fresh_process.py, each in a process of its own.
The figures go to `--keep` (default: target/benchmarks); `--markdown` writes the page.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

from common import CASES, CLOCKS, HERE, load_average, machine, say, version_of
from page import page

KEEP = HERE.parent / "target" / "benchmarks"
PARTS = ("encode", "batch_one", "batch_all", "fresh_process")


def options(args: argparse.Namespace, *names: str) -> list[str]:
    """What this program was given of the options `names`, as arguments for another."""
    found: list[str] = []
    for name in names:
        value = getattr(args, name)
        if value is not None:
            found += [f"--{name}", *map(str, value if isinstance(value, list) else [value])]
    return found


def commands(args: argparse.Namespace) -> dict[str, list[str]]:
    """The programs to run, by the name of the file that their figures go to."""
    folder, clock = [str(args.folder)] if args.folder else [], options(args, "clock")
    texts = [*folder, *options(args, "vocabulary", "corpus", "engine", "rounds", "bytes")]
    batch = ["encode.py", *texts, "--mode", "batch", "batch_arrays", "--cores"]
    fresh = [*folder, *options(args, "vocabulary", "engine", "rounds", "bytes")]
    return {
        "encode": ["encode.py", *texts, *clock, *options(args, "mode")],
        "batch_one": [*batch, "one", *clock],
        "batch_all": [*batch, "all"],
        "fresh_process": ["fresh_process.py", *fresh, *clock],
    }


def run(args: argparse.Namespace, folder: Path) -> int:
    """Runs the parts; gives how many failed."""
    folder.mkdir(parents=True, exist_ok=True)
    packages = {engine["name"]: version_of(engine["package"]) for engine in CASES["encoder"]}
    about = {
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
        "load": load_average(),
        "versions": {name: version for name, version in packages.items() if version},
        "bytes": args.bytes or CASES["encode"]["bytes"],
        "rounds": args.rounds or CASES["encode"]["rounds"],
        "folder": args.folder is not None,
        "clock": args.clock or "wall",
    }
    print(f"{about['machine']}; load {about['load']}", flush=True)
    (folder / "about.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    failed = 0
    for name, command in commands(args).items():
        if name not in args.part:
            continue
        print(f"\n== {name}", flush=True)
        command = [sys.executable, str(HERE / command[0]), *command[1:], "--json", str(folder / f"{name}.json")]
        code = subprocess.run(command, check=False).returncode
        if code:
            say(f"{name} ended with exit code {code}: its figures are missing")
            failed += 1
    return failed


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path, nargs="?", help="of prose.txt, multilingual.txt, code.txt")
    for name in ("vocabulary", "corpus", "mode", "engine"):
        cli.add_argument(f"--{name}", nargs="+", help="as for encode.py")
    cli.add_argument("--rounds", type=int)
    cli.add_argument("--bytes", type=int, help="of text a round; the page of a release has 10,000,000")
    cli.add_argument("--clock", choices=list(CLOCKS), help="cpu: for one core of a machine that has other work")
    cli.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    cli.add_argument("--keep", type=Path, default=KEEP)
    cli.add_argument("--from", type=Path, dest="source", help="run nothing: take the figures of this folder")
    cli.add_argument("--markdown", type=Path)
    args = cli.parse_args()
    os.environ["PYTHONUNBUFFERED"] = "1"
    failed = 0 if args.source else run(args, args.keep)
    if args.markdown:
        args.markdown.write_text(page(args.source or args.keep), encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
