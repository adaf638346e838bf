"""Tests by betting of the hypothesis "the mean of bounded, independent values is at most 0".

They are used for several samples per question and for draws with unequal probabilities, where the counts are not
binomial.

A gambler who bets the share c / w of the capital on values x >= -w multiplies it by 1 + c x / w. While E[x] <= 0 the
expected factor is at most 1, so the capital is an e-value: it exceeds 1 / delta with probability at most delta (Ville
1939), even at a time chosen afterwards. The mean of several e-values is an e-value too. Here the capitals of a grid of
constant shares c are averaged ("diversified Kelly betting", Waudby-Smith and Ramdas 2024, section B.6). The product
does not depend on the order of the values, so the final capital needs no random order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.statistics.counts import Floats

SHARES: Floats = np.concatenate([np.array([0.005, 0.01]), np.linspace(0.02, 0.98, 33)])
"""Shares c of the gamblers, each strictly between 0 and 1."""


def log_capitals(values: Floats, worst: float) -> Floats:
    """Return the sum over the last axis of log(1 + c x / w), for every share c. (..., N) -> (..., C).

    values: x. worst: w > 0 with x >= -w for every possible x. Raises EvaluationError for a value below -w.
    """
    if not (math.isfinite(worst) and worst > 0):
        raise EvaluationError(f"the worst value is -{worst:g}: it must be finite and below 0")
    x = np.asarray(values, dtype=np.float64) / worst
    if x.size and float(x.min()) < -1.0 - 1e-9:
        raise EvaluationError(f"a value is {float(x.min()) * worst:g}: it must be at least -{worst:g}")
    x = np.maximum(x, -1.0)
    result = np.empty((*x.shape[:-1], SHARES.size))
    for index, share in enumerate(SHARES):
        result[..., index] = np.log1p(share * x).sum(axis=-1)
    return result


def log_e_value(values: Floats, worst: float) -> Floats:
    """Return the log of the e-value against E[x] <= 0 after all N values.

    (..., N) -> (...). Raises as ``log_capitals``.
    """
    result: Floats = mean_capital(log_capitals(values, worst))
    return result


def mean_capital(capitals: Floats) -> Floats:
    """Return the log of the mean of exp(capitals) over the last axis."""
    most = capitals.max(axis=-1, keepdims=True)
    result: Floats = (most + np.log(np.exp(capitals - most).mean(axis=-1, keepdims=True)))[..., 0]
    return result


def betting_p_value(values: Floats, worst: float) -> Floats:
    """Return the p-value of E[x] <= 0 by Markov's inequality, min(1, 1 / e-value). (..., N) -> (...)."""
    result: Floats = np.exp(-np.maximum(log_e_value(values, worst), 0.0))
    return result


def question_means(values: Floats, question: NDArray[np.intp]) -> Floats:
    """Return the mean of each question that has values. values, question (whole numbers from 0): (N,) -> (Q,)."""
    counts = np.bincount(question)
    means = np.bincount(question, weights=values)[counts > 0] / counts[counts > 0]
    return np.asarray(means, dtype=np.float64)


def clustered_p_value(hallucinated: Floats, answered: Floats, alpha: float) -> Floats:
    """Return the p-value of r = E[H A] / E[A] >= alpha, that is E[(H - alpha) A] >= 0. (..., Q) -> (...).

    hallucinated: share of each question's samples that are answered and hallucinated. answered: share that is answered.
    x = alpha A - H A is at least -(1 - alpha). Samples of one question may depend on each other; questions may not.
    """
    return betting_p_value(alpha * answered - hallucinated, 1.0 - alpha)
