"""Sources that count more or less than others: their counts, multiplied exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from digram._numbers import whole_number
from digram.counts import PieceCounts, Progress

__all__ = ["Weight", "Weighting"]

Weight = int | float | Fraction


class Weighting:
    """Sources and their weights: one for each, above 0. A float is the decimal number that it prints as."""

    def __init__(self, sources: object, weights: Iterable[Weight]) -> None:
        if isinstance(sources, (str, bytes)) or not isinstance(sources, Iterable):
            raise TypeError(
                "with weights, texts is a list of sources: each a text, an iterable of texts or PieceCounts"
            )
        self.sources: list[Any] = list(sources)
        given = list(weights)
        if len(self.sources) != len(given):
            raise ValueError(
                f"there are {len(self.sources)} sources and {len(given)} weights: give one weight to each source"
            )
        self.weights = []
        for i, weight in enumerate(given):
            if not isinstance(weight, (float, Fraction)):  # numpy's whole numbers are ints too
                weight = _whole(i, weight)
            if (isinstance(weight, float) and not math.isfinite(weight)) or weight <= 0:
                raise ValueError(f"weight {i} must be a number above 0, not {weight}: leave the source out instead")
            self.weights.append(Fraction(str(weight) if isinstance(weight, float) else weight))

    def counts(
        self,
        new: Callable[[], PieceCounts],
        threads: int | None,
        progress: Callable[[Progress], object] | None,
    ) -> tuple[PieceCounts, int]:
        """The counts of all sources, each multiplied by its weight, and by the common denominator of all weights, which
        is the second value. `new` makes counts without a text. The order of first appearance is that of the sources.
        """
        scale = math.lcm(*(weight.denominator for weight in self.weights))
        total = new()
        told = None if progress is None else _Sum(progress)
        for i, (source, weight) in enumerate(zip(self.sources, self.weights, strict=True)):
            counts = source
            if not isinstance(source, PieceCounts):
                counts = new()
                counts.add(source, threads=threads, progress=told)
            if told is not None:
                told.next(counts.documents)
            try:
                total.merge(_times(counts, int(weight * scale), new))
            except OverflowError as error:
                raise OverflowError(f"source {i} with weight {weight}: {error}") from None
            except ValueError as error:
                raise ValueError(f"source {i}: {error}") from None
        return total, scale


def _whole(i: int, weight: object) -> int:
    try:
        return whole_number(f"weight {i}", weight, least=-(1 << 64))
    except TypeError:
        raise TypeError(f"weight {i} must be an int, a Fraction or a float, not {type(weight).__name__}") from None


def _times(counts: PieceCounts, factor: int, new: Callable[[], PieceCounts]) -> PieceCounts:
    """`counts`, each `factor` times, in the same order: by doubling, so that only sums are asked of counts."""
    if factor == 1:
        return counts
    product = new()
    for bit in format(factor, "b"):
        product.merge(product)
        if bit == "1":
            product.merge(counts)
    product.documents = counts.documents
    return product


class _Sum:
    """Reports of one source after the other as reports of all so far."""

    def __init__(self, progress: Callable[[Progress], object]) -> None:
        self._progress = progress
        self._before = self._last = Progress("counting")

    def __call__(self, now: Progress) -> None:
        before = self._before
        self._last = replace(
            now,
            documents=before.documents + now.documents,
            characters=before.characters + now.characters,
            read=before.read + now.read,
        )
        self._progress(self._last)

    def next(self, documents: int) -> None:
        """A source of so many documents is counted."""
        self._before = replace(self._last, documents=self._before.documents + documents)
