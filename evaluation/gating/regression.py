"""Test of whether a run is worse than the baseline beyond noise: paired by question, one-sided, family-wise level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from evaluation.errors import BaselineError, EvaluationError
from evaluation.gating.baseline import Baseline, Counts
from evaluation.outcomes import OUTCOMES
from evaluation.statistics.counts import Floats, shares
from evaluation.statistics.measure import Resampler, Settings, mean_responses
from evaluation.statistics.paired import measure_fixed_minus_broken
from evaluation.statistics.scored_pairs import NO_PAIR, ScoredPairs, paired_outcomes

Quantity = Literal["hallucinated", "supported"]
QUANTITIES: Final[tuple[Quantity, ...]] = ("hallucinated", "supported")
_SUPPORTED: Final = OUTCOMES.index("supported")
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparison of one arm and quantity with the baseline.

    "supported" is a share of all responses. "hallucinated" is a share of the pairs of responses that are both scored,
    because an unscored answer is not an answer without hallucinations.

    before, after: shares of the baseline and of the run. change: after minus before. lower, upper: its one-sided
    limits.
    worse_by: one-sided lower limit of the change for the worse (up for hallucinated, down for supported).
    regressed: whether worse_by is above the margin, or nothing can be compared. In the latter case the figures are None
    and ``reason`` says why.
    unscored: number of questions left out because no pair of their responses is scored.
    worst: questions that changed most for the worse, at most ten.
    """

    arm: str
    quantity: Quantity
    questions: int
    before: float | None
    after: float | None
    change: float | None
    lower: float | None
    upper: float | None
    worse_by: float | None
    regressed: bool
    worst: tuple[str, ...]
    unscored: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GateReport:
    """Result of a gate.

    run, baseline: IDs of the two runs.
    level: level of the entire family of one-sided tests.
    margin: tolerated change.
    broken: violated premises, as text.
    changed: permitted changes that happened, as text.
    compared: all tests.
    conditions: additional failure conditions that are met, as text.
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
    """Return the reasons why the two cannot be compared. other_questions: whether another question set is allowed."""
    fixed = ["verifier", *([] if other_questions else ["questions"]), "samples", "decoding"]
    return [
        f"{name}: the baseline has {baseline.premises.get(name, '')!r}, the run has {premises.get(name, '')!r}"
        for name in fixed
        if baseline.premises.get(name) != premises.get(name)
    ]


def changed_premises(baseline: Baseline, premises: Mapping[str, str]) -> list[str]:
    """Return the permitted changes since the baseline."""
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

    level: level of the family, in (0.5, 1). Each one-sided test uses 1 - (1 - level) / tests (Bonferroni). margin:
    tolerated change for the worse. Raises EvaluationError for an invalid level or margin, or an arm that the run lacks.
    Raises BaselineError for fewer than 2 shared questions.
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
            raise BaselineError(
                f"baseline and run have {len(ids)} questions of {arm!r} in common: write a new baseline"
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
    pairs = paired_outcomes(one, two) if quantity == "hallucinated" else _supported(one, two)
    compared = [q for q, used in zip(ids, pairs.used, strict=True) if used]
    left_out = len(ids) - len(compared)
    if not compared:
        nothing = (None, None, None, None, None, None)
        return Compared(arm, quantity, 0, *nothing, True, (), left_out, NO_PAIR)
    measured = measure_fixed_minus_broken(
        pairs.broken, pairs.fixed, pairs.weight, pairs.responses, pairs.independent, resampler
    ).default
    worse, lowest, highest = (float(v or 0.0) for v in (measured.rate, measured.lower, measured.upper))
    sign = 1.0 if quantity == "hallucinated" else -1.0
    lower, upper = sorted((sign * lowest, sign * highest))
    bad_before, bad_after = (float(bad.sum() / pairs.weight.sum()) for bad in (pairs.first, pairs.second))
    share_before, share_after = (
        (bad_before, bad_after) if quantity == "hallucinated" else (1.0 - bad_before, 1.0 - bad_after)
    )
    order = sorted(range(len(compared)), key=lambda i: (pairs.change[i], compared[i]))
    return Compared(
        arm,
        quantity,
        len(compared),
        share_before,
        share_after,
        sign * worse + 0.0,  # avoids -0.0
        lower + 0.0,
        upper + 0.0,
        lowest,
        lowest > margin,
        tuple(compared[i] for i in order[:10] if pairs.change[i] < 0),
        left_out,
    )


def _supported(one: Floats, two: Floats) -> ScoredPairs:
    """Return pairs of all responses, with "not supported" in place of hallucinated.

    Unscored and abstained responses count as not supported, because a gate requires confirmed answers.
    """
    bad1, bad2 = (1.0 - shares(counts)[:, _SUPPORTED] for counts in (one, two))
    return ScoredPairs(
        np.ones(len(one), dtype=bool),
        np.ones(len(one)),
        bad1 * (1.0 - bad2),
        bad2 * (1.0 - bad1),
        bad1,
        bad2,
        int(one.sum() + two.sum()),
        mean_responses(np.minimum(one.sum(axis=1), two.sum(axis=1))),
    )
