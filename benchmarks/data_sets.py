"""A whole data set through the command line: train on it, encode it to shards of each format, kill that and go on.

    python benchmarks/data_sets.py FOLDER [--corpus large] [--form text ...] [--sink bin ...] [--json FIGURES]

FOLDER/large.txt (or another corpus) is written as one text with separators, as 20 .jsonl.zst files and as Parquet, all
with the same documents of 8,000 characters or so. Each stage is a process of its own: time, rate, peak memory. The rate
of the engine alone, on documents that are in memory already, is printed first. What must be equal is compared: the
vocabularies of the three forms, the shards of the three forms byte for byte, a run that was killed (-9, at a random
moment, five times) and resumed, and the ids that numpy, pyarrow and Megatron-LM's reader see.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import digram
from common import keep, load_average, machine, say
from corpora import text_of
from support import megatron

SEPARATOR = "\x1edigram\x1e"
CHARACTERS = 8_000
PARTS = 20
FORMS = ("text", "jsonl", "parquet")
SINKS = ("bin", "npy", "megatron", "parquet")


# Runs a program, and prints its processor time and its peak. A process of its own, and a small one: Linux counts the
# memory of the process that started another, until that has its own program, as the peak of the other.
RUNNER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(1 if status else 0)
"""


def documents(text: str) -> Iterator[str]:
    """Parts of a text that end at line ends."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + CHARACTERS) + 1 or len(text)
        yield text[start:end]
        start = end


def write_forms(texts: list[str], folder: Path) -> dict[str, list[str]]:
    """The data set in each form; for each the words for the command line that read it."""
    import orjson
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    if any(SEPARATOR in text for text in texts):
        raise SystemExit("error: the corpus holds what is to part its documents: take another one")
    whole = folder / "large.txt"
    # A document after the last separator would be an empty one.
    whole.write_text(SEPARATOR.join(texts), encoding="utf-8")
    for i in range(PARTS):
        with zstandard.open(folder / f"part-{i:02}.jsonl.zst", "wb") as out:
            for text in texts[len(texts) * i // PARTS : len(texts) * (i + 1) // PARTS]:
                out.write(orjson.dumps({"text": text}) + b"\n")
    pq.write_table(pa.table({"text": texts}), folder / "large.parquet", row_group_size=4096, compression="zstd")
    return {
        "text": [os.fspath(whole), "--separator", SEPARATOR],
        "jsonl": [os.fspath(folder / "part-*.jsonl.zst"), "--field", "text"],
        "parquet": [os.fspath(folder / "large.parquet"), "--field", "text"],
    }


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "digram", *map(str, words)]


def stage(name: str, size: int, words: list[str]) -> dict[str, Any]:
    """Runs one process; its wall time, rate of text, processor time, peak of resident memory."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", RUNNER, *words], stdout=subprocess.PIPE, check=False)
    wall = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"error: {' '.join(words)} ended with {done.returncode}")
    cpu, peak = map(float, done.stdout.split())
    figures = {
        "case": name,
        "wall s": round(wall, 2),
        "MB/s": round(size / wall / 1e6, 1),
        "cpu s": round(cpu, 2),
        "peak MB": round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6),
    }
    print("  ".join(f"{key} {value}" if key != "case" else f"{value:28}" for key, value in figures.items()), flush=True)
    return figures


