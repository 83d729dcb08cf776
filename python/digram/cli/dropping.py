"""The options of `digram encode` that drop merges at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import options

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["dropping", "encoder"]

Command = TypeVar("Command", bound=Callable[..., object])


class Probability(click.types.FloatParamType):
    """A number from 0 to 1."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        p = float(super().convert(value, param, ctx))
        if not 0 <= p <= 1:
            self.fail(f"{value} is no probability from 0 to 1.", param, ctx)
        return p


def dropping(command: Command) -> Command:
    """--dropout and --dropout-seed."""
    seed = click.option(
        "--dropout-seed",
        type=options.AtLeast(0),
        metavar="N",
        help="With --dropout, which random numbers are drawn; take another for each epoch.  [default: 0]",
    )
    dropout = click.option(
        "--dropout",
        type=Probability(),
        metavar="P",
        help="Drop merges with probability P, so that a word is not always cut in the same way (BPE-dropout).",
    )
    return dropout(seed(command))


def encoder(tokenizer: Tokenizer, dropout: float | None, seed: int | None) -> Callable[..., list[list[int]]]:
    """What encodes batches that come one after the other: the tokenizer, or its merges with some dropped."""
    if dropout is None:
        if seed is not None:
            raise click.UsageError("--dropout-seed is for --dropout: without it nothing is left to chance.")
        return tokenizer.encode_batch
    from digram.variants import Dropout

    if seed is not None and seed >= 1 << 64:
        raise click.UsageError(f"--dropout-seed {seed} is above 2^64 - 1.")
    drop, place = Dropout(tokenizer, dropout, seed or 0), 0

    def encode_batch(
        texts: list[Any], allowed: Any, disallowed: Any, template: bool, threads: int | None
    ) -> list[list[int]]:
        nonlocal place
        lists = drop.encode_batch(texts, allowed, disallowed, template, threads, place)
        place += len(texts)
        return lists

    return encode_batch
