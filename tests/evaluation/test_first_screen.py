"""The first screen says what was measured, one figure with its interval, and what limits it most."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.runs.first_screen_lines import advice_command, summary_lines, term_lines
from evaluation.outcomes import Outcome
from evaluation.reports.advice import MOST_ADVICE
from evaluation.reports.first_screen import first_screen
from evaluation.reports.report_data import ConfigSection, ReportArm, ReportData, ReportQuestion, ReportSample, RunConfig
from evaluation.reports.tabular import as_json, as_markdown
from evaluation.reports.terms import arm_meaning, counted
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.summary import summarise

SECTIONS = (
    ConfigSection(
        "Run",
        (
            ("model", "tiny"),
            ("prompt", "mine.jinja"),
            ("temperature", "0.7"),
            ("samples per question and arm", "2"),
            ("max_tokens", "32"),
            ("collection", "handbook"),
            ("collection published", "2026-11-02T08:00:00+00:00"),
        ),
    ),
)


def report(outcomes: dict[str, list[Outcome]], reason: str = "") -> ReportData:
    """One sample a question; the arms' outcomes by question."""
    count = len(next(iter(outcomes.values())))
    questions = tuple(
        ReportQuestion(
            str(i), f"Question {i}?", "", True, ("x",),
            tuple(ReportArm(arm, (ReportSample(0, "x", found[i], 0, reason),)) for arm, found in outcomes.items()),
        )
        for i in range(count)
    )  # fmt: skip
    records = [OutcomeRecord(str(i), arm, 0, found[i]) for arm, found in outcomes.items() for i in range(count)]
    config = RunConfig("before the move", "2026-11-20T10:00:00+00:00", "plumbline evaluate", None, None, SECTIONS)
    return ReportData(config, summarise(OutcomeTable.from_records(records)), questions)


def kinds(data: ReportData) -> list[str]:
    return [advice.action for advice in first_screen(data).next_steps]


def test_it_says_what_was_measured_and_the_main_arm_with_its_interval() -> None:
    data = report({"closed_book": ["hallucinated"] * 40, "rag": ["hallucinated"] * 10 + ["supported"] * 30})
    screen = first_screen(data)
    measured = dict(screen.measured)
    assert (measured["model"], measured["prompt"]) == ("tiny", "mine.jinja")
    assert measured["collection"] == "handbook, indexed 2026-11-02"
    assert "temperature 0.7" in measured["decoding"] and "2 samples" in measured["decoding"]
    assert "not yet" in measured["verifier checked"]
    rag = data.summary.arms[1].hallucinated.default
    assert rag.lower is not None
    assert "25.0 % of 40 answers of rag" in screen.headline and f"{100 * rag.lower:.1f}" in screen.headline
    assert screen.comparison.startswith("rag hallucinates less than closed_book")


def test_an_undecided_comparison_is_not_told_as_a_result() -> None:
    mixed: list[Outcome] = ["hallucinated", "supported"] * 4
    screen = first_screen(report({"closed_book": mixed, "rag": mixed[::-1]}))
    assert "does not show which" in screen.comparison


def test_advice_names_what_limits_the_report_most() -> None:
    good: list[Outcome] = ["supported"] * 600
    assert kinds(report({"rag": good})) == ["label"]
    assert kinds(report({"rag": good[:8]})) == ["plan", "label"]
    half: list[Outcome] = ["hallucinated", "supported"] * 300
    assert kinds(report({"rag": half, "oracle": good})) == ["tune", "label"]
    assert kinds(report({"rag": half, "oracle": half})) == ["model", "label"]
    lost: list[Outcome] = ["unscored"] * 40 + ["supported"] * 560
    assert kinds(report({"rag": lost}, "the question has no reference"))[0] == "read"
    assert kinds(report({"rag": lost}, "the verifier failed: timeout"))[0] == "retry"
    assert len(kinds(report({"rag": lost[:60], "oracle": half[:60]}))) <= MOST_ADVICE


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("oracle", "passages that contain the answer"),
        ("rag+distractors:3", "changed by distractors:3"),
        ("rag @tiny", "in the run tiny"),
        ("my own system", ""),
    ],
)
def test_arms_are_explained(name: str, expected: str) -> None:
    assert expected in arm_meaning(name)
    assert bool(arm_meaning(name)) == bool(expected)


def test_terminal_markdown_and_json_say_the_same() -> None:
    data = report({"closed_book": ["hallucinated"] * 9, "rag": ["supported"] * 9})
    screen = first_screen(data)
    assert screen.headline in list(summary_lines(screen))
    assert screen.headline in as_markdown(data)
    assert json.loads(json.dumps(as_json(data)))["first_screen"]["headline"] == screen.headline
    assert not any(line.strip().startswith("fixed") for line in term_lines(screen))  # the table says it
    assert "fixed: hallucinated in the first arm" in as_markdown(data)


def test_commands_are_those_of_a_run_only() -> None:
    assert advice_command("label", "mine", "") == "plumbline label mine"
    assert advice_command("tune", "mine", "handbook").startswith("plumbline tune handbook")
    assert advice_command("label", "", "") == "" == advice_command("read", "mine", "")


def test_a_comparison_of_runs_names_no_settings_of_one_of_them() -> None:
    data = replace(
        report({"rag @a": ["supported"] * 9, "rag @b": ["supported"] * 9}), comparison="9 questions are shared"
    )
    assert dict(first_screen(data).measured) == {"compared": "9 questions are shared"}


def test_counts_have_their_number() -> None:
    assert (counted(1, "answer"), counted(2, "answer"), counted(0, "answer")) == ("1 answer", "2 answers", "0 answers")
