"""Prediction-powered tests: human labels drawn with known probabilities, and the verifier's scores of all answers.

The verifier's scores never replace labels. Each value below has the mean of alpha A - H A over all questions, whatever
the verifier's quality; a good verifier only reduces its variance. The test is the betting test of
evaluation.guarantee.betting, so the certificate is valid for every number of labels.

gain: alpha A - H A by label. guess: the verifier's prediction of it, any function of question and answer alone. Both
lie in [alpha - 1, alpha].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluation.errors import EvaluationError
from evaluation.guarantee.betting import log_capitals, mean_capital
from evaluation.statistics.counts import Floats

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of the verifier. The capitals of all weights are averaged, so no weight is chosen by the labels."""


def check_probabilities(probability: Floats) -> None:
    """Raise EvaluationError, with the value, for a drawing probability outside (0, 1]."""
    bad = ~((probability > 0.0) & (probability <= 1.0))
    if bad.any():
        raise EvaluationError(
            f"a drawing probability is {float(probability[bad][0])}: it must be above 0 and at most 1"
        )


def weighted_values(labelled: Floats, predicted: Floats, drawn: Floats, probability: Floats, weight: float) -> Floats:
    """Return w f + (g - w f) xi / pi of each question, (..., N). Its mean is that of g for every f.

    Zrnic and Candes 2024, eq. 3. labelled: g, ignored where drawn is 0. predicted: f. drawn: xi, 0 or 1. probability:
    pi, of an independent draw. weight: w.
    """
    f = weight * predicted
    result: Floats = f + np.where(drawn > 0, (labelled - f) / probability, 0.0)
    return result


def active_p_value(gain: Floats, guess: Floats, drawn: Floats, probability: Floats, alpha: float) -> Floats:
    """Return the p-value of E[(H - alpha) A] >= 0, for questions drawn independently with known probabilities.

    (..., N) -> (...). gain: any number where drawn is 0. Raises EvaluationError for a probability outside (0, 1].
    """
    check_probabilities(probability)
    least = float(probability.min())
    # The minimum of (g - w f) / pi + w f is at g = alpha - 1, f = alpha; without a label w f >= w (alpha - 1).
    capitals = [
        log_capitals(weighted_values(gain, guess, drawn, probability, w), (1.0 - alpha + w * alpha) / least)
        for w in WEIGHTS
    ]
    return _p_value(capitals)


def uniform_p_value(gain: Floats, guess: Floats, others: Floats, alpha: float) -> Floats:
    """Return the p-value of E[(H - alpha) A] >= 0 from m questions drawn uniformly and M others without labels.

    gain, guess: (..., m). others: the verifier's guesses of the others, (..., M). Every labelled question is assigned
    floor(M / m) distinct others, so the m values g - w f + w mean(f of its others) are independent with mean E[g].
    Raises EvaluationError with fewer others than labelled questions.
    """
    m = gain.shape[-1]
    each = others.shape[-1] // max(1, m)
    if m == 0 or each == 0:
        raise EvaluationError(
            f"{m} labelled and {others.shape[-1]} unlabelled answers: at least as many unlabelled ones are needed"
        )
    pooled = others[..., : m * each].reshape(*others.shape[:-1], m, each).mean(axis=-1)
    return _p_value([log_capitals(gain + w * (pooled - guess), 1.0 - alpha + w) for w in WEIGHTS])


def _p_value(capitals: list[Floats]) -> Floats:
    result: Floats = np.exp(-np.maximum(mean_capital(np.concatenate(capitals, axis=-1)), 0.0))
    return result


@dataclass(frozen=True, slots=True)
class WeightedEstimate:
    """A mean with its interval.

    method: always "asymptotic": the level holds only for many labels, so the interval certifies nothing.
    """

    mean: float
    lower: float
    upper: float
    level: float
    labels: int
    method: str = "asymptotic"


def weighted_mean(
    labelled: Floats, predicted: Floats, drawn: Floats, probability: Floats, level: float = 0.95
) -> WeightedEstimate:
    """Estimate the mean of a labelled quantity over N questions from a draw with known probabilities.

    All arrays: (N,). Raises EvaluationError for fewer than 4 labels or a probability outside (0, 1].
    """
    check_probabilities(probability)
    labels = int(np.count_nonzero(drawn))
    if labels < 4:
        raise EvaluationError(f"{labels} labels: at least 4 are needed for an interval")
    values = regressed_values(labelled, predicted, drawn, probability)
    mean = float(values.mean())
    half = float(half_width(values, np.asarray(float(labels)), level))
    return WeightedEstimate(mean, mean - half, mean + half, level, labels)


def regressed_values(labelled: Floats, predicted: Floats, drawn: Floats, probability: Floats) -> Floats:
    """Return g xi / pi - (a + b f) (xi / pi - 1), with the a and b that minimise its variance. (..., N) -> (..., N).

    The difference estimator with the verifier's predictions (Zrnic and Candes 2024, eq. 3), where the prediction is an
    affine function of the verifier's (Cassel, Sarndal and Wretman 1976; the weight of PPI++, Angelopoulos et al. 2023).
    For an uninformative verifier b is near 0. With equal probabilities and b = 0 the mean is that of the labels. a and
    b are fitted on the same labels, which costs two degrees of freedom.
    """
    weight = np.where(drawn > 0, 1.0 / probability, 0.0)
    g = np.where(drawn > 0, labelled, 0.0) * weight
    controls = np.stack([weight - 1.0, predicted * (weight - 1.0)], axis=-1)
    centred = controls - controls.mean(axis=-2, keepdims=True)
    square = np.einsum("...ni,...nj->...ij", centred, centred)
    cross = np.einsum("...ni,...n->...i", centred, g - g.mean(axis=-1, keepdims=True))
    coefficients = np.einsum("...ij,...j->...i", np.linalg.pinv(square, hermitian=True), cross)
    result: Floats = g - np.einsum("...ni,...i->...n", controls, coefficients)
    return result


def half_width(values: Floats, labels: Floats, level: float) -> Floats:
    """Return the half width of a t interval for the mean of N values. (..., N), (...) -> (...).

    labels: number of labels; the interval has labels - 3 degrees of freedom.
    """
    quantile = stats.t.ppf(0.5 + level / 2.0, np.maximum(labels - 3.0, 1.0))
    result: Floats = quantile * values.std(axis=-1, ddof=1) / math.sqrt(values.shape[-1])
    return result
