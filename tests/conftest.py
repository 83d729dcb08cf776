"""Fixtures for all tests; the rules of a run (order, skips, oracles, profiles) are plugins in `support`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from support.data import Data, data_folder
from support.encodings import go_offline

if TYPE_CHECKING:
    from digram import Tokenizer

pytest_plugins = ("support.profiles", "support.order", "support.oracle", "support.skips", "support.summary", "pytester")


@pytest.fixture(scope="session", autouse=True)
def offline(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """tiktoken reads the test data folder and never downloads, in any test."""
    data = Data(data_folder(), tmp_path_factory.mktemp("data"))
    go_offline(data)
    return data


@pytest.fixture(scope="session")
def data(offline: Data) -> Data:
    """The test data folder; vocabularies are unpacked once a session."""
    if not offline.root.is_dir():
        pytest.fail(
            f"the test data folder {offline.root} is missing: set DIGRAM_TEST_DATA to where it is", pytrace=False
        )
    return offline


@pytest.fixture(scope="session")
def public(data: Data) -> Callable[[str], Tokenizer]:
    """A published vocabulary by its name, read once a session."""
    from support.public import public_vocabulary  # here: tests of the reference need no engine

    return partial(public_vocabulary, data)