def checksums(folder: Path) -> dict[str, str]:
    """What each shard holds; the manifest and the facts name the corpus, which may differ."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".json":
            with path.open("rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def killed_and_resumed(words: list[str], seconds: float, kills: int, seed: int = 7) -> int:
    """Kills a run -9 at random moments of the time that it takes, then lets it end; how often it was there to kill."""
    rng, done = random.Random(seed), 0
    for attempt in range(kills):
        process = subprocess.Popen([*words, *(["--resume"] if attempt else [])])
        try:
            process.wait(rng.uniform(0.1, 0.9) * seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            done += 1
    subprocess.run([*words, "--resume"], check=True)
    return done


def ids_as_others_see(folder: Path, sink: str) -> str:
    """A checksum of all ids as numpy, pyarrow or Megatron-LM reads them: each in 32 bits, one after the other."""
    import numpy as np
    import pyarrow.parquet as pq

    digest = hashlib.sha256()
    for path in sorted(folder.glob("shard-*.json")):
        facts, stem = json.loads(path.read_text()), path.with_suffix("")
        if sink == "bin":
            digest.update(np.memmap(stem.with_suffix(".bin"), dtype=facts["dtype"], mode="r").astype("<u4").tobytes())
        elif sink == "npy":
            digest.update(np.load(stem.with_suffix(".npy"), mmap_mode="r").astype("<u4").tobytes())
        elif sink == "parquet":
            for batch in pq.ParquetFile(stem.with_suffix(".parquet")).iter_batches(columns=["input_ids"]):
                digest.update(batch.column(0).flatten().to_numpy().astype("<u4").tobytes())
        else:
            data = megatron.indexed_dataset().IndexedDataset(os.fspath(stem))
            for i in range(len(data)):
                digest.update(np.asarray(data[i]).astype("<u4").tobytes())
    return digest.hexdigest()


def engine_alone(tokenizer: digram.Tokenizer, texts: list[str], size: int) -> dict[str, Any]:
    """Batches of what the command line takes at once, all of them in memory, to one array each; thrown away."""
    start, batch = time.perf_counter(), 2_000
    for i in range(0, len(texts), batch):
        tokenizer.encode_batch_to_numpy(texts[i : i + batch])
    wall = time.perf_counter() - start
    print(f"{'engine alone':28}wall s {wall:.2f}  MB/s {size / wall / 1e6:.1f}", flush=True)
    return {"case": "engine alone", "wall s": round(wall, 2), "MB/s": round(size / wall / 1e6, 1)}


def same(what: str, values: list[Any]) -> None:
    if any(value != values[0] for value in values):
        raise SystemExit(f"error: {what} differ")
    say(f"{what} are equal ({len(values)})")


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path)
    cli.add_argument("--corpus", default="large")
    cli.add_argument("--size", type=int, default=50_000)
    cli.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS))
    cli.add_argument("--sink", nargs="+", choices=SINKS, default=list(SINKS))
    cli.add_argument("--kills", type=int, default=5)
    cli.add_argument("--json", type=Path)
    args = cli.parse_args()
    say(f"{machine()}; load {load_average()}")
    texts = list(documents(text_of(args.corpus, args.folder).decode()))
    size = sum(len(text.encode()) for text in texts)
    say(f"{args.corpus}: {size:,} bytes in {len(texts):,} documents")
    figures = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        forms = write_forms(texts, folder)
        for form in args.form:
            words = command("train", *forms[form], "-o", folder / form, "--vocab-size", args.size, "--split", "gpt2",
                            "--special", "<|endoftext|>", "--quiet")  # fmt: skip
            figures.append(stage(f"train from {form}", size, words))
        same("the vocabularies", [hashlib.sha256((folder / form).read_bytes()).hexdigest() for form in args.form])
        vocabulary = folder / args.form[0]
        figures.append(engine_alone(digram.load(vocabulary), texts, size))
        del texts
        seen = []
        for sink in args.sink:
            found = []
            for form in args.form:
                words = command("encode", "-t", vocabulary, *forms[form], "-o", folder / f"{form}-{sink}",
                                "--format", sink, "--no-columns", "--quiet")  # fmt: skip
                figures.append(stage(f"{form} to {sink}", size, words))
                found.append(checksums(folder / f"{form}-{sink}"))
            same(f"the shards of {sink}", found)
            again = folder / "again"
            words[words.index("-o") + 1] = os.fspath(again)
            kills = killed_and_resumed(words, figures[-1]["wall s"], args.kills)
            say(f"{sink}: killed {kills} times and resumed")
            same("its shards and those of a run that was left alone", [checksums(again), found[-1]])
            if sink != "megatron" or megatron.available():
                seen.append(ids_as_others_see(again, sink))
            for name in ("again", *(f"{form}-{sink}" for form in args.form)):
                shutil.rmtree(folder / name)
        same("the ids that readers of each format see", seen)
    say(f"load {load_average()}")
    keep(args.json, figures)


if __name__ == "__main__":
    main()
