"""Claims a response, the share of them that is unsupported, and the mean of 1 - V, by arm."""

from __future__ import annotations

import csv
import dataclasses
import io

import pytest

from evaluation.outcomes import Claim, Label, Verdict, outcome_of
from evaluation.reports.claim_figures import claim_figures, claims_of, mean_non_support
from evaluation.reports.report import render_report
from evaluation.reports.report_data import ReportArm, ReportData, ReportQuestion, ReportSample, RunConfig
from evaluation.reports.tabular import as_csv, as_json, as_markdown
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.summary import summarise


def answer(number: int, *supports: float | None, refused: bool = False) -> ReportSample:
    """Claims with these supports; below one half unverifiable, None unscored."""
    verdicts = []
    for i, support in enumerate(supports):
        label: Label = "unscored" if support is None else "supported" if support >= 0.5 else "unverifiable"
        verdicts.append(Verdict(Claim("It is.", 7 * i, 7 * i + 6), label, support, "why", (), "v/1"))
    found = outcome_of(tuple(verdicts), refused)
    return ReportSample(number, "It is. " * len(supports), found.outcome, 1, found.reason, found.verdicts)


def question(name: str, *samples: ReportSample) -> ReportQuestion:
    return ReportQuestion(name, f"What of {name}?", "", True, (), (ReportArm("rag", samples),))


TWO = question("a", answer(0, 0.2, 0.9), answer(1, refused=True))
ONE = question("b", answer(0, 0.4, None))
LOST = question("c", answer(0, 0.8, None), answer(1, None))


def test_softness_of_one_answer() -> None:
    assert mean_non_support(answer(0, 0.2, 0.9)) == pytest.approx(0.45)
    assert mean_non_support(answer(0, 0.4, None)) == pytest.approx(0.6)  # hallucinated, whatever the other claim is
    assert mean_non_support(answer(0, refused=True)) == 0.0
    assert mean_non_support(answer(0, 0.8, None)) is None  # unscored: it could still be either
    assert mean_non_support(answer(0)) is None


def test_claims_are_ratios_of_totals_and_questions_weigh_alike_in_the_soft_rate() -> None:
    (rag,) = claim_figures((TWO, ONE, LOST), ("rag",), 0.95)
    assert (rag.responses, rag.claims, rag.per_response) == (5, 7, 1.4)
    assert rag.unsupported.rate == pytest.approx(2 / 4)  # unscored claims are in neither number
    # Question a: 0.45 and 0 of two; b: 0.6; c has nothing that was scored.
    assert rag.soft.rate == pytest.approx((0.45 / 2 + 0.6) / 2)
    assert (rag.soft.questions, rag.soft.responses) == (2, 3)
    assert rag.soft.lower is not None and rag.soft.upper is not None
    assert rag.soft.lower < rag.soft.rate < rag.soft.upper


def test_hard_verdicts_make_the_soft_rate_the_rate_among_scored() -> None:
    hard = [question(str(i), answer(0, float(i % 3 > 0)), answer(1, 1.0)) for i in range(12)]
    (rag,) = claim_figures(hard, ("rag",), 0.95)
    assert rag.soft.rate == pytest.approx(4 / 24)
    assert (rag.soft.lower, rag.soft.upper) == pytest.approx((rag.unsupported.lower, rag.unsupported.upper))


def test_nothing_said_is_undefined_and_not_zero() -> None:
    silent, absent = claim_figures((question("s", answer(0, refused=True)),), ("rag", "oracle"), 0.95)
    assert (silent.claims, silent.unsupported.rate, silent.soft.rate) == (0, None, 0.0)
    assert (absent.responses, absent.per_response, absent.soft.rate) == (0, None, None)
    (lost,) = claim_figures((LOST,), ("rag",), 0.95)
    assert (lost.unsupported.rate, lost.soft.rate) == (0.0, None)


def test_every_form_of_a_report_has_them() -> None:
    questions = (TWO, ONE, LOST)
    records = [OutcomeRecord(q.id, a.arm, s.sample, s.outcome) for q in questions for a in q.arms for s in a.samples]
    summary = summarise(OutcomeTable.from_records(records), settings=Settings(bootstrap=100, permutations=99))
    data = ReportData(RunConfig("t", "2026-01-02", "plumbline evaluate", None, None), summary, questions)
    assert "soft rate" in render_report(data) and "1.40" in render_report(data)
    rows = {row["quantity"]: row for row in csv.DictReader(io.StringIO(as_csv(data)))}
    assert float(rows["soft"]["rate"]) == pytest.approx(0.4125) and rows["unsupported claims"]["responses"] == "4"
    assert as_json(data)["claims"][0]["per_response"] == 1.4
    assert "| rag | 1.40 | 50.0 %" in as_markdown(data)
    bare = dataclasses.replace(data, questions=())
    assert claims_of(bare) == () and "soft rate" not in render_report(bare) and "1 - V" not in as_markdown(bare)
