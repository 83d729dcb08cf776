"""The folder of kept tokenizers, empty at first, and a source to keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from digram import kept
from support.kinds import of_kind


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that tokenizers are kept in, not there yet; every source is large enough."""
    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DIGRAM_CACHE", "1")
    monkeypatch.setattr(kept, "SMALLEST", 0)
    return tmp_path / "cache" / "prepared"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file of digram's own."""
    path = tmp_path / "source.digram.json"
    of_kind("bytes").save(path)
    return path
