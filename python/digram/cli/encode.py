"""digram encode"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from digram.cli import dropping, options, sharding
from digram.cli.terminal import write

if TYPE_CHECKING:
    from digram.corpus import Errors

__all__ = ["encode"]


@click.command(short_help="Text to ids.")
@options.files(required=False)
@options.tokenizer
@options.allow_special
@options.add_special
@options.vocabulary
@partial(options.reading, input_format="--input-format")
@sharding.sharding
@dropping.dropping
@options.threads
@options.as_json
@options.quiet
def encode(
    files: tuple[str, ...],
    tok: str,
    allow_special: bool,
    add_special: bool,
    split: str | None,
    special: tuple[str, ...],
    errors: Errors,
    dropout: float | None,
    dropout_seed: int | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **shards: Any,
) -> None:
    """Turn text into ids: a line for each document, the ids in decimal, with spaces between them; or, with -o OUT,
    shards of ids in a folder, ready for training.

    FILES are text files in UTF-8, folders, patterns in quotes, or - for standard input, which is also what is read
    where none are named. TOK is a vocabulary that `digram train` or another tool wrote, or a named encoding.
    `digram decode` turns the lines into the same text, byte for byte.

    \b
    The ids of a file, and back:
      digram encode -t my.digram.json README.md > README.ids
      digram decode -t my.digram.json README.ids

    \b
    Text from another program, with markers that become their ids:
      printf 'One.<|endoftext|>Two.' | digram encode -t my.digram.json --allow-special

    \b
    A data set to shards (uint16 or uint32, no header), a hundredth of it held out; after a
    kill, or when the disk was full, the same command with --resume goes on:
      digram encode -t my.digram.json 'books/**/*.txt' -o ids --validation 0.01
      digram encode -t my.digram.json 'books/**/*.txt' -o ids --validation 0.01 --resume
      digram decode -t my.digram.json ids > books.txt

    \b
    JSON lines in parts, in rows of 4096 ids with where documents end in each:
      digram encode -t my.digram.json 'data/*.jsonl.zst' --field text -o rows --format parquet --pack 4096

    \b
    For training, another segmentation of the same text in each epoch:
      digram encode -t my.digram.json books.txt --dropout 0.1 --dropout-seed 3 > epoch3.ids
    """
    if shards["output"] is None:
        sharding.check_alone()
    else:
        sharding.check_apart(files, shards["output"])
    tokenizer = options.load_tokenizer(tok, split, special)
    # A model learns from shards, and hardly means to learn the braces and names of records.
    to_shards = shards["output"] is not None
    corpus = options.corpus_of(files, errors, learning=to_shards, input_format="--input-format")
    if to_shards:
        if dropout is not None:
            raise click.UsageError("--dropout is for ids on standard output: shards are written once for all epochs.")
        sharding.to_shards(tokenizer, corpus, allow_special, add_special, threads, as_json, quiet, shards)
        return
    encode_batch = dropping.encoder(tokenizer, dropout, dropout_seed)
    allowed = "all" if allow_special else ()
    between = ""
    if as_json:
        write('{"documents": [')
    for batch in options.read(corpus, "encoding", quiet):
        lists = options.naming(batch, lambda texts: encode_batch(texts, allowed, (), add_special, threads))
        for (name, _), ids in zip(batch, lists, strict=True):
            if as_json:
                write(f'{between}\n {{"file": {json.dumps(name)}, "ids": {json.dumps(ids, separators=(",", ":"))}}}')
                between = ","
            else:
                write(" ".join(map(str, ids)) + "\n")
    if as_json:
        write("\n]}\n")
