"""The test data folder: `DIGRAM_TEST_DATA`, by default `shared` beside the checkout."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def data_folder() -> Path:
    """The folder that `DIGRAM_TEST_DATA` names; a relative name starts at the checkout. Not checked for existence."""
    return CHECKOUT / os.environ.get("DIGRAM_TEST_DATA", "../shared")


@dataclass(frozen=True)
class Data:
    """Files of the test data folder as plain files; packed ones are unpacked into `cache`, once."""

    root: Path
    cache: Path

    def path(self, name: str) -> Path:
        """The file `name` under the folder; `FileNotFoundError` says what to do where it is missing."""
        found = self.root / name
        if not found.exists():
            raise FileNotFoundError(
                f"no {name} in the test data folder {self.root}: set DIGRAM_TEST_DATA to the right one"
            )
        return found

    def vocabulary(self, name: str) -> Path:
        """The vocabulary file `name` (`cl100k_base.tiktoken`, `llama3_1-tokenizer.json`, ...), unpacked."""
        plain = self.cache / name
        if not plain.exists():
            contents = gzip.decompress(self.path(f"vocabularies/{name}.gz").read_bytes())
            self.cache.mkdir(parents=True, exist_ok=True)
            # Written aside and renamed: another process never sees half a file.
            part = plain.with_name(f"{name}.{os.getpid()}.part")
            part.write_bytes(contents)
            part.replace(plain)
        return plain
