"""digram decode"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import click

from digram.cli import options
from digram.cli.messages import CommandError
from digram.cli.terminal import visible, write
from digram.errors import UnknownTokenError

__all__ = ["decode"]

_IDS = re.compile(rb"[0-9 \t\r\n]*")


@click.command(short_help="Ids to text.")
@options.files(required=False)
@options.tokenizer
@click.option("--skip-special", is_flag=True, help="Leave special tokens out of the text.")
@options.vocabulary
@options.as_json
@options.quiet
def decode(
    files: tuple[str, ...],
    tok: str,
    skip_special: bool,
    split: str | None,
    special: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Turn ids into text: the bytes of the tokens, with nothing between or after them.

    FILES hold ids in decimal as `digram encode` writes them, a line for each document; - is standard input, which is
    also what is read where none are named. TOK is the vocabulary that the ids were made with. --json gives
    {"texts": [...]}, a string for each line, with U+FFFD for what is not UTF-8.

    \b
    Back to the same bytes:
      digram encode -t my.digram.json photo.svg | digram decode -t my.digram.json | cmp - photo.svg

    \b
    What a few ids stand for:
      echo 258 100 258 97 99 | digram decode -t my.digram.json
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    between = ""
    if as_json:
        write('{"texts": [')
    for where, line in _lines(files):
        try:
            text = tokenizer.decode_bytes(_ids(line, where), skip_special)
        except UnknownTokenError as error:
            raise UnknownTokenError(f"{where}: {error}") from None
        if as_json:
            write(f"{between}\n {options.to_json(text.decode('utf-8', 'replace'))}")
            between = ","
        else:
            write(text)
    if as_json:
        write("\n]}\n")


def _lines(files: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(where it stands, line) of all files."""
    for name in files:
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
            "a line is ids in decimal with blanks between them, as `digram encode` writes it",
        )
    return list(map(int, words))
