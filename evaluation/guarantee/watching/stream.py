"""Monitoring of the rate among answers in service, from audited answers drawn with known probabilities.

RateWatch combines two test martingales (Ville 1939). The alarm bets against r <= alpha. While the rate is at most
alpha, it is ever raised with probability at most delta. To detect a rise after a long good period, the alarm's capital
is split over gamblers who start at every answer t with 1 / (t (t + 1)) of it (a mixture of martingales is a martingale;
for changes: Shin, Ramdas and Rinaldo 2024, "E-detectors").

The confidence sequence is the set of rates m for which neither "the rate is at most m" nor "at least m" is rejected. It
covers the rate at all times together with probability at least 1 - delta (Waudby-Smith and Ramdas 2024, section 4, with
the mean of constant bets in place of a predictable one). Both update one answer at a time in constant memory.

An audited answer with drawing probability pi represents 1 / pi answers. Its value is (h - m) / pi, that of an unaudited
answer is 0, and the mean over all answers is r - m. The capital's factor is 1 + b (floor / pi) (h - m) / m, where floor
is the smallest probability ever used and 0 < b < 1, so the capital stays positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.guarantee.betting import mean_capital
from evaluation.guarantee.levels import check_level
from evaluation.statistics.counts import Floats

BETS: Floats = np.concatenate([np.geomspace(0.005, 0.2, 10), np.linspace(0.25, 0.95, 8)])
"""Bets, as shares of the largest bet that keeps the capital positive."""
RATES: Floats = np.linspace(0.0, 1.0, 201)
"""Grid of rates of the confidence sequence."""
_REFUTED = 1e6


@dataclass(frozen=True, slots=True)
class WatchReading:
    """State of a watch after ``audited`` answers.

    rate: observed rate, weighted by the drawing probabilities; None before the first answer. lower, upper: limits of
    its confidence sequence. changed: whether no constant rate fits the entire stream; lower and upper are then
    meaningless.
    log_capital: log capital of the alarm's martingale. most: its maximum so far. raised: whether it ever reached log(1
    / delta). raised_after: number of audited answers until then, None if the alarm was not raised.
    """

    audited: int
    rate: float | None
    lower: float
    upper: float
    log_capital: float
    changed: bool
    most: float
    raised: bool
    raised_after: int | None


class RateWatch:
    """A sequential monitor of the rate, which takes audited answers one by one.

    The state has a small, fixed size; ``reading`` may be called at any time.
    """

    def __init__(self, alpha: float | None, delta: float = 0.05, floor: float = 1.0) -> None:
        """Start a watch.

        alpha: certified rate; None for the confidence sequence alone, without an alarm. delta: the alarm's false-alarm
        rate, and 1 minus the sequence's coverage, over the entire life of the watch. floor: smallest drawing
        probability that will be used. Raises EvaluationError for values outside their ranges.
        """
        self.alpha, self.delta = None if alpha is None else check_level("alpha", alpha), check_level("delta", delta)
        if not 0.0 < floor <= 1.0:
            raise EvaluationError(f"the smallest drawing probability is {floor:g}: it must be above 0 and at most 1")
        self.floor = floor
        self._audited, self._weight, self._events = 0, 0.0, 0.0
        self._alarm = np.full(BETS.size, -np.inf)
        self._above = np.zeros((RATES.size, BETS.size))  # against "the rate is at most m"
        self._below = np.zeros((RATES.size, BETS.size))
        self._lower, self._upper = 0.0, 1.0
        self._most = 0.0
        self._raised_after: int | None = None

    def lower_floor(self, probability: float) -> None:
        """Use this smallest drawing probability from the next answer on, if it is below the present one.

        Later bets become smaller; earlier bets stay. This is valid if the probability was lowered without regard to the
        answers that it applies to, such as by a setting of the service. Raises EvaluationError unless it is in (0, 1].
        """
        if not 0.0 < probability <= 1.0:
            raise EvaluationError(f"the drawing probability is {probability:g}: it must be above 0 and at most 1")
        self.floor = min(self.floor, probability)

    def add(self, hallucinated: bool, probability: float = 1.0) -> None:
        """Add one audited answer with its drawing probability. An unscored label counts as hallucinated.

        Raises EvaluationError for a probability below the floor or above 1.
        """
        if not self.floor - 1e-12 <= probability <= 1.0:
            raise EvaluationError(f"the drawing probability is {probability:g}: it must lie in [{self.floor:g}, 1]")
        h, size = float(hallucinated), self.floor / probability
        self._audited += 1
        self._weight += 1.0 / probability
        self._events += h / probability
        if self.alpha is not None:
            self._alarm = after_answer(self._alarm, log_factors(h, self.alpha, size), self._audited)
        self._above += log_factors(h, RATES, size)
        self._below += log_factors(1.0 - h, 1.0 - RATES, size)
        # Half of delta for each side of the sequence.
        limit = math.log(2.0 / self.delta)
        self._lower = max(self._lower, _lowest(mean_capital(self._above) < limit))
        self._upper = min(self._upper, _highest(mean_capital(self._below) < limit))
        capital = self._log_capital
        self._most = max(self._most, capital)
        if self._raised_after is None and capital >= math.log(1.0 / self.delta):
            self._raised_after = self._audited

    @property
    def _log_capital(self) -> float:
        if self.alpha is None or not self._audited:
            return 0.0
        return float(alarm_capital(self._alarm, self._audited))

    @property
    def reading(self) -> WatchReading:
        """Current state of the watch."""
        return WatchReading(
            self._audited,
            self._events / self._weight if self._weight else None,
            min(self._lower, self._upper),
            max(self._lower, self._upper),
            self._log_capital,
            self._lower > self._upper,
            self._most,
            self._raised_after is not None,
            self._raised_after,
        )


def log_factors(event: float | Floats, rate: float | Floats, size: float | Floats = 1.0) -> Floats:
    """Return log(1 + b size (event - m) / m) for every bet b: the capital's factor against "the mean is at most m".

    event: in [0, 1]. rate: m; any event refutes a mean of 0. size: in (0, 1]. Shapes (...) -> (..., B).
    """
    m, x = np.asarray(rate, dtype=np.float64), np.asarray(event, dtype=np.float64)
    ratio = np.where(m > 0, (x - m) / np.where(m > 0, m, 1.0), np.where(x > 0, _REFUTED, 0.0))
    result: Floats = np.log1p(BETS * np.asarray(size * ratio)[..., None])
    return result


def after_answer(capital: Floats, factors: Floats, number: int) -> Floats:
    """Return the alarm's log capital by bet after answer ``number`` (from 1), including the gambler who starts now.

    S_t = (S_{t-1} + 1 / (t (t + 1))) times the factor of answer t; before the first answer -infinity. Shape (..., B).
    """
    result: Floats = np.logaddexp(capital, -math.log(number * (number + 1.0))) + factors
    return result


def alarm_capital(capital: Floats, number: int) -> Floats:
    """Return the log of all capital after answer ``number``.

    It is the mean over bets, plus the 1 / (t + 1) that is not staked yet.
    """
    result: Floats = np.logaddexp(mean_capital(capital), -math.log(number + 1.0))
    return result


def _lowest(possible: NDArray[np.bool_]) -> float:
    """Return the smallest possible rate of the grid, minus one step.

    The step is subtracted because rates between two grid points are unresolved.
    """
    index = int(np.argmax(possible)) if possible.any() else RATES.size - 1
    return float(RATES[max(0, index - 1)])


def _highest(possible: NDArray[np.bool_]) -> float:
    """Return the greatest possible rate of the grid, plus one step."""
    index = RATES.size - 1 - int(np.argmax(possible[::-1])) if possible.any() else 0
    return float(RATES[min(RATES.size - 1, index + 1)])
