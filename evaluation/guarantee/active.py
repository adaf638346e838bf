"""Active draws of labels: independent by question, more likely where the verifier is uncertain, never below a floor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.statistics.counts import Floats

FLOOR_SHARE = 0.5
"""Floor of the probabilities, as a share of the probability in a uniform draw of the same size."""
MIN_UNCERTAINTY = 0.05
"""Minimum uncertainty assumed of a verifier. It keeps a confident but wrong verifier from widening the interval."""
_ROUNDS = 60


def uncertainty(predicted: Floats) -> Floats:
    """Return sqrt(f (1 - f)) of the verifier's probability f, clipped to [0.05, 0.95]. predicted: f, (N,).

    This is the standard deviation of the label if f is right. Probabilities in proportion to it minimise the variance
    of the estimate (Zrnic and Candes 2024, section 4). Raises EvaluationError for a probability outside [0, 1].
    """
    bad = ~((predicted >= 0.0) & (predicted <= 1.0))
    if bad.any():
        raise EvaluationError(f"a predicted probability is {float(predicted[bad][0])}: it must lie in [0, 1]")
    f = np.clip(predicted, MIN_UNCERTAINTY, 1.0 - MIN_UNCERTAINTY)
    result: Floats = np.sqrt(f * (1.0 - f))
    return result


def active_probabilities(predicted: Floats, labels: int, floor_share: float = FLOOR_SHARE) -> Floats:
    """Return drawing probabilities that add up to ``labels``: max(floor, min(1, c sqrt(f (1 - f)))). (N,) -> (N,).

    labels: expected number of drawn questions. floor_share: the floor is this share of labels / N, so that confident
    errors of the verifier are still found. The factor c is found by bisection. Raises EvaluationError unless labels is
    1 to N, and for a share outside (0, 1].
    """
    n = len(predicted)
    if not 1 <= labels <= n:
        raise EvaluationError(f"{labels} labels were requested for {n} questions: request 1 to {n}")
    if not 0.0 < floor_share <= 1.0:
        raise EvaluationError(f"the floor's share is {floor_share:g}: it must be above 0 and at most 1")
    unsure = uncertainty(predicted)
    floor = floor_share * labels / n

    def total(c: float) -> float:
        return float(np.maximum(floor, np.minimum(1.0, c * unsure)).sum())

    high = 1.0
    while total(high) < labels and high < 1e12:
        high *= 2.0
    low = 0.0
    for _ in range(_ROUNDS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if total(middle) < labels else (low, middle)
    result: Floats = np.maximum(floor, np.minimum(1.0, high * unsure))
    return result


def draw(probability: Floats, seed: int) -> NDArray[np.bool_]:
    """Draw each question independently and return a mask, (N,).

    The number drawn is random; its mean is the sum of the probabilities.
    """
    rng = np.random.default_rng([seed, len(probability)])
    return np.asarray(rng.random(len(probability)) < probability)
