"""``plumbline evaluate`` with unanswerable questions: judged by the chunks, excluded from differences."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.commands.report_output import ReportFiles, report_run
from app.console import Output
from app.judging.run_judge import VerifierPlan, open_judge, reopen_judge
from app.pipeline import Pipeline
from app.runs.evaluate import EvaluationPlan, evaluate
from app.runs.report import report_data
from app.settings import Settings
from data.questions import Question
from evaluation.runs.run_store import RunStore
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt

APART = Question("un", "Who minds the office in Lisbon?", answerable=False)
KNOWN = Question("ref", "How long does the warranty last?", ("three years",))
BARE = Question("bare", "What do you know of the office in Lisbon?")
MANY = tuple(Question(f"ref{i}", f"How long does warranty {i} last?", ("three years",)) for i in range(5))


@pytest.fixture
def pipeline(
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., Settings],
    home_copy: Path,
    first_words: type[Any],
) -> Pipeline:
    class Talker(first_words):  # type: ignore[misc]
        """A generator that answers correctly or faithfully if it gets chunks, and invents an answer otherwise."""

        def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
            shown = "three years" if "warranty" in prompt.question else "The office in Lisbon opens at nine."
            text = shown if prompt.chunks else "It was founded by pelicans."
            return tuple(Completion(text, (7,), (-0.5,), "stop", Usage(1, 1), seed) for seed in seeds)

    return make_pipeline(make_settings(home_copy), Talker())


def run(pipeline: Pipeline, *questions: Question, **options: Any) -> str:
    judging = VerifierPlan(model="token-overlap", threshold=0.8)
    plan = EvaluationPlan(questions, **({"arms": ("closed_book", "rag"), "samples": 2, "judging": judging} | options))
    judge = open_judge(pipeline, plan.judging, questions, "notes")
    return evaluate(pipeline, plan, judge=judge).run_id


def test_one_search_judges_what_the_documents_do_not_answer_in_every_arm(
    pipeline: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = run(pipeline, KNOWN, APART)
    found = {(r.question_id, r.arm): r.evaluation for r in RunStore(pipeline.store).load_samples(run_id)}
    assert found["un", "rag"].outcome == "supported"
    assert found["un", "rag"].verdicts[0].evidence[0].document_id == "office"
    assert found["un", "closed_book"].outcome == "hallucinated"
    assert (found["ref", "closed_book"].outcome, found["ref", "rag"].outcome) == ("hallucinated", "supported")
    data = report_data(pipeline, run_id)
    (pair,) = data.summary.pairs
    assert (pair.questions, pair.excluded, pair.difference.default.rate) == (2, 0, 1.0)
    assert report_run(pipeline, run_id, ReportFiles(tmp_path / "r.html"), Output(as_json=True)).unscored == 0
    assert json.loads(capsys.readouterr().out)["unscored"] == 0


def test_the_judge_of_such_a_run_is_found_again(pipeline: Pipeline) -> None:
    again = reopen_judge(
        pipeline, RunStore(pipeline.store).load_run(run(pipeline, BARE, KNOWN, APART)), (BARE, KNOWN, APART)
    )
    assert again is not None and again.entailment is not None


def test_the_strict_reading_is_there_for_who_names_it(pipeline: Pipeline) -> None:
    run_id = run(pipeline, KNOWN, APART, judging=VerifierPlan("reference"))
    data = report_data(pipeline, run_id)
    rates = {a.arm: a.hallucinated.default.rate for a in data.summary.arms}
    assert rates == {"closed_book": 1.0, "rag": 0.5}
    assert data.summary.pairs[0].questions == 2
