"""A report as data for other programs: JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from digram.report.results import MEASURES, Report, Row

__all__ = ["to_csv", "to_dict", "to_json"]


def to_dict(report: Report) -> dict[str, Any]:
    """All of a report but for `counts`."""
    return {
        "format": "digram report",
        "version": 1,
        "settings": dict(report.settings),
        "measures": {name: f"{measure.title}: {measure.what}" for name, measure in MEASURES.items()},
        "tokenizers": [_plain(asdict(vocabulary)) for vocabulary in report.vocabularies],
        "groups": [_plain(asdict(group)) | {"spaced": group.spaced} for group in report.groups],
        "rows": [_plain(asdict(row)) for row in report.rows],
        "totals": [_plain(asdict(row)) for row in report.totals],
        "parallel": None if report.parallel is None else _plain(asdict(report.parallel)),
    }


def _plain(value: Any) -> Any:
    """With names as keys, as JSON has them, and lists for tuples."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


def to_json(report: Report) -> str:
    """One object, in ASCII, so that nothing in a text can steer a terminal; NaN does not occur."""
    return json.dumps(to_dict(report), ensure_ascii=True, allow_nan=False)


def to_csv(report: Report) -> str:
    """A line for each tokenizer and group."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    groups = {group.name: group for group in report.groups}
    sums = ("documents", "bytes", "characters", "lines", "words")
    premiums = ("premium", "premium_low", "premium_high") if report.parallel else ()
    writer.writerow(["tokenizer", "group", *sums, "spaced", "tokens", "types", *_columns(), *premiums])
    for row in [*report.rows, *report.totals]:
        if row.group is not None:
            facts = [getattr(groups[row.group], name) for name in sums] + [int(groups[row.group].spaced)]
        else:
            facts = [sum(getattr(group, name) for group in report.groups) for name in sums] + [""]
        writer.writerow(
            [row.tokenizer, row.group or "", *facts, row.tokens, row.types, *_cells(row), *_premium(report, row)]
        )
    if report.parallel:  # languages of which there is parallel text alone
        for name in report.parallel.tokens:
            for language in report.parallel.languages:
                if language not in groups:
                    empty = [""] * (len(sums) + 3 + len(_columns()))
                    writer.writerow([name, language, *empty, *_of(report, name, language)])
    return out.getvalue()


def _columns() -> list[str]:
    found = []
    for measure in MEASURES.values():
        found += [measure.name, f"{measure.name}_low", f"{measure.name}_high"] if measure.over else [measure.name]
    return found


def _cells(row: Row) -> list[str]:
    found = []
    for measure in MEASURES.values():
        estimate = row[measure.name]
        parts = (estimate.value, estimate.low, estimate.high) if measure.over else (estimate.value,)
        found += ["" if part is None else repr(part) for part in parts]
    return found


def _premium(report: Report, row: Row) -> list[str]:
    if report.parallel is None:
        return []
    return _of(report, row.tokenizer, row.group) if row.group in report.parallel.languages else [""] * 3


def _of(report: Report, tokenizer: str, language: str | None) -> list[str]:
    assert report.parallel is not None
    assert language is not None
    found = report.parallel.premiums[tokenizer][language]
    return ["" if part is None else repr(part) for part in (found.value, found.low, found.high)]
