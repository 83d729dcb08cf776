"""The group of commands, and how each of them ends: exit codes, errors, Ctrl-C, closed pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from digram import __version__
from digram.cli.change import extend, prune
from digram.cli.compare import compare
from digram.cli.convert import convert
from digram.cli.count import count
from digram.cli.decode import decode
from digram.cli.encode import encode
from digram.cli.fetch import fetch
from digram.cli.inspect import inspect
from digram.cli.messages import explain
from digram.cli.messages import report as say
from digram.cli.pieces import count_pieces, merge_counts
from digram.cli.report import report
from digram.cli.serve import serve
from digram.cli.show import show
from digram.cli.train import train
from digram.cli.truncate import truncate

__all__ = ["main"]

# What a shell says of a command that a signal ended: 128 and the number of the signal.
INTERRUPTED = 130
BROKEN_PIPE = 141


class _EndError(Exception):
    """Ctrl-C or a closed pipe, past click, which would answer both in its own way; holds the exit code."""

    def __init__(self, code: int) -> None:
        self.code = code


class _Group(click.Group):
    """Exit codes: 0, 1 for an error, 2 for a command that was called wrongly, 130 after Ctrl-C."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of use, not of the alphabet

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            raise _EndError(INTERRUPTED) from None
        except BrokenPipeError:
            raise _EndError(BROKEN_PIPE) from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        _reopen_streams()
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "digram"
            message = error.format_message().rstrip(".")
            say(message[:1].lower() + message[1:], f"`{command} --help` shows how it is called")
            code = 2
        except (_EndError, KeyboardInterrupt, click.Abort) as end:
            code = end.code if isinstance(end, _EndError) else INTERRUPTED
            if code == INTERRUPTED:
                say("interrupted", label=None)
        except Exception as error:
            explained = explain(error)
            if explained is None:
                raise
            say(*explained)
            code = 1
        _discard_output()
        sys.exit(code if isinstance(code, int) else 0)


def _reopen_streams() -> None:
    """Streams that were closed before the command began: Python has None in their place.

    Their numbers are taken, so that no file gets one of them. Of standard input and output each use is an error, as
    of a closed one; messages that nobody can read are dropped.
    """
    for number, name, flags in ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115 (it is there to the end)


def _discard_output() -> None:
    """What could not be written stays in the buffer; Python would try again as it ends, and complain."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@click.group(
    "digram",
    cls=_Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="digram")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Byte-pair encoding: learn a vocabulary from text, turn text into ids and ids into text.

    TOK is a vocabulary: a file that `digram train -o TOK` wrote, a named encoding (cl100k_base, once `digram fetch
    cl100k_base` has run), a tokenizer.json (Hugging Face) or its folder, a GGUF file (llama.cpp), a tekken.json
    (Mistral), a SentencePiece model of type BPE, a vocab.json with its merges.txt or their folder (which needs --split
    unless they are GPT-2's), or a .tiktoken file (which needs --name or --split). A large one that was read once is
    kept in the cache folder for the next time: DIGRAM_CACHE_DIR names the folder, DIGRAM_CACHE=0 keeps nothing.

    FILES are text files in UTF-8, folders of them, patterns such as 'notes/**/*.txt', addresses such as s3://bucket/x,
    or - for standard input; a file is one document, unless --lines or --separator cuts it. With --field NAME, JSON
    lines, CSV and TSV are read as records; Parquet and Arrow always are. .gz, .zst, .xz and .bz2 are unpacked.

    Data goes to standard output; progress and messages go to standard error.

    \b
    Learn 32,000 tokens from a folder, and look at what was learnt:
      digram train books/ -o my.digram.json --vocab-size 32000
      digram inspect my.digram.json

    \b
    Count the tokens of a file, and see them:
      digram count -t my.digram.json README.md
      digram show -t my.digram.json "The newest words"
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


for _command in (
    train,
    count_pieces,
    merge_counts,
    encode,
    decode,
    count,
    truncate,
    show,
    serve,
    inspect,
    report,
    compare,
    convert,
    extend,
    prune,
    fetch,
):
    main.add_command(_command)
