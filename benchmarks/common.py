"""What the benchmarks share: cases, the test data, one core, medians, the table line, the JSON file."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.data import Data, data_folder  # noqa: E402

# What a stopwatch shows, or what the processor spent on this process alone (of several cores the sum).
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
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
        version = version_of(engine["package"])
        if version is None:
            say(f"{engine['name']} left out: not installed (pip install {engine['package']})")
            continue
        say(f"{engine['name']} {version}")
        found.append(engine["name"])
    return found


def version_of(package: str) -> str | None:
    """The version of an installed package; digram may also lie on the path without having been installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        if package != "digram" or importlib.util.find_spec(package) is None:
            return None
        return str(importlib.import_module(package).__version__)


def machine() -> str:
    """The processor, the cores that this process has, and the interpreter."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    model, flags = platform.processor() or platform.machine(), ""
    if (info := Path("/proc/cpuinfo")).exists():
        fields = dict(re.findall(r"^(model name|flags|cpu MHz)\s*: (.*)$", info.read_text(), re.M))
        known = [name for name in ("avx2", "avx512bw", "avx512vbmi2") if name in fields.get("flags", "").split()]
        model, flags = fields.get("model name", model), "".join(f", {name}" for name in known)
    number = "1 core" if cores == 1 else f"{cores} cores"
    return f"{number} of {model}{flags}; {platform.system()}, Python {platform.python_version()}"


def load_average() -> str:
    """What else the machine does, as far as the system tells."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def pin() -> None:
    """All that comes runs on one core, where the system can do that: threads there already stay as they are."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


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
