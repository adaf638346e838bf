"""Corrected rate among answers: a ratio of two corrected totals, with the variance of its linearisation."""

from __future__ import annotations

import numpy as np

from evaluation.correction.rectified import LabelledSample, RectifiedEstimate, design_of, rectified

_STEPS = 8


def corrected_ratio(sample: LabelledSample, level: float, seed: int, folds: int) -> RectifiedEstimate | None:
    """Estimate R = theta_h / theta_a for quantities (h, a) of one arm; None if theta_a is not positive.

    Linearised (docs/statistics.md, section 8): R solves theta(z) = 0 for z = (h - R a) / a_0, with separate lambdas of
    h and a. The variance of theta(z) is that of R; a_0 is the corrected total of answers. Newton's step is R +
    theta(z). It is repeated until it converges, because lambda depends slightly on R.
    """
    total = rectified(
        LabelledSample(
            sample.predicted[:, 1:], sample.question_index, sample.verifier[:, 1:], sample.labels[:, 1:], sample.stratum
        ),
        np.ones(1),
        level,
        seed,
        folds,
    ).estimate
    weights = design_of(sample).weights
    answered = float(weights @ sample.labels[:, 1])
    if total <= 1e-9 or answered <= 0.0:
        return None
    ratio = float(weights @ sample.labels[:, 0]) / answered
    found = rectified(sample, np.array([1.0, -ratio]) / total, level, seed, folds)
    for _ in range(_STEPS):
        if abs(found.estimate) < 1e-9:
            break
        ratio += found.estimate
        found = rectified(sample, np.array([1.0, -ratio]) / total, level, seed, folds)
    return RectifiedEstimate(
        ratio, found.standard_error, found.degrees, ratio + found.lower, ratio + found.upper, found.lambdas
    )


def few_for_ratio(sample: LabelledSample, positives: int, disagreements: int) -> str:
    """Return the reason why the corrected ratio is not yet reliable, or an empty string.

    The limits apply to counts among the labelled answers.
    """
    human, predicted = sample.labels.T
    counts = (
        (int(human.sum()), positives, "labelled answers that are hallucinated"),
        (int((predicted - human).sum()), positives, "labelled answers that are not hallucinated"),
        (
            int(np.any(sample.labels != sample.verifier, axis=1).sum()),
            disagreements,
            "labels that the verifier got wrong",
        ),
    )
    for count, needed, what in counts:
        if count < needed:
            return f"only {count} {what} ({needed} are needed)"
    return ""
