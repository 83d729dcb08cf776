"""Each format in turn."""

from __future__ import annotations

import pytest

from support.files import FORMATS, Format


@pytest.fixture(params=FORMATS)
def format(request: pytest.FixtureRequest) -> Format:
    """Every format of `support.files`."""
    found: Format = FORMATS[request.param]
    return found
