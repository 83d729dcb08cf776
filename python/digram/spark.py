"""Vocabularies and ids on a Spark cluster: pieces are counted and texts encoded where they are, in batches of Arrow's.

    import digram.spark

    tok = digram.spark.train(df, "text", vocab_size=32_000)             # what digram.train gives for the same texts
    digram.spark.encode(df, "text", tok).write.parquet("ids")           # df with a column input_ids: array<int>

A row is a document. A row whose text is null is none: it is not counted, and has null for ids and for their number.
The column is one of strings or of binary. digram must be installed where the executors run; docs/spark.md tells what
runs where. PySpark 4.1 or later (4.0 is enough for training).
"""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from digram import _arrow, _optional
from digram.counts import PieceCounts
from digram.errors import TrainingWarning
from digram.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from digram.cutting import Specials

__all__ = ["collect", "count", "count_pieces", "encode", "train"]

_NO_ORDER = ("first-seen", "minbpe")
"""The tie rules that ask which piece came first."""


def count_pieces(
    df: DataFrame,
    column: str | Column,
    *,
    split: str | None = "cl100k",
    special_tokens: Iterable[str] = (),
    memory_limit: int | str = "256MB",
    temporary_folder: str | None = None,
) -> DataFrame:
    """How often each piece occurs in a column: a DataFrame `piece: binary, count: bigint`, each piece once.

    Each partition is counted by itself, then the pieces are shuffled, a row for each that the partition has. What a
    PieceCounts of one machine counts (see there for `split`, `special_tokens`) is the same, but for the order of first
    appearance, which a cluster does not have.

    memory_limit      of the counts of one task, about; beyond it they go to files in `temporary_folder`
    temporary_folder  on the executors; default: Spark's own folder for temporary files
    """
    specials = PieceCounts(split, special_tokens, memory_limit=memory_limit).special_tokens  # errors are told here

    def counted(batches: Iterable[Any]) -> Iterator[Any]:
        counts = PieceCounts(
            split, specials, memory_limit=memory_limit, temporary_folder=temporary_folder or _local_folder()
        )
        for batch in batches:
            counts.add(batch.column(0).drop_null(), threads=_threads())
        yield from _arrow.pieces(counts)

    from pyspark.sql import functions

    counts = _texts(df, column).mapInArrow(counted, "piece binary, count bigint")
    return counts.groupBy("piece").agg(functions.sum("count").alias("count"))


def collect(
    counts: DataFrame,
    *,
    split: str | None = "cl100k",
    special_tokens: Iterable[str] = (),
    memory_limit: int | str | None = None,
    temporary_folder: str | None = None,
) -> PieceCounts:
    """The counts that `count_pieces` gave, here: for `digram.train`, or to be saved.

    `counts` are its two columns, of the cluster or read from where they were written; `split` and `special_tokens` are
    those they were counted with. They come to the driver through Arrow, at once, and take memory there: that of
    the distinct pieces twice, and some 30 bytes for each. ValueError for a streaming DataFrame, which has no end.
    """
    _optional.needed("pyarrow", "digram.spark")
    _check_ends(counts)
    all_counts = PieceCounts(split, special_tokens, memory_limit=memory_limit, temporary_folder=temporary_folder)
    all_counts.ordered = False
    for batch in counts.select("piece", "count").toArrow().to_batches():
        all_counts._native.add_counts(*_arrow.flat_pieces(batch))
    return all_counts


def train(
    df: DataFrame,
    column: str | Column,
    vocab_size: Any = None,
    *,
    split: str | None = "cl100k",
    special_tokens: Iterable[str] = (),
    memory_limit: int | str = "256MB",
    temporary_folder: str | None = None,
    **options: Any,
) -> Any:
    """The vocabulary of a column: byte for byte what `digram.train` learns from the same texts on one machine.

    The cluster counts the pieces (see `count_pieces`); the driver collects them and learns the merges, for which it
    needs the memory that PieceCounts tells of. `options` are those of `digram.train`, and so are errors and what is
    returned: a Tokenizer, or for a list of sizes a list.

    ValueError for ties="first-seen" and "minbpe", which need the order of the texts, and for `weights`: repeat the
    rows instead, or give counts of parts to `digram.train`; and for a streaming DataFrame. Wrong arguments are told
    before the cluster works.
    """
    from digram import training

    _check_ends(df)
    if options.get("ties") in _NO_ORDER:
        raise ValueError(
            f"ties={options['ties']!r} needs the order of first appearance, which texts on a cluster do not have: "
            "choose another rule, or train on one machine"
        )
    if options.get("weights") is not None:
        raise ValueError(
            "weights are not for columns: count the parts by count_pieces, collect each, and give them to digram.train"
        )
    specials = tuple(special_tokens)
    # They are read twice.
    options = {name: list(given) if isinstance(given, Iterator) else given for name, given in options.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)  # there is no text yet
        silent = {name: value for name, value in options.items() if name not in ("checkpoint", "log", "progress")}
        training.train(PieceCounts(split, specials), vocab_size, **silent)
    counts = count_pieces(
        df,
        column,
        split=split,
        special_tokens=specials,
        memory_limit=memory_limit,
        temporary_folder=temporary_folder,
    )
    return training.train(collect(counts, split=split, special_tokens=specials), vocab_size, **options)


