"""Files with slow tests come first: of several processes that take file by file, none ends with a long one.

A pytest plugin. The order of the tests in a file stays, and so does that of the other files.
"""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_configure(config: pytest.Config) -> None:
    # pytest-xdist would begin with the files of the most tests, and those of Spark are few.
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])
