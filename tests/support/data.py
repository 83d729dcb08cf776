"""The test data folder: `DIGRAM_TEST_DATA`, by default `shared` beside the checkout."""

from __future__ import annotations

import base64
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

# What tiktoken calls the files that go by another name in the test data folder.
RENAMED = {"vocab.bpe": "gpt2-vocab.bpe", "encoder.json": "gpt2-encoder.json"}
PUBLISHED = (*RENAMED, *(f"{name}_base.tiktoken" for name in ("r50k", "p50k", "cl100k", "o200k")))

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
            contents = self._p50k_base() if name == "p50k_base.tiktoken" else self._unpacked(name)
            self.cache.mkdir(parents=True, exist_ok=True)
            # Written aside and renamed: another process never sees half a file.
            part = plain.with_name(f"{name}.{os.getpid()}.part")
            part.write_bytes(contents)
            part.replace(plain)
        return plain

    def _unpacked(self, name: str) -> bytes:
        return gzip.decompress(self.path(f"vocabularies/{name}.gz").read_bytes())

    def _p50k_base(self) -> bytes:
        """r50k_base and 24 tokens of 2 to 25 blanks; that this is the published file is known by its SHA-256."""
        blanks = (base64.b64encode(b" " * n) + b" %d\n" % (50255 + n) for n in range(2, 26))
        return self._unpacked("r50k_base.tiktoken") + b"".join(blanks)

    def published(self) -> Path:
        """A cache folder for `DIGRAM_CACHE_DIR` that holds the files of all named encodings under their own names."""
        folder = self.cache / "published"
        folder.mkdir(parents=True, exist_ok=True)
        for name in PUBLISHED:
            if not (folder / name).exists():
                (folder / name).hardlink_to(self.vocabulary(RENAMED.get(name, name)))
        return folder