def encode(
    df: DataFrame,
    column: str | Column,
    tokenizer: Tokenizer,
    output: str = "input_ids",
    *,
    allowed_special: Specials = (),
    disallowed_special: Specials = (),
    add_special_tokens: bool = False,
) -> DataFrame:
    """`df` with one more column, the ids of each text, as `Tokenizer.encode` gives them; null where the text is null.

    Ids are `array<int>`, for Spark has no unsigned numbers and no vocabulary so many ids; with ids from 2^31 on
    `array<bigint>`. An error of a text (a disallowed special token) fails its task, and so the job.

    ValueError where `df` has a column `output` already.
    """
    pyarrow = _optional.needed("pyarrow", "digram.spark")
    # What is no tokenizer is refused below.
    wide = isinstance(tokenizer, Tokenizer) and tokenizer.n_vocab > 1 << 31
    number, name = (pyarrow.int64(), "bigint") if wide else (pyarrow.int32(), "int")
    specials = (allowed_special, disallowed_special, add_special_tokens)

    def ids(tokenizer: Tokenizer, texts: Any) -> Any:
        lists = tokenizer.encode_batch_to_arrow(texts.fill_null(""), *specials, threads=_threads())
        values = lists.values.view(number) if name == "int" else lists.values.cast(number)
        return type(lists).from_arrays(lists.offsets, values, mask=texts.is_null() if texts.null_count else None)

    return _with_column(df, column, tokenizer, output, ids, f"array<{name}>")


def count(
    df: DataFrame,
    column: str | Column,
    tokenizer: Tokenizer,
    output: str = "token_count",
    *,
    allowed_special: Specials = (),
    disallowed_special: Specials = (),
    add_special_tokens: bool = False,
) -> DataFrame:
    """`df` with one more column, the number of ids of each text (`bigint`); null where the text is null.

    Errors are those of `encode`.
    """
    specials = (allowed_special, disallowed_special, add_special_tokens)

    def numbers(tokenizer: Tokenizer, texts: Any) -> Any:
        import pyarrow
        from pyarrow import compute

        counts = tokenizer.count_batch(texts.fill_null(""), *specials, threads=_threads())
        return compute.if_else(texts.is_valid(), pyarrow.array(counts, pyarrow.int64()), None)

    return _with_column(df, column, tokenizer, output, numbers, "bigint")


def _with_column(
    df: DataFrame,
    column: str | Column,
    tokenizer: Tokenizer,
    output: str,
    work: Callable[[Tokenizer, Any], Any],
    kind: str,
) -> DataFrame:
    """`df` with a column of what `work` makes of a tokenizer and an Arrow array of texts.

    Only the texts go to Python. The tokenizer goes along as bytes; Spark sends what is large to each executor once.
    """
    import pyarrow
    import pyspark
    from pyspark.sql import functions

    if not hasattr(functions, "arrow_udf"):
        raise RuntimeError(f"to encode and count, digram.spark needs PySpark 4.1 or later, not {pyspark.__version__}")
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"tokenizer must be a digram.Tokenizer, not {type(tokenizer).__name__}: load it first")
    exact = df.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    if output in df.columns or (not exact and output.lower() in map(str.lower, df.columns)):
        raise ValueError(f"the DataFrame has a column {output!r} already: drop it, or name another output")
    _texts(df, column)
    packed = pickle.dumps(tokenizer)

    def on_batch(texts: Any) -> Any:
        return work(_unpacked(packed), texts)

    # Spark tells the kind of function by its annotations, as objects.
    on_batch.__annotations__ = {"texts": pyarrow.Array, "return": pyarrow.Array}
    return df.withColumn(output, functions.arrow_udf(on_batch, kind)(column))


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Tokenizer:
    """A tokenizer, made once in a process: Spark's workers live on from task to task."""
    return pickle.loads(packed)  # type: ignore[no-any-return]


def _texts(df: DataFrame, column: str | Column) -> DataFrame:
    """The column alone. TypeError where it is not one of texts."""
    from pyspark.sql.types import BinaryType, StringType

    texts = df.select(column)
    kind = texts.schema.fields[0].dataType
    if not isinstance(kind, (StringType, BinaryType)):
        raise TypeError(f"column {texts.columns[0]!r} must be of strings or of binary, not of {kind.simpleString()}")
    return texts


def _check_ends(df: DataFrame) -> None:
    if df.isStreaming:
        raise ValueError(
            "a streaming DataFrame has no end, at which its counts could be collected: write it to a table with "
            "writeStream, and read that"
        )


def _threads() -> int:
    """The processors that Spark gives to a task: `spark.task.cpus`."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 1 if context is None else context.cpus()


def _local_folder() -> str:
    """Where Spark has its temporary files, on an executor."""
    folder = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return folder if os.path.isdir(folder) else tempfile.gettempdir()
