"""Summarise a run in numbers, for the CLI's table and the report."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.outcomes import OUTCOMES
from evaluation.policy_names import is_policy
from evaluation.statistics.counts import ArmCounts, Floats, OutcomeTable, shares
from evaluation.statistics.estimates import Measurement
from evaluation.statistics.measure import Resampler, Settings, mean_responses, measure_ratio
from evaluation.statistics.paired import measure_fixed_minus_broken, measure_ratio_difference
from evaluation.statistics.permutation import holm
from evaluation.statistics.run_summary import (
    ArmSummary,
    BothAnswered,
    DifferenceBounds,
    PairSummary,
    QuestionChange,
    RunSummary,
)
from evaluation.statistics.scored_pairs import paired_outcomes

HALLUCINATED, SUPPORTED, ABSTAINED, UNSCORED = range(4)


def default_pairs(arms: Sequence[str], baseline: str) -> tuple[tuple[str, str], ...]:
    """Return the comparisons declared before the run: each arm against the baseline, and rag against oracle.

    An arm with modifiers ("rag+injection") is compared with the arm that has fewer of them ("rag") if the run has it.
    The difference is then the effect of the modifier. An arm with policies ("rag+strip+abstain") is compared with the
    arm without policies.
    """
    pairs = []
    for arm in arms:
        against = _plainer(arm, arms) or baseline
        if arm != baseline and against in arms:
            pairs.append((against, arm))
    if "rag" in arms and "oracle" in arms and baseline not in ("rag", "oracle"):
        pairs.append(("rag", "oracle"))
    return tuple(pairs)


def _plainer(arm: str, arms: Sequence[str]) -> str:
    """Return the existing arm with fewer modifiers that shares the most of this arm's; "" if there is none."""
    parts = arm.split("+")
    drawn = [part for part in parts if not is_policy(part)]
    if len(drawn) < len(parts):
        name = "+".join(drawn)
        return name if name in arms else ""
    return next((name for n in range(len(parts) - 1, 0, -1) if (name := "+".join(parts[:n])) in arms), "")


def summarise(
    table: OutcomeTable,
    baseline: str = "closed_book",
    pairs: Sequence[tuple[str, str]] | None = None,
    settings: Settings | None = None,
    excluded: Collection[str] = (),
) -> RunSummary:
    """Summarise a run. The result depends only on the arguments.

    baseline: name of the arm with which the others are compared by default.
    pairs: (baseline, other) arms to compare. They are the family of Holm's correction; ``default_pairs`` by default.
    excluded: IDs of questions that count in the arms' own rates but in no difference.

    A pair with only excluded questions is left out.

    Raises EvaluationError if a pair names an unknown arm, names one arm twice, or has no question in common.
    """
    settings = settings or Settings()
    resampler = Resampler(settings)
    if pairs is None:
        pairs = default_pairs([a.arm for a in table.arms], baseline)
    left_out = frozenset(excluded)
    both = [_compare(table.arm(one), table.arm(two), left_out, resampler) for one, two in pairs]
    compared = [pair for pair in both if pair is not None]
    # The family is declared before the run, so a pair that cannot be tested stays in it with p = 1.
    adjusted = holm([pair.test.p_value if pair.test else 1.0 for pair in compared])
    return RunSummary(
        settings,
        baseline,
        tuple(_arm_summary(arm, resampler) for arm in table.arms),
        tuple(replace(pair, p_holm=p if pair.test else None) for pair, p in zip(compared, adjusted, strict=True)),
    )


def _arm_summary(arm: ArmCounts, resampler: Resampler) -> ArmSummary:
    counts = arm.matrix()
    samples = counts.sum(axis=1)
    share = shares(counts)
    responses = int(samples.sum())
    independent = mean_responses(samples)
    ones = np.ones(len(counts))

    def over_all(h: Floats, event: str) -> Measurement:
        return measure_ratio(h, ones, responses, resampler, independent, event)

    rates = [over_all(share[:, i], f"a response that is {outcome}") for i, outcome in enumerate(OUTCOMES)]
    halls = share[:, HALLUCINATED]
    answered, scored = halls + share[:, SUPPORTED], 1.0 - share[:, UNSCORED]
    scored = np.where(counts[:, UNSCORED] == samples, 0.0, scored)
    answers = int(counts[:, [HALLUCINATED, SUPPORTED]].sum())
    event = "a hallucination"
    pessimistic = halls + share[:, UNSCORED]
    pessimistic = np.where(counts[:, HALLUCINATED] + counts[:, UNSCORED] == samples, 1.0, pessimistic)
    return ArmSummary(
        arm.arm,
        len(counts),
        responses,
        int(samples.min()),
        int(samples.max()),
        rates[HALLUCINATED],
        rates[SUPPORTED],
        rates[ABSTAINED],
        rates[UNSCORED],
        measure_ratio(halls, answered, answers, resampler, event=event),
        measure_ratio(halls, scored, responses - int(counts[:, UNSCORED].sum()), resampler, event=event),
        rates[HALLUCINATED].default,
        over_all(pessimistic, event).default,
    )


