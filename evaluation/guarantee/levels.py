"""Validation of alpha and delta, and the split of delta over several certificates."""

from __future__ import annotations

import math

from evaluation.errors import EvaluationError


def check_level(name: str, value: float) -> float:
    """Return the value. Raises EvaluationError, with name and value, unless it lies strictly between 0 and 1."""
    if not (math.isfinite(value) and 0.0 < value < 1.0):
        raise EvaluationError(f"{name} is {value:g}: it must lie strictly between 0 and 1, e.g. 0.1")
    return value


def share_of_delta(delta: float, offers: int) -> float:
    """Return the level of each of several certificates offered together, delta / offers (Bonferroni 1936).

    The probability that any of them is wrong is then at most delta, whatever their dependence. Raises EvaluationError
    for delta outside (0, 1) or fewer than one offer.
    """
    if offers < 1:
        raise EvaluationError(f"{offers} certificates are offered: at least one is needed")
    return check_level("delta", delta) / offers
