"""Estimates: a share (or a difference of two) with an interval, what it rests on, and how far to trust it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Method = Literal["effective_clopper_pearson", "mover", "clustered_t", "bca", "rectified_t", "rogan_gladen", "undefined"]
RELIABLE_EVENTS = 10


@dataclass(frozen=True, slots=True)
class HallucinationEstimate:
    """One share in [0, 1], or a difference of two in [-1, 1], with its interval.

    rate, lower, upper: all None when the share is undefined (nothing to divide by); reason then says why. It is never 0
    or NaN in their place. level: nominal coverage. questions: those the estimate rests on (with a denominator).
    responses: in the denominator. event_questions: with an event (a discordance, for a difference);
    other_questions: with the opposite (for a difference: not wholly changed in its direction). effective_size: of the
    independent responses that carry as much as these clustered ones, None where the method has no such thing. seed: of
    the bootstrap, else None. reliable: False where the method is not known to keep its level; reason then says why.
    """

    rate: float | None
    lower: float | None
    upper: float | None
    level: float
    questions: int
    responses: int
    event_questions: int
    other_questions: int
    method: Method
    effective_size: float | None = None
    seed: int | None = None
    reliable: bool = True
    reason: str = ""

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level is {self.level}: it must lie strictly between 0 and 1, e.g. 0.95")
        values = (self.rate, self.lower, self.upper)
        if any(v is None for v in values):
            if self.rate is not None or self.lower is not None or self.upper is not None or not self.reason:
                raise ValueError(
                    f"rate {self.rate}, limits [{self.lower}, {self.upper}]: all None, with a reason, or none"
                )
            return
        rate, lower, upper = (float(v) for v in values if v is not None)
        if not all(math.isfinite(v) for v in (rate, lower, upper)) or not -1.0 <= lower <= rate <= upper <= 1.0:
            raise ValueError(f"rate {rate} with limits [{lower}, {upper}]: they must be finite, ordered and in [-1, 1]")
        if not self.reliable and not self.reason:
            raise ValueError("an estimate that is not reliable must say why")

    @property
    def defined(self) -> bool:
        """Whether there was anything to divide by."""
        return self.rate is not None


@dataclass(frozen=True, slots=True)
class Measurement:
    """The same quantity by the default interval and by the two that stand beside it."""

    default: HallucinationEstimate
    clustered_t: HallucinationEstimate
    bca: HallucinationEstimate


def undefined(level: float, reason: str) -> HallucinationEstimate:
    """An estimate of nothing: no question has a response in the denominator."""
    return HallucinationEstimate(None, None, None, level, 0, 0, 0, 0, "undefined", reliable=False, reason=reason)


def unmeasured(level: float, reason: str) -> Measurement:
    """undefined() for all three methods."""
    nothing = undefined(level, reason)
    return Measurement(nothing, nothing, nothing)


def few_events(event_questions: int, other_questions: int, event: str = "an event") -> str:
    """Why clustered t and BCa are not to be trusted here, or an empty string.

    Both lean on the variance seen between questions; with fewer than 10 questions on either side that variance is
    itself a guess, and at none it is zero.
    """
    if event_questions < RELIABLE_EVENTS:
        return f"only {event_questions} questions with {event} (10 are needed)"
    if other_questions < RELIABLE_EVENTS:
        return f"only {other_questions} questions without {event} throughout (10 are needed)"
    return ""