def _compare(one: ArmCounts, two: ArmCounts, excluded: frozenset[str], resampler: Resampler) -> PairSummary | None:
    """Compare two arms. Returns None if they share questions but none of these can be compared."""
    if one.arm == two.arm:
        raise EvaluationError(f"arm {one.arm!r} cannot be compared with itself: name two different arms")
    shared = set(one.question_ids) & set(two.question_ids)
    if not shared:
        raise EvaluationError(
            f"arms {one.arm!r} and {two.arm!r} have no question in common: run both on the same questions"
        )
    ids = sorted(shared - excluded)
    if not ids:
        return None
    counts1, counts2 = one.matrix(ids), two.matrix(ids)
    s1, s2 = shares(counts1), shares(counts2)
    h1, h2 = s1[:, HALLUCINATED], s2[:, HALLUCINATED]
    a1, a2 = h1 + s1[:, SUPPORTED], h2 + s2[:, SUPPORTED]
    answers1 = int(counts1[:, [HALLUCINATED, SUPPORTED]].sum())
    answers2 = int(counts2[:, [HALLUCINATED, SUPPORTED]].sum())
    outcomes = paired_outcomes(counts1, counts2)
    scored_ids = [i for i, used in zip(ids, outcomes.used, strict=True) if used]
    changes = [
        QuestionChange(i, float(f), float(b))
        for i, f, b in zip(scored_ids, outcomes.fixed, outcomes.broken, strict=True)
    ]
    difference, fixed, broken = outcomes.measure(resampler)
    return PairSummary(
        one.arm,
        two.arm,
        len(scored_ids),
        len(set(one.question_ids) ^ set(two.question_ids)),
        difference,
        DifferenceBounds(float((h1 - h2 - s2[:, UNSCORED]).mean()), float((h1 + s1[:, UNSCORED] - h2).mean())),
        fixed,
        broken,
        float(outcomes.fixed.sum()) if scored_ids else None,
        float(outcomes.broken.sum()) if scored_ids else None,
        tuple(tuple(float(v) for v in row) for row in s1.T @ s2 / len(ids)),
        measure_ratio_difference(h1, a1, h2, a2, answers1, answers2, resampler),
        _both_answered(s1, s2, counts1, counts2, resampler),
        outcomes.test(resampler.settings),
        None,
        tuple(sorted(changes, key=lambda c: (-c.broken, -c.fixed, c.question_id))),
        len(shared & excluded),
        len(ids) - len(scored_ids),
        float(outcomes.weight.sum() / len(ids)),
    )


def _both_answered(s1: Floats, s2: Floats, counts1: Floats, counts2: Floats, resampler: Resampler) -> BothAnswered:
    """Return the rates over pairs that both arms answered, each question weighted by its share of such pairs."""
    h1, h2, v1, v2 = s1[:, HALLUCINATED], s2[:, HALLUCINATED], s1[:, SUPPORTED], s2[:, SUPPORTED]
    both, fixed, broken = (h1 + v1) * (h2 + v2), h1 * v2, h2 * v1
    kinds = [HALLUCINATED, SUPPORTED]
    answers = np.stack([counts1[:, kinds].sum(axis=1), counts2[:, kinds].sum(axis=1)])
    used = answers.min(axis=0) > 0
    responses, independent = int(answers[:, used].sum()), float(answers.min(axis=0).sum())
    concordant = h1 * h2

    def among(h: Floats, event: str) -> Measurement:
        return measure_ratio(np.minimum(h, both), both, responses, resampler, independent, event)

    return BothAnswered(
        float(both.mean()),
        among(fixed + concordant, "a hallucination"),
        among(broken + concordant, "a hallucination"),
        among(fixed, "a fixed answer"),
        among(broken, "a broken answer"),
        measure_fixed_minus_broken(fixed, broken, both, responses, independent, resampler),
    )
