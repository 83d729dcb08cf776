"""A data set on Spark beside the same on one machine: the vocabulary byte for byte, the ids document by document.

    python benchmarks/cluster.py FOLDER [--corpus large] [--size 50000] [--tight] [--json FIGURES]

The cluster is local-cluster[2,1,1024]: a driver and two executors of one processor and 1 GB each, as processes of this
machine. Prints the time of counting, of training and of encoding to Parquet, what shuffles wrote to disk for want of
memory, and the same of digram without Spark. --tight gives the executors 14 MB for shuffles, so that they must spill.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import digram
from common import keep, load_average, machine, say
from corpora import text_of
from data_sets import documents
from support import spark as cluster

# What `started` sets for the tests, whose data are small, is Spark's default again.
ROOMY = {"spark.memory.fraction": "0.6", "spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
FILES = 16


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path)
    cli.add_argument("--corpus", default="large")
    cli.add_argument("--size", type=int, default=50_000)
    cli.add_argument("--tight", action="store_true")
    cli.add_argument("--json", type=Path)
    args = cli.parse_args()
    if reason := cluster.missing():
        raise SystemExit(f"error: {reason}")
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    import digram.spark

    say(f"{machine()}; load {load_average()}")
    texts = list(documents(text_of(args.corpus, args.folder).decode()))
    size = sum(len(text.encode()) for text in texts)
    say(f"{args.corpus}: {size:,} bytes in {len(texts):,} documents")
    figures: list[dict[str, Any]] = []

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        found = work()
        wall = time.perf_counter() - start
        print(f"{name:28}{wall:8.1f} s  {size / wall / 1e6:6.1f} MB/s", flush=True)
        figures.append({"case": name, "wall s": round(wall, 2), "MB/s": round(size / wall / 1e6, 1)})
        return found

    options: dict[str, Any] = {"split": "gpt2", "special_tokens": ["<|endoftext|>"]}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "texts").mkdir()
        for i in range(FILES):
            start, end = len(texts) * i // FILES, len(texts) * (i + 1) // FILES
            table = pa.table({"number": range(start, end), "text": texts[start:end]})
            pq.write_table(table, folder / "texts" / f"{i:02}.parquet", compression="zstd", row_group_size=4096)
        tok = timed("one machine, train", partial(digram.train, texts, args.size, **options))
        ids, offsets = timed("one machine, encode", partial(together, np, tok, texts))
        del texts

        if not args.tight:
            cluster.SETTINGS.update(ROOMY)
        (folder / "spark").mkdir()
        session = cluster.started(folder / "spark")
        df = session.read.parquet(os.fspath(folder / "texts"))
        counts = folder / "counts"
        pieces = digram.spark.count_pieces(df, "text", **options)
        timed("Spark, count pieces", partial(pieces.write.parquet, os.fspath(counts)))
        say(f"{cluster.spilled(session):,} bytes spilled")
        kept = digram.spark.collect(session.read.parquet(str(counts)), **options)
        theirs = timed("driver, train from counts", partial(digram.train, kept, args.size))
        tok.save(folder / "a")
        theirs.save(folder / "b")
        if (folder / "a").read_bytes() != (folder / "b").read_bytes():
            raise SystemExit("error: the vocabularies differ")
        say("the vocabularies are the same bytes")
        encoded = digram.spark.encode(df, "text", theirs).select("number", "input_ids")
        timed("Spark, encode to Parquet", partial(encoded.write.parquet, os.fspath(folder / "ids")))
        session.stop()

        seen = 0
        for path in sorted((folder / "ids").glob("*.parquet")):
            table = pq.read_table(path)
            for number, row in zip(table["number"].to_pylist(), table["input_ids"], strict=True):
                if not np.array_equal(row.values.to_numpy(), ids[offsets[number] : offsets[number + 1]]):
                    raise SystemExit(f"error: the ids of document {number} differ")
                seen += 1
        if seen != len(offsets) - 1:
            raise SystemExit(f"error: {seen} documents of {len(offsets) - 1} came back")
        say(f"the ids of {seen:,} documents are the same; load {load_average()}")
    keep(args.json, figures)


def together(np: Any, tok: digram.Tokenizer, texts: list[str]) -> tuple[Any, Any]:
    """The ids of all texts, and where each begins, and the last one ends."""
    parts, lengths = [], []
    for i in range(0, len(texts), 2_000):
        ids, ends = tok.encode_batch_to_numpy(texts[i : i + 2_000])
        parts.append(ids)
        lengths.append(np.diff(ends, prepend=np.uint64(0)))
    return np.concatenate(parts), np.concatenate([[0], np.cumsum(np.concatenate(lengths), dtype=np.int64)])


if __name__ == "__main__":
    main()
