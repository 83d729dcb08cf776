"""The options of `digram encode -o OUT`, and what it does."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import options
from digram.cli.messages import CommandError, counted, note, warnings_as_lines

if TYPE_CHECKING:
    from digram.corpus import Corpus
    from digram.shards import Statistics
    from digram.tokenizer import Tokenizer

__all__ = ["sharding", "to_shards"]

Command = TypeVar("Command", bound=Callable[..., object])

_OPTIONS = (
    click.option("-o", "--output", metavar="OUT", help="Write shards into this folder."),
    click.option(
        "--format",
        type=click.Choice(["bin", "npy", "megatron", "parquet"]),
        default="bin",
        help="With -o: bare ids, numpy's format, Megatron-LM's .bin and .idx, or Parquet with the other columns.  "
        "[default: bin]",
    ),
    click.option("--eod", metavar="TOKEN", help="With -o: this token ends each document.  [default: <|endoftext|>]"),
    click.option("--no-eod", is_flag=True, help="With -o: nothing ends a document."),
    click.option(
        "--pack", type=options.AtLeast(1), metavar="N", help="With -o: rows of N ids, with documents end to end."
    ),
    click.option(
        "--validation", type=float, default=0.0, metavar="PART", help="With -o: hold out this part, such as 0.01."
    ),
    click.option(
        "--validation-seed", type=options.AtLeast(0), default=0, metavar="N", help="With -o: hold out another part."
    ),
    click.option(
        "--shard-size", metavar="N", default="100M", help="With -o: the ids of a shard, such as 250k.  [default: 100M]"
    ),
    click.option("--no-columns", is_flag=True, help="With -o and Parquet: the ids alone, without the other columns."),
    click.option("--resume", is_flag=True, help="With -o: go on with what a stopped run left in OUT."),
)


def sharding(command: Command) -> Command:
    """All options of -o, and -o."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_alone() -> None:
    """A usage error for options of -o that were given without it."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in _NAMES and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[-1]} is for shards: name their folder with -o OUT.")


_NAMES = ("format", "eod", "no_eod", "pack", "validation", "validation_seed", "shard_size", "no_columns", "resume")


def check_apart(files: Sequence[str], out: str) -> None:
    """Shards in a folder of FILES would be texts of the run that goes on, for which that is another corpus."""
    there = os.path.abspath(out).split(os.sep)
    for name in files:
        found = os.path.isdir(name) and not _is_outside(os.path.realpath(out), os.path.realpath(name))
        if not found and glob.has_magic(name) and not os.path.lexists(name):
            pattern = os.path.abspath(name).split(os.sep)
            if pattern[-1] == "**":  # all that is in a folder
                pattern, rest = pattern[:-1], there[len(pattern) - 1 :]
                found = bool(rest) and not any(part.startswith(".") for part in rest)
                found = found and len(there) > len(pattern) and all(map(fnmatchcase, there, pattern))
            else:  # a folder that the pattern finds
                found = len(there) >= len(pattern) and all(map(fnmatchcase, there, pattern))
        if found:
            raise CommandError(f"{out} is in {name}, which is read", "name a folder that is in none of FILES")


def _is_outside(out: str, folder: str) -> bool:
    """Whether a folder is not in another one, or is hidden there."""
    return any(part.startswith(".") for part in os.path.relpath(out, folder).split(os.sep))


def to_shards(
    tokenizer: Tokenizer,
    corpus: Corpus,
    allow_special: bool,
    add_special: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    given: dict[str, Any],
) -> None:
    """Writes the shards; says what they are, or with `as_json` prints it."""
    from digram import shards
    from digram.progress import Bar
    from digram.shards._options import number_of_tokens

    if given["eod"] is not None and given["no_eod"]:
        raise click.UsageError("--eod names what ends a document, and --no-eod that nothing does: give one of them.")
    try:
        size = number_of_tokens("--shard-size", given["shard_size"])
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None
    if not 0 <= given["validation"] < 1:
        raise click.UsageError(f"--validation is a part from 0 to less than 1, not {given['validation']:g}.")
    if given["pack"] is not None and given["format"] == "megatron":
        raise click.UsageError("--pack is not for --format megatron, whose trainer packs documents itself.")
    out, eod = given["output"], not given["no_eod"] if given["eod"] is None else given["eod"]
    if eod is True and shards.DEFAULT_EOD not in tokenizer.special_tokens:
        note(f"no id ends a document: TOK has no {shards.DEFAULT_EOD}, and --eod TOKEN names another", quiet)
    shown = not quiet and (corpus.bytes is None or corpus.bytes >= options.WORTH_A_BAR)
    with warnings_as_lines(), Bar("encoding", corpus.bytes, shown=shown) as bar:
        done = shards.write(
            tokenizer,
            corpus,
            out,
            format=given["format"],
            eod=eod,
            pack=given["pack"],
            validation=given["validation"],
            seed=given["validation_seed"],
            shard_size=size,
            allowed_special="all" if allow_special else (),
            add_special_tokens=add_special,
            columns=not given["no_columns"],
            resume=given["resume"],
            threads=threads,
            progress=lambda now: bar.reach(now.read),
        )
    if as_json:
        options.print_json(_as_json(done, out))
    else:
        note(_sentence(done, out), quiet)


def _as_json(done: Statistics, out: str) -> dict[str, Any]:
    facts = {name: value for name, value in asdict(done).items() if name not in ("eods", "read", "resumed_from")}
    return {
        "folder": out,
        **facts,
        "bytes_per_token": round(done.bytes_per_token, 4),
        "tokens_per_second": round(done.tokens_per_second),
        "tokens_before": done.resumed_from,
    }


def _sentence(done: Statistics, out: str) -> str:
    if done.nothing_to_do:
        return f"{out} is complete: nothing to do"
    longest = counted(done.longest, "token")
    before = f", {done.resumed_from:,} of them by earlier runs" if done.resumed_from else ""
    return (
        f"{counted(done.tokens, 'token')} of {counted(done.documents, 'document')} in {counted(done.shards, 'shard')} "
        f"in {out}{before}: {done.bytes_per_token:.2f} bytes per token, longest document {longest}, "
        f"{done.tokens_per_second:,.0f} tokens per second in {done.seconds:.1f} s"
    )
