"""digram show"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

from digram.cli import names, options
from digram.cli.messages import counted, note
from digram.cli.terminal import colours, printable, write

if TYPE_CHECKING:
    from digram.explain import Explanation
    from digram.showing import Shown

__all__ = ["show"]


@click.command(short_help="The tokens of a text, in colour.")
@click.argument("text", required=False, default="-", metavar="[TEXT]")
@options.tokenizers
@click.option("--explain", is_flag=True, help="The pieces of the text, and the merges of each in their order.")
@click.option(
    "--color/--no-color",
    default=None,
    help="Colours or none.  [default: colours on a terminal, unless NO_COLOR is set]",
)
@options.allow_special
@options.add_special
@options.vocabulary
@options.as_json
@options.quiet
def show(
    text: str,
    toks: tuple[str, ...],
    explain: bool,
    color: bool | None,
    allow_special: bool,
    add_special: bool,
    split: str | None,
    special: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Show the tokens of TEXT, each above its id; a token has the same colour wherever it stands.

    TEXT is one argument, so put it in quotes; without it, or with -, the text is standard input. White space is visible
    (␣ space, ⇥ tab, ⏎ line feed), parts of characters and control characters are escaped (\\xNN, \\uNNNN); tokens that
    share a character stand behind it: 中‹\\xe4 \\xb8 \\xad›. Special tokens are white on a dark ground. TOK is a
    vocabulary that `digram train` or another tool wrote, or a named encoding; with several -t they come one below
    another, called as they are given, or by NAME. --explain shows how the ids come about: each line of a piece has the
    rank of the merge, the symbols after it, and the rule.

    --json gives {"tokenizer", "tokens": [{"id", "text", "hex", "start", "end", "kind"}, ...], "bytes"}, where starts
    and ends count bytes, and with --explain {"tokenizer", "parts", "bytes"}; of several {"tokenizers": [...]}.

    \b
    A sentence, by two vocabularies:
      digram show -t my.digram.json -t cl100k_base "low lower lowest"

    \b
    How a word is put together:
      digram show -t my.digram.json --explain lowest

    \b
    A file, a screen at a time:
      digram show -t my.digram.json --color < README.md | less -R
    """
    named = names.labelled(toks, "TOK")
    tokenizers = options.load_tokenizers([path for _, path in named], split, special)
    # An argument in another encoding than UTF-8 is the bytes that were typed.
    data = _standard_input() if text == "-" else os.fsencode(text)
    allowed = "all" if allow_special else ()
    found: list[tuple[str, Explanation | Shown]] = []
    for (tok, _), tokenizer in zip(named, tokenizers, strict=True):
        if explain:
            found.append((tok, tokenizer.explain(data, allowed, add_special_tokens=add_special)))
        else:
            found.append((tok, tokenizer.show(data, allowed, add_special_tokens=add_special, limit=None)))
    if as_json:
        objects = [{"tokenizer": tok, **shown.as_dict()} for tok, shown in found]
        options.print_json(objects[0] if len(objects) == 1 else {"tokenizers": objects})
        return
    for number, (tok, shown) in enumerate(found):
        if len(found) > 1:
            write(f"{chr(10) if number else ''}{printable(tok)}: {_summary(shown.ids, data)}\n")
        _draw(shown, colours(color, sys.stdout))
    if len(found) == 1:
        note(_summary(found[0][1].ids, data), quiet)


def _draw(shown: Explanation | Shown, painted: bool) -> None:
    from digram.explain import Explanation
    from digram.showing import explanation_lines, shown_lines

    columns = shutil.get_terminal_size().columns
    if isinstance(shown, Explanation):
        lines = explanation_lines(shown, painted, columns)
    else:
        lines = shown_lines(shown, painted, columns)
    for line in lines:
        write(line + "\n")


def _summary(ids: list[int], data: bytes) -> str:
    ratio = f", {len(data) / len(ids):.2f} bytes per token" if ids else ""
    return f"{counted(len(ids), 'token')}, {counted(len(data), 'byte')}{ratio}"


def _standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        error.filename = "standard input"
        raise
