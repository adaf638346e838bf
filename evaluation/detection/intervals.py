"""Intervals for a verifier's metrics.

Statements are resampled by group, because those of one source are dependent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.counts import Floats
from evaluation.statistics.intervals import NO_WIDTH, effective_limits, linearised

LEVEL = 0.95
REPLICATES = 2000
FEW_GROUPS = 10
ONE_GROUP = "all statements belong to one group: an interval needs at least two groups"
CONSTANT = "all resamples give the same figure (perhaps all scores are equal), so it has no limits"
_BLOCK_CELLS = 4_000_000  # number of float64 values held while resampling (32 MB)


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """A metric with 95 % limits.

    estimate: None if the metric is undefined. lower, upper: None if the metric is undefined or has no limits. reason:
    why a value is None, or why the limits are unreliable; otherwise empty.
    """

    estimate: float | None
    lower: float | None
    upper: float | None
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.lower is None) != (self.upper is None) or (self.estimate is None and self.lower is not None):
            raise ValueError(f"estimate {self.estimate} with limits [{self.lower}, {self.upper}]")
        if self.lower is None or self.upper is None or self.estimate is None:
            if not self.reason:
                raise ValueError("a figure without estimate or limits must say why")
        elif not (np.isfinite([self.lower, self.upper]).all() and self.lower <= self.estimate <= self.upper):
            raise ValueError(f"estimate {self.estimate} with limits [{self.lower}, {self.upper}]")


def undefined(reason: str) -> ScoreEstimate:
    """Return an undefined metric with its reason."""
    return ScoreEstimate(None, None, None, reason)


@dataclass(frozen=True, slots=True)
class Draws:
    """Resamples of G groups. The same (G, seed) gives the same resamples, so metrics of one table are comparable.

    replicates: number of resamples B.
    """

    groups: int
    seed: int
    replicates: int = REPLICATES

    def over(self, statistic: Callable[[Floats], Floats], cells: int) -> Floats:
        """Apply a statistic to all resamples in blocks and return its values, (B, ...).

        statistic: maps (b, G) counts of each group to (b, ...). cells: number of values that it needs per row.
        """
        rng = np.random.default_rng([self.seed, self.groups, self.replicates])
        block = int(max(1, min(self.replicates, _BLOCK_CELLS // max(cells, self.groups, 1))))
        parts = []
        for start in range(0, self.replicates, block):
            rows = min(block, self.replicates - start)
            drawn = rng.integers(0, self.groups, size=(rows, self.groups))
            flat = (drawn + np.arange(rows)[:, None] * self.groups).ravel()
            counts = np.bincount(flat, minlength=rows * self.groups).reshape(rows, self.groups)
            parts.append(statistic(counts.astype(np.float64)))
        return np.concatenate(parts)


def share_estimate(estimate: float, replicates: Floats, carrying: int, groups: int) -> ScoreEstimate:
    """Return percentile limits (Efron 1979) of a metric in [0, 1]; at exactly 0 or 1 the Clopper-Pearson limit instead.

    carrying: number of groups with the rarer class. At 0 or 1 the resamples do not differ, but zero width would be
    wrong. With m groups that all have the same result, the limit is (1 - level) / 2 to the power 1 / m. If the
    resamples do not differ elsewhere (all scores tied), there are no limits.
    """
    if groups < 2:
        return ScoreEstimate(estimate, None, None, ONE_GROUP)
    few = _few(carrying, "groups carry the rarer class")
    exact = float(((1.0 - LEVEL) / 2.0) ** (1.0 / max(carrying, 1)))
    if estimate >= 1.0:
        return ScoreEstimate(1.0, exact, 1.0, few)
    if estimate <= 0.0:
        return ScoreEstimate(0.0, 0.0, 1.0 - exact, few)
    return _bounded(estimate, *_limits(replicates), few)


def ratio_estimate(h: Floats, a: Floats, counted: float) -> ScoreEstimate:
    """Estimate sum h / sum a over groups with limits that never have zero width.

    h, a: (G,), with 0 <= h <= a and sum a > 0. counted: number of statements. The limits are Clopper-Pearson's at the
    clustered effective sample size (evaluation.statistics.intervals). A single group carries almost no information, so
    its limits are wide.
    """
    estimate = min(1.0, float(h.sum() / a.sum()))
    limits = effective_limits(h, a, counted, LEVEL)
    return ScoreEstimate(
        estimate,
        min(float(limits.lower), estimate),
        max(float(limits.upper), estimate),
        _few(int(np.count_nonzero(a)), "groups are counted"),
    )


def mean_of_ratios(one: tuple[Floats, Floats], two: tuple[Floats, Floats]) -> ScoreEstimate:
    """Estimate the mean of two shares over the same groups, each (h, a) as in ``ratio_estimate`` with counts in a.

    MOVER for a sum (Zou and Donner 2008, eq. 3) from each share's limits, with the correlation r of the two over
    groups: lower = m - sqrt(d1^2 + 2 r d1 d2 + d2^2) / 2, d the distance from a share to its limit.
    """
    shares = [float(h.sum() / a.sum()) for h, a in (one, two)]
    mean = sum(shares) / 2.0
    limits = [effective_limits(h, a, float(a.sum()), LEVEL) for h, a in (one, two)]
    first, second = (linearised(h, a) for h, a in (one, two))
    scale = float(np.sqrt((first**2).sum() * (second**2).sum()))
    r = float((first * second).sum()) / scale if scale > 0 else 0.0
    below = [max(0.0, share - float(limit.lower)) for share, limit in zip(shares, limits, strict=True)]
    above = [max(0.0, float(limit.upper) - share) for share, limit in zip(shares, limits, strict=True)]
    lower, upper = (math.sqrt(max(0.0, x * x + 2.0 * r * x * y + y * y)) / 2.0 for x, y in (below, above))
    rarer = min(int(np.count_nonzero(a)) for _, a in (one, two))
    return _bounded(mean, max(0.0, mean - lower), min(1.0, mean + upper), _few(rarer, "groups carry the rarer class"))


def error_estimate(estimate: float, replicates: Floats, groups: int, reason: str = "") -> ScoreEstimate:
    """Return basic bootstrap limits, 2 e - quantiles (Davison and Hinkley 1997, eq. 5.6), not below 0.

    They are used for the calibration error. Resampling increases it about as much as sampling did, so percentile limits
    would be biased upwards twice. The limits always contain the estimate. There are none if the resamples do not
    differ.
    """
    if groups < 2:
        return ScoreEstimate(estimate, None, None, ONE_GROUP)
    low, high = _limits(replicates)
    return _bounded(estimate, max(0.0, 2 * estimate - high), min(1.0, 2 * estimate - low), reason)


def rate_estimate(counts: Sequence[int], seconds: Sequence[float], what: str, seed: int = 0) -> ScoreEstimate:
    """Estimate the number of ``what`` per second over timed blocks of work.

    The rate is a ratio of totals with percentile limits over the blocks. The limits describe the variation between the
    blocks of this run, not other machines or loads.
    """
    total = float(sum(seconds))
    if not counts or total <= 0.0:
        return undefined(f"no {what} were timed")
    estimate = sum(counts) / total
    if len(counts) < 5:
        return ScoreEstimate(estimate, None, None, f"timed in {len(counts)} blocks: limits need at least 5")
    number, time = np.array(counts, dtype=np.float64), np.array(seconds)
    replicates = Draws(number.size, seed).over(lambda drawn: (drawn @ number) / (drawn @ time), number.size)
    return _bounded(estimate, *_limits(replicates), "")


def mean_estimate(estimates: Sequence[ScoreEstimate], reason: str = "") -> ScoreEstimate:
    """Estimate the mean of independent metrics, with limits by MOVER (Zou and Donner 2008, eq. 5).

    lower = mean - sqrt(sum of (e - l)^2) / k, upper likewise. reason: remark that is kept with the result.
    """
    values = [e.estimate for e in estimates if e.estimate is not None]
    if not values:
        return undefined(reason or "there is nothing to average")
    mean = sum(values) / len(values)
    below, above = [], []
    for e in estimates:
        if e.estimate is not None and e.lower is not None and e.upper is not None:
            below.append(e.estimate - e.lower)
            above.append(e.upper - e.estimate)
    if len(below) < len(values):
        return ScoreEstimate(mean, None, None, "a figure in the mean has no limits")
    return ScoreEstimate(
        mean,
        max(0.0, mean - math.hypot(*below) / len(values)),
        min(1.0, mean + math.hypot(*above) / len(values)),
        reason,
    )


def _bounded(estimate: float, lower: float, upper: float, reason: str) -> ScoreEstimate:
    """Return the metric with limits around it; without limits if they have zero width."""
    lower, upper = min(lower, estimate), max(upper, estimate)
    if upper - lower <= NO_WIDTH:
        return ScoreEstimate(estimate, None, None, CONSTANT)
    return ScoreEstimate(estimate, lower, upper, reason)


def _few(groups: int, what: str) -> str:
    return f"only {groups} {what} ({FEW_GROUPS} are needed)" if groups < FEW_GROUPS else ""


def _limits(replicates: Floats) -> tuple[float, float]:
    """Return the two quantiles of the level. Resamples without one of the classes (NaN) are ignored."""
    finite = replicates[np.isfinite(replicates)]
    lower, upper = np.quantile(finite, [(1.0 - LEVEL) / 2.0, 1.0 - (1.0 - LEVEL) / 2.0])
    return float(lower), float(upper)
