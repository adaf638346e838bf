"""Compute means over questions with intervals, and paired differences with tests. Questions are resampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.bootstrap import bca_limits, question_weights, ratio_jackknife, ratio_replicates
from evaluation.statistics.counts import Floats
from evaluation.statistics.permutation import holm, sign_flip_test


@dataclass(frozen=True, slots=True)
class Resampling:
    """Settings of the resampling.

    replicates, permutations: numbers of bootstrap resamples and of sign flips. level: level of the intervals.
    """

    replicates: int = 10_000
    permutations: int = 10_000
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean over questions with BCa limits by question.

    lower, upper: None if the values are constant, if there is only one question, or if the limits have zero width.
    """

    mean: float
    lower: float | None
    upper: float | None
    questions: int


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A difference between two settings on the same questions.

    difference: mean of other minus baseline.
    better, worse: numbers of questions on which other has the higher or the lower value.
    p_value: p-value of the sign-flip test. p_holm: p-value corrected over the family.
    """

    difference: MeanEstimate
    better: int
    worse: int
    p_value: float
    p_holm: float


def estimate(values: Floats, resampling: Resampling) -> MeanEstimate:
    """Return the mean of (Q,) values with a BCa interval (Efron 1987) over resampled questions."""
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

    baseline, others: (Q,), values by question. All of ``others`` are one family; fix it before you look at the values.
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
