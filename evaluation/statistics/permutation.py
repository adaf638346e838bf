"""Test the difference of two arms by sign flips of questions, and correct p-values over a family (Holm)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.counts import Floats

_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class SignFlipTest:
    """Result of a sign-flip test.

    p_value: two-sided p-value, at least 1/(1 + permutations).
    statistic: Student's t of the differences; None if they are constant.
    """

    p_value: float
    statistic: float | None
    permutations: int
    seed: int


def studentised(differences: Floats) -> float | None:
    """Return Student's t of the differences (N,), mean / standard error; None if they are constant."""
    n = differences.size
    if n < 2 or float(np.ptp(differences)) < 1e-12:
        return None
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(n)))


def sign_flip_test(differences: Floats, permutations: int, seed: int) -> SignFlipTest:
    """Run a two-sided sign-flip test, which swaps the arms of complete questions at random. differences: (N,).

    Under the null hypothesis the arms are exchangeable within each question: d_q is as likely as -d_q, whatever the
    correlation of its samples. p = (1 + b) / (1 + B), where b is the number of permutations with |t*| >= |t| (Phipson
    and Smyth 2010). The observed order is one of the possible ones, so p is never 0. Statistics that differ only by
    rounding count as equal.
    """
    n = differences.size
    if not np.any(differences):
        return SignFlipTest(1.0, None, permutations, seed)
    # Flipping signs does not change the squares, so |t| increases with |sum| and the sums can be compared instead.
    threshold = abs(float(differences.sum())) - 1e-9 * float(np.abs(differences).sum())
    rng = np.random.default_rng([seed, n, permutations])
    extreme, done = 0, 0
    while done < permutations:
        block = min(_BLOCK, permutations - done)
        signs = rng.integers(0, 2, size=(block, n), dtype=np.int8) * 2.0 - 1.0
        extreme += int(np.count_nonzero(np.abs(signs @ differences) >= threshold))
        done += block
    return SignFlipTest((1 + extreme) / (1 + permutations), studentised(differences), permutations, seed)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the adjusted p-values in the given order (Holm 1979).

    They keep the family-wise error at most alpha under any dependence.
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = running
    return tuple(adjusted)
