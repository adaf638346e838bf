"""Rogan-Gladen correction: the rate implied by a verifier's sensitivity and specificity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.correction.rectified import LabelledSample, design_of
from evaluation.statistics.bootstrap import blocks
from evaluation.statistics.counts import Floats
from evaluation.statistics.estimates import HallucinationEstimate, undefined
from evaluation.statistics.intervals import NO_WIDTH, Limits, effective_limits
from evaluation.statistics.paired import mover

CONSTANT = "all resamples give the same corrected rate, so it has no limits"


@dataclass(frozen=True, slots=True)
class Replicates:
    """Corrected rate of each resample, shape (B,); NaN where sensitivity + specificity - 1 is not positive."""

    values: Floats


@dataclass(frozen=True, slots=True)
class VerifierQuality:
    """Quality of the verifier on the labelled responses of an arm, weighted by the draw.

    sensitivity: flagged share of the responses that are hallucinated by label. specificity: share of the others that is
    not flagged. youden: sensitivity + specificity - 1, with its limits; None if no label or every label is
    hallucinated.
    """

    sensitivity: HallucinationEstimate
    specificity: HallucinationEstimate
    youden: float | None
    youden_lower: float | None
    youden_upper: float | None


@dataclass(frozen=True, slots=True)
class RoganGladen:
    """Rate of one arm by the Rogan-Gladen correction.

    quality: quality of the verifier. rate: corrected rate; undefined, with a reason, if the verifier may be no better
    than chance.
    """

    quality: VerifierQuality
    rate: HallucinationEstimate


def corrected_prevalence(seen: Floats, sensitivity: Floats, specificity: Floats) -> Floats:
    """Return (p + Sp - 1) / (Se + Sp - 1) (Rogan and Gladen 1978), clipped to [0, 1]; NaN unless Se + Sp > 1."""
    youden = sensitivity + specificity - 1.0
    top = seen + specificity - 1.0
    result: Floats = np.divide(top, youden, out=np.full_like(top, np.nan), where=youden > 1e-9)
    return np.clip(result, 0.0, 1.0)


def verifier_quality(sample: LabelledSample, k: int, level: float) -> VerifierQuality:
    """Estimate sensitivity and specificity for quantity k, each with the default interval by question."""
    design = design_of(sample)
    f, h, w = sample.verifier[:, k], sample.labels[:, k], design.weights * design.weights.size
    se = _share(w * f * h, w * h, level, "no labelled response is hallucinated")
    sp = _share(w * (1.0 - f) * (1.0 - h), w * (1.0 - h), level, "every labelled response is hallucinated")
    if se.rate is None or se.lower is None or se.upper is None or sp.rate is None or sp.lower is None:
        return VerifierQuality(se, sp, None, None, None)
    if sp.upper is None:
        return VerifierQuality(se, sp, None, None, None)
    # With one response per question and arm, Se and Sp use different questions, so Se and 1 - Sp are uncorrelated.
    values = (se.rate, se.lower, se.upper, 1.0 - sp.rate, 1.0 - sp.upper, 1.0 - sp.lower, 0.0)
    limits = mover(*(np.asarray(v) for v in values))
    return VerifierQuality(se, sp, se.rate + sp.rate - 1.0, float(limits.lower), float(limits.upper))


def rogan_gladen(sample: LabelledSample, k: int, level: float, draws: Resamples) -> RoganGladen:
    """Correct quantity k, with percentile limits over resamples that repeat every step."""
    quality = verifier_quality(sample, k, level)
    if quality.youden is None or quality.youden_lower is None:
        reason = quality.sensitivity.reason or quality.specificity.reason
        return RoganGladen(quality, undefined(level, reason))
    if quality.youden_lower <= 0.0:
        reason = (
            f"sensitivity + specificity - 1 may be {quality.youden_lower:.2f}: "
            "on these labels the verifier may be no better than chance"
        )
        return RoganGladen(quality, undefined(level, reason))
    values = _corrected(
        sample.predicted[:, k].mean(), sample.verifier[:, k], sample.labels[:, k], design_of(sample).weights
    )
    replicates = draws.replicates(sample, k).values
    # A resample without a corrected rate could have any rate, so it counts at both ends.
    lower = float(np.quantile(np.nan_to_num(replicates, nan=0.0), (1.0 - level) / 2.0))
    upper = float(np.quantile(np.nan_to_num(replicates, nan=1.0), 1.0 - (1.0 - level) / 2.0))
    rate = float(values)
    if max(upper, rate) - min(lower, rate) <= NO_WIDTH:
        return RoganGladen(quality, undefined(level, CONSTANT))
    positives = int(sample.labels[:, k].sum())
    estimate = HallucinationEstimate(
        rate,
        min(lower, rate),
        max(upper, rate),
        level,
        len(sample.predicted),
        sample.question_index.size,
        positives,
        sample.question_index.size - positives,
        "rogan_gladen",
        seed=draws.seed,
    )
    return RoganGladen(quality, estimate)


@dataclass(frozen=True, slots=True)
class Resamples:
    """Bootstrap weights of labelled and unlabelled questions by stratum.

    count: number of resamples. The weights are the same for the same sample, so arms are resampled together.
    """

    seed: int
    count: int

    def replicates(self, sample: LabelledSample, k: int) -> Replicates:
        """Return the corrected rate of quantity k in each resample.

        Observed rate, sensitivity and specificity are recomputed each time.
        """
        design = design_of(sample)
        n = len(sample.predicted)
        rest = np.ones(n, dtype=bool)
        rest[sample.question_index] = False
        rng = np.random.default_rng([self.seed, n, sample.question_index.size, self.count])
        values = np.empty(self.count)
        f, h = sample.verifier[:, k], sample.labels[:, k]
        own = sample.predicted[sample.question_index, k]
        for rows in blocks(self.count, n):
            b = rows.stop - rows.start
            seen = np.zeros(b)
            weights = np.zeros((b, f.size))
            for s in range(design.sizes.size):
                labelled = np.flatnonzero(design.strata == s)
                others = np.flatnonzero(rest & (sample.stratum == s))
                if labelled.size:
                    times = _multinomial(rng, labelled.size, b)
                    weights[:, labelled] = times * design.weights[labelled]
                    seen += times @ own[labelled]
                if others.size:
                    seen += _multinomial(rng, others.size, b) @ sample.predicted[others, k]
            values[rows] = _corrected(seen / n, f, h, weights)
        return Replicates(values)


def _multinomial(rng: np.random.Generator, size: int, rows: int) -> Floats:
    return rng.multinomial(size, np.full(size, 1.0 / size), size=rows).astype(np.float64)


def _corrected(seen: Floats, f: Floats, h: Floats, weights: Floats) -> Floats:
    """Return the corrected rate from the observed rate () or (B,) and weighted labelled responses (m,) or (B, m)."""
    positive, negative = weights @ h, weights @ (1.0 - h)
    se = np.divide(weights @ (f * h), positive, out=np.full_like(positive, np.nan), where=positive > 0)
    sp = np.divide(weights @ ((1.0 - f) * (1.0 - h)), negative, out=np.full_like(negative, np.nan), where=negative > 0)
    return corrected_prevalence(np.asarray(seen), se, sp)


def _share(h: Floats, a: Floats, level: float, empty: str) -> HallucinationEstimate:
    if a.sum() <= 0:
        return undefined(level, empty)
    counted = int(np.count_nonzero(a))
    effective = float(a.sum() ** 2 / (a * a).sum())
    # Only the questions in the denominator carry information on the share.
    used = a > 0
    limits: Limits = effective_limits(h[used], a[used], effective, level)
    rate = float(np.clip(h.sum() / a.sum(), 0.0, 1.0))
    events = int(np.count_nonzero(h))
    return HallucinationEstimate(
        rate,
        min(float(limits.lower), rate),
        max(float(limits.upper), rate),
        level,
        counted,
        counted,
        events,
        counted - events,
        "effective_clopper_pearson",
        effective_size=float(limits.effective_size),
    )
