"""How long a vocabulary takes to be ready, in seconds, beside tiktoken and tokenizers.

    python benchmarks/load.py [FILE ...] [--rounds N] [--json FILE]

FILE is one of the test data folder (`o200k_base.tiktoken`, `llama3_1-tokenizer.json`, ...). For each, the rows are:

    source    from the file, with nothing kept
    kept      from the file once it was loaded before: its content is in digram's cache folder, prepared
    dumps     pickling
    loads     unpickling
    spawn     a new process, sent the tokenizer, answers with the ids of a text
    first     a new process, which imports the library and loads the file, from `python` to the first ids

Each round of `source` to `loads` is a process of its own, and each engine takes its turn in it: memory that an earlier
round has warmed flatters. Ids are compared with tiktoken's or tokenizers' before anything is timed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import keep, row, say, test_data

FILES = ["o200k_base.tiktoken", "o200k_base-tokenizer.json", "llama3_1-tokenizer.json", "qwen3-tokenizer.json"]
SAMPLE = "Loading is fast: 12345 Wörter, 中文 and 👍🏽.\n\n\tdef f(x): return x"

Loader = Callable[[Path], Any]


def digram(path: Path) -> Any:
    import digram

    return digram.load(path, name=path.stem) if path.suffix == ".tiktoken" else digram.load(path)


def tiktoken(path: Path) -> Any:
    import tiktoken_ext.openai_public as public
    from tiktoken import Encoding, load

    if path.suffix != ".tiktoken":
        raise ValueError("reads .tiktoken files only")
    load.read_file_cached = lambda blobpath, expected_hash=None: path.read_bytes()  # no cache of its own, no network
    return Encoding(**public.ENCODING_CONSTRUCTORS[path.stem]())


def tokenizers(path: Path) -> Any:
    import tokenizers

    if path.suffix != ".json":
        raise ValueError("reads tokenizer.json only")
    return tokenizers.Tokenizer.from_file(str(path))


LOADERS: dict[str, Loader] = {f.__name__: f for f in (digram, tiktoken, tokenizers)}


def ids(tokenizer: Any) -> list[int]:
    """The ids of the sample."""
    if hasattr(tokenizer, "encode_ordinary"):
        return list(tokenizer.encode_ordinary(SAMPLE))
    found = tokenizer.encode(SAMPLE, add_special_tokens=False)
    return list(getattr(found, "ids", found))


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def one_round(engine: str, path: Path) -> dict[str, float]:
    """The rows of one engine but `spawn` and `first`, in this process, which has loaded nothing yet."""
    load, found = LOADERS[engine], {}
    if engine == "digram":
        import digram.formats.huggingface
        import digram.formats.tiktoken  # noqa: F401

        load(path)  # so that it is kept
        found["kept"], _ = seconds(lambda: load(path))
        os.environ["DIGRAM_CACHE"] = "0"
    found["source"], tokenizer = seconds(lambda: load(path))
    found["dumps"], data = seconds(lambda: pickle.dumps(tokenizer))
    found["loads"], again = seconds(lambda: pickle.loads(data))
    assert ids(again) == ids(tokenizer)
    return found


def spawned(engine: str, path: Path) -> float:
    """Seconds until a new process, sent the tokenizer, has answered."""
    tokenizer = LOADERS[engine](path)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.apply(ids, (tokenizer,))  # the process and its imports are there
        took, _ = seconds(lambda: pool.apply(ids, (tokenizer,)))
    return took


def in_process(*arguments: str) -> tuple[float, str]:
    """Seconds of a process of this program, and what it prints."""
    command = [sys.executable, __file__, *arguments]
    took, done = seconds(lambda: subprocess.run(command, capture_output=True, text=True, check=False))
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
    return took, done.stdout


def exact(path: Path) -> list[str]:
    """The engines that can load the file; those that give other ids than the first rival are left out."""
    found: dict[str, list[int]] = {}
    for engine in LOADERS:
        try:
            found[engine] = json.loads(in_process("--answer", engine, str(path))[1])
        except RuntimeError as error:
            say(f"{engine} cannot load {path.name}, left out: {error}")
    want = next((answer for engine, answer in found.items() if engine != "digram"), None)
    for engine in [engine for engine, answer in found.items() if answer != want]:
        say(f"{engine} gives other ids for {path.name}, left out")
        del found[engine]
    return list(found)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("file", nargs="*", default=FILES)
    cli.add_argument("--rounds", type=int, default=5)
    cli.add_argument("--json", type=Path, help="keep all figures in this file")
    for name in ("--answer", "--round", "--spawn"):  # what a process of its own is asked to do
        cli.add_argument(name, nargs=2, metavar=("ENGINE", "PATH"), help=argparse.SUPPRESS)
    args = cli.parse_args()
    if args.answer:
        print(json.dumps(ids(LOADERS[args.answer[0]](Path(args.answer[1])))))
    elif args.round:
        print(json.dumps(one_round(args.round[0], Path(args.round[1]))))
    elif args.spawn:
        print(spawned(args.spawn[0], Path(args.spawn[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= {"DIGRAM_CACHE_DIR": folder, "TIKTOKEN_CACHE_DIR": folder}
            compare(args.file, args.rounds, args.json)


def compare(names: list[str], rounds: int, to: Path | None) -> None:
    figures = []
    for name in names:
        path = test_data().vocabulary(name)
        engines = exact(path)
        rows: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for _ in range(rounds):
            for engine in engines:
                for what, took in json.loads(in_process("--round", engine, str(path))[1]).items():
                    rows[what][engine].append(took)
                rows["spawn"][engine].append(float(in_process("--spawn", engine, str(path))[1]))
                rows["first"][engine].append(in_process("--answer", engine, str(path))[0])
        for what in ("source", "kept", "dumps", "loads", "spawn", "first"):
            figures.append(row(f"{name} {what}", "s", rows[what], higher_is_better=False))
    keep(to, figures)


if __name__ == "__main__":
    main()
