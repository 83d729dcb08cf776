"""Ten megabytes of real text of each kind: what `make exhaustive` encodes. Built of Debian packages, once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from .data import CHECKOUT, Data

CORPORA = ("prose", "multilingual", "code")


def corpus(data: Data, name: str) -> Path:
    """The text file `name` of the folder that `DIGRAM_CORPORA` names, by default `target/corpora` of the checkout.

    Where it is missing, `corpora/build.py` of the test data folder makes it, of packages that it downloads from Debian.
    """
    folder = CHECKOUT / os.environ.get("DIGRAM_CORPORA", "target/corpora")
    path = folder / f"{name}.txt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # Built aside and renamed: a run that is broken off leaves no half of a corpus.
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            subprocess.run([sys.executable, str(data.path("corpora/build.py")), aside, name], check=True)
            (Path(aside) / path.name).replace(path)
    return path


def documents(path: Path, total: int = 10_000_000, smallest: int = 10_000, largest: int = 100_000) -> list[str]:
    """About `total` bytes in stretches that lie evenly over the whole file, so that each of its languages is there.

    A document begins and ends at a line end; the sizes are random, the same in every run.
    """
    rng = Random(path.name)
    sizes: list[int] = []
    while sum(sizes) < total:
        sizes.append(rng.randint(smallest, largest))
    step = path.stat().st_size // len(sizes)
    found = []
    with path.open("rb") as file:
        for i, size in enumerate(sizes):
            file.seek(i * step)
            if i:
                file.readline()
            found.append((file.read(size) + file.readline()).decode())
    return found


def one_text(path: Path) -> str:
    """A single text of a megabyte."""
    return "".join(documents(path, 1_000_000, 40_000, 60_000))
