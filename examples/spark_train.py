"""A folder of documents to a vocabulary and to ids, on Spark.

    spark-submit examples/spark_train.py data/ out/ --vocab-size 32000
    python examples/spark_train.py "data/*.jsonl.gz" out/ --field content --special "<|endoftext|>"
    python examples/spark_train.py data.parquet out/ --master "local[4]"

DATA is a folder, a file or a pattern, of any file system that Spark reads: text (a document a file), .jsonl or
.parquet, told by the name of the first file. Writes out/vocabulary.digram.json, for `digram.load`, and out/ids, Parquet
files with the columns of DATA, input_ids and token_count. The vocabulary goes to the driver's own file system.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, functions

import digram.spark


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a folder, a file or a pattern")
    parser.add_argument("out", help="a folder for the vocabulary and the ids; it is made")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="how many ids (default: 32,000)")
    parser.add_argument("--split", default="cl100k", help="what merges never cross (default: cl100k)")
    parser.add_argument("--special", action="append", default=[], help="a special token; repeatable")
    parser.add_argument("--field", default="text", help="the field of JSON or column of Parquet (default: text)")
    parser.add_argument("--master", help="where to run, if spark-submit does not say it, such as local[4]")
    options = parser.parse_args(arguments)

    builder = SparkSession.builder.appName("digram")
    spark = (builder.master(options.master) if options.master else builder).getOrCreate()
    documents = read(spark, options.data, options.field)

    tokenizer = digram.spark.train(
        documents, options.field, options.vocab_size, split=options.split, special_tokens=options.special
    )
    vocabulary = Path(options.out, "vocabulary.digram.json")
    vocabulary.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(vocabulary)
    print(f"{vocabulary}: {tokenizer.n_vocab:,} ids")

    ids = digram.spark.encode(documents, options.field, tokenizer)
    ids = ids.withColumn("token_count", functions.array_size("input_ids"))
    ids.write.parquet(f"{options.out}/ids")
    written = spark.read.parquet(f"{options.out}/ids")
    rows, tokens, size = written.select(
        functions.count("input_ids"),
        functions.coalesce(functions.sum("token_count"), functions.lit(0)),
        functions.coalesce(functions.sum(functions.octet_length(options.field)), functions.lit(0)),
    ).collect()[0]
    print(f"{options.out}/ids: {rows:,} documents, {tokens:,} tokens, {size / max(tokens, 1):.2f} bytes a token")
    return 0


def read(spark: SparkSession, path: str, field: str) -> DataFrame:
    """The documents of a folder, a file or a pattern; what they are is told by the name of the first file."""
    # Only names are asked for, so no contents are read.
    names = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(path).select("path")
    first = names.orderBy("path").first()
    if first is None:
        raise SystemExit(f"error: {path} holds no files")
    reader = spark.read.option("recursiveFileLookup", True)
    name = first.path.rpartition("/")[2]
    if ".parquet" in name:
        return reader.parquet(path)
    if ".json" in name:
        return reader.json(path)
    return reader.text(path, wholetext=True).withColumnRenamed("value", field)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
