"""Comparing with an outside oracle, and counting the cases, so that a run can say how much of it was checked by others.

A pytest plugin: the fixture `oracle`, and the line "compared with an oracle: N" at the end of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

# Who counts as one: software by other authors, or data they published. Not the project's own reference.
ORACLES = frozenset(
    {
        "megatron-core",
        "tiktoken",
        "tokenizers",
        "transformers",
        "regex",
        "re",
        "unicodedata",
        "fancy-regex",
        "sentencepiece",
        "minbpe",
        "rustbpe",
    }
)
PROPERTY = "compared with oracle"
COUNTS = pytest.StashKey["Counter[str]"]()


class Oracle:
    """Asserts that what digram says equals what the oracle says; each comparison is counted."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def equal(self, got: object, want: object, oracle: str, *, where: object = "") -> None:
        """One case. `where` (the text, say) is shown where they differ."""
        if oracle not in ORACLES:
            raise ValueError(f"{oracle!r} is not an outside oracle: name one of {', '.join(sorted(ORACLES))}")
        self.counts[oracle] += 1
        if got != want:
            pytest.fail(f"not what {oracle} says: {difference(got, want)}{f' in {where!r:.300}' if where else ''}")

    def all_equal(
        self, got: Iterable[object], want: Iterable[object], oracle: str, *, where: Sequence[object] = ()
    ) -> None:
        """As many cases as there are items; `where[i]` belongs to item i."""
        for i, (one, other) in enumerate(zip(got, want, strict=True)):
            self.equal(one, other, oracle, where=where[i] if where else f"item {i}")


def difference(got: object, want: object) -> str:
    """The first place where two values differ, in a few words."""
    if not (isinstance(got, Sequence) and isinstance(want, Sequence)):
        return f"got {got!r:.200}, expected {want!r:.200}"
    first = next((i for i, (a, b) in enumerate(zip(got, want, strict=False)) if a != b), min(len(got), len(want)))
    start = max(first - 3, 0)
    return (
        f"at index {first} (lengths {len(got)} and {len(want)}), from index {start} "
        f"got {got[start : start + 10]!r}, expected {want[start : start + 10]!r}"
    )


@pytest.fixture
def oracle(request: pytest.FixtureRequest) -> Iterable[Oracle]:
    """`oracle.equal(got, want, "tiktoken", where=text)` compares and counts."""
    it = Oracle()
    yield it
    # On the report of this very test, so that no global state is needed and parallel runs add up too.
    request.node.user_properties.append((PROPERTY, dict(it.counts)))


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = Counter()
    config.pluginmanager.register(Collector(config), "oracle-collector")


class Collector:
    def __init__(self, config: pytest.Config) -> None:
        self.counts = config.stash[COUNTS]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            for name, counts in report.user_properties:
                if name == PROPERTY and isinstance(counts, dict):
                    self.counts.update(counts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash[COUNTS]
    named = ", ".join(f"{name}: {n}" for name, n in sorted(counts.items()))
    terminalreporter.write_line(f"compared with an oracle: {counts.total()}{f' ({named})' if named else ''}")
