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
@click.argument("files", nargs=-1, metavar="[FILES]...")
@output
@click.option("--tokens", type=options.AtLeast(1), metavar="N", help="Learn at most N more tokens from FILES.")
@click.option("--min-count", type=options.AtLeast(1), default=1, metavar="N", help="Only pairs that occur N times.")
@click.option("--word", "words", multiple=True, metavar="WORD", help="Make WORD one token. Repeatable.")
@click.option("--words", "words_file", metavar="FILE", help="Make each line of a file one token; - is standard input.")
@click.option("--no-blank", is_flag=True, help="Take words as they are, not with a space in front, too.")
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
    tokens: int | None,
    min_count: int,
    words: tuple[str, ...],
    words_file: str | None,
    no_blank: bool,
    map_path: str | None,
    split: str | None,
    special: tuple[str, ...],
    errors: Errors,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn more tokens for the vocabulary TOK from FILES, as training would go on from it; or take words for tokens.

    No old id changes; the new ones follow the highest. A text in which no new token occurs has the ids that it had. A
    word of --word becomes one token by merging what it is cut into now, so a word of k tokens takes k - 1 new ids; with
    a space in front, too, where the split leaves that with it. With both, words come first.

    \b
    A thousand tokens of Japanese for GPT-2's vocabulary:
      digram extend r50k_base japanese/ -o gpt2-ja.digram.json --tokens 1000 --map made-of.json

    \b
    As many as there are pairs that occur a hundred times, and for transformers:
      digram extend my.digram.json notes/ -o longer.digram.json --tokens 100000 --min-count 100
      digram convert longer.digram.json -o longer/ --to huggingface

    \b
    Words of a trade:
      digram extend cl100k_base -o ours.digram.json --word Kubernetes --words names.txt
    """
    given = [*words, *(_lines(words_file, errors) if words_file is not None else ())]
    if bool(files) != (tokens is not None):
        raise click.UsageError("--tokens is how many tokens to learn from FILES: give both, or words alone")
    if not files and not words and words_file is None:
        raise click.UsageError("there is nothing to add: name FILES and --tokens, or words by --word or --words")
    tokenizer = options.load_tokenizer(tok, split, special)
    corpus = options.corpus_of(files, errors, learning=True) if files else None

    from digram.progress import TrainingBar
    from digram.vocabulary import add_words
    from digram.vocabulary import extend as longer

    made_of: dict[int, tuple[int, ...]] = {}
    made = tokenizer
    if given:
        added = add_words(tokenizer, given, spaces=not no_blank)
        made, made_of = added.tokenizer, {**added.made_of}
    if corpus is not None and tokens is not None:
        with warnings_as_lines(), TrainingBar(corpus.bytes, shown=not quiet) as bar:
            learnt = longer(made, corpus, tokens, min_count=min_count, threads=threads, progress=bar)
        made = learnt.tokenizer
        for id, parts in learnt.made_of.items():
            made_of[id] = tuple(old for part in parts for old in made_of.get(part, (part,)))
    _write(made, output, made_of, map_path)
    if as_json:
        facts: dict[str, object] = {"tokenizer": output, "n_vocab": made.n_vocab, "new": len(made_of)}
        if given:
            facts["words"] = dict(added.ids)
        options.print_json(facts)
    note(f"{counted(len(made_of), 'new token')}, ids from {tokenizer.n_vocab:,} on: {output}", quiet)


def _lines(name: str, errors: Errors) -> list[str]:
    """The lines of a file, without white space around them; empty ones are left out."""
    from digram.corpus import Corpus

    # Not as the options say: those are for FILES.
    with warnings_as_lines():
        lines = [line.decode().strip() for line in Corpus([name], errors=errors, format="text", lines=True)]
    return [line for line in lines if line]


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
    corpus = options.corpus_of(files, errors, learning=True)

    from digram.vocabulary import prune as shorter

    with warnings_as_lines():
        made = shorter(tokenizer, corpus, threads=threads)
    _write(made.tokenizer, output, made.new_ids, map_path)
    left = len(tokenizer.vocab) - len(made.new_ids)
    if as_json:
        options.print_json({"tokenizer": output, "n_vocab": made.tokenizer.n_vocab, "left_out": left})
    note(f"{counted(made.tokenizer.n_vocab, 'id')}, {left:,} left out: {output}", quiet)
