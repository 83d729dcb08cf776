"""digram serve"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from digram.cli import options
from digram.cli.messages import CommandError, note

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["serve"]


@click.command(short_help="A local page that shows tokens, merges and training.")
@click.argument("toks", metavar="TOK...", nargs=-1, required=True)
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
    another tool wrote, or a named encoding.

    \b
    Look at a vocabulary of your own:
      digram serve my.digram.json

    \b
    Compare it with a published one, on another port:
      digram serve my.digram.json cl100k_base --port 8080

    \b
    A file to send to others, or to put on a web site:
      digram serve my.digram.json cl100k_base --out tokens.html
    """
    from digram.playground import MOST_TOKENIZERS

    if len(toks) > MOST_TOKENIZERS:
        raise click.BadParameter(
            f"{len(toks)} were given, and the page shows at most {MOST_TOKENIZERS}.", param_hint="TOK"
        )
    if out is not None:
        if port is not None:
            raise click.UsageError("--out writes a page that needs no server, so it goes without --port.")
        _write(out, toks, split, special)
        return
    _serve(toks, 8000 if port is None else port, split, special, quiet)


def _serve(toks: tuple[str, ...], port: int, split: str | None, special: tuple[str, ...], quiet: bool) -> None:
    from digram.playground import Server

    for tok in toks:
        if not _is_there(tok):
            _load(tok, split, special)  # its error, before the address is told
    try:
        server = Server(_names(toks), port)
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
            for i, tok in enumerate(toks):
                server.give(i, _load(tok, split, special))
            threading.Event().wait()


def _is_there(tok: str) -> bool:
    """Whether a TOK can be looked for at all, which takes no time beside loading it."""
    from digram import cache
    from digram.encodings import ENCODINGS

    if Path(tok).exists() or tok not in ENCODINGS:
        return Path(tok).exists()
    return all(cache.find(file, cache.folders())[0] is not None for file in ENCODINGS[tok].files)


def _write(out: str, toks: tuple[str, ...], split: str | None, special: tuple[str, ...]) -> None:
    from digram.files import whole_file
    from digram.playground.answers import Answers
    from digram.playground.embedding import NotExactError, embedded
    from digram.playground.page import static_page

    facts, vocabularies = [], []
    for tok, name in zip(toks, _names(toks), strict=True):
        tokenizer = _load(tok, split, special)
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


def _load(tok: str, split: str | None, special: tuple[str, ...]) -> Tokenizer:
    """The tokenizer; --split, --special and --name are for those of several whose files lack what they say."""
    context = click.get_current_context()
    named = context.meta.pop(options._NAME, None)
    if split is not None or special or named is not None:
        with suppress(Exception):
            return options.load_tokenizer(tok, None, ())
        context.meta[options._NAME] = named
    try:
        return options.load_tokenizer(tok, split, special)
    finally:
        context.meta[options._NAME] = named


def _names(toks: tuple[str, ...]) -> list[str]:
    """How the page calls them: the name of the file, with its folder's where that says more, and no two alike."""
    names = []
    for tok in toks:
        path = Path(tok)
        plain = path.name in ("tokenizer.json", "vocab.json") and path.parent.name
        names.append(f"{path.parent.name}/{path.name}" if plain else path.name or tok)
    if len(set(names)) < len(names):
        names = list(toks)
    return [name if toks.index(toks[i]) == i else f"{name} ({i + 1})" for i, name in enumerate(names)]
