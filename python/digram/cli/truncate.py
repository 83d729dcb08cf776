"""digram truncate"""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

import click

from digram.cli import options
from digram.cli.messages import counted, note
from digram.cli.terminal import write_text

if TYPE_CHECKING:
    from digram.corpus import Errors

__all__ = ["truncate"]


@click.command(short_help="The beginning of a text, up to so many tokens.")
@click.argument("file", required=False, default="-", metavar="[FILE]")
@options.tokenizer
@click.option(
    "-n",
    "--max-tokens",
    type=options.AtLeast(0),
    required=True,
    metavar="N",
    help="The most tokens that the text may have.",
)
@options.allow_special
@options.add_special
@options.vocabulary
@options.decoding
@options.as_json
@options.quiet
def truncate(
    file: str,
    tok: str,
    max_tokens: int,
    allow_special: bool,
    add_special: bool,
    split: str | None,
    special: tuple[str, ...],
    errors: Errors,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print the longest beginning of a text that has at most N tokens, cut between characters.

    FILE is a text file in UTF-8, or - for standard input, which is also what is read where none is named. Whether it
    was cut is said on standard error. TOK is a vocabulary that `digram train` or another tool wrote, or a named
    encoding. With --add-special, what the file puts around a text counts. --json gives {"text", "tokens", "bytes",
    "cut"}, cut being the number of bytes that were left out.

    \b
    The beginning of a file:
      digram truncate -t my.digram.json -n 100 README.md

    \b
    What fits into a prompt, from another program:
      git diff | digram truncate -t o200k_base -n 8000
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    corpus = options.corpus_of([file], errors)
    if len(corpus.files) != 1:
        raise click.BadParameter(f"{file} is {len(corpus.files)} files: name one of them.", param_hint="FILE")
    allowed = "all" if allow_special else ()
    batches = list(islice(options.read(corpus, "reading", quiet=True), 2))
    if len(batches) != 1 or len(batches[0]) != 1:
        raise click.BadParameter(f"{file} is a table, and not one text: give a file of text.", param_hint="FILE")
    [(_, text)] = batch = batches[0]
    [kept] = options.naming(
        batch, lambda texts: [tokenizer.truncate(text, max_tokens, allowed, (), add_special) for text in texts]
    )
    size, cut = len(kept), len(text) - len(kept)
    tokens = tokenizer.count(kept, allowed, (), add_special)
    if as_json:
        options.print_json({"text": kept.decode(), "tokens": tokens, "bytes": size, "cut": cut})
        return
    write_text(kept)
    if sys.stdout.isatty() and not kept.endswith(b"\n"):
        note("", quiet)  # the message begins a line of its own
    if cut:
        note(f"cut: {counted(tokens, 'token')}, {size:,} of {counted(len(text), 'byte')} are kept", quiet)
    else:
        note(f"not cut: {counted(tokens, 'token')}, {counted(size, 'byte')}", quiet)
