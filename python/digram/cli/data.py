"""The options that say what FILES hold, and which of their records a command reads.

Commands do not see them: they wait in the context for `options.corpus_of`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from digram.cli.options import AtLeast

__all__ = ["chosen", "data"]

Command = TypeVar("Command", bound=Callable[..., object])

_KEPT = "digram.data"

# What these options are called in Corpus.
_NAMES = {"sample_seed": "seed", "input_format": "format"}

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}


class Shard(click.ParamType["tuple[int, int]"]):
    """I/N: a part of N, from 0 on."""

    name = "I/N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        found = re.fullmatch(r"(\d+)/(\d+)", value)
        if not found or int(found[1]) >= int(found[2]):
            self.fail(f"{value!r} is no part such as 0/4, which has 1/4, 2/4 and 3/4 beside it.", param, ctx)
        return int(found[1]), int(found[2])


class Part(click.types.FloatParamType):
    """A number above 0, at most 1."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        part = float(super().convert(value, param, ctx))
        if not 0 < part <= 1:
            self.fail(f"{value} is not above 0 and at most 1.", param, ctx)
        return part


class Separator(click.types.StringParamType):
    """A text in which \\n, \\r, \\t, \\0 and \\\\ stand for what they are in Python."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value:
            self.fail("an empty text stands everywhere.", param, ctx)
        return re.sub(r"\\([nrt0\\])", lambda found: _ESCAPES[found[1]], str(value))


class Format(click.types.StringParamType):
    """What a file holds, and how it is packed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from digram.corpus.paths import check_format

        try:
            check_format(value)
        except ValueError as error:
            self.fail(f"{str(error).removeprefix('format ')}.", param, ctx)
        return str(value)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and param.name is not None:
        ctx.meta.setdefault(_KEPT, {})[_NAMES.get(param.name, param.name)] = value


def chosen() -> dict[str, Any]:
    """The arguments for Corpus that the command line says."""
    kept: dict[str, Any] = click.get_current_context().meta.get(_KEPT, {})
    if kept.get("lines") and "separator" in kept:
        raise click.UsageError("--lines and --separator both say where a document ends: give one of them.")
    return dict(kept)


def _option(*names: str, **more: Any) -> Callable[[Command], Command]:
    return click.option(*names, expose_value=False, callback=_keep, **more)


_FIELD: Callable[[Any], Any] = _option(
    "--field",
    metavar="NAME",
    help="Read .jsonl, .json, .csv and .tsv files as records, and take the text of this field or column; a.b is b "
    "within a. Parquet and Arrow files have it too.  [default of these: text]",
)

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    _option("--lines", is_flag=True, help="Each line of a text file is a document."),
    _option(
        "--separator",
        type=Separator(),
        metavar="TEXT",
        help=r"A document of a text file ends where TEXT stands; \n, \r, \t, \0 and \\ are as in Python.",
    ),
    _option("--skip-bad", is_flag=True, help="Leave out records without a text, where else the first one ends it."),
    _option(
        "--shard",
        type=Shard(),
        help="One of N parts, I from 0 on: every N-th file, or record where there are fewer files.",
    ),
    _option("--sample", type=Part(), metavar="PART", help="Read so much of the records, such as 0.1, drawn by lot."),
    _option("--sample-seed", type=int, metavar="N", help="Draw others.  [default: 0]"),
    _option("--max-documents", type=AtLeast(1), metavar="N", help="Read N documents at most."),
    _option("--max-characters", type=AtLeast(1), metavar="N", help="End with the document that makes it N characters."),
)


def _format(name: str) -> Callable[[Any], Any]:
    return _option(
        name,
        type=Format(),
        metavar="FORMAT",
        help="What FILES hold, whatever their names say: text, jsonl, csv, tsv, parquet or arrow; of standard input "
        "also how it is packed, such as jsonl.zst.",
    )


def data(command: Command, input_format: str = "--format") -> Command:
    """Gives a command these options; `input_format` is another name where --format is that of what it writes."""
    for option in reversed((_FIELD, _format(input_format), *_OPTIONS)):
        command = option(command)
    return command
