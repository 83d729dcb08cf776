"""Pairs of encodings: digram's drop-in and tiktoken itself."""

from __future__ import annotations

from typing import Any

import pytest

import digram.tiktoken
from support.data import Data
from support.encodings import tiktoken_encoding

NAMES = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]


@pytest.fixture(autouse=True)
def published(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    """The drop-in finds its files where digram does."""
    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(data.published()))


@pytest.fixture(params=NAMES)
def both(request: pytest.FixtureRequest, data: Data) -> tuple[digram.tiktoken.Encoding, Any]:
    """(digram's, tiktoken's), for each name."""
    return digram.tiktoken.get_encoding(request.param), tiktoken_encoding(data, request.param)


@pytest.fixture(params=["cl100k_base", "o200k_base"])
def common(request: pytest.FixtureRequest, data: Data) -> tuple[digram.tiktoken.Encoding, Any]:
    """As `both`, for two."""
    return digram.tiktoken.get_encoding(request.param), tiktoken_encoding(data, request.param)
