"""The measures that need more than a division, each by its published definition. Numbers in, a number out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from digram.report.characters import Array

__all__ = ["efficiency", "entropy", "gini"]

Numbers = Array | Sequence[float]


def entropy(counts: Numbers, alpha: float = 1.0) -> float | None:
    """Rényi's entropy of order `alpha` of a distribution that is given by counts, in bits; None without counts.

    H_α = log2(Σ p^α) / (1 - α); at α = 1 that is Shannon's, -Σ p log2 p, and at ∞ -log2(max p).
    A. Rényi, On measures of entropy and information, 1961.
    """
    if alpha < 0:
        raise ValueError(f"alpha must be at least 0, not {alpha}")
    array = np.asarray(counts, float)
    array = array[array > 0]
    if not array.size:
        return None
    logs = np.log2(array) - np.log2(array.sum())
    if alpha == 1:
        return max(0.0, float(-(np.exp2(logs) * logs).sum()))
    if np.isinf(alpha):
        return max(0.0, float(-logs.max()))
    # The largest is taken out, so that p^α does not vanish.
    most = logs.max()
    total = most * alpha + np.log2(np.exp2((logs - most) * alpha).sum())
    return max(0.0, float(total / (1 - alpha)))


def efficiency(counts: Numbers, size: int, alpha: float = 2.5) -> float | None:
    """Rényi efficiency: the entropy of order `alpha` over log2 of `size`, what a uniform distribution would have.

    `size` is how many tokens there could be: those of the vocabulary, or those that occur (then a token that never
    occurs costs nothing). None where there are no counts, or fewer than two tokens.
    V. Zouhar et al., Tokenization and the Noiseless Channel, ACL 2023 (alpha 2.5 there fits translation quality best).
    """
    if size < 2:
        return None
    found = entropy(counts, alpha)
    return None if found is None else found / float(np.log2(size))


def gini(values: Numbers) -> float | None:
    """Gini's coefficient: Σ Σ |x_i - x_j| / (2 n² mean), 0 where all are equal and 1 - 1/n where one has all.

    None without values, or where all are 0. In n log n: sorted ascending, Σ (2i - n - 1) x_i / (n Σ x_i), i from 1.
    """
    array = np.sort(np.asarray(values, float))
    n, total = len(array), float(array.sum())
    if not n or total <= 0:
        return None
    return float(((2 * np.arange(1, n + 1) - n - 1) * array).sum() / (n * total))
