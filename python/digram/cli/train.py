"""digram train"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from digram.cli import options
from digram.cli.messages import CommandError, counted, note, warnings_as_lines

if TYPE_CHECKING:
    from digram.corpus import Errors
    from digram.training import Ties

__all__ = ["train"]


@click.command(short_help="Text to vocabulary.")
@options.files(required=True)
@click.option(
    "-o", "--output", required=True, metavar="TOK", help="Where the vocabulary goes; an old file is replaced."
)
@click.option(
    "--vocab-size", type=options.AtLeast(0), metavar="N", help="Stop at N ids: alphabet, merges and special tokens."
)
@click.option(
    "--min-count", type=options.AtLeast(1), metavar="N", help="Stop when the best pair occurs less than N times."
)
@click.option(
    "--split",
    default="cl100k",
    metavar="SPLIT",
    show_default=True,
    help="What merges never cross: cl100k, cl100k-classic, gpt2, o200k, a regular expression, or none.",
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
    type=click.Choice(["smallest-ids", "smallest-tokens", "first-seen"]),
    default="smallest-ids",
    help="Which of several pairs with the highest count is merged.  [default: smallest-ids]",
)
@click.option(
    "--max-token-length", type=options.AtLeast(1), metavar="N", help="No token of more than N bytes (or characters)."
)
@options.reading
@options.threads
@options.as_json
@options.quiet
def train(
    files: tuple[str, ...],
    output: str,
    vocab_size: int | None,
    min_count: int | None,
    split: str,
    special: tuple[str, ...],
    alphabet: Literal["bytes", "characters"],
    unknown: str,
    ties: Ties,
    max_token_length: int | None,
    errors: Errors,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn a vocabulary from FILES and write it to TOK.

    FILES are text files in UTF-8, folders, patterns in quotes, or - for standard input; a file is one document.
    Training stops at --vocab-size ids or when no pair occurs --min-count times, whichever comes first. The result
    depends on the text alone, never on the number of threads.

    \b
    32,000 tokens from all files of a folder, with a marker for the end of a text:
      digram train books/ -o my.digram.json --vocab-size 32000 --special '<|endoftext|>'

    \b
    Every character pair that occurs at least twice, across word boundaries:
      digram train notes.txt -o notes.digram.json --min-count 2 --alphabet characters --split none
    """
    if vocab_size is None and min_count is None:
        raise click.UsageError("Training needs --vocab-size or --min-count, or it would not know when to stop.")
    if unknown != "error" and alphabet == "bytes":
        raise click.UsageError("--unknown is for --alphabet characters: no byte is ever unknown.")
    pattern = options.split_of(split)
    corpus = options.corpus_of(files, errors)
    _check_output(output, corpus.files)

    from digram.progress import TrainingBar
    from digram.training import train as learn

    start = time.perf_counter()
    with warnings_as_lines(), TrainingBar(corpus.bytes, shown=not quiet) as bar:
        tokenizer = learn(
            corpus,
            vocab_size,
            min_count=min_count,
            special_tokens=special,
            alphabet=alphabet,
            ties=ties,
            max_token_length=max_token_length,
            split=pattern,
            unknown=unknown,
            threads=threads,
            progress=bar,
        )
    seconds = time.perf_counter() - start
    tokenizer.save(output)

    documents, size = (bar.last.documents, bar.last.characters) if bar.last else (0, 0)
    n_merges = len(tokenizer._definition.merges) // 2
    if as_json:
        options.print_json(
            {
                "tokenizer": output,
                "n_vocab": tokenizer.n_vocab,
                "merges": n_merges,
                "documents": documents,
                "bytes": size,
                "seconds": round(seconds, 3),
            }
        )
    note(
        f"{counted(tokenizer.n_vocab, 'id')}, {n_merges:,} of them merged, from {counted(documents, 'document')} of "
        f"{counted(size, 'byte')} in {seconds:.1f} s: {output}",
        quiet,
    )


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
    if path.exists() and any(name != "-" and os.path.samefile(path, name) for name in files):
        raise CommandError(f"{output} is one of the files to learn from", "name another file: -o my.digram.json")
