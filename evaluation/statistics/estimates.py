"""Define estimates: a share or a difference of two shares, with an interval and a note on its reliability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Method = Literal["effective_clopper_pearson", "mover", "clustered_t", "bca", "rectified_t", "rogan_gladen", "undefined"]
RELIABLE_EVENTS = 10
"""Minimum number of questions with the event, and without it, for a reliable variance between questions."""


@dataclass(frozen=True, slots=True)
class HallucinationEstimate:
    """A share in [0, 1], or a difference of two shares in [-1, 1], with its interval.

    rate, lower, upper: all None, never 0 or NaN, if the share is undefined (zero denominator); reason then says why.
    level: nominal coverage.
    questions: number of questions with a response in the denominator.
    responses: number of responses in the denominator.
    event_questions: number of questions with an event (for a difference: with a discordant pair).
    other_questions: number of questions with the opposite event (for a difference: questions that do not change
        completely in one direction).
    method: method of the interval.
    effective_size: number of independent responses that carry as much information as these clustered ones, or None if
        the method does not define it.
    seed: seed of the bootstrap; None for other methods.
    reliable: False if the method is not known to keep its level; reason then says why.
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
            raise ValueError("an unreliable estimate needs a reason")

    @property
    def defined(self) -> bool:
        """Whether the denominator is above zero."""
        return self.rate is not None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One quantity with the default interval and two alternative intervals."""

    default: HallucinationEstimate
    clustered_t: HallucinationEstimate
    bca: HallucinationEstimate


def undefined(level: float, reason: str) -> HallucinationEstimate:
    """Return an undefined estimate, for a quantity without a response in its denominator."""
    return HallucinationEstimate(None, None, None, level, 0, 0, 0, 0, "undefined", reliable=False, reason=reason)


def unmeasured(level: float, reason: str) -> Measurement:
    """Return a measurement that is undefined for all three methods."""
    nothing = undefined(level, reason)
    return Measurement(nothing, nothing, nothing)


def few_events(event_questions: int, other_questions: int, event: str = "an event") -> str:
    """Return the reason why clustered t and BCa are unreliable, or "" if they are reliable.

    event: description of an event, for the reason.

    Both methods use the variance between questions. With fewer than 10 questions on either side that variance is poorly
    estimated. With none it is zero.
    """
    if event_questions < RELIABLE_EVENTS:
        return f"only {event_questions} questions with {event} (10 are needed)"
    if other_questions < RELIABLE_EVENTS:
        return f"only {other_questions} questions without {event} throughout (10 are needed)"
    return ""
