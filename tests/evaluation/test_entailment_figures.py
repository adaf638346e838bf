"""Rates by threshold, and how a report shows them."""

from __future__ import annotations

import dataclasses

import pytest

from evaluation.outcomes import Claim, Evidence, Verdict, outcome_of
from evaluation.reports.answer_view import pieces
from evaluation.reports.entailment_figures import GRID, entailment_figures, outcome_at
from evaluation.reports.report import render_report
from evaluation.reports.report_data import ReportArm, ReportData, ReportQuestion, ReportSample, RunConfig
from evaluation.reports.report_view import worst_first
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.summary import summarise
from evaluation.verifiers.failing_words import WeakWord

ARMS = ("closed_book", "rag")
THRESHOLD = 0.55
TEXT = "The mill grinds rye. "


def answer(number: int, supports: tuple[float | None, ...], threshold: float = THRESHOLD) -> ReportSample:
    verdicts = []
    for i, support in enumerate(supports):
        claim = Claim(TEXT.strip(), i * len(TEXT), i * len(TEXT) + len(TEXT) - 1)
        if support is None:
            verdicts.append(Verdict(claim, "unscored", None, "the search failed", (), "e/1"))
        else:
            label = "supported" if support >= threshold else "unverifiable"
            verdicts.append(Verdict(claim, label, support, "", (Evidence("mill", 0, 4, "The "),), "e/1"))  # type: ignore[arg-type]
    evaluation = outcome_of(tuple(verdicts), refused=True)
    return ReportSample(number, TEXT * len(supports), evaluation.outcome, 1, evaluation.reason, evaluation.verdicts)


def question(name: str, *arms: tuple[ReportSample, ...], by_entailment: bool = True) -> ReportQuestion:
    shown = tuple(ReportArm(a, s) for a, s in zip(ARMS, arms, strict=True))
    return ReportQuestion(name, f"What of {name}?", "", True, (), shown, by_entailment)


QUESTIONS = (
    question("a", (answer(0, (0.2, 0.9)), answer(1, ())), (answer(0, (0.95,)), answer(1, (0.56, 0.7)))),
    question("b", (answer(0, (0.5,)), answer(1, (0.4, None))), (answer(0, (None, 0.8)), answer(1, (0.05,)))),
    question("r", (answer(0, (0.3,)), answer(1, (0.3,))), (answer(0, (0.9,)), answer(1, (0.9,))), by_entailment=False),
)


def report() -> ReportData:
    records = [OutcomeRecord(q.id, a.arm, s.sample, s.outcome) for q in QUESTIONS for a in q.arms for s in a.samples]
    summary = summarise(OutcomeTable.from_records(records), settings=Settings(bootstrap=100, permutations=99))
    config = RunConfig("t", "2026-01-02", "plumbline evaluate", "abc", "abc")
    return ReportData(config, summary, QUESTIONS, (), entailment_figures(QUESTIONS, ARMS, THRESHOLD))


def test_the_row_of_the_runs_own_threshold_is_the_headline() -> None:
    data = report()
    assert data.entailment is not None
    (own,) = [row for row in data.entailment.rows if row.own]
    assert own.threshold == THRESHOLD
    assert [r.rate for r in own.rates] == [a.hallucinated.default.rate for a in data.summary.arms]
    assert [r.lower for r in own.rates] == [a.hallucinated.default.lower for a in data.summary.arms]


def test_rates_rise_with_the_threshold_and_references_keep_their_outcome() -> None:
    figures = entailment_figures(QUESTIONS, ARMS, THRESHOLD)
    assert figures is not None
    assert [row.threshold for row in figures.rows] == sorted({*GRID, THRESHOLD})
    for arm, (low, high) in enumerate(((1 / 3, 5 / 6), (1 / 6, 0.5))):
        rates = [row.rates[arm].rate for row in figures.rows]
        assert rates == sorted(rates)  # type: ignore[type-var]
        assert (rates[0], rates[-1]) == (pytest.approx(low), pytest.approx(high))


def test_outcomes_at_another_threshold() -> None:
    assert outcome_at(answer(0, (0.5, 0.9)), 0.4) == "supported"
    assert outcome_at(answer(0, (0.5, 0.9)), 0.5) == "supported"
    assert outcome_at(answer(0, (0.5, 0.9)), 0.6) == "hallucinated"
    assert outcome_at(answer(0, (0.5, None)), 0.4) == "unscored"
    assert outcome_at(answer(0, ()), 0.9) == "abstained"


def test_without_entailment_there_are_no_figures() -> None:
    assert entailment_figures(QUESTIONS[2:], ARMS, THRESHOLD) is None
    text = render_report(dataclasses.replace(report(), entailment=None))
    assert "Judged by the trusted documents" not in text


def test_an_arm_without_answers_has_undefined_rates() -> None:
    silent = (question("s", (answer(0, ()),), (answer(0, (0.9,)),)),)
    figures = entailment_figures(silent, (*ARMS, "oracle"), THRESHOLD)
    assert figures is not None
    assert figures.rows[0].rates[2].rate is None


def test_the_report_shows_thresholds_claims_and_weak_words() -> None:
    data = report()
    weak = (WeakWord(TEXT.index("rye"), TEXT.index("rye") + 3, 0.4),)
    first = data.questions[0].arms[0]
    marked = dataclasses.replace(first.samples[0], weak=weak)
    shown = dataclasses.replace(
        data.questions[0], arms=(dataclasses.replace(first, samples=(marked,)), *data.questions[0].arms[1:])
    )
    text = render_report(dataclasses.replace(data, questions=(shown, *data.questions[1:])))
    assert '<span class="unverifiable weak">rye</span>' in text
    assert "0.55 (this run)" in text and "claims per response" in text
    assert "against the same collection that is searched" in text
    assert [p.text for p in pieces(marked, {}) if p.weak] == ["rye"]
    assert worst_first(data)[0].id in ("a", "b")


def test_weak_words_outside_the_text_are_cut_back() -> None:
    sample = dataclasses.replace(answer(0, (0.2,)), weak=(WeakWord(-5, 2, 0.1), WeakWord(15, 999, 0.1)))
    assert "".join(p.text for p in pieces(sample, {})) == sample.text
