"""digram train"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from digram.cli import learning, options
from digram.cli.messages import CommandError, counted, note, warnings_as_lines
from digram.cli.pieces import counts_of

if TYPE_CHECKING:
    from fractions import Fraction

    from digram.corpus import Corpus, Errors
    from digram.training import Ties

__all__ = ["train"]


@click.command(short_help="Text to vocabulary.")
@options.files(required=True)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="TOK",
    help="Where the vocabulary goes; an old file is replaced. With several sizes, {} in the name stands for the size.",
)
@click.option(
    "--vocab-size",
    "sizes",
    type=options.AtLeast(0),
    multiple=True,
    metavar="N",
    help="Stop at N ids: alphabet, merges and special tokens. Repeatable: one training, a vocabulary for each.",
)
@click.option(
    "--min-count", type=options.AtLeast(1), metavar="N", help="Stop when the best pair occurs less than N times."
)
@click.option(
    "--split",
    default="cl100k",
    metavar="SPLIT",
    show_default=True,
    help="What merges never cross: cl100k, cl100k-classic, gpt2, o200k, a regular expression, or none; cl100k-r2l and "
    "o200k-r2l group digits from the right.",
)
@click.option(
    "--special", multiple=True, metavar="TEXT", help="A special token; they get the last ids, in order. Repeatable."
)
@click.option(
    "--alphabet",
    type=click.Choice(["bytes", "characters"]),
    default="bytes",
    help="What tokens are made of; with bytes no text is ever unknown.  [default: bytes]",
)
@click.option(
    "--unknown",
    default="error",
    metavar="error|bytes|TEXT",
    help="With --alphabet characters, what becomes of others: an error, bytes, or a special token.  [default: error]",
)
@click.option(
    "--ties",
    type=click.Choice(
        [
            "smallest-ids",
            "smallest-tokens",
            "largest-tokens",
            "first-seen",
            "tokenizers",
            "rustbpe",
            "minbpe",
            "sentencepiece",
        ]
    ),
    default="smallest-ids",
    metavar="RULE",
    help="Which of several pairs with the highest count is merged: smallest-ids, smallest-tokens, largest-tokens, "
    "first-seen, or as a library does: tokenizers, rustbpe, minbpe, sentencepiece.  [default: smallest-ids]",
)
@learning.rules
@learning.beginning
@learning.weights
@learning.following
@click.option(
    "--counts",
    "of_counts",
    is_flag=True,
    help="FILES hold counts of pieces (of any Parquet file, the columns piece and count). What `digram count-pieces` "
    "wrote is known without it.",
)
@options.reading
@options.threads
@options.as_json
@options.quiet
def train(
    files: tuple[str, ...],
    output: str,
    sizes: tuple[int, ...],
    min_count: int | None,
    split: str,
    special: tuple[str, ...],
    alphabet: Literal["bytes", "characters"],
    unknown: str,
    ties: Ties,
    weights: tuple[Fraction, ...],
    resume: str | None,
    of_counts: bool,
    errors: Errors,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **more: Any,
) -> None:
    """Learn a vocabulary from FILES and write it to TOK.

    FILES are text files in UTF-8, folders, patterns in quotes, or - for standard input; a file is one document, or
    each record of it with --field, or each line with --lines. Or they are counts that `digram count-pieces` wrote.
    Training stops at --vocab-size ids or when no pair occurs --min-count times, whichever comes first. The result
    depends on the text alone, never on the number of threads.

    \b
    32,000 tokens from all files of a folder, with a marker for the end of a text:
      digram train books/ -o my.digram.json --vocab-size 32000 --special '<|endoftext|>'

    \b
    The texts of a data set, of which a tenth is enough:
      digram train 'data/*.jsonl.zst' --field text --sample 0.1 -o my.digram.json --vocab-size 32000

    \b
    Every character pair that occurs at least twice, across word boundaries:
      digram train notes.txt -o notes.digram.json --min-count 2 --alphabet characters --split none

    \b
    Two sizes from one training, which can be interrupted and goes on with --resume half.digram.json:
      digram train books/ -o 'tok-{}.digram.json' --vocab-size 8000 --vocab-size 32000 --checkpoint half.digram.json
    """
    if not sizes and min_count is None:
        raise click.UsageError("Training needs --vocab-size or --min-count, or it would not know when to stop.")
    if alphabet == "bytes" and resume is None:
        for name, given in (("unknown", unknown != "error"), *((n, more[n]) for n in _OF_CHARACTERS)):
            if given:
                raise click.UsageError(f"--{name.replace('_', '-')} is for --alphabet characters: all bytes are known.")
    if weights and len(weights) != len(files):
        raise click.UsageError(f"{len(files)} FILES and {len(weights)} --weight: give one weight for each of FILES.")
    outputs = _outputs(output, sizes)
    pattern = options.split_of(split)
    groups = [(file,) for file in files] if weights else [files]
    if not of_counts:
        from digram._counts_files import is_counts

        known = [is_counts(file) for file in files]
        of_counts = all(known)
        if any(known) and not of_counts:
            raise CommandError(
                f"{files[known.index(True)]} holds counts of pieces, and {files[known.index(False)]} does not",
                "count the other ones too: digram count-pieces FILES -o COUNTS",
            )
    sources: list[Corpus | PieceCounts]
    if of_counts:
        for path in outputs:
            _check_output(path, files)
        sources = [counts_of(group, more["memory_limit"], pattern, special) for group in groups]
        corpora: list[Corpus] = []
    else:
        corpora = [options.corpus_of(group, errors, learning=True) for group in groups]
        sources = [*corpora]
        for path in outputs:
            _check_output(path, tuple(file for corpus in corpora for file in corpus.files))

    from digram.counts import PieceCounts
    from digram.progress import TrainingBar
    from digram.training import train as learn

    start = time.perf_counter()
    sums = [corpus.bytes for corpus in corpora]
    total = None if None in sums else sum(size for size in sums if size is not None)
    with warnings_as_lines(), TrainingBar(total, shown=not quiet) as bar:
        tokenizers = learn(
            sources if weights else sources[0],
            sizes or None,
            min_count=min_count,
            special_tokens=special,
            alphabet=alphabet,
            ties=ties,
            split=pattern,
            unknown=unknown,
            weights=weights or None,
            resume=resume,
            threads=threads,
            progress=bar,
            **more,
        )
    seconds = time.perf_counter() - start
    trained = tokenizers if isinstance(tokenizers, list) else [tokenizers]
    for path, tokenizer in zip(outputs, trained, strict=True):
        tokenizer.save(path)

    documents, size = (bar.last.documents, bar.last.characters) if bar.last else (0, 0)
    for source in sources:
        documents += source.documents if isinstance(source, PieceCounts) else 0
    told = [
        {
            "tokenizer": path,
            "n_vocab": tokenizer.n_vocab,
            "merges": len(tokenizer.merges),
            "documents": documents,
            "bytes": size,
            "seconds": round(seconds, 3),
        }
        for path, tokenizer in zip(outputs, trained, strict=True)
    ]
    if as_json:
        options.print_json(told[0] if len(told) == 1 else {"tokenizers": told})
    for path, tokenizer in zip(outputs, trained, strict=True):
        of = "counted before" if of_counts else f"of {counted(size, 'byte')}"
        read_from = f"{counted(documents, 'document')} {of}"
        note(
            f"{counted(tokenizer.n_vocab, 'id')}, {len(tokenizer.merges):,} of them merged, from {read_from} in "
            f"{seconds:.1f} s: {path}",
            quiet,
        )


_OF_CHARACTERS = ("initial_alphabet", "limit_alphabet")


def _outputs(output: str, sizes: tuple[int, ...]) -> list[str]:
    """A file for each size."""
    if len(sizes) < 2:
        return [output]
    if "{}" not in output:
        raise click.UsageError("Several --vocab-size need {} in the name of -o, where the size goes.")
    if len(set(sizes)) < len(sizes):
        raise click.UsageError("A --vocab-size is given twice.")
    return [output.replace("{}", str(size)) for size in sizes]


def _check_output(output: str, files: tuple[str, ...]) -> None:
    """Says now, not after an hour of training, that TOK cannot be written."""
    from digram.formats import _names

    path = Path(output)
    folder = path.parent
    said = _names.formats_of(path)
    if said and not path.is_dir():
        raise CommandError(
            f"{output} is a name of files of the format {said[0]!r}, and what is trained is written in digram's own",
            f"train with -o my.digram.json, then: digram convert my.digram.json -o {output} --to {said[0]}",
        )
    if path.is_dir():
        raise CommandError(f"{output} is a folder", "name the file to write: -o my.digram.json")
    if not folder.is_dir():
        raise CommandError(
            f"{output} cannot be written: there is no folder {folder}", f"make it first: mkdir -p {folder}"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"{output} cannot be written: {folder} takes no new files", "name a file in another folder")
    if path.exists() and any(os.path.exists(name) and os.path.samefile(path, name) for name in files):
        raise CommandError(f"{output} is one of the files to learn from", "name another file: -o my.digram.json")
