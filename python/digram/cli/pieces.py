"""digram count-pieces and merge-counts"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import click

from digram.cli import options
from digram.cli.messages import CommandError, counted, note, warnings_as_lines
from digram.errors import FormatError

if TYPE_CHECKING:
    from digram.corpus import Errors
    from digram.counts import PieceCounts

__all__ = ["count_pieces", "counts_of", "merge_counts"]

_output = click.option(
    "-o",
    "--output",
    required=True,
    metavar="COUNTS",
    help="Where the counts go; an old file is replaced. A name that ends in .parquet makes a Parquet file.",
)
_memory = click.option(
    "--memory-limit",
    metavar="SIZE",
    help='Counts of pieces beyond this, such as "4GB", go to temporary files; the result is the same.',
)
_split = click.option(
    "--split",
    default="cl100k",
    metavar="SPLIT",
    show_default=True,
    help="What cuts texts into pieces: cl100k, cl100k-classic, gpt2, o200k, a regular expression, or none.",
)
_special = click.option(
    "--special", multiple=True, metavar="TEXT", help="A special token, which is cut out of the texts. Repeatable."
)


@click.command("count-pieces", short_help="Count what training learns from, in parts.")
@options.files(required=True)
@_output
@_split
@_special
@_memory
@options.reading
@options.threads
@options.as_json
@options.quiet
def count_pieces(
    files: tuple[str, ...],
    output: str,
    split: str,
    special: tuple[str, ...],
    memory_limit: str | None,
    errors: Errors,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Count the pieces of FILES, and write the counts to COUNTS, for `digram train`.

    What training learns depends on the pieces and their counts alone. So a corpus may be counted in parts, by any
    number of machines: `digram merge-counts` adds the parts up, and what `digram train` learns from the sum is, byte
    for byte, what it learns from the texts. A Parquet file of counts has the columns piece (binary) and count (int64).
    --json gives {"counts", "pieces", "documents", "bytes", "seconds"}.

    \b
    A data set in four parts, each of which may run anywhere:
      digram count-pieces 'data/*.jsonl.zst' --field text --shard 0/4 -o part-0.parquet
      digram merge-counts part-*.parquet -o all.parquet
      digram train all.parquet -o my.digram.json --vocab-size 50000

    \b
    More pieces than there is memory:
      digram count-pieces web/ --memory-limit 8GB -o web.counts
    """
    from digram.counts import PieceCounts
    from digram.progress import TrainingBar

    pattern = options.split_of(split)
    corpus = options.corpus_of(files, errors, learning=True)
    _check_output(output, corpus.files)
    start = time.perf_counter()
    counts = PieceCounts(pattern, special, memory_limit=memory_limit)
    with warnings_as_lines(), TrainingBar(corpus.bytes, shown=not quiet) as bar:
        counts.add(corpus, threads=threads, progress=bar)
    counts.save(output)
    size = bar.last.characters if bar.last else 0
    told = {"counts": output, "pieces": len(counts), "documents": counts.documents, "bytes": size}
    _tell(told, f"from {counted(counts.documents, 'document')} of {counted(size, 'byte')}", start, as_json, quiet)


@click.command("merge-counts", short_help="Add up counts of pieces.")
@click.argument("parts", nargs=-1, required=True, metavar="COUNTS...")
@_output
@_memory
@options.as_json
@options.quiet
def merge_counts(parts: tuple[str, ...], output: str, memory_limit: str | None, as_json: bool, quiet: bool) -> None:
    """Add up the counts in files that `digram count-pieces` wrote, in this order, and write the sum.

    All must have the same split and special tokens. They are read in parts, and with --memory-limit the sum takes no
    more memory than that. --json gives {"counts", "pieces", "documents", "seconds"}.

    \b
    The parts of a data set:
      digram merge-counts part-*.parquet -o all.parquet

    \b
    From digram's own format, which takes less room, to Parquet:
      digram merge-counts web.counts -o web.parquet
    """
    _check_output(output, parts)
    start = time.perf_counter()
    counts = counts_of(parts, memory_limit)
    counts.save(output)
    told = {"counts": output, "pieces": len(counts), "documents": counts.documents}
    _tell(told, f"from {counted(len(parts), 'file')}", start, as_json, quiet)


def counts_of(
    parts: tuple[str, ...], memory_limit: str | None, split: str | None = "cl100k", special: tuple[str, ...] = ()
) -> PieceCounts:
    """The sum of files of counts; `split` and `special` are for files that do not say theirs."""
    from digram.counts import PieceCounts

    try:
        counts = PieceCounts.load(parts[0], split=split, special_tokens=special, memory_limit=memory_limit)
        for part in parts[1:]:
            counts.merge(part)
    except FormatError as error:
        wanted = "give files that `digram count-pieces` wrote, or Parquet files with the columns piece and count"
        raise CommandError(str(error), wanted) from None
    return counts


def _tell(told: dict[str, Any], source: str, start: float, as_json: bool, quiet: bool) -> None:
    seconds = time.perf_counter() - start
    if as_json:
        options.print_json({**told, "seconds": round(seconds, 3)})
    note(f"{counted(told['pieces'], 'distinct piece')} {source} in {seconds:.1f} s: {told['counts']}", quiet)


def _check_output(output: str, files: tuple[str, ...]) -> None:
    """Says now, not after an hour of counting, that COUNTS cannot be written."""
    folder = os.path.dirname(output) or "."
    if os.path.isdir(output):
        raise CommandError(f"{output} is a folder", "name the file to write: -o all.parquet")
    if not os.path.isdir(folder):
        raise CommandError(
            f"{output} cannot be written: there is no folder {folder}", f"make it first: mkdir -p {folder}"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"{output} cannot be written: {folder} takes no new files", "name a file in another folder")
    if os.path.exists(output) and any(os.path.exists(name) and os.path.samefile(output, name) for name in files):
        raise CommandError(f"{output} is one of the files to read", "name another file: -o all.parquet")
    if output.lower().endswith(".parquet"):
        from digram._optional import needed

        needed("pyarrow", "a Parquet file")
