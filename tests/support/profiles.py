"""How hard hypothesis tries: `DIGRAM_HYPOTHESIS=default`, `ci` or `slow`. A pytest plugin."""

from __future__ import annotations

import os

import hypothesis
import pytest

# The same examples in every run: what fails here fails everywhere. `ci` has four times as many.
for _name, _examples in {"default": 50, "ci": 200}.items():
    hypothesis.settings.register_profile(
        _name, max_examples=_examples, derandomize=True, database=None, deadline=None, print_blob=True
    )
# New examples in each run, thousands of them; failures are printed in a form that can be replayed.
hypothesis.settings.register_profile(
    "slow",
    max_examples=3000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)


def pytest_configure() -> None:
    name = os.environ.get("DIGRAM_HYPOTHESIS", "default")
    if name not in ("default", "ci", "slow"):
        raise pytest.UsageError(f"DIGRAM_HYPOTHESIS is {name!r}: it may be default, ci or slow")
    hypothesis.settings.load_profile(name)
