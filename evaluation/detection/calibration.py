"""Calibration of a verifier's logits on labelled pairs by logistic regression in one or several variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from evaluation.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve: support = sigmoid(slope * logit + intercept + offset).

    The offset belongs to the claim and is 0 by default.
    """

    slope: float
    intercept: float


def fit_platt(
    logits: Sequence[float],
    supported: Sequence[bool],
    weights: Sequence[float] | None = None,
    offsets: Sequence[float] | None = None,
) -> Calibration:
    """Fit the maximum-likelihood logistic curve (Platt 1999, eq. 2) with Platt's smoothed targets (eq. 6).

    logits, supported: (N,). weights: (N,), relative weight of each claim. offsets: (N,), added after the curve, such as
    the penalty of a rule; the curve is fitted given the offsets. Raises EvaluationError as ``fit_logistic``.
    """
    slopes, intercept = fit_logistic([logits], supported, weights, offsets)
    return Calibration(slopes[0], intercept)


def fit_logistic(
    columns: Sequence[Sequence[float]],
    supported: Sequence[bool],
    weights: Sequence[float] | None = None,
    offsets: Sequence[float] | None = None,
) -> tuple[tuple[float, ...], float]:
    """Fit Platt's curve in K variables and return one slope for each and an intercept.

    columns: K sequences of N logits. The other parameters are those of ``fit_platt``. The targets (n1 + 1)/(n1 + 2) and
    1/(n0 + 2) keep the curve finite if the classes do not overlap. n1 and n0 count claims, not weights, so weights
    equal repetition up to that smoothing.

    Raises EvaluationError if a slope is not positive (the logits contradict the labels, given the other variables), a
    class is missing, a logit or offset is not finite, a weight is not positive, or the lengths differ.
    """
    y = np.asarray(supported, dtype=bool)
    w = np.ones(y.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    add = np.zeros(y.shape) if offsets is None else np.asarray(offsets, dtype=np.float64)
    for logits in columns:
        if not len(logits) == y.size == w.size == add.size:
            raise EvaluationError(
                f"{len(logits)} logits, {y.size} labels, {w.size} weights and {add.size} offsets: one of each per "
                "claim is needed"
            )
    x = np.asarray(columns, dtype=np.float64)  # (K, N)
    if not np.isfinite(x + add).all() or not (np.isfinite(w) & (w > 0)).all():
        raise EvaluationError("a calibration needs finite logits and positive weights")
    positives, negatives = int(y.sum()), int((~y).sum())
    if not positives or not negatives:
        raise EvaluationError("a calibration needs both supported and unsupported claims")
    target = np.where(y, (positives + 1) / (positives + 2), 1 / (negatives + 2))

    def loss(curve: np.ndarray) -> tuple[float, np.ndarray]:
        z = curve[:-1] @ x + curve[-1] + add
        value = float((w * (np.logaddexp(0.0, z) - target * z)).sum() / w.sum())
        off = w * (expit(z) - target) / w.sum()
        return value, np.append(x @ off, off.sum())

    found = minimize(loss, np.append(np.ones(len(x)), 0.0), jac=True, method="BFGS").x
    if not (found[:-1] > 0).all():
        raise EvaluationError("the verifier's scores contradict the labels, so it cannot be calibrated: train longer")
    return tuple(float(slope) for slope in found[:-1]), float(found[-1])
