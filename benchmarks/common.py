"""What both benchmarks share: cases, corpora, medians, the table line, the JSON file."""

from __future__ import annotations

import importlib.metadata
import json
import statistics
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.data import Data, data_folder  # noqa: E402
from support.texts import multilingual_text, stdlib_prose, stdlib_text  # noqa: E402

CASES: dict[str, Any] = tomllib.loads((HERE / "cases.toml").read_text(encoding="utf-8"))


def say(line: str) -> None:
    """A remark, beside the figures."""
    print(f"  {line}", file=sys.stderr, flush=True)


def test_data() -> Data:
    """The test data folder, unpacked into a folder that stays for the next run."""
    return Data(data_folder(), Path(tempfile.gettempdir()) / "digram-benchmark-vocabularies")


def installed(kind: str, wanted: Sequence[str] | None) -> list[str]:
    """The engines of `kind` (encoder, trainer) whose package is there; says which are left out, with versions."""
    found = []
    for engine in CASES[kind]:
        if wanted and engine["name"] not in wanted:
            continue
        try:
            version = importlib.metadata.version(engine["package"])
        except importlib.metadata.PackageNotFoundError:
            say(f"{engine['name']} left out: not installed (pip install {engine['package']})")
            continue
        say(f"{engine['name']} {version}")
        found.append(engine["name"])
    return found


def corpus(name: str, folder: Path | None) -> str:
    """The text `name` (prose, code, multilingual): `folder/name.txt`, or what this machine has of that kind."""
    if folder is not None:
        return (folder / f"{name}.txt").read_text(encoding="utf-8", errors="ignore")
    if name == "prose":
        return stdlib_prose(10_000_000)
    if name == "code":
        return stdlib_text(30_000_000)
    if name == "multilingual":
        # Small strings again and again flatter every cache: use a folder of real corpora for figures to quote.
        return multilingual_text(200)
    raise SystemExit(f"error: no corpus {name!r} on this machine: give a folder that holds {name}.txt")


def row(title: str, unit: str, figures: Mapping[str, Sequence[float]], *, higher_is_better: bool) -> dict[str, Any]:
    """Prints the median of each engine, the best first, and digram's ratio to the best rival; gives them as data."""
    medians = {name: statistics.median(values) for name, values in figures.items() if values}
    ranking = sorted(medians, key=lambda name: medians[name], reverse=higher_is_better)
    best = next((name for name in ranking if name != "digram"), None)
    ratio = medians["digram"] / medians[best] if best and "digram" in medians else None
    cells = "  ".join(f"{name} {medians[name]:.3g}" for name in ranking)
    tail = "" if ratio is None else f"   digram/{best} = {ratio:.2f}"
    print(f"{title:44} {unit}: {cells}{tail}", flush=True)
    return {"case": title, "unit": unit, "medians": medians, "runs": dict(figures), "best rival": best, "ratio": ratio}


def keep(path: Path | None, figures: list[dict[str, Any]]) -> None:
    """Writes the figures as JSON, where asked for."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=1), encoding="utf-8")
