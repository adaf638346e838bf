"""``evaluate`` on questions that the documents do not answer: judged by the chunks shown, and in no difference."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.commands.fail_if import checked_gate
from app.commands.report import report_run
from app.console import Output
from app.errors import UsageError
from app.judging import VerifierPlan, open_judge, reopen_judge
from app.pipeline import Pipeline
from app.planning import pilot_of_run
from app.run_comparison import comparison_data
from app.run_report import report_data
from app.runs import EvaluationPlan, evaluate
from app.settings import Settings
from data.questions import Question
from evaluation.runs.run_config import Decoding
from evaluation.runs.run_store import RunStore
from evaluation.verifiers.faithful import NOTHING_TO_JUDGE_BY
from generation.completion import Completion, Usage
from generation.params import SamplingParams
from generation.prompt import Prompt

APART = Question("un", "Who minds the office in Lisbon?", answerable=False)
KNOWN = Question("ref", "How long does the warranty last?", ("three years",))
BARE = Question("bare", "What do you know of the office in Lisbon?")
MANY = tuple(Question(f"ref{i}", f"How long does warranty {i} last?", ("three years",)) for i in range(5))


@pytest.fixture
def line(
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., Settings],
    home_copy: Path,
    first_words: type[Any],
) -> Pipeline:
    class Talker(first_words):  # type: ignore[misc]
        """Right, or faithful, where it was shown something; else it makes something up."""

        def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
            shown = "three years" if "warranty" in prompt.question else "The office in Lisbon opens at nine."
            text = shown if prompt.chunks else "It was founded by pelicans."
            return tuple(Completion(text, (7,), (-0.5,), "stop", Usage(1, 1), seed) for seed in seeds)

    return make_pipeline(make_settings(home_copy), Talker())


def run(line: Pipeline, *questions: Question, **options: Any) -> str:
    judging = VerifierPlan(model="token-overlap", threshold=0.8)
    plan = EvaluationPlan(questions, **({"arms": ("closed_book", "rag"), "samples": 2, "judging": judging} | options))
    judge = open_judge(line, plan.judging, questions, "notes")
    return evaluate(line, plan, judge=judge).run_id


def test_chunks_shown_judge_and_the_question_leaves_the_difference(
    line: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = run(line, KNOWN, APART)
    found = {(r.question_id, r.arm): r.evaluation for r in RunStore(line.store).load_samples(run_id)}
    assert found["un", "rag"].outcome == "supported"
    assert found["un", "rag"].verdicts[0].evidence[0].document_id == "office"
    assert (found["un", "closed_book"].outcome, found["un", "closed_book"].reason) == ("unscored", NOTHING_TO_JUDGE_BY)
    assert (found["ref", "closed_book"].outcome, found["ref", "rag"].outcome) == ("hallucinated", "supported")
    data = report_data(line, run_id)
    (pair,) = data.summary.pairs
    assert (pair.questions, pair.apart, pair.difference.default.rate) == (1, 1, 1.0)
    assert any(n.startswith("1 question has neither reference answers nor an answer in the doc") for n in data.notes)
    assert [q.apart for q in data.questions] == [False, True]
    page = tmp_path / "r.html"
    # Nothing failed and nothing can be done about it: they are counted, and do not make the command "partial".
    assert report_run(line, run_id, page, Output(as_json=True)).unscored == 0
    assert json.loads(capsys.readouterr().out)["unscored"] == 2
    assert "1 apart" in page.read_text("utf-8") and "neither reference answers" in page.read_text("utf-8")


def test_the_judge_of_such_a_run_is_found_again_and_others_keep_theirs(line: Pipeline) -> None:
    runs = RunStore(line.store)
    alone = runs.load_run(run(line, KNOWN, APART))
    assert reopen_judge(line, alone, (KNOWN, APART)) is None
    mixed_id = run(line, BARE, KNOWN, APART)
    outcomes = {(r.question_id, r.arm): r.evaluation.outcome for r in runs.load_samples(mixed_id)}
    assert (outcomes["un", "closed_book"], outcomes["bare", "closed_book"]) == ("unscored", "hallucinated")
    assert outcomes["bare", "rag"] == "supported"
    data = report_data(line, mixed_id)
    assert data.summary.pairs[0].questions == 2
    assert any(n.startswith("1 question was judged by its reference answers") for n in data.notes)
    again = reopen_judge(line, runs.load_run(mixed_id), (BARE, KNOWN, APART))
    assert again is not None and again.entailment is not None


def test_the_strict_reading_is_there_for_who_names_it(line: Pipeline) -> None:
    run_id = run(line, KNOWN, APART, judging=VerifierPlan("reference"))
    data = report_data(line, run_id)
    rates = {a.arm: a.hallucinated.default.rate for a in data.summary.arms}
    assert rates == {"closed_book": 1.0, "rag": 0.5}
    assert data.summary.pairs[0].questions == 2


def test_grids_comparisons_and_pilots_leave_it_out_too(line: Pipeline) -> None:
    questions = (*MANY, APART)
    one = run(line, *questions, grid=(Decoding(0.0, max_tokens=32),))
    two = run(line, *questions, samples=3)
    analysis = report_data(line, one).analysis
    assert analysis is not None and analysis.grid is not None
    assert [(p.questions, a.questions) for p, a in zip(analysis.grid.pairs, analysis.grid.arms, strict=False)] == [
        (5, 6)
    ]
    compared = comparison_data(line, two, one)
    assert [(p.questions, p.apart) for p in compared.summary.pairs] == [(5, 1), (5, 1)]
    assert any("neither reference answers" in note for note in compared.notes)
    assert pilot_of_run(line, one, ("closed_book", "rag")).questions == 5
    assert pilot_of_run(line, one, ("rag",)).questions == 6


def test_a_run_of_nothing_else_has_rates_and_no_difference(line: Pipeline, tmp_path: Path) -> None:
    run_id = run(line, APART)
    data = report_data(line, run_id)
    assert data.summary.pairs == ()
    assert {a.arm: a.supported.default.rate for a in data.summary.arms} == {"closed_book": 0.0, "rag": 1.0}
    report_run(line, run_id, tmp_path / "r.html", Output(as_json=False))


def test_a_gate_on_a_difference_that_there_is_not_counts_as_missed(line: Pipeline, tmp_path: Path) -> None:
    run_id, page = run(line, APART), tmp_path / "r.html"
    gate = checked_gate("diff_closed_book_rag.lower < -0.5", ("closed_book", "rag"))
    assert report_run(line, run_id, page, Output(as_json=True), gate=gate).failed
    assert page.exists()
    with pytest.raises(UsageError, match="diff_rag_oracle"):
        report_run(line, run_id, page, Output(as_json=True), gate=checked_gate("diff_rag_oracle > 0"))
