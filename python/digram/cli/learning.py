"""The options of `digram train` beyond what to read, when to stop and where to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import options

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["beginning", "following", "rules", "weights"]

Command = TypeVar("Command", bound=Callable[..., object])


class Weight(click.ParamType["Fraction"]):
    """A number above 0: 3, 0.5 or 1/3, taken exactly."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        from fractions import Fraction

        try:
            weight = Fraction(value)
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r} is no number such as 3, 0.5 or 1/3.", param, ctx)
        if weight <= 0:
            self.fail(f"{value} is not above 0.", param, ctx)
        return weight


class Seconds(click.types.FloatParamType):
    """A time above 0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = float(super().convert(value, param, ctx))
        if not 0 < seconds < float("inf"):
            self.fail(f"{value} is no time above 0.", param, ctx)
        return seconds


def _all(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


rules = _all(
    click.option(
        "--max-token-length",
        type=options.AtLeast(1),
        metavar="N",
        help="No token of more than N bytes (or characters).",
    ),
    click.option(
        "--max-token-characters",
        type=options.AtLeast(1),
        metavar="N",
        help="No token that reaches over more than N characters.",
    ),
    click.option("--split-digits", is_flag=True, help="Each digit is a token of its own."),
    click.option("--whole-characters", is_flag=True, help="A token is whole characters, or a part of one."),
    click.option("--attach-marks", is_flag=True, help="A combining mark is never merged with what follows it."),
)
"""What is never merged."""

beginning = _all(
    click.option(
        "--initial-alphabet",
        default="",
        metavar="TEXT",
        help="With --alphabet characters, characters that belong to the alphabet in any case.",
    ),
    click.option(
        "--limit-alphabet",
        type=options.AtLeast(1),
        metavar="N",
        help="With --alphabet characters, keep the N most frequent ones.",
    ),
    click.option(
        "--seed", "seed_tokens", multiple=True, metavar="TEXT", help="A token to make first; in order. Repeatable."
    ),
    click.option(
        "--resume",
        metavar="TOK",
        help="Go on from this vocabulary or checkpoint: its merges, alphabet, split and special tokens come first.",
    ),
)
"""What there is before the first round."""

following = _all(
    click.option(
        "--memory-limit",
        metavar="SIZE",
        help='Counts of pieces beyond this, such as "4GB", go to temporary files; the result is the same.',
    ),
    click.option(
        "--checkpoint", metavar="FILE", help="Write what was learnt so far to FILE now and then, for --resume."
    ),
    click.option(
        "--checkpoint-every",
        type=Seconds(),
        default=60.0,
        metavar="SECONDS",
        help="How often.  [default: 60]",
    ),
    click.option("--log", metavar="FILE", help="Write each merge with its count to FILE, a line each."),
)
"""What is written while training goes on."""

weights = click.option(
    "--weight",
    "weights",
    type=Weight(),
    multiple=True,
    metavar="W",
    help="What a piece of one of FILES counts (3, 0.5, 1/3): given once for each of them, in order.",
)
