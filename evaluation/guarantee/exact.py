"""Exact binomial test of "at most alpha of the answers are hallucinated", and the number of labels that it needs.

At a threshold that does not depend on the labels, answers to independent questions are hallucinated independently with
the same probability r. The number of hallucinated answers among n is then Binomial(n, r). The null hypothesis is r >=
alpha.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from evaluation.errors import EvaluationError
from evaluation.guarantee.levels import check_level
from evaluation.statistics.counts import Floats

MAX_LABELS = 1_000_000
"""Maximum number of labels that a plan searches up to."""
_MAX_ERRORS = 200_000


def exceedance_p_value(hallucinated: ArrayLike, answered: ArrayLike, alpha: float) -> Floats:
    """Return the p-value of r >= alpha for k hallucinated of n answered: P[Bin(n, alpha) <= k]. Shapes broadcast.

    Exact and super-uniform: P[p <= u] <= u for every r >= alpha (Clopper and Pearson 1934). It is 1 if n = 0. Raises
    EvaluationError for invalid counts, or alpha outside (0, 1).
    """
    check_level("alpha", alpha)
    k, n = np.broadcast_arrays(np.asarray(hallucinated, dtype=np.float64), np.asarray(answered, dtype=np.float64))
    if np.any(k < 0) or np.any(k > n):
        raise EvaluationError(
            f"{k.tolist()} hallucinated of {n.tolist()} answered: the first number must lie between 0 and the second"
        )
    result: Floats = np.where(n > 0, special.bdtr(k, n.astype(np.intp), alpha), 1.0)
    return result


def fewest_answered(alpha: float, delta: float) -> int:
    """Return the smallest number of answered questions that can certify: the least n with (1 - alpha)^n <= delta.

    With fewer, even zero hallucinations give p > delta. Examples: 59, 29 and 14 for alpha 0.05, 0.10 and 0.20 at delta
    0.05. Raises EvaluationError for levels outside (0, 1).
    """
    ratio = math.log(check_level("delta", delta)) / math.log1p(-check_level("alpha", alpha))
    return max(1, math.ceil(ratio - 1e-9))


def answered_needed(rate: float, alpha: float, delta: float, power: float = 0.8) -> int | None:
    """Return the smallest number of answered questions that certifies a rate with probability ``power``.

    For c = 0, 1, 2 ... allowed hallucinations, the least n with P[Bin(n, alpha) <= c] <= delta is a quantile of the
    negative binomial. The result is the first of these n with P[Bin(n, rate) <= c] >= power. None if the rate is not
    below alpha or more than a million are needed. Raises EvaluationError for numbers outside their ranges.
    """
    check_level("alpha", alpha)
    check_level("delta", delta)
    check_level("power", power)
    if not 0.0 <= rate <= 1.0:
        raise EvaluationError(f"rate is {rate:g}: it must lie between 0 and 1")
    if rate >= alpha:
        return None
    tolerated = 256
    while tolerated <= _MAX_ERRORS:
        c = np.arange(tolerated)
        n = c + 1 + stats.nbinom.ppf(1.0 - delta, c + 1, alpha)
        n[0] = fewest_answered(alpha, delta)
        good = special.bdtr(c, n.astype(np.intp), rate) >= power
        if good.any():
            found = int(n[int(np.argmax(good))])
            return found if found <= MAX_LABELS else None
        tolerated *= 4
    return None


def labels_needed(rate: float, answer_rate: float, alpha: float, delta: float, power: float = 0.8) -> int | None:
    """Return the number of labels that gives ``answered_needed`` answers if a share ``answer_rate`` is answered.

    This is the expected number, rounded up. None if no number suffices. Raises EvaluationError for numbers outside
    their ranges.
    """
    if not 0.0 <= answer_rate <= 1.0:
        raise EvaluationError(f"answer rate is {answer_rate:g}: it must lie between 0 and 1")
    answered = answered_needed(rate, alpha, delta, power)
    if answered is None or answer_rate == 0.0:
        return None
    labels = math.ceil(answered / answer_rate - 1e-9)
    return labels if labels <= MAX_LABELS else None
