"""Parts of corrected estimates: labels alone, the verifier alone, clipping of limits, and when labels are too few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluation.correction.rectified import LabelledSample, RectifiedEstimate, design_of
from evaluation.statistics.counts import Floats
from evaluation.statistics.estimates import HallucinationEstimate, Method, undefined
from evaluation.statistics.intervals import NO_WIDTH, effective_limits
from evaluation.statistics.paired import fixed_minus_broken_limits

LABELLED_POSITIVES = 10
DISAGREEMENTS = 5


def few_labels(sample: LabelledSample, coefficients: Floats) -> str:
    """Return the reason why the corrected interval is not yet reliable, or an empty string.

    Columns of the sample are arms; coefficients: (K,). The variance depends on the few questions on which people and
    verifier differ. At least 10 labels of either kind and 5 disagreements per arm are needed. A difference also needs
    10 questions on which the arms' labels differ and 5 on which the verifier gets that difference wrong.
    """
    for k in range(coefficients.size):
        h, f = sample.labels[:, k], sample.verifier[:, k]
        counts = (
            (int(h.sum()), LABELLED_POSITIVES, "labelled responses with the event"),
            (int((1.0 - h).sum()), LABELLED_POSITIVES, "labelled responses without it"),
            (int((h != f).sum()), DISAGREEMENTS, "labelled responses on which the verifier is wrong"),
        )
        for count, needed, what in counts:
            if count < needed:
                return f"only {count} {what} in an arm ({needed} are needed)"
    if coefficients.size > 1:
        change, seen = sample.labels @ coefficients, sample.verifier @ coefficients
        if (differ := int(np.count_nonzero(change))) < LABELLED_POSITIVES:
            return f"only {differ} questions on which the arms' labels differ ({LABELLED_POSITIVES} are needed)"
        if (wrong := int(np.count_nonzero(change != seen))) < DISAGREEMENTS:
            return (
                f"only {wrong} questions on which the verifier gets the difference wrong ({DISAGREEMENTS} are needed)"
            )
    return ""


def labels_only(sample: LabelledSample, coefficients: Floats, level: float) -> HallucinationEstimate:
    """Estimate from one label per question: Clopper-Pearson for a rate, MOVER on fixed and broken for a difference.

    Labels are weighted by the draw. With equal weights, the limits are exactly Clopper-Pearson's on m trials.
    """
    w = design_of(sample).weights
    a = w / w.mean()
    independent = float(a.sum() ** 2 / (a * a).sum())
    if coefficients.size == 1:
        h = sample.labels[:, 0] * a
        limits = effective_limits(h, a, independent, level)
        rate = float(h.sum() / a.sum())
        return cut_estimate(
            rate,
            float(limits.lower),
            float(limits.upper),
            sample,
            coefficients,
            level,
            "effective_clopper_pearson",
            0.0,
        )
    one, two = sample.labels[:, 0], sample.labels[:, 1]
    fixed, broken = one * (1.0 - two) * a, two * (1.0 - one) * a
    difference = fixed_minus_broken_limits(fixed, broken, a, independent, level)
    rate = float((fixed.sum() - broken.sum()) / a.sum())
    return cut_estimate(
        rate, float(difference.lower), float(difference.upper), sample, coefficients, level, "mover", -1.0
    )


def cut_estimate(
    rate: float,
    lower: float,
    upper: float,
    sample: LabelledSample,
    coefficients: Floats,
    level: float,
    method: Method,
    floor: float,
) -> HallucinationEstimate:
    """Return the estimate with its limits clipped to [floor, 1] and kept on both sides of the rate."""
    m = sample.question_index.size
    events = int(np.count_nonzero(sample.labels @ coefficients))
    return HallucinationEstimate(
        rate,
        min(max(lower, floor), rate),
        max(min(upper, 1.0), rate),
        level,
        len(sample.predicted),
        m,
        events,
        m - events,
        method,
    )


NO_ERROR = "the verifier has no errors on the labelled responses, so there is no variance to estimate"
OUTSIDE = "the interval lies outside the range of the quantity"


def rectified_estimate(
    found: RectifiedEstimate, estimate: HallucinationEstimate, floor: float, few: str, seed: int
) -> HallucinationEstimate:
    """Return a corrected estimate with its seed; undefined if labels do not justify its interval.

    It is undefined if the interval has zero width or lies outside [floor, 1]. An interval clipped at ``floor`` or 1 is
    at least as wide as N exact labels would make it: 1 - ((1 - level) / 2) ** (1 / N) for N questions (Clopper and
    Pearson 1934). few: reason why the estimate is not yet reliable, else "".
    """
    if estimate.rate is None or estimate.lower is None or estimate.upper is None:
        return estimate
    if found.upper - found.lower <= NO_WIDTH:
        return undefined(estimate.level, f"{NO_ERROR}: {few}" if few else NO_ERROR)
    if found.upper <= floor or found.lower >= 1.0:
        return undefined(estimate.level, f"{OUTSIDE}: {few}" if few else OUTSIDE)
    least = 1.0 - float(((1.0 - estimate.level) / 2.0) ** (1.0 / max(estimate.questions, 1)))
    lower, upper = estimate.lower, estimate.upper
    if upper >= 1.0:
        lower = min(lower, 1.0 - least)
    if lower <= floor:
        upper = max(upper, floor + least)
    return replace(estimate, lower=lower, upper=upper, seed=seed, reliable=not few, reason=few)


def verifier_rate(h: Floats, a: Floats, responses: int, independent: float, level: float) -> HallucinationEstimate:
    """Return sum h / sum a with the default interval; undefined if the denominator is 0. h, a: (N,)."""
    if a.sum() <= 0:
        return undefined(level, "no response falls in the denominator")
    limits = effective_limits(h, a, independent, level)
    rate = float(np.clip(h.sum() / a.sum(), 0.0, 1.0))
    events = int(np.count_nonzero(h > 0))
    return HallucinationEstimate(
        rate,
        min(float(limits.lower), rate),
        max(float(limits.upper), rate),
        level,
        int(np.count_nonzero(a > 0)),
        responses,
        events,
        int(np.count_nonzero(a - h > 1e-12)),
        "effective_clopper_pearson",
        effective_size=float(limits.effective_size),
    )
