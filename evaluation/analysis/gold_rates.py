"""Comparison of rates by gold passages and by retrieved evidence, with the same claims, scorer and threshold.

All functions are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from data.questions import Question
from evaluation.analysis.arrays import shares_by_question
from evaluation.analysis.gold_judging import names_gold
from evaluation.analysis.retrieval_part import SampleKey
from evaluation.outcomes import Outcome
from evaluation.runs.records import SampleRecord
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.measure import Resampler, mean_responses, measure_ratio
from evaluation.statistics.paired import measure_fixed_minus_broken

_JUDGED = ("hallucinated", "supported")
_SCORED = (*_JUDGED, "abstained")


@dataclass(frozen=True, slots=True)
class BothOutcomes:
    """Outcomes of a run's answers by retrieved evidence and by gold passages.

    fetched_by, gold_by: names of the two verifiers.
    """

    fetched: Mapping[SampleKey, Outcome]
    gold: Mapping[SampleKey, Outcome]
    fetched_by: str
    gold_by: str


@dataclass(frozen=True, slots=True)
class SourceRates:
    """Hallucinated share of the same responses by the run's verifier, by retrieved evidence and by gold passages.

    change: rate by gold passages minus rate by retrieved evidence, with its interval by MOVER over questions from the
    responses whose outcome changed.
    """

    own: HallucinationEstimate
    fetched: HallucinationEstimate
    gold: HallucinationEstimate
    change: HallucinationEstimate


@dataclass(frozen=True, slots=True)
class GoldArm:
    """Rates of one arm.

    responses: number of responses that both sources judged or that abstained. unjudged: number of other responses to
    these questions. of_all: rates over ``responses``. of_answered: rates without the abstentions.
    """

    arm: str
    questions: int
    responses: int
    unjudged: int
    of_all: SourceRates
    of_answered: SourceRates


@dataclass(frozen=True, slots=True)
class GoldPair:
    """Difference of two arms' shares of all responses by each source, on the same questions."""

    baseline: str
    other: str
    questions: int
    fetched: HallucinationEstimate
    gold: HallucinationEstimate


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """Comparison of both sources of evidence.

    questions: number of questions with gold passages. left_out: number of other questions, by reason. fetched_by,
    gold_by: names of the verifiers.
    """

    questions: int
    left_out: tuple[tuple[str, int], ...]
    arms: tuple[GoldArm, ...]
    pairs: tuple[GoldPair, ...]
    fetched_by: str
    gold_by: str


def gold_comparison(
    records: Sequence[SampleRecord],
    arms: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    questions: Sequence[Question],
    both: BothOutcomes,
    resampler: Resampler,
) -> GoldComparison:
    """Compare the rates by both sources of evidence.

    records: samples of one decoding. An arm without a response to a question with gold passages is left out, with its
    pairs.
    """
    reasons = _left_out(records, questions, both)
    kept = {q.id for q in questions} - reasons.keys()
    by_arm = {arm: [r for r in records if r.arm == arm and r.question_id in kept] for arm in arms}
    counts = {reason: list(reasons.values()).count(reason) for reason in dict.fromkeys(reasons.values())}
    return GoldComparison(
        len(kept),
        tuple(counts.items()),
        tuple(_arm(arm, mine, both, resampler) for arm, mine in by_arm.items() if mine),
        tuple(
            _pair(one, two, by_arm[one], by_arm[two], both, resampler)
            for one, two in pairs
            if by_arm.get(one) and by_arm.get(two)
        ),
        both.fetched_by,
        both.gold_by,
    )


def _left_out(records: Sequence[SampleRecord], questions: Sequence[Question], both: BothOutcomes) -> dict[str, str]:
    """Return the reason why a question is not compared, by question ID.

    A question with claims but without a verdict by gold passages was skipped because the collection lacks its gold
    passages. If every answer abstained, there is nothing to judge and both sources agree.
    """
    claimed = {r.question_id for r in records if r.completion is not None and r.evaluation.verdicts}
    judged = {key[0] for key in both.gold} & {key[0] for key in both.fetched}
    reasons = {}
    for question in questions:
        if not question.answerable:
            reasons[question.id] = "the documents do not answer them"
        elif not names_gold(question):
            reasons[question.id] = "they name no gold passage"
        elif question.id in claimed and question.id not in judged:
            reasons[question.id] = "the collection held none of their gold passages, or they were not judged yet"
    return reasons


