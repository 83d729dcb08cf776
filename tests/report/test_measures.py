"""The measures on distributions whose values are known, and against their definitions written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from digram.report.measures import efficiency, entropy, gini
from support import naive_report as naive

counts = st.lists(st.integers(0, 1000), min_size=1, max_size=12)


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 2, 2.5, 40, math.inf])
def test_a_uniform_distribution_has_all_the_entropy_there_is(alpha):
    assert entropy([7] * 16, alpha) == pytest.approx(4)
    assert efficiency([7] * 16, 16, alpha) == pytest.approx(1)
    assert efficiency([7] * 16, 256, alpha) == pytest.approx(0.5)


def test_a_distribution_by_hand():
    # p = 1/2, 1/4, 1/4: Shannon 1.5 bits; order 2: -log2(1/4 + 1/16 + 1/16) = log2(8/3); order inf: 1
    assert entropy([2, 1, 1]) == pytest.approx(1.5)
    assert entropy([2, 1, 1], 2) == pytest.approx(math.log2(8 / 3))
    assert entropy([2, 1, 1, 0], 0) == pytest.approx(math.log2(3))
    assert entropy([2, 1, 1], math.inf) == pytest.approx(1)
    # order 2.5: log2(2^-2.5 + 2 * 2^-5) / -1.5, over log2 4
    assert efficiency([2, 1, 1], 4) == pytest.approx(math.log2(2**-2.5 + 2**-4) / -1.5 / 2)


def test_what_has_no_value():
    assert entropy([]) is None
    assert entropy([0, 0], 2.5) is None
    assert efficiency([3], 1) is None
    assert gini([]) is None
    assert gini([0, 0]) is None
    assert entropy([5], 2.5) == 0
    with pytest.raises(ValueError, match="alpha must be at least 0"):
        entropy([1], -1)


def test_a_large_order_does_not_lose_what_is_small():
    assert entropy([1] * 100_000, 100) == pytest.approx(math.log2(100_000))


def test_gini_by_hand():
    assert gini([5, 5, 5]) == 0
    assert gini([0, 0, 0, 8]) == pytest.approx(3 / 4)  # one has all: 1 - 1/n
    # 1, 3: (|1-3| * 2) / (2 * 4 * 2)
    assert gini([1, 3]) == pytest.approx(1 / 4)


@given(counts, st.sampled_from([0.5, 1, 2, 2.5, 3]))
def test_entropy_is_its_formula(values, alpha):
    assert entropy(np.array(values), alpha) == pytest.approx(naive.entropy(values, alpha), abs=1e-9)


@given(counts)
def test_gini_is_its_double_sum(values):
    assert gini(values) == pytest.approx(naive.gini([float(x) for x in values]), abs=1e-12)
