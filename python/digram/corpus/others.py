"""The other columns of records that have no schema: JSON lines, and objects of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from digram._optional import needed
from digram._text import whole_characters
from digram.corpus.fields import listed
from digram.corpus.reading import Tally
from digram.errors import CorpusError

__all__ = ["LOOKED_AT", "Others", "Rows"]

LOOKED_AT = 1000
"""The schema is that of so many records at the beginning."""


class Rows:
    """Collects records, to find their schema."""

    begun = True

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def batch(self, rows: list[Any], field: str, where: Callable[[int], str]) -> None:
        """Takes some."""
        self.rows.extend(rows)


class Others:
    """Makes columns of records, each batch with the same schema, which the first records have."""

    def __init__(self, tally: Tally, field: str, first: Iterable[Any] | None = None) -> None:
        self._tally, self._field = tally, field
        self._schema: Any = None
        if first is not None:
            self.begin(list(first))

    @property
    def begun(self) -> bool:
        """Whether there is a schema."""
        return self._schema is not None

    def begin(self, rows: Sequence[Any]) -> None:
        """Takes the schema from the first records, whether they are read or not."""
        if self._schema is None:
            try:
                self._schema = self._found(rows[:LOOKED_AT])
            except UnicodeEncodeError:
                self._schema = self._found(_well_formed(rows[:LOOKED_AT]))

    def _found(self, rows: Sequence[Any]) -> Any:
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
        self.begin(rows)
        try:
            return self._columns(rows, field, where)
        except UnicodeEncodeError:
            return self._columns(_well_formed(rows), field, where)

    def _columns(self, rows: Sequence[Any], field: str, where: Callable[[int], str]) -> Any:
        import pyarrow

        arrays = []
        for one in self._schema:
            values = [row.get(one.name) for row in rows]
            column = _column(values, one, self._tally)
            if column is None:
                each = [_column([value], one) for value in values]
                if None in each:
                    raise CorpusError(
                        f"{where(each.index(None))} has another kind of value in the field {one.name!r} than the first "
                        f"records, where it is {one.type}: the columns are "
                        f"{listed({*self._schema.names, field})}; read them without, or mend it"
                    )
                column = pyarrow.concat_arrays(each)
            arrays.append(column)
        names = {*self._schema.names, field}
        for row in rows:
            if not names.issuperset(row):
                self._tally.more_fields(name for name in row if name not in names)
        return pyarrow.RecordBatch.from_arrays(arrays, schema=self._schema) if arrays else None


def _column(values: list[Any], wanted: Any, tally: Tally | None = None) -> Any:
    """An Arrow array of the type of a field; None where a value is of another kind."""
    import pyarrow

    try:
        column = pyarrow.array(values)
        if column.type == wanted.type:
            return column
        # Asked for whole numbers pyarrow would make 1 of 1.5, and of an object it takes the fields that it knows.
        if pyarrow.types.is_floating(column.type) and pyarrow.types.is_integer(wanted.type):
            return column.cast(wanted.type)  # of 2.0, but an error of 1.5
        missing: list[str] = []
        if not _fits(column.type, wanted.type, wanted.name, missing):
            return None
        column = pyarrow.array(values, wanted.type)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
        return None
    if missing and tally is not None:
        for value in values:
            _fits(pyarrow.array([value]).type, wanted.type, wanted.name, missing := [])
            if missing:
                tally.more_fields(missing)
    return column


def _fits(found: Any, wanted: Any, name: str, missing: list[str]) -> bool:
    """Whether values whose type was found to be `found` may stand in a column of the type `wanted`; `missing` gets the
    fields of objects that have no place there."""
    from pyarrow import types

    if types.is_null(found) or found == wanted:
        return True
    if types.is_struct(found) and types.is_struct(wanted):
        known = {field.name: field.type for field in wanted}
        missing += [f"{name}.{field.name}" for field in found if field.name not in known]
        return all(
            _fits(field.type, known[field.name], f"{name}.{field.name}", missing)
            for field in found
            if field.name in known
        )
    if types.is_list(found) and types.is_list(wanted):
        return _fits(found.value_type, wanted.value_type, name, missing)
    if types.is_integer(found):
        return bool(types.is_integer(wanted) or types.is_floating(wanted))
    return bool(found.id == wanted.id)


def _well_formed(value: Any) -> Any:
    """Strings in records without lone halves of surrogate pairs, for which Arrow has no place."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, Mapping):
        return {_well_formed(name): _well_formed(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_well_formed, value))
    return value
