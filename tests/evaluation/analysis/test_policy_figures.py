"""A report's figures of policies: rates, answer rates, differences, costs and curves."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from evaluation.analysis.policy_figures import PolicyFigures, policy_figures
from evaluation.outcomes import Outcome
from evaluation.policies.outcome import PolicyCost
from evaluation.policies.record import PolicyRecord
from evaluation.reports.plot_files import plots
from evaluation.reports.policy_view import policy_charts
from evaluation.reports.report import render_report
from evaluation.reports.report_data import ReportData, RunConfig
from evaluation.reports.tabular import as_csv, as_json, as_markdown
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import ArmSpec
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.run_summary import RunSummary
from evaluation.statistics.summary import summarise

QUICK = Settings(bootstrap=200, permutations=200)


def answered(desk: Any, question: str, arm: str, outcome: Outcome, score: float | None) -> SampleRecord:
    record: SampleRecord = desk.answer(question, outcome, arm=arm)
    return replace(record, policy=PolicyRecord(score, "", 0, 0, PolicyCost(0.5, 100, 8, 0 if arm == "rag" else 1)))


def run_of(desk: Any, arms: Sequence[str], chosen: Any) -> tuple[PolicyFigures, RunSummary]:
    """Return the figures of 40 questions. chosen(arm, number) returns outcome and score."""
    records = [answered(desk, f"q{i}", arm, *chosen(arm, i)) for arm in arms for i in range(40)]
    table = OutcomeTable.from_records(
        [OutcomeRecord(r.question_id, r.arm, r.sample, r.evaluation.outcome) for r in records]
    )
    summary = summarise(table, settings=QUICK)
    specs = [ArmSpec(arm, f"k=4 policy=[{arm}] selector=[likes/1]" if "+" in arm else "k=4") for arm in arms]
    figures = policy_figures(specs, "judge/1", records, summary)
    assert figures is not None
    return figures, summary


def scored(arm: str, number: int) -> tuple[Outcome, float | None]:
    """Return an answer whose score orders the answers perfectly: the upper half are supported.

    rag+abstain withholds the lower half.
    """
    score = number / 40
    if arm == "rag+abstain" and score < 0.5:
        return "abstained", None
    return ("supported" if score >= 0.5 else "hallucinated"), score


def test_rates_answer_rates_and_differences_from_none(desk: Any) -> None:
    figures, _ = run_of(desk, ("rag", "rag+strip", "rag+abstain"), scored)
    assert (figures.selector, figures.judge) == ("likes/1", "judge/1")
    none, strip, abstain = figures.policies
    assert [p.policy for p in figures.policies] == ["none", "strip", "abstain"]
    assert none.rate.rate == 0.5 and none.answer_rate.rate == 1.0 and none.difference is None
    assert abstain.rate.rate == 0.0 and abstain.answer_rate.rate == pytest.approx(0.5)
    lower, upper = abstain.answer_rate.lower, abstain.answer_rate.upper
    assert lower is not None and upper is not None and 0.3 < lower < 0.5 < upper < 0.7
    assert abstain.difference is not None and abstain.difference.rate == pytest.approx(0.5)
    assert strip.difference is not None and strip.difference.rate == 0.0
    assert (strip.prompt_tokens, strip.completion_tokens, strip.seconds, strip.judged) == (100, 8, 0.5, 1)


def test_curves_with_bands_and_areas(desk: Any) -> None:
    figures, _ = run_of(desk, ("rag", "rag+strip", "rag+flag", "rag+abstain"), scored)
    none, strip, flag, abstain = figures.policies
    assert none.curve is not None and strip.curve is not None and flag.curve is None and abstain.curve is None
    assert "flag" in flag.no_curve and "threshold" in abstain.no_curve
    first, last = none.curve.points[0], none.curve.points[-1]
    assert (
        first.answer_rate == pytest.approx(0.05) and first.rate == 0.0 and last.answer_rate == 1.0 and last.rate == 0.5
    )
    assert none.curve.area == pytest.approx(none.curve.best_area) and none.curve.area < (none.curve.random_area or 0)
    for point in none.curve.points:
        assert point.band_lower <= point.lower <= (point.rate or 0) <= point.upper <= point.band_upper
    (chart,) = policy_charts(figures)
    assert [s.label for s in chart.chart.series] == ["none", "strip"] and all(s.band for s in chart.chart.series)


def test_many_policies_get_a_band_each_in_a_chart_of_their_own(desk: Any) -> None:
    arms = ("rag", "rag+strip", "rag+best_of_n:4", "rag+correct")
    charts = policy_charts(run_of(desk, arms, scored)[0])
    assert [c.title for c in charts] == ["all policies", "none", "strip", "best_of_n:4", "correct"]
    assert not any(s.band for s in charts[0].chart.series) and all(c.chart.series[0].band for c in charts[1:])


def test_unscored_answers_and_answers_without_a_score(desk: Any) -> None:
    def some(arm: str, number: int) -> tuple[Outcome, float | None]:
        return ("unscored" if number < 4 else "supported"), (None if number < 10 else 0.75)

    figures, _ = run_of(desk, ("rag", "rag+strip"), some)
    for policy in figures.policies:
        assert policy.left_out == 4 and policy.curve is not None and policy.curve.questions == 36
        assert [p.answered for p in policy.curve.points] == [30]
    nothing, _ = run_of(desk, ("rag", "rag+strip"), lambda arm, number: ("abstained", None))
    assert all(p.curve is None and p.no_curve and p.rate.rate is None for p in nothing.policies)
    assert not policy_charts(nothing)


def test_a_run_without_policies_has_no_figures(desk: Any) -> None:
    record = desk.answer("q", "supported")
    table = OutcomeTable.from_records([OutcomeRecord("q", "rag", 0, "supported")])
    assert policy_figures([ArmSpec("rag", "k=4")], "judge/1", [record], summarise(table, settings=QUICK)) is None


def test_they_are_in_every_form_of_the_report(desk: Any) -> None:
    figures, summary = run_of(desk, ("rag", "rag+strip", "rag+abstain"), scored)
    config = RunConfig("a run", "2026-01-01T00:00:00+00:00", "plumbline evaluate", None, None)
    data = ReportData(config, summary, (), policies=figures)
    page = render_report(data)
    assert 'id="policies"' in page and "likes/1" in page and "judge/1" in page and "AURC" in page
    assert as_json(data)["policies"]["policies"][0]["curve"]["points"][0]["rate"] == 0.0
    rows = [row for row in csv.DictReader(io.StringIO(as_csv(data))) if row["kind"] == "policies"]
    assert {row["arm"] for row in rows if row["quantity"] == "answer rate"} == {"rag", "rag+strip", "rag+abstain"}
    assert "| abstain |" in as_markdown(data)
    drawn = plots(data)
    assert "answer-rate.svg" in drawn and "strip" in drawn["answer-rate.svg"]
    bare = render_report(replace(data, policies=None))
    assert 'id="policies"' not in bare and as_json(replace(data, policies=None))["policies"] is None
