"""Bars on the terminal that show how far a long call has come.

    with digram.progress.TrainingBar(corpus.bytes) as bar:
        tok = digram.train(corpus, vocab_size=32_000, progress=bar)

A bar is drawn on standard error where that is a terminal, and nowhere else. tqdm draws it, and is loaded when there is
something to draw.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from tqdm import tqdm

    from digram.training import Progress

__all__ = ["Bar", "TrainingBar", "on_terminal"]


def on_terminal(quiet: bool = False) -> bool:
    """Whether bars are drawn: standard error is a terminal, and nobody asked for quiet."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


class Bar:
    """One bar: what is done, of how much (None: not known), the rate and the time left. A context manager."""

    def __init__(self, label: str, total: int | None, unit: str = "B", shown: bool = True) -> None:
        self._options: dict[str, Any] = {
            "desc": label,
            "total": total,
            "unit": unit,
            "unit_scale": unit == "B",
            "dynamic_ncols": True,
            "leave": False,
            # Nothing is drawn while tqdm makes its object: Ctrl-C just then would leave a bar that nobody takes away.
            "delay": 1e-9,
        }
        self._started = time.time()
        self._shown = shown and on_terminal()
        self._bar: tqdm[Any] | None = None

    def advance(self, n: int) -> None:
        """Another `n` are done."""
        self.reach(n + (0 if self._bar is None else int(self._bar.n)))

    def reach(self, n: int, total: int | None = None, note: str = "") -> None:
        """`n` are done altogether, of `total` where that has become known; `note` stands behind the rate."""
        if not self._shown:
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(file=sys.stderr, **self._options)
            self._bar.start_t = self._bar.last_print_t = self._started
        if total is not None:
            self._bar.total = total
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(n - self._bar.n)

    def close(self) -> None:
        """Takes the bar off the terminal."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class TrainingBar:
    """For `digram.train(progress=...)`: a bar over the texts while they are counted, then one over the merges.

    `total` is what there is to read in bytes, where it is known (`Corpus.bytes`, the size of the files): the first bar
    shows how much of it was read, at which rate, what time is left, and how many documents there were. `last` is the
    last report of counting.
    """

    def __init__(self, total: int | None = None, shown: bool = True) -> None:
        self._shown = shown
        self._stage = "counting"
        self._bar = Bar("counting", total, shown=shown)
        self.last: Progress | None = None

    def __call__(self, now: Progress) -> None:
        if now.stage == "counting":
            self.last = now
            documents = "1 document" if now.documents == 1 else f"{now.documents:,} documents"
            self._bar.reach(now.read, note=documents)
            return
        if self._stage == "counting":
            self._stage = "merging"
            self._bar.close()
            self._bar = Bar("merging", now.planned, unit=" merges", shown=self._shown)
        self._bar.reach(now.merges, now.planned, f"pair x {now.best_count:,}")

    def close(self) -> None:
        """Takes the bar off the terminal."""
        self._bar.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
