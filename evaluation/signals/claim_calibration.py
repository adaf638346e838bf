"""Compare P(c | x) of claims with V(c), and find claims with high P(c | x) and V(c) near 0.

Such confidently false claims are the second definition of hallucination in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.detection.intervals import Draws, ScoreEstimate, error_estimate, ratio_estimate, undefined
from evaluation.detection.metrics import Ints
from evaluation.statistics.counts import Floats

BINS = 10
HIGH = 0.8
NEAR_ZERO = 0.1


@dataclass(frozen=True, slots=True)
class ClaimProbability:
    """A claim of a question, with the number of samples that state it.

    stating: number of the ``samples`` samples that state the claim.
    support: V(c) in [0, 1]; None if unscored.
    own: whether the claim comes from one of the n samples. That sample is not counted because it always states the
        claim: P(c | x) is then (stating - 1) / (n - 1).
    """

    question_id: str
    stating: int
    samples: int
    support: float | None
    own: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.stating <= self.samples or self.samples < 1 or (self.own and self.stating < 1):
            raise ValueError(f"{self.stating} of {self.samples} samples state the claim (own: {self.own})")
        if self.support is not None and not 0.0 <= self.support <= 1.0:
            raise ValueError(f"support is {self.support}: it must lie in [0, 1]")

    @property
    def probability(self) -> float | None:
        """Estimate of P(c | x); None if there is no other sample."""
        rest = self.samples - self.own
        return (self.stating - self.own) / rest if rest else None


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Claims with lower <= P(c | x) < upper (the last bin includes 1).

    expected: mean P of the claims; None without claims. support: mean V of the claims.
    """

    lower: float
    upper: float
    claims: int
    questions: int
    expected: float | None
    support: ScoreEstimate


@dataclass(frozen=True, slots=True)
class ClaimCalibration:
    """Calibration of P(c | x) against V(c).

    bins: bins of the reliability diagram.
    error: sum over bins of their share times |mean V - mean P|.
    high_claims: number of claims with P >= high.
    confidently_false: share of these claims with V <= near_zero.
    unscored: number of claims without a verdict.
    alone: number of claims without another sample.

    With n samples, P has a resolution of 1/n, and values near 0 or 1 also occur by chance.
    """

    claims: int
    questions: int
    bins: tuple[ReliabilityBin, ...]
    error: ScoreEstimate
    high: float
    near_zero: float
    high_claims: int
    confidently_false: ScoreEstimate
    unscored: int
    alone: int


def claim_calibration(
    claims: Sequence[ClaimProbability],
    *,
    bins: int = BINS,
    high: float = HIGH,
    near_zero: float = NEAR_ZERO,
    seed: int = 0,
    replicates: int = 2000,
) -> ClaimCalibration:
    """Compare P(c | x) with V(c). Claims of one question are dependent, so intervals are by question.

    bins: number of bins of equal width.
    high, near_zero: thresholds of a confidently false claim.
    """
    if bins < 1 or not (0.0 < high <= 1.0 and 0.0 <= near_zero < 1.0):
        raise ValueError(f"bins {bins}, high {high}, near zero {near_zero}: at least 1, in (0, 1] and in [0, 1)")
    unscored = sum(c.support is None for c in claims)
    alone = sum(c.support is not None and c.probability is None for c in claims)
    used = [c for c in claims if c.support is not None and c.probability is not None]
    ids = {q: i for i, q in enumerate(dict.fromkeys(c.question_id for c in used))}
    if not used:
        nothing = undefined("no claim has both a verdict and a probability")
        return ClaimCalibration(0, 0, (), nothing, high, near_zero, 0, nothing, unscored, alone)
    group = np.array([ids[c.question_id] for c in used], dtype=np.intp)
    p = np.array([c.probability for c in used], dtype=np.float64)
    v = np.array([c.support for c in used], dtype=np.float64)
    # The small term corrects rounding: 3 of 10 samples is 0.3 and belongs to the bin that begins there.
    bin_index = np.clip(np.floor(p * bins + 1e-9), 0, bins - 1).astype(np.intp)
    counts, sums, expected = (
        _by_question(group, bin_index, values, len(ids), bins) for values in (np.ones_like(p), v, p)
    )
    rows = []
    for b in range(bins):
        n = counts[:, b].sum()
        estimate = ratio_estimate(sums[:, b], counts[:, b], float(n)) if n else undefined("no claim falls in the bin")
        mean = float(expected[:, b].sum() / n) if n else None
        rows.append(
            ReliabilityBin(b / bins, (b + 1) / bins, int(n), int(np.count_nonzero(counts[:, b])), mean, estimate)
        )
    confident = p >= high - 1e-9
    false = confident & (v <= near_zero)
    top, bottom = (
        np.bincount(group, weights=x.astype(np.float64), minlength=len(ids)).astype(np.float64)
        for x in (false, confident)
    )
    return ClaimCalibration(
        len(used),
        len(ids),
        tuple(rows),
        _error(sums - expected, counts, seed, replicates),
        high,
        near_zero,
        int(confident.sum()),
        ratio_estimate(top, bottom, float(bottom.sum())) if confident.any() else undefined(f"no claim has P >= {high}"),
        unscored,
        alone,
    )


def _by_question(group: Ints, bin_index: Ints, values: Floats, questions: int, bins: int) -> Floats:
    table = np.zeros((questions, bins))
    np.add.at(table, (group, bin_index), values)
    return table


def _error(gaps: Floats, counts: Floats, seed: int, replicates: int) -> ScoreEstimate:
    """Return the expected calibration error (Naeini et al. 2015) with basic bootstrap limits.

    gaps, counts: (Q, bins), sums of V - P and numbers of claims.
    """
    value = float(np.abs(gaps.sum(axis=0)).sum() / counts.sum())
    totals = counts.sum(axis=1)
    drawn = Draws(len(gaps), seed, replicates).over(
        lambda w: np.abs(w @ gaps).sum(axis=1) / np.maximum(w @ totals, 1.0), gaps.shape[1]
    )
    return error_estimate(value, drawn, len(gaps))
