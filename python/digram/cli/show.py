"""digram show"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import click

from digram.cli import options
from digram.cli.messages import counted, note
from digram.cli.terminal import colours, dim, paint, visible, width, write

__all__ = ["show"]


@dataclass(frozen=True, slots=True)
class _Cell:
    """A token as it is shown, above its id."""

    id: int
    text: str
    special: bool
    ends_line: bool

    @property
    def width(self) -> int:
        return max(width(self.text), len(str(self.id)))


@click.command(short_help="The tokens of a text, in colour.")
@click.argument("text", required=False, default="-", metavar="[TEXT]")
@options.tokenizer
@click.option(
    "--color/--no-color",
    default=None,
    help="Colours or none.  [default: colours on a terminal, unless NO_COLOR is set]",
)
@options.allow_special
@options.vocabulary
@options.as_json
@options.quiet
def show(
    text: str,
    tok: str,
    color: bool | None,
    allow_special: bool,
    split: str | None,
    special: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Show the tokens of TEXT, each above its id; a token has the same colour wherever it stands.

    TEXT is one argument, so put it in quotes; without it, or with -, the text is standard input. White space is visible
    (␣ blank, ⇥ tab, ⏎ line feed), parts of characters and control characters are escaped (\\xNN, \\uNNNN). TOK is a
    vocabulary that `digram train` or another tool wrote, or a named encoding. --json gives {"tokens": [{"id", "text",
    "hex"}, ...], "bytes"}.

    \b
    A sentence:
      digram show -t my.digram.json "low lower lowest"

    \b
    A file, a screen at a time:
      digram show -t my.digram.json --color < README.md | less -R
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    # An argument in another encoding than UTF-8 is the bytes that were typed.
    data = _standard_input() if text == "-" else os.fsencode(text)
    ids = tokenizer.encode(data, "all" if allow_special else ())
    if as_json:
        tokens = []
        for id in ids:
            token = tokenizer.token_bytes(id)
            tokens.append({"id": id, "text": token.decode("utf-8", "replace"), "hex": token.hex()})
        options.print_json({"tokens": tokens, "bytes": len(data)})
        return
    known: dict[int, _Cell] = {}
    cells = []
    for id in ids:
        if id not in known:
            token = tokenizer.token_bytes(id)
            known[id] = _Cell(id, visible(token), tokenizer.is_special(id), b"\n" in token)
        cells.append(known[id])
    painted = colours(color, sys.stdout)
    for row in _rows(cells, shutil.get_terminal_size().columns):
        write(_line(row, painted))
    ratio = f", {len(data) / len(ids):.2f} bytes per token" if ids else ""
    note(f"{counted(len(ids), 'token')}, {counted(len(data), 'byte')}{ratio}", quiet)


def _standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        error.filename = "standard input"
        raise


def _rows(cells: list[_Cell], columns: int) -> Iterator[list[_Cell]]:
    """Cells in rows that fit the terminal and end where the text has a line end."""
    row: list[_Cell] = []
    used = 0
    for cell in cells:
        if row and used + cell.width > columns:
            yield row
            row, used = [], 0
        row.append(cell)
        used += cell.width + 1
        if cell.ends_line:
            yield row
            row, used = [], 0
    if row:
        yield row


def _line(row: list[_Cell], painted: bool) -> str:
    """Two lines: the tokens, and under each of them its id."""
    above, below = [], []
    for cell in row:
        id = str(cell.id)
        above.append(
            (paint(cell.text, cell.id, cell.special) if painted else cell.text) + " " * (cell.width - width(cell.text))
        )
        below.append((dim(id) if painted else id) + " " * (cell.width - len(id)))
    return f"{' '.join(above).rstrip(' ')}\n{' '.join(below).rstrip(' ')}\n"
