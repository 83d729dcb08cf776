"""A run in figures: the JSON file that `DIGRAM_TEST_SUMMARY` names, for `.ci/run` to read. A pytest plugin.

It adds up over the workers of a parallel run, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from .oracle import COUNTS
from .skips import REGISTER

LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = 0
    config.pluginmanager.register(_LeftOut(config), "left-out")


class _LeftOut:
    """Counts the tests that were not chosen; in a parallel run each worker knows all of them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.config.stash[LEFT_OUT] += len(items)

    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["left out"] = self.config.stash[LEFT_OUT]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {}).get("left out", 0)
        self.config.stash[LEFT_OUT] = max(told, self.config.stash[LEFT_OUT])


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    target = os.environ.get("DIGRAM_TEST_SUMMARY")
    if not target:
        return
    stats = {kind: len(terminalreporter.stats.get(kind, ())) for kind in ("passed", "failed", "error")}
    register, oracle = config.stash[REGISTER], config.stash[COUNTS]
    figures = {
        "passed": stats["passed"],
        "failed": stats["failed"] + stats["error"],
        "left out": config.stash[LEFT_OUT],
        "skips": [[skip.test, skip.reason] for skip in register.skips],
        "unregistered": [skip.test for skip in register.unregistered],
        "oracle": dict(oracle),
    }
    Path(target).write_text(json.dumps(figures, indent=1), encoding="utf-8")
