"""The fuzz target of the readers, over changed files that are the same in each run. `make fuzz` goes on from there."""

import time
from pathlib import Path

import pytest

import loaders
import mutations

SEEDS = Path(loaders.__file__).parent / "seeds" / "loaders"


@pytest.fixture(scope="module")
def start():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIGRAM_CACHE", "0")  # as the target itself does; not for the tests that follow
        yield loaders.cases()


def test_the_files_that_changes_begin_with_are_whole(start):
    assert {case.partition(b"\n")[0] for case in start} == mutations.KINDS
    assert all(loaders.check(case) for case in start)


def test_changed_files_are_loaded_or_refused_with_a_sentence(start):
    loaded = []

    def one(case):
        began = time.monotonic()
        loaded.append(loaders.check(case))
        assert time.monotonic() - began < 10

    loaders.run_random(range(1500), start, one)
    # Changes that leave nothing to load would test the same lines over and over.
    assert 100 < sum(loaded) < 1400


@pytest.mark.exhaustive
def test_many_more(start):
    loaders.run_random(range(1500, 100_000), start, loaders.check)


@pytest.mark.parametrize("case", sorted(SEEDS.iterdir()), ids=lambda path: path.name)
def test_past_findings(case):
    loaders.check(case.read_bytes())