def _key(record: SampleRecord) -> SampleKey:
    return record.question_id, record.arm, record.decoding, record.sample


def _outcome(record: SampleRecord, by: Mapping[SampleKey, Outcome]) -> Outcome:
    """Return the outcome by one of the sources. An answer that abstained has no claims and is an abstention by every
    source.
    """
    return "abstained" if record.evaluation.outcome == "abstained" else by.get(_key(record), "unscored")


def _both_in(record: SampleRecord, both: BothOutcomes, outcomes: tuple[str, ...]) -> bool:
    return _outcome(record, both.fetched) in outcomes and _outcome(record, both.gold) in outcomes


def _arm(arm: str, records: Sequence[SampleRecord], both: BothOutcomes, resampler: Resampler) -> GoldArm:
    scored = sum(_both_in(r, both, _SCORED) for r in records)
    return GoldArm(
        arm,
        len({r.question_id for r in records}),
        scored,
        len(records) - scored,
        _rates(records, both, _SCORED, resampler),
        _rates(records, both, _JUDGED, resampler),
    )


def _rates(
    records: Sequence[SampleRecord], both: BothOutcomes, outcomes: tuple[str, ...], resampler: Resampler
) -> SourceRates:
    def base(record: SampleRecord) -> bool:
        return _both_in(record, both, outcomes)

    def fetched(record: SampleRecord) -> bool:
        return _outcome(record, both.fetched) == "hallucinated"

    def gold(record: SampleRecord) -> bool:
        return _outcome(record, both.gold) == "hallucinated"

    events = (lambda r: r.evaluation.outcome == "hallucinated", fetched, gold)
    own, by_fetched, by_gold = (shares_by_question(records, base, event) for event in events)
    up = shares_by_question(records, base, lambda r: gold(r) and not fetched(r))
    down = shares_by_question(records, base, lambda r: fetched(r) and not gold(r))
    rates = [
        measure_ratio(s.event, s.base, s.counted, resampler, event="a hallucination").default
        for s in (own, by_fetched, by_gold)
    ]
    change = measure_fixed_minus_broken(up.event, down.event, up.base, up.counted, float(up.counted), resampler)
    return SourceRates(rates[0], rates[1], rates[2], change.default)


@dataclass(frozen=True, slots=True)
class _Shares:
    """Numbers of one question in one arm.

    responses: responses that both sources scored. fetched, gold: share of them that each source calls hallucinated.
    """

    responses: int
    fetched: float
    gold: float


def _by_question(records: Sequence[SampleRecord], both: BothOutcomes) -> dict[str, _Shares]:
    grouped: dict[str, list[SampleRecord]] = {}
    for record in records:
        if _both_in(record, both, _SCORED):
            grouped.setdefault(record.question_id, []).append(record)

    def share(mine: Sequence[SampleRecord], by: Mapping[SampleKey, Outcome]) -> float:
        return sum(_outcome(r, by) == "hallucinated" for r in mine) / len(mine)

    return {q: _Shares(len(mine), share(mine, both.fetched), share(mine, both.gold)) for q, mine in grouped.items()}


def _pair(
    one: str,
    two: str,
    records1: Sequence[SampleRecord],
    records2: Sequence[SampleRecord],
    both: BothOutcomes,
    resampler: Resampler,
) -> GoldPair:
    shares1, shares2 = _by_question(records1, both), _by_question(records2, both)
    ids = sorted(shares1.keys() & shares2.keys())
    first, second = [shares1[i] for i in ids], [shares2[i] for i in ids]
    fewest = np.array([min(a.responses, b.responses) for a, b in zip(first, second, strict=True)], dtype=np.float64)
    responses = sum(s.responses for s in (*first, *second))
    independent = mean_responses(fewest) if ids else 0.0

    def difference(h1: list[float], h2: list[float]) -> HallucinationEstimate:
        a, b = np.array(h1), np.array(h2)
        ones = np.ones(len(ids))
        return measure_fixed_minus_broken(a * (1 - b), b * (1 - a), ones, responses, independent, resampler).default

    return GoldPair(
        one,
        two,
        len(ids),
        difference([s.fetched for s in first], [s.fetched for s in second]),
        difference([s.gold for s in first], [s.gold for s in second]),
    )
