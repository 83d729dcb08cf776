"""What tests of the reference share."""

import time
from collections.abc import Iterator

import pytest


@pytest.fixture
def no_square() -> Iterator[None]:
    """Fail a test that takes half a minute of processor time.

    Such a test has an input that takes a second or two in n log n steps and many minutes in n * n.
    """
    start = time.process_time()
    yield
    assert time.process_time() - start < 30
