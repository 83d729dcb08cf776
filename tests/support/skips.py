"""No silent skips: a skip or an expected failure that the registry does not name, with its reason, turns the run red.

A pytest plugin. The registry is the TOML file that `skip_registry` in pyproject.toml names. It holds entries like

    [[skip]]
    test = "tests/test_page.py::test_in_a_browser"     # a node id; a trailing * stands for any rest
    reason = "no browser on this machine"              # what the skip itself says, word for word
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REGISTER = pytest.StashKey["Register"]()
COLLECTED = "skips while collecting"


@dataclass(frozen=True)
class Entry:
    """One skip that is allowed."""

    test: str
    reason: str

    def covers(self, test: str, reason: str) -> bool:
        same = test.startswith(self.test[:-1]) if self.test.endswith("*") else test == self.test
        return same and reason == self.reason


def read_registry(path: Path) -> list[Entry]:
    """The entries of the file; `pytest.UsageError` where it is missing, no TOML, or an entry is incomplete."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        if set(tables) - {"skip"}:
            raise ValueError(f"it may hold [[skip]] entries only, not {', '.join(sorted(set(tables) - {'skip'}))}")
        entries = [Entry(**table) for table in tables.get("skip", [])]
        if any(not entry.test.rstrip("*") or not entry.reason.strip() for entry in entries):
            raise ValueError("an entry needs a test and a reason")
    except (OSError, TypeError, ValueError) as error:
        raise pytest.UsageError(f"the skip registry {path} cannot be used: {error}") from error
    return entries


class Register:
    """Collects the skips of a run and knows which of them are allowed."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.skips: list[Entry] = []
        self.collected: list[Entry] = []

    @property
    def unregistered(self) -> list[Entry]:
        return [skip for skip in self.skips if not any(entry.covers(skip.test, skip.reason) for entry in self.entries)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.skips.append(Entry(report.nodeid, reason(report)))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.collected.append(Entry(report.nodeid, reason(report)))
            self.skips.append(self.collected[-1])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """In a parallel run: what this worker skipped while it collected. The others collect the same."""
        for test, why in getattr(node, "workeroutput", {}).get(COLLECTED, ()):
            if Entry(test, why) not in self.collected:
                self.collected.append(Entry(test, why))
                self.skips.append(self.collected[-1])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):  # a worker of pytest-xdist: reports of tests go to the main process
            session.config.workeroutput[COLLECTED] = [[skip.test, skip.reason] for skip in self.collected]
            return
        # Exit code 5, no test ran, is what a lone skipped module gives: just as red.
        if self.unregistered and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What a skip or an expected failure gives as its reason."""
    expected_failure: str | None = getattr(report, "wasxfail", None)
    if expected_failure is not None:
        return expected_failure.removeprefix("reason: ")
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "skip_registry", "TOML file that names each skip that is allowed", type="string", default="skips.toml"
    )


def pytest_configure(config: pytest.Config) -> None:
    register = Register(read_registry(config.rootpath / config.getini("skip_registry")))
    config.stash[REGISTER] = register
    config.pluginmanager.register(register, "skip-register")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    register = config.stash[REGISTER]
    for skip in register.skips:
        terminalreporter.write_line(f"skipped: {skip.test}: {skip.reason}")
    if register.unregistered:
        terminalreporter.section("skips that the registry does not name", red=True)
        for skip in register.unregistered:
            terminalreporter.write_line(f"{skip.test}: {skip.reason or '(no reason given)'}")
        terminalreporter.write_line(
            f"error: {len(register.unregistered)} skipped without an entry in {config.getini('skip_registry')}: "
            "add one with the same reason, or make the test run"
        )
