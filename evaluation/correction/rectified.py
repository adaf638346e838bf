"""Prediction-powered mean over all questions: a verifier on all of them and labels on a few, clustered by question.

Notation: N questions, m of them labelled, and K quantities (an outcome in an arm). Derivation: docs/statistics.md,
section 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evaluation.statistics.counts import Floats

Ints = NDArray[np.intp]
FOLDS = 10
MIN_DEGREES = 4.0
"""Minimum degrees of freedom.

A reliable estimate has at least 5 labels that the verifier got wrong (see figures.py).
"""
_SWEEPS = 60


@dataclass(frozen=True, slots=True)
class LabelledSample:
    """Verdicts on all questions and labels on some, for K quantities.

    predicted: (N, K), the verifier's share over a question's responses.
    question_index: (m,), index of each labelled question among the N.
    verifier, labels: (m, K), values of the labelled response of each question by the verifier and by people.
    stratum: (N,), index of each question's stratum, from 0.
    """

    predicted: Floats
    question_index: Ints
    verifier: Floats
    labels: Floats
    stratum: Ints

    def __post_init__(self) -> None:
        m = self.question_index.size
        if self.verifier.shape != (m, self.predicted.shape[1]) or self.labels.shape != self.verifier.shape:
            raise ValueError(f"shapes {self.predicted.shape}, {self.verifier.shape}, {self.labels.shape} do not match")
        if m != np.unique(self.question_index).size or self.stratum.shape != (len(self.predicted),):
            raise ValueError("a question is labelled once, and every question has a stratum")


@dataclass(frozen=True, slots=True)
class SamplingDesign:
    """Sizes and weights of the draw.

    sizes, drawn: (S,), numbers N_s of questions and m_s of drawn questions by stratum. weights: (m,), N_s / (m_s N),
    which add up to 1. strata: (m,), strata of the labelled questions.
    """

    sizes: Floats
    drawn: Floats
    weights: Floats
    strata: Ints


@dataclass(frozen=True, slots=True)
class RectifiedEstimate:
    """An estimate that may lie outside [0, 1].

    degrees: degrees of freedom of Student's t, fewer if the variance depends on few labels. lambdas: (K,), weight of
    the verifier, averaged over folds.
    """

    estimate: float
    standard_error: float
    degrees: float
    lower: float
    upper: float
    lambdas: tuple[float, ...]


def design_of(sample: LabelledSample) -> SamplingDesign:
    """Return the sizes and weights of the strata.

    Raises ValueError for a stratum of several questions with fewer than two drawn.
    """
    strata = sample.stratum[sample.question_index]
    count = int(sample.stratum.max()) + 1
    sizes = np.bincount(sample.stratum, minlength=count).astype(np.float64)
    drawn = np.bincount(strata, minlength=count).astype(np.float64)
    if np.any((drawn < 2) & (drawn < sizes)):
        raise ValueError("every stratum needs two labelled questions, or labels of all its questions")
    return SamplingDesign(sizes, drawn, sizes[strata] / (drawn[strata] * sizes.sum()), strata)


def rectified(
    sample: LabelledSample, coefficients: Floats, level: float, seed: int = 0, folds: int = FOLDS
) -> RectifiedEstimate:
    """Estimate theta = sum_k c_k E[h_k] with a t interval; the verifier's weight lambda_k is chosen on other questions.

    With g = c f (its question means over all N) and y = sum_k c_k h_k: theta = mean_N(lambda g) + mean_m(y - lambda g)
    (Angelopoulos et al. 2023, PPI++, with a lambda for each k and one response of each labelled question),

        Var = lambda' S_g lambda / N + s_e^2 / m + 2 lambda' cov(g, e) / N,   t with ``_degrees``, at most m - 1

    In a stratified draw, s_e^2 / m becomes s_e^2 / N + sum_s W_s^2 s_{e,s}^2 (1/m_s - 1/N_s), W_s = N_s / N, with at
    most m - S degrees. lambda in [0, 1] minimises this. It is estimated for each of ``folds`` parts of the labelled
    questions on the other parts (cross-fitting), so no label chooses the weight that it is used with. coefficients:
    (K,).
    """
    design = design_of(sample)
    m, n = sample.question_index.size, len(sample.predicted)
    means = sample.predicted * coefficients  # (N, K)
    single = sample.verifier * coefficients  # (m, K)
    y = sample.labels @ coefficients  # (m,)
    fold = _folds(design.strata, folds, seed)
    lambdas = np.zeros((m, coefficients.size))
    for part in range(int(fold.max()) + 1):
        others = fold != part
        if others.any():
            lambdas[~others] = best_lambda(means, means[sample.question_index], single, y, design, others)
    overall = means.mean(axis=0)
    errors = y - ((single - overall) * lambdas).sum(axis=1)  # centred, so that folds differ only by noise
    estimate = float(design.weights @ errors)
    weight = design.weights @ lambdas  # (K,)
    predictions = means @ weight
    variance = float(predictions.var(ddof=1)) / n if n > 1 else 0.0
    variance += 2.0 * _covariance(predictions[sample.question_index], errors, design.weights) / n
    variance += _covariance(errors, errors, design.weights) / n
    # For one stratum the two add up to s_e^2 / m.
    variance += _within(errors[:, None], errors, design, np.ones(m, bool)).item()
    error = float(np.sqrt(max(variance, 0.0)))
    degrees = _degrees(errors, design)
    half = float(special.stdtrit(degrees, 1.0 - (1.0 - level) / 2.0)) * error
    return RectifiedEstimate(
        estimate, error, degrees, estimate - half, estimate + half, tuple(float(v) for v in weight)
    )


def _degrees(errors: Floats, design: SamplingDesign) -> float:
    """Return the degrees of freedom of theta's t: 2 V^2 / Var(V), V the variance estimated by the labelled questions.

    errors: e, (m,). V = sum u^2 over them, u = weight x (e - its stratum's mean), and Var(V) = sum_s [sum u^4 - (sum
    u^2)^2 / m_s]; for one stratum 2m / (kurtosis of e - 1). An estimated variance gets the degrees that its own
    variance has (Satterthwaite 1946), here by the fourth moment instead of the normal law's (Box 1953). If 15 of 300
    labels carry the correction, s_e is as precise as from about 30 normal errors, not 300. At most m - S, at least 4.
    Derivation: docs/statistics.md, section 8.2.
    """
    m = errors.size
    most = max(1.0, m - float(np.count_nonzero(design.drawn)))
    square = spread = 0.0
    for s in np.flatnonzero(design.drawn > 0):
        u = (design.weights * errors)[design.strata == s]
        u = u - u.mean()
        square += float((u**2).sum())
        spread += float((u**4).sum() - (u**2).sum() ** 2 / u.size)
    if spread <= 0.0 or square <= 0.0:
        return most
    return min(most, max(MIN_DEGREES, 2.0 * square**2 / spread))


def best_lambda(
    means: Floats, own: Floats, single: Floats, y: Floats, design: SamplingDesign, use: NDArray[np.bool_]
) -> Floats:
    """Return the lambda in [0, 1]^K with the smallest variance, estimated on the labelled questions ``use``. (K,).

    Var(lambda) = lambda' A lambda - 2 b' lambda + constant. A and b follow from the formula above with cov(g of the
    question, g of its one response) = S_g, which holds because the response is drawn at random among the question's.
    Shapes: means (N, K), own and single (m, K), y (m,).
    """
    n = len(means)
    weights = np.where(use, design.weights, 0.0)
    weights = weights / weights.sum()
    k = means.shape[1]
    between = np.atleast_2d(np.cov(means, rowvar=False)) if n > 1 else np.zeros((k, k))
    a = (_covariances(single[use], single[use], weights[use]) - between) / n + _within(single, single, design, use)
    b = (_covariances(single[use] - own[use], y[use, None], weights[use])[:, 0]) / n
    b = b + _within(single, y, design, use)[:, 0]
    found = np.zeros(k)
    for _ in range(_SWEEPS if k > 1 else 1):  # coordinate descent on a convex quadratic in a box
        for i in range(k):
            if a[i, i] > 1e-15:
                found[i] = np.clip((b[i] - a[i] @ found + a[i, i] * found[i]) / a[i, i], 0.0, 1.0)
    return found


def _folds(strata: Ints, folds: int, seed: int) -> Ints:
    """Assign each labelled question to a random fold, with strata spread evenly over the folds: (m,) -> (m,)."""
    m = strata.size
    rng = np.random.default_rng([seed, m, folds])
    order = rng.permutation(m)
    order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(m, dtype=np.intp)
    fold[order] = np.arange(m) % min(folds, m)
    return fold


def _covariances(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return weighted covariances with m/(m - 1): (m, K), (m, J), (m,) adding up to 1 -> (K, J)."""
    m = weights.size
    if m < 2:
        return np.zeros((x.shape[1], y.shape[1]))
    dx, dy = x - weights @ x, y - weights @ y
    result: Floats = (dx * weights[:, None]).T @ dy * (m / (m - 1.0))
    return result


def _covariance(x: Floats, y: Floats, weights: Floats) -> float:
    return float(_covariances(x[:, None], y[:, None], weights)[0, 0])


def _within(x: Floats, y: Floats, design: SamplingDesign, use: NDArray[np.bool_]) -> Floats:
    """Return sum_s W_s^2 (1/m_s - 1/N_s) cov_s(x, y), the sampling variance within strata: (m, K), (m,) or (m, J)."""
    y = y[:, None] if y.ndim == 1 else y
    total = np.zeros((x.shape[1], y.shape[1]))
    share = design.sizes / design.sizes.sum()
    for s in np.flatnonzero((design.drawn > 0) & (design.drawn < design.sizes)):
        here = use & (design.strata == s)
        members = int(here.sum())
        if members > 1:
            spread = _covariances(x[here], y[here], np.full(members, 1.0 / members))
            total += share[s] ** 2 * (1.0 / design.drawn[s] - 1.0 / design.sizes[s]) * spread
    return total
