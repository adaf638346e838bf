"""Means over questions with intervals, and paired differences with tests. The question is the unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.bootstrap import bca_limits, question_weights, ratio_jackknife, ratio_replicates
from evaluation.statistics.counts import Floats
from evaluation.statistics.permutation import holm, sign_flip_test


@dataclass(frozen=True, slots=True)
class Resampling:
    """Number of bootstrap resamples and sign flips; level of the intervals."""

    replicates: int = 10_000
    permutations: int = 10_000
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """mean over questions. lower, upper: BCa by question; None if the values are constant or there is one question
    only.
    """

    mean: float
    lower: float | None
    upper: float | None
    questions: int


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """difference: mean of other - baseline. better, worse: numbers of questions. p_holm: over the family."""

    difference: MeanEstimate
    better: int
    worse: int
    p_value: float
    p_holm: float


def estimate(values: Floats, resampling: Resampling) -> MeanEstimate:
    """Mean of (Q,) values with a BCa interval (Efron 1987) over resampled questions."""
    count = len(values)
    mean = float(values.mean()) if count else 0.0
    if count < 2 or float(np.ptp(values)) < 1e-12:
        return MeanEstimate(mean, None, None, count)
    ones = np.ones(count)
    weights = question_weights(count, resampling.replicates, resampling.seed)
    limits = bca_limits(mean, ratio_replicates(weights, values, ones), ratio_jackknife(values, ones), resampling.level)
    if limits is None:
        return MeanEstimate(mean, None, None, count)
    return MeanEstimate(mean, limits.lower, limits.upper, count)


def compare(baseline: Floats, others: Mapping[str, Floats], resampling: Resampling) -> dict[str, PairedDifference]:
    """Compare each setting with the baseline on the same questions, by sign-flip tests with Holm's correction.

    baseline, others: (Q,). The family is the set passed in; fix it before looking at the values.
    """
    names = list(others)
    differences = [others[name] - baseline for name in names]
    tests = [sign_flip_test(d, resampling.permutations, resampling.seed) for d in differences]
    adjusted = holm([test.p_value for test in tests])
    return {
        name: PairedDifference(
            estimate(d, resampling), int(np.count_nonzero(d > 1e-12)), int(np.count_nonzero(d < -1e-12)), t.p_value, p
        )
        for name, d, t, p in zip(names, differences, tests, adjusted, strict=True)
    }
