"""Test whether a run is worse than the baseline beyond noise: paired by question, one-sided, family-wise level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.gating.baseline import Baseline, Counts
from evaluation.statistics.counts import shares
from evaluation.statistics.measure import Resampler, Settings, mean_responses
from evaluation.statistics.paired import measure_fixed_minus_broken

Quantity = Literal["hallucinated", "supported"]
QUANTITIES: Final[tuple[Quantity, ...]] = ("hallucinated", "supported")
_PLACE: Final = {"hallucinated": 0, "supported": 1}
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparison of one arm and quantity. worst: questions with the largest changes for the worse, at most ten.

    change: run minus baseline, in shares of all responses; lower, upper: its one-sided limits.
    worse: change for the worse (up for hallucinated, down for supported); worse_by: its one-sided lower limit.
    regressed: whether worse_by is above the margin.
    """

    arm: str
    quantity: Quantity
    questions: int
    before: float
    after: float
    change: float
    lower: float
    upper: float
    worse_by: float
    regressed: bool
    worst: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateReport:
    """Result of a gate. run, baseline: ids.

    level: of the whole family of one-sided tests.
    margin: tolerated change.
    broken: violated premises, in words.
    changed: permitted changes that happened, in words.
    compared: all tests.
    conditions: additional failure conditions that are met, in words.
    """

    run: str
    baseline: str
    level: float
    margin: float
    broken: tuple[str, ...]
    changed: tuple[str, ...]
    compared: tuple[Compared, ...]
    conditions: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the gate fails."""
        return bool(self.broken or self.conditions or any(one.regressed for one in self.compared))


def broken_premises(baseline: Baseline, premises: Mapping[str, str], other_questions: bool) -> list[str]:
    """Reasons why the two cannot be compared. other_questions: whether another question set is allowed."""
    fixed = ["verifier", *([] if other_questions else ["questions"]), "samples", "decoding"]
    return [
        f"{name}: the baseline has {baseline.premises.get(name, '')!r}, the run has {premises.get(name, '')!r}"
        for name in fixed
        if baseline.premises.get(name) != premises.get(name)
    ]


def changed_premises(baseline: Baseline, premises: Mapping[str, str]) -> list[str]:
    """Permitted changes since the baseline."""
    return [
        f"{name}: {baseline.premises.get(name, '')[:16] or 'none'} → {premises.get(name, '')[:16] or 'none'}"
        for name in ("model", "collection", "evidence", "encoder", "version", "questions")
        if baseline.premises.get(name) != premises.get(name)
    ]


def compare_to_baseline(
    baseline: Baseline,
    counts: Mapping[str, Mapping[str, Counts]],
    questions: Mapping[str, str],
    *,
    level: float,
    margin: float,
) -> tuple[Compared, ...]:
    """Compare every arm and quantity of the baseline, on questions that are the same in both.

    level: in (0.5, 1), of the family: each one-sided test uses 1 - (1 - level) / tests (Bonferroni). Raises
    EvaluationError for an invalid level or margin, an arm that the run lacks, or fewer than 2 shared questions.
    """
    if not 0.5 < level < 1:
        raise EvaluationError(f"the level is {level}: it must be above 0.5 and below 1, e.g. 0.95")
    if not 0 <= margin < 1:
        raise EvaluationError(f"the margin is {margin}: it must be a share, at least 0 and below 1")
    missing = sorted(set(baseline.counts) - set(counts))
    if missing:
        raise EvaluationError(f"the run has no arm {missing[0]!r}, which the baseline has: evaluate the same arms")
    tests = len(baseline.counts) * len(QUANTITIES)
    one_sided = 1 - (1 - level) / tests
    resampler = Resampler(Settings(level=2 * one_sided - 1, bootstrap=100, permutations=99))
    compared = []
    for arm, before in baseline.counts.items():
        after = counts[arm]
        ids = sorted(q for q in set(before) & set(after) if baseline.questions.get(q) == questions.get(q))
        if len(ids) < _FEWEST:
            raise EvaluationError(
                f"baseline and run have {len(ids)} questions of {arm!r} in common: renew the baseline (--renew)"
            )
        compared += [_compared(arm, name, ids, before, after, margin, resampler) for name in QUANTITIES]
    return tuple(compared)


def _compared(
    arm: str,
    quantity: Quantity,
    ids: Sequence[str],
    before: Mapping[str, Counts],
    after: Mapping[str, Counts],
    margin: float,
    resampler: Resampler,
) -> Compared:
    one, two = (np.array([rows[q] for q in ids], dtype=np.float64) for rows in (before, after))
    place = _PLACE[quantity]
    had, has = shares(one)[:, place], shares(two)[:, place]
    bad_before, bad_after = (had, has) if quantity == "hallucinated" else (1.0 - had, 1.0 - has)
    fixed, broken = bad_before * (1.0 - bad_after), bad_after * (1.0 - bad_before)
    samples = np.minimum(one.sum(axis=1), two.sum(axis=1))
    responses = int(one.sum() + two.sum())
    measured = measure_fixed_minus_broken(
        broken, fixed, np.ones(len(ids)), responses, mean_responses(samples), resampler
    ).default
    worse, lowest, highest = (float(v or 0.0) for v in (measured.rate, measured.lower, measured.upper))
    sign = 1.0 if quantity == "hallucinated" else -1.0
    lower, upper = sorted((sign * lowest, sign * highest))
    order = sorted(range(len(ids)), key=lambda i: (bad_before[i] - bad_after[i], ids[i]))
    worst = tuple(ids[i] for i in order[:10] if bad_after[i] > bad_before[i])
    regressed = lowest > margin
    return Compared(
        arm,
        quantity,
        len(ids),
        float(had.mean()),
        float(has.mean()),
        sign * worse + 0.0,  # no -0.0
        lower + 0.0,
        upper + 0.0,
        lowest,
        regressed,
        worst,
    )
