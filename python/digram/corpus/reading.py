"""How a corpus is read, and what was left out on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from digram._warn import warn
from digram.corpus.paths import File
from digram.errors import DigramError, LeftOutWarning

__all__ = ["SKIP", "Errors", "Reading", "Tally"]

Errors = Literal["strict", "replace", "ignore"]

SKIP = "mend it, or leave such records out with skip_bad=True"
"""The way out that errors about a bad record name."""

_UNITS = {
    "text": "line",
    "jsonl": "line",
    "csv": "row",
    "tsv": "row",
    "parquet": "row",
    "arrow": "row",
    "items": "record",
}


@dataclass
class Tally:
    """What one pass over a corpus left out so far."""

    skip_bad: bool
    left_out: list[str] = field(default_factory=list)
    bad_records: int = 0
    nulls: int = 0
    first_bad: str = ""
    with_more: int = 0
    one_more: str = ""

    def bad(self, error: DigramError) -> None:
        """A record that is bad: counted, or its error raised."""
        if not self.skip_bad:
            raise error from None
        self.bad_records += 1
        self.first_bad = self.first_bad or str(error).rpartition(": ")[0] or str(error)

    def more_fields(self, names: Iterable[str]) -> None:
        """A record has fields that are no columns."""
        self.with_more += 1
        self.one_more = self.one_more or next(iter(names))

    def say(self) -> None:
        """Warns of what was left out, if anything was."""
        if self.left_out:
            warn(_says_left_out(self.left_out), LeftOutWarning)
        if self.bad_records:
            number = "1 bad record was" if self.bad_records == 1 else f"{self.bad_records:,} bad records were"
            warn(f"{number} left out; the first: {self.first_bad}", LeftOutWarning)
        if self.nulls:
            number = "1 record has" if self.nulls == 1 else f"{self.nulls:,} records have"
            warn(f"{number} null where the text should be, and gave no document", LeftOutWarning)
        if self.with_more:
            number = "1 record has a field" if self.with_more == 1 else f"{self.with_more:,} records have fields"
            warn(
                f"{number} that the first records do not have, such as {self.one_more!r}: no column holds it",
                LeftOutWarning,
            )


def _says_left_out(names: list[str]) -> str:
    """The message of LeftOutWarning: how many files, and the first of them."""
    number = "1 file that is not text was" if len(names) == 1 else f"{len(names):,} files that are not text were"
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"{number} left out: {', '.join(names[:3])}{more}"


@dataclass(frozen=True)
class Reading:
    """What a reader of files is told.

    end        what ends a document of a text file; None where the file is one
    lines      whether that is a line, of whose end a carriage return is a part
    window     bytes that are taken from a file at a time
    columns    whether the other columns are wanted
    other      what makes columns of records that have no schema
    size       bytes that a batch has, about
    selected   (number of the first record, how many) -> which of them are read, None for all
    """

    field: str | None
    errors: Errors
    end: bytes | None
    lines: bool
    window: int
    columns: bool
    selected: Callable[[int, int], list[int] | None]
    tally: Tally
    size: int = 1 << 24
    other: Any = None

    def unit(self, file: File) -> str:
        """What a record of the file is called."""
        return "document" if file.format == "text" and not self.lines else _UNITS.get(file.format, "row")
