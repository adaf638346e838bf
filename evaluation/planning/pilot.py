"""Fit a model of the variation between questions to a pilot. Planned runs are simulated from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from evaluation.errors import EvaluationError
from evaluation.statistics.counts import ArmCounts, Floats

_GRID = (np.arange(2000) + 0.5) / 2000
FEWEST_QUESTIONS = 5


@dataclass(frozen=True, slots=True)
class PilotData:
    """Counts of a pilot: (N questions, A arms), A = 1 or 2.

    hallucinated, samples: numbers of hallucinated and of all responses.
    """

    hallucinated: Floats
    samples: Floats

    def __post_init__(self) -> None:
        if self.hallucinated.shape != self.samples.shape or self.hallucinated.ndim != 2:
            raise ValueError(
                f"{self.hallucinated.shape} and {self.samples.shape}: both shapes must be (questions, arms)"
            )
        if len(self.samples) < FEWEST_QUESTIONS:
            raise EvaluationError(
                f"the pilot has {len(self.samples)} questions: at least {FEWEST_QUESTIONS} are needed to plan from"
            )
        if np.any(self.samples < 1) or np.any(self.hallucinated > self.samples) or np.any(self.hallucinated < 0):
            raise ValueError("every question needs a response in every arm, and no more hallucinated than responses")


@dataclass(frozen=True, slots=True)
class QuestionModel:
    """Distribution of the question rates in each arm: beta with mean ``rates[a]`` and correlation ``within[a]``.

    within: intra-question correlation of each arm.
    together: dependence of the two arms' rates, -1 to 1; 0 for one arm. With probability |together| a question is at
        the same quantile in both arms (at the opposite one for a negative value), else the arms are independent.
    assumed: descriptions of the parameters that the pilot cannot determine, with the assumed values.
    """

    rates: tuple[float, ...]
    within: tuple[float, ...]
    together: float
    assumed: tuple[str, ...] = ()

    def quantile(self, arm: int, u: Floats) -> Floats:
        """Return the question rates of the arm at quantiles u, in the shape of u."""
        rate, within = self.rates[arm], self.within[arm]
        if within <= 1e-6 or rate in (0.0, 1.0):
            return np.full_like(u, rate)
        if within >= 1.0 - 1e-6:
            return (u > 1.0 - rate).astype(np.float64)
        k = 1.0 / within - 1.0
        found: Floats = stats.beta.ppf(u, rate * k, (1.0 - rate) * k)
        return found

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, ...]:
        """Draw question rates of each arm, each of ``shape`` (replicates, questions), from quantiles on a fine grid."""
        u = rng.random(shape)
        own = [u]
        if len(self.rates) > 1:
            matched = 1.0 - u if self.together < 0 else u
            own.append(np.where(rng.random(shape) < abs(self.together), matched, rng.random(shape)))
        return tuple(
            self.quantile(arm, _GRID)[np.minimum((v * _GRID.size).astype(np.intp), _GRID.size - 1)]
            for arm, v in enumerate(own)
        )


def pilot_of(one: ArmCounts, two: ArmCounts | None = None) -> PilotData:
    """Return the pilot's counts on the questions that all its arms have. Raises EvaluationError if they are too few."""
    ids = sorted(set(one.question_ids) & set(two.question_ids)) if two is not None else list(one.question_ids)
    tables = [one.matrix(ids)] if two is None else [one.matrix(ids), two.matrix(ids)]
    return PilotData(
        np.stack([t[:, 0] for t in tables], axis=1).reshape(-1, len(tables)),
        np.stack([t.sum(axis=1) for t in tables], axis=1).reshape(-1, len(tables)),
    )


def fit(pilot: PilotData, within_if_unknown: float = 0.5) -> QuestionModel:
    """Fit the model by moments.

    within_if_unknown: intra-question correlation to assume if the pilot cannot determine it.

    With rate p, the variance of the true rates is t^2 = var(h) - mean(h (1 - h) / (n - 1)), and the correlation is
    t^2 / (p (1 - p)). The covariance of the two arms' rates is that of their shares, because their samples are
    independent given the question.

    A pilot with one sample per question cannot determine the intra-question correlation. A pilot with only one outcome
    cannot determine the rate either, which is then (x + 1/2) / (N + 1).
    """
    h = pilot.hallucinated / pilot.samples
    rates, within, spread, assumed = [], [], [], []
    for arm in range(h.shape[1]):
        share, n = h[:, arm], pilot.samples[:, arm]
        rate = float(share.mean())
        if rate in (0.0, 1.0):
            rate = float((share.sum() + 0.5) / (share.size + 1.0))
            assumed.append(f"arm {arm + 1}: the pilot has only one outcome, so its rate is taken as {rate:.3f}")
        several = n > 1
        if np.count_nonzero(several) < FEWEST_QUESTIONS or share.std() == 0.0:
            correlation = within_if_unknown
            assumed.append(f"arm {arm + 1}: intra-question correlation is unknown and is assumed {correlation}")
        else:
            chosen, m = share[several], n[several]
            between = float(chosen.var(ddof=1) - (chosen * (1.0 - chosen) / (m - 1.0)).mean())
            correlation = float(np.clip(between / (rate * (1.0 - rate)), 0.0, 1.0))
        rates.append(rate)
        within.append(correlation)
        spread.append(share)
    model = QuestionModel(tuple(rates), tuple(within), 0.0, tuple(assumed))
    if len(rates) < 2:
        return model
    covariance = float(np.cov(spread[0], spread[1])[0, 1])
    one, two = model.quantile(0, _GRID), model.quantile(1, _GRID)
    most = float(np.cov(one, two if covariance >= 0 else two[::-1])[0, 1])
    together = float(np.clip(covariance / abs(most), -1.0, 1.0)) if abs(most) > 1e-9 else 0.0
    return QuestionModel(tuple(rates), tuple(within), together, tuple(assumed))


def resampled(pilot: PilotData, rng: np.random.Generator) -> PilotData:
    """Resample the pilot's questions with replacement."""
    rows = rng.integers(0, len(pilot.samples), size=len(pilot.samples))
    return PilotData(pilot.hallucinated[rows], pilot.samples[rows])


def simulated_pilots(
    model: QuestionModel, questions: int, samples: int, count: int, seed: int, within_if_unknown: float = 0.5
) -> tuple[QuestionModel, ...]:
    """Simulate ``count`` pilots of the given size from the model, for planning without a pilot.

    Raises EvaluationError for fewer than 5 questions.
    """
    rng = np.random.default_rng([seed, questions, samples, count])
    found = []
    for _ in range(count):
        h = [rng.binomial(samples, rates[0]) for rates in model.draw(rng, (1, questions))]
        table = np.stack(h, axis=1).astype(np.float64)
        found.append(fit(PilotData(table, np.full(table.shape, float(samples))), within_if_unknown))
    return tuple(found)


def with_difference(model: QuestionModel, difference: float) -> QuestionModel:
    """Shift the second arm's rate so that the first's minus the second's is ``difference``.

    Correlations do not change. Raises EvaluationError if the second rate would be outside [0, 1], and ValueError for
    one arm.
    """
    if len(model.rates) != 2:
        raise ValueError("a difference needs two arms")
    other = model.rates[0] - difference
    if not 0.0 <= other <= 1.0:
        raise EvaluationError(
            f"a difference of {difference:+.3f} from a rate of {model.rates[0]:.3f} would be a rate of {other:.3f}: "
            "plan for a smaller one"
        )
    return replace(model, rates=(model.rates[0], other))
