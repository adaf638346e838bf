"""Detect a collapsed run: its loss has risen well above its initial value, and stays there.

A warm start at too high a rate, or contradictory rows, can end in constant output within a hundred steps, and the run
then wastes an hour. A run from scratch that has not learned yet stays at its initial loss and is not affected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FIRST_STEPS: Final = 20
"""Number of steps whose mean loss is the initial loss."""
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
        """Return the sum with one more loss, up to the limit."""
        return self if self.count >= FIRST_STEPS else FirstLosses(self.total + loss, self.count + 1)

    @property
    def mean(self) -> float | None:
        """The initial loss; None until there are ``FIRST_STEPS`` losses."""
        return self.total / self.count if self.count >= FIRST_STEPS else None


def has_collapsed(step: int, loss: float, began: float | None) -> bool:
    """Return whether a run with initial loss ``began`` has collapsed at ``step``, given its recent mean ``loss``.

    step: steps done. False if ``began`` is None (too early, or a checkpoint without it) or not positive.
    """
    return began is not None and began > 0 and step >= _EARLIEST and loss > _RISE * began
