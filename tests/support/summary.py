"""A run in figures: the JSON file that `DIGRAM_TEST_SUMMARY` names, for `.ci/run` to read. A pytest plugin."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .oracle import COUNTS
from .skips import REGISTER


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    target = os.environ.get("DIGRAM_TEST_SUMMARY")
    if not target:
        return
    stats = {kind: len(terminalreporter.stats.get(kind, ())) for kind in ("passed", "failed", "error", "deselected")}
    register, oracle = config.stash[REGISTER], config.stash[COUNTS]
    figures = {
        "passed": stats["passed"],
        "failed": stats["failed"] + stats["error"],
        "left out": stats["deselected"],
        "skips": [[skip.test, skip.reason] for skip in register.skips],
        "unregistered": [skip.test for skip in register.unregistered],
        "oracle": dict(oracle),
    }
    Path(target).write_text(json.dumps(figures, indent=1), encoding="utf-8")
