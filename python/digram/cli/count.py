"""digram count"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from digram.cli import options
from digram.cli.terminal import printable, write

if TYPE_CHECKING:
    from digram.corpus import Errors

__all__ = ["count"]


@click.command(short_help="The number of tokens of files.")
@options.files(required=False)
@options.tokenizer
@options.allow_special
@options.add_special
@options.vocabulary
@options.reading
@options.threads
@options.as_json
@options.quiet
def count(
    files: tuple[str, ...],
    tok: str,
    allow_special: bool,
    add_special: bool,
    split: str | None,
    special: tuple[str, ...],
    errors: Errors,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Count tokens: the number, a tab and the name of each file, and a total where there are several.

    Of a file of records (--field, --lines) it is the number of all its texts.

    FILES are text files in UTF-8, folders, patterns in quotes, or - for standard input, which is also what is read
    where none are named. TOK is a vocabulary that `digram train` or another tool wrote, or a named encoding.
    --json gives {"files": [{"file", "tokens", "bytes", "documents"}, ...], "tokens", "bytes"}.

    \b
    All text files of a folder, largest last:
      digram count -t my.digram.json 'docs/**/*.md' | sort -n

    \b
    Text from another program, under the vocabulary of GPT-4:
      git diff | digram count -t cl100k_base
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    corpus = options.corpus_of(files, errors)
    allowed = "all" if allow_special else ()
    on_terminal = sys.stdout.isatty()
    rows: list[dict[str, Any]] = []
    last = -1  # the number of the file of the last row

    def said() -> None:
        if not as_json and rows:
            name = rows[-1]["file"]
            write(f"{rows[-1]['tokens']}\t{printable(name) if on_terminal else name}\n")

    for batch in options.read(corpus, "counting", quiet):
        counts = options.naming(batch, lambda texts: tokenizer.count_batch(texts, allowed, (), add_special, threads))
        at = 0
        for number, name, n in batch.files:
            if number != last:
                said()
                rows.append({"file": name, "tokens": 0, "bytes": 0, "documents": 0})
                last = number
            rows[-1]["tokens"] += sum(counts[at : at + n])
            rows[-1]["bytes"] += sum(len(text) for _, text in batch[at : at + n])
            rows[-1]["documents"] += n
            at += n
    if not rows and len(corpus.files) == 1:  # a file without a document
        rows.append({"file": corpus.files[0], "tokens": 0, "bytes": 0, "documents": 0})
    said()
    tokens = sum(row["tokens"] for row in rows)
    if as_json:
        options.print_json({"files": rows, "tokens": tokens, "bytes": sum(row["bytes"] for row in rows)})
    elif len(rows) > 1:
        write(f"{tokens}\ttotal\n")
