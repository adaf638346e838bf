"""Noticing that a run has collapsed: its loss has risen well above where it began, and stays there.

A warm start at too high a rate, or rows that contradict each other, can end in one constant output within a hundred
steps; the run then goes on for an hour and looks busy. A run from nothing that does not learn yet stands where it began
and is not meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FIRST_STEPS: Final = 20
"""Steps whose mean loss is where a run began."""
_EARLIEST: Final = 300
_RISE: Final = 1.5
"""Measured on four warm starts of 2026-11-23 and -24. The one that collapsed stood at 1.6 times its beginning from some
step before 150 to its end. Two that came back, of 638 and 467 steps, were at 1.4 and 1.5 times at step 100 (and warned
of in vain, at 1.25 from step 100), the second at 1.8 by step 167; at 0.9 and 1.1 by step 300. The fourth was never
above 1.17."""


@dataclass(frozen=True, slots=True)
class FirstLosses:
    """Sum and number of the first losses of a run, at most ``FIRST_STEPS`` of them."""

    total: float = 0.0
    count: int = 0

    def and_then(self, loss: float) -> FirstLosses:
        """With one loss more, as long as there is room."""
        return self if self.count >= FIRST_STEPS else FirstLosses(self.total + loss, self.count + 1)

    @property
    def mean(self) -> float | None:
        """Where the run began; None until there are ``FIRST_STEPS`` losses."""
        return self.total / self.count if self.count >= FIRST_STEPS else None


def has_collapsed(step: int, loss: float, began: float | None) -> bool:
    """Whether a run that began at the loss ``began`` is lost at ``step`` (steps done), its recent mean being ``loss``.

    False where ``began`` is None (too early, or a checkpoint of before this was noted) or not positive.
    """
    return began is not None and began > 0 and step >= _EARLIEST and loss > _RISE * began
