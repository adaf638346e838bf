"""Measure a share with three intervals: the default, clustered t and BCa."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evaluation.statistics.bootstrap import (
    Interval,
    Weights,
    bca_limits,
    question_weights,
    ratio_jackknife,
    ratio_replicates,
)
from evaluation.statistics.counts import Floats
from evaluation.statistics.estimates import (
    HallucinationEstimate,
    Measurement,
    Method,
    few_events,
    undefined,
    unmeasured,
)
from evaluation.statistics.intervals import NO_WIDTH, ROUNDING, clustered_t_limits, effective_limits


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a summary.

    level: nominal coverage of the intervals.
    bootstrap: number of bootstrap replicates, at least 100.
    permutations: number of permutations of the sign-flip test, at least 99.
    seed: seed of bootstrap and permutations.
    """

    level: float = 0.95
    bootstrap: int = 2000
    permutations: int = 9999
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level is {self.level}: it must lie strictly between 0 and 1, e.g. 0.95")
        if self.bootstrap < 100 or self.permutations < 99:
            raise ValueError(
                f"bootstrap is {self.bootstrap} and permutations {self.permutations}: at least 100 and 99 are needed"
            )
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}: it must not be negative")


@dataclass(frozen=True, slots=True)
class Resampler:
    """Bootstrap weights of one summary, drawn once per number of questions and shared by all quantities."""

    settings: Settings
    _weights: dict[int, Weights] = field(default_factory=dict)

    def weights(self, questions: int) -> Weights:
        """Return the multinomial weights (B, N). The same number of questions always gets the same array."""
        if questions not in self._weights:
            self._weights[questions] = question_weights(questions, self.settings.bootstrap, self.settings.seed)
        return self._weights[questions]


@dataclass(frozen=True, slots=True)
class Basis:
    """Sample sizes behind an estimate (see the fields of HallucinationEstimate).

    event: description of an event, for the reason of an unreliable estimate.
    """

    questions: int
    responses: int
    event_questions: int
    other_questions: int
    event: str


def mean_responses(samples: Floats) -> float:
    """Return N^2 / sum 1/n_q, the number of independent responses with the variance of a mean of shares.

    samples: (N,), number of responses to each question.
    """
    return float(samples.size**2 / (1.0 / samples).sum())


def measure_ratio(
    h: Floats,
    a: Floats,
    responses: int,
    resampler: Resampler,
    independent: float | None = None,
    event: str = "an event",
) -> Measurement:
    """Return the ratio sum h / sum a with its intervals. h, a: (N,), 0 <= h <= a.

    responses: number of responses in the denominator, for display.
    independent: upper bound on the effective sample size; ``responses`` by default.
    event: description of an event, for the reason of an unreliable estimate.
    """
    settings = resampler.settings
    if not a.size or a.sum() <= 0:
        return unmeasured(settings.level, "no response falls in the denominator")
    rate = float(np.clip(h.sum() / a.sum(), 0.0, 1.0))
    limits = effective_limits(h, a, float(responses if independent is None else independent), settings.level)
    events = int(np.count_nonzero(h > 0))
    others = int(np.count_nonzero(a - h > ROUNDING))
    basis = Basis(int(np.count_nonzero(a > 0)), responses, events, others, event)
    default = HallucinationEstimate(
        rate,
        min(float(limits.lower), rate),
        max(float(limits.upper), rate),
        settings.level,
        basis.questions,
        responses,
        events,
        others,
        "effective_clopper_pearson",
        effective_size=float(limits.effective_size),
    )
    t = clustered_t_limits(h, a, settings.level)
    replicates = ratio_replicates(resampler.weights(a.size), h, a)
    bca = bca_limits(rate, replicates, ratio_jackknife(h, a), settings.level)
    return Measurement(
        default,
        alternative_estimate(rate, Interval(float(t.lower), float(t.upper)), basis, settings, "clustered_t", 0.0),
        alternative_estimate(rate, bca, basis, settings, "bca", 0.0),
    )


def alternative_estimate(
    rate: float, limits: Interval | None, basis: Basis, settings: Settings, method: Method, floor: float
) -> HallucinationEstimate:
    """Return an estimate by clustered t or BCa, clipped to [floor, 1] and flagged if the method is unreliable.

    The estimate is undefined if the limits are None or have zero width, because equal questions have no variance.
    """
    reason = few_events(basis.event_questions, basis.other_questions, basis.event)
    lower, upper = (
        (rate, rate) if limits is None else (min(max(limits.lower, floor), rate), max(min(limits.upper, 1.0), rate))
    )
    if upper - lower <= NO_WIDTH:
        return undefined(settings.level, "the questions do not differ: the method has no variance to use")
    return HallucinationEstimate(
        rate,
        lower,
        upper,
        settings.level,
        basis.questions,
        basis.responses,
        basis.event_questions,
        basis.other_questions,
        method,
        seed=settings.seed if method == "bca" else None,
        reliable=not reason,
        reason=reason,
    )
