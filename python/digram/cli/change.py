"""digram extend, digram prune"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from digram.cli import options
from digram.cli.messages import counted, note, warnings_as_lines

if TYPE_CHECKING:
    from digram.corpus import Errors
    from digram.tokenizer import Tokenizer

__all__ = ["extend", "prune"]

output = click.option("-o", "--output", required=True, metavar="OUT", help="The vocabulary to write.")


def _map(help: str) -> Callable[[options.Command], options.Command]:
    return click.option("--map", "map_path", metavar="FILE", help=help)


def _write(tokenizer: Tokenizer, path: str, ids: Mapping[int, int | Sequence[int]], map_path: str | None) -> None:
    tokenizer.save(path)
    if map_path is not None:
        from digram.files import written_whole

        with written_whole(map_path) as file:
            file.write(options.to_json({str(id): value for id, value in ids.items()}) + "\n")


@click.command(short_help="Learn more tokens for a vocabulary.")
@click.argument("tok", metavar="TOK")
@options.files(required=True)
@output
@click.option("--tokens", type=options.AtLeast(1), required=True, metavar="N", help="Learn at most N more tokens.")
@click.option("--min-count", type=options.AtLeast(1), default=1, metavar="N", help="Only pairs that occur N times.")
@_map("Write JSON: for each new id the old ids that it puts together, for the rows of an embedding to begin with.")
@options.vocabulary
@options.reading
@options.threads
@options.as_json
@options.quiet
def extend(
    tok: str,
    files: tuple[str, ...],
    output: str,
    tokens: int,
    min_count: int,
    map_path: str | None,
    split: str | None,
    special: tuple[str, ...],
    errors: Errors,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn more tokens for the vocabulary TOK from FILES, as training would go on from it.

    No old id changes; the new ones follow the highest. A text in which no new token occurs has the ids that it had.

    \b
    A thousand tokens of Japanese for GPT-2's vocabulary:
      digram extend r50k_base japanese/ -o gpt2-ja.digram.json --tokens 1000 --map made-of.json

    \b
    As many as there are pairs that occur a hundred times, and for transformers:
      digram extend my.digram.json notes/ -o longer.digram.json --tokens 100000 --min-count 100
      digram convert longer.digram.json -o longer/ --to huggingface
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    corpus = options.corpus_of(files, errors)

    from digram.progress import TrainingBar
    from digram.vocabulary import extend as longer

    with warnings_as_lines(), TrainingBar(corpus.bytes, shown=not quiet) as bar:
        made = longer(tokenizer, corpus, tokens, min_count=min_count, threads=threads, progress=bar)
    _write(made.tokenizer, output, made.made_of, map_path)
    if as_json:
        options.print_json({"tokenizer": output, "n_vocab": made.tokenizer.n_vocab, "new": len(made.made_of)})
    note(f"{counted(len(made.made_of), 'new token')}, ids from {tokenizer.n_vocab:,} on: {output}", quiet)


@click.command(short_help="Keep the tokens that texts use.")
@click.argument("tok", metavar="TOK")
@options.files(required=True)
@output
@_map("Write JSON: for each old id that stays its new one, for the rows of an embedding to keep.")
@options.vocabulary
@options.reading
@options.threads
@options.as_json
@options.quiet
def prune(
    tok: str,
    files: tuple[str, ...],
    output: str,
    map_path: str | None,
    split: str | None,
    special: tuple[str, ...],
    errors: Errors,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Keep of the vocabulary TOK the tokens that FILES are encoded with, and what those come of.

    FILES are encoded as before, with new ids; any other text is still encoded, with more tokens than it was.

    \b
    What a collection of C sources uses of GPT-4o's vocabulary:
      digram prune o200k_base src/ -o small.digram.json --map new-ids.json

    \b
    Of a vocabulary of one's own, and what that leaves:
      digram prune my.digram.json README.md -o small.digram.json
      digram inspect small.digram.json
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    corpus = options.corpus_of(files, errors)

    from digram.vocabulary import prune as shorter

    with warnings_as_lines():
        made = shorter(tokenizer, corpus, threads=threads)
    _write(made.tokenizer, output, made.new_ids, map_path)
    left = len(tokenizer.vocab) - len(made.new_ids)
    if as_json:
        options.print_json({"tokenizer": output, "n_vocab": made.tokenizer.n_vocab, "left_out": left})
    note(f"{counted(made.tokenizer.n_vocab, 'id')}, {left:,} left out: {output}", quiet)
