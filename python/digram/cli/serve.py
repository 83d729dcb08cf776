"""digram serve"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import click

from digram.cli import names, options
from digram.cli.messages import CommandError, note

__all__ = ["serve"]


@click.command(short_help="A local page that shows tokens, merges and training.")
@click.argument("toks", metavar="[NAME=]TOK...", nargs=-1, required=True)
@click.option(
    "--port", type=options.AtLeast(0), metavar="N", help="Listen on this port; 0: any free one.  [default: 8000]"
)
@click.option("--out", metavar="FILE", help="Write the page into one HTML file that needs no server, and end.")
@options.vocabulary
@options.quiet
def serve(
    toks: tuple[str, ...], port: int | None, out: str | None, split: str | None, special: tuple[str, ...], quiet: bool
) -> None:
    """Show one to four tokenizers side by side on a local page: type or drop a text, and see its tokens.

    The page counts tokens as you type and shows their bytes, ranks and merge trees, marks where the tokenizers differ,
    plays the merges of a word, and trains a small vocabulary round by round. It is served to this machine alone, asks
    nobody else for anything, and ends with Ctrl-C; its address is printed. TOK is a vocabulary that `digram train` or
    another tool wrote, or a named encoding; the page calls it by its file, or by NAME. --split, --name and --special
    are for those TOK whose files lack what they say.

    \b
    Look at a vocabulary of your own:
      digram serve my.digram.json

    \b
    Compare it with a published one and with an older one of the same name, on another port:
      digram serve my.digram.json cl100k_base old=2024/my.digram.json --port 8080

    \b
    A file to send to others, or to put on a web site:
      digram serve my.digram.json cl100k_base --out tokens.html
    """
    from digram.playground import MOST_TOKENIZERS

    if len(toks) > MOST_TOKENIZERS:
        raise click.BadParameter(
            f"{len(toks)} were given, and the page shows at most {MOST_TOKENIZERS}.", param_hint="TOK"
        )
    paths = names.named(toks, "TOK", names.tokenizer_name)
    if out is not None:
        if port is not None:
            raise click.UsageError("--out writes a page that needs no server, so it goes without --port.")
        _write(out, paths, split, special)
        return
    _serve(paths, 8000 if port is None else port, split, special, quiet)


def _serve(paths: Mapping[str, str], port: int, split: str | None, special: tuple[str, ...], quiet: bool) -> None:
    from digram.playground import Server

    for tok in paths.values():
        if not _is_there(tok):
            next(options.load_each([tok, *paths.values()], split, special))  # its error, before the address is told
    try:
        server = Server(list(paths), port)
    except OSError as error:
        raise CommandError(
            f"port {port} cannot be listened on: {os.strerror(error.errno or 0).lower()}",
            "--port 0 takes any free one",
        ) from None
    except OverflowError:
        raise click.BadParameter(f"{port} is no port.", param_hint="--port") from None
    with server:
        note(f"{server.address} shows the page; Ctrl-C ends it", quiet)
        with suppress(KeyboardInterrupt):
            # The page is there at once; what it asks about a tokenizer waits until that one is loaded.
            for i, tokenizer in enumerate(options.load_each(list(paths.values()), split, special)):
                server.give(i, tokenizer)
            threading.Event().wait()


def _is_there(tok: str) -> bool:
    """Whether a TOK can be looked for at all, which takes no time beside loading it."""
    from digram import cache
    from digram.encodings import ENCODINGS

    if Path(tok).exists() or tok not in ENCODINGS:
        return Path(tok).exists()
    return all(cache.find(file, cache.folders())[0] is not None for file in ENCODINGS[tok].files)


def _write(out: str, paths: Mapping[str, str], split: str | None, special: tuple[str, ...]) -> None:
    from digram.files import whole_file
    from digram.playground.answers import Answers
    from digram.playground.embedding import NotExactError, embedded
    from digram.playground.page import static_page

    facts, vocabularies = [], []
    tokenizers = options.load_each(list(paths.values()), split, special)
    for (name, tok), tokenizer in zip(paths.items(), tokenizers, strict=True):
        try:
            vocabularies.append(embedded(tokenizer))
        except NotExactError as error:
            raise CommandError(
                f"{tok} cannot stand in a page without a server: {error}",
                "leave it out, or let `digram serve` show it without --out",
            ) from None
        facts.append(Answers(name, tokenizer).facts())
    with whole_file(out) as file:
        file.write(static_page(facts, vocabularies))
