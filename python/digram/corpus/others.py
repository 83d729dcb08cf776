"""The other columns of records that have no schema: JSON lines, and objects of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from digram._optional import needed
from digram.corpus.fields import listed
from digram.corpus.reading import Tally
from digram.errors import CorpusError

__all__ = ["LOOKED_AT", "Others", "Rows"]

LOOKED_AT = 1000
"""The schema is that of so many records at the beginning."""


class Rows:
    """Collects records, to find their schema."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def batch(self, rows: list[Any], field: str, where: Callable[[int], str]) -> None:
        """Takes some."""
        self.rows.extend(rows)


class Others:
    """Makes columns of records, each batch with the same schema, which the first records have."""

    def __init__(self, tally: Tally, field: str, first: Iterable[Any] | None = None) -> None:
        self._tally, self._field, self._schema = tally, field, None
        if first is not None:
            self._schema = self._found(list(first)[:LOOKED_AT])

    def _found(self, rows: list[Any]) -> Any:
        pyarrow = needed("pyarrow", "the other columns of records")
        names = {name: None for row in rows for name in row if name != self._field}
        fields = []
        for name in names:
            try:
                kind = pyarrow.array([row.get(name) for row in rows]).type
            except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError) as error:
                raise CorpusError(
                    f"the first records have values of several kinds in the field {name!r} ({error}), which makes no "
                    "column: read them without the other columns"
                ) from None
            fields.append((name, pyarrow.string() if pyarrow.types.is_null(kind) else kind))
        return pyarrow.schema(fields)

    def batch(self, rows: list[Any], field: str, where: Callable[[int], str]) -> Any:
        """The columns of some records. CorpusError for a value that is of another kind than those of the first ones."""
        import pyarrow

        if self._schema is None:
            self._schema = self._found(rows)
        names = {*self._schema.names, field}
        for row in rows:
            if not names.issuperset(row):
                self._tally.more_fields(name for name in row if name not in names)
        if not self._schema.names:
            return None
        try:
            return pyarrow.RecordBatch.from_pylist(rows, schema=self._schema)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            for i, row in enumerate(rows):
                for one in self._schema:
                    try:
                        pyarrow.array([row.get(one.name)], one.type)
                    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
                        raise CorpusError(
                            f"{where(i)} has another kind of value in the field {one.name!r} than the first records, "
                            f"where it is {one.type}: the columns are {listed(names)}; read them without, or mend it"
                        ) from None
            raise
