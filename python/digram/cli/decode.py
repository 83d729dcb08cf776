"""digram decode"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from digram.cli import options
from digram.cli.messages import CommandError, warn
from digram.cli.terminal import visible, write, write_text
from digram.errors import UnknownTokenError

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["decode"]

_OF_SHARDS = (".bin", ".idx", ".npy", ".parquet")

_IDS = re.compile(rb"[0-9 \t\r\n]*")


@click.command(short_help="Ids to text.")
@options.files(required=False)
@options.tokenizer
@click.option("--skip-special", is_flag=True, help="Leave special tokens out of the text.")
@click.option("--dtype", metavar="TYPE", help="For a .bin that nothing beside it tells of: uint16, uint32, ...")
@click.option(
    "--eod", metavar="TOKEN", help="For ids that nothing beside them tells of: the token that ends each document."
)
@click.option(
    "--only", type=click.Choice(["train", "validation"]), help="Of a folder with both: the documents of one of them."
)
@options.vocabulary
@options.as_json
@options.quiet
def decode(
    files: tuple[str, ...],
    tok: str,
    skip_special: bool,
    dtype: str | None,
    eod: str | None,
    only: str | None,
    split: str | None,
    special: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Turn ids into text: the bytes of the tokens, with nothing between or after them.

    FILES hold ids in decimal as `digram encode` writes them, a line for each document; - is standard input, which is
    also what is read where none are named. Or they are folders of shards that `digram encode -o` wrote, or files of
    ids (.bin, .npy, Megatron-LM's .idx, .parquet), whose end-of-document ids are no part of the text. TOK is the
    vocabulary that the ids were made with. On a terminal control characters are escaped. --json gives {"texts":
    [...]}, a string for each document, with U+FFFD for what is not UTF-8.

    \b
    Back to the same bytes:
      digram encode -t my.digram.json photo.svg | digram decode -t my.digram.json | cmp - photo.svg

    \b
    What a few ids stand for:
      echo 258 100 258 97 99 | digram decode -t my.digram.json

    \b
    A folder of shards, and ids that another tool wrote:
      digram decode -t my.digram.json ids > text.txt
      digram decode -t gpt2 train.bin --dtype uint16 --eod '<|endoftext|>'
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    given = {"dtype": dtype, "eod": None if eod is None else tokenizer.token_id(eod), "split": only}
    between = ""
    if as_json:
        write('{"texts": [')
    for where, ids in _documents(files, tokenizer, given):
        try:
            text = tokenizer.decode_bytes(ids, skip_special)
        except UnknownTokenError as error:
            raise UnknownTokenError(f"{where}: {error}") from None
        if as_json:
            write(f"{between}\n {options.to_json(text.decode('utf-8', 'replace'))}")
            between = ","
        else:
            write_text(text)
    if as_json:
        write("\n]}\n")


def _documents(files: Sequence[str], tokenizer: Tokenizer, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(where it stands, ids) of each document of all files."""
    for name in files:
        if name != "-" and (os.path.isdir(name) or name.endswith(_OF_SHARDS)):
            from digram import shards

            written_with = shards.about(name).get("tokenizer")
            if written_with is not None and written_with != shards.checksum(tokenizer):
                warn(f"{name} was encoded with another vocabulary than TOK, or with another file of it")
            for number, ids in enumerate(shards.read(name, **given)):
                yield f"document {number} of {name}", ids
            continue
        for where, line in _lines(name):
            yield where, _ids(line, where)


def _lines(name: str) -> Iterator[tuple[str, bytes]]:
    """(where it stands, line) of a file."""
    shown = "standard input" if name == "-" else name
    try:
        with click.open_file(name, "rb") as file:
            for number, line in enumerate(file, 1):
                yield f"line {number} of {shown}", line
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            error.filename = shown
        raise


def _ids(line: bytes, where: str) -> list[int]:
    words = line.split()
    # int() would take signs, underscores and other scripts' digits, and refuse numbers of thousands of digits.
    wrong = next((word for word in words if len(word) > 20), None)
    if wrong is None and not _IDS.fullmatch(line):
        wrong = next(word for word in words if not _IDS.fullmatch(word))
    if wrong is not None:
        raise CommandError(
            f"{where}: {visible(wrong, 40)} is not an id",
            "a line is ids in decimal with spaces between them, as `digram encode` writes it",
        )
    return list(map(int, words))
