"""``plumbline evaluate`` with questions without references: entailment by the trusted collection, resuming, report."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import delete

import app.judging.run_judge
from app.cli import build_parser, main
from app.commands.evaluate import evaluate_and_report
from app.commands.report_output import ReportFiles, report_run
from app.console import Output
from app.errors import AppError
from app.judging.run_judge import VerifierPlan, open_judge, reopen_judge
from app.pipeline import Pipeline
from app.runs.evaluate import EvaluationPlan, evaluate, judge_of
from app.runs.report import report_data
from app.runs.weak_words import with_marks
from app.settings import Settings
from data.documents import Document
from data.questions import Question
from data.schema import runs
from evaluation.reports.claim_figures import claims_of
from evaluation.runs.run_store import RunStore
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt
from model.errors import ModelError
from model.pairs.scoring import Pair

BARE = Question("bare", "What do you know of the Heron 4?")
ALSO = Question("also", "What do you know of the office?", relevant_document_ids=("office",))
REFERENCED = Question("ref", "How long does the warranty last?", ("three years",))
ANSWERS = {
    BARE.text: "Sure! The warranty lasts for three years. Batteries are covered by Zeppelin [1].",
    ALSO.text: "The office in Lisbon opens at nine. Its door code is changed every month.",
    REFERENCED.text: "three years",
}


class Overlap:
    """A scorer whose support is the share of the claim's words that occur in the evidence."""

    name = "overlap/1"

    def room(self, claim: str, question: str = "") -> int:
        return 200

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(t.split()) for t in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        return tuple(self._score(p) for p in pairs)

    def _score(self, pair: Pair) -> float:
        claim, evidence = (re.findall(r"\w+", t.casefold()) for t in (pair.claim, pair.evidence))
        return sum(w in set(evidence) for w in claim) / len(claim)


def overlap(folder: Path | None, device: str) -> Overlap:
    return Overlap()


def never(folder: Path | None, device: str) -> Overlap:
    raise AssertionError("the scorer was loaded")


@pytest.fixture
def pipeline(
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., Settings],
    home_copy: Path,
    first_words: type[Any],
) -> Pipeline:
    class Talker(first_words):  # type: ignore[misc]
        """A generator that answers from ANSWERS if it gets chunks, and wrongly otherwise."""

        def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
            text = ANSWERS[prompt.question] if prompt.chunks else "It was founded by pelicans. I like them."
            return tuple(Completion(text, (7,), (-0.5,), "stop", Usage(1, 1), seed) for seed in seeds)

    return make_pipeline(make_settings(home_copy), Talker())


def plan(*questions: Question, **options: Any) -> EvaluationPlan:
    fields = {"arms": ("closed_book", "rag"), "samples": 2, "judging": VerifierPlan(threshold=0.8)} | options
    return EvaluationPlan(questions, **fields)


def run(pipeline: Pipeline, chosen: EvaluationPlan, **options: Any) -> str:
    judge = open_judge(pipeline, chosen.judging, chosen.questions, "notes", overlap)
    return evaluate(pipeline, chosen, judge=judge, **options).run_id


def test_sentences_are_judged_against_the_trusted_collection(pipeline: Pipeline) -> None:
    run_id = run(pipeline, plan(BARE, ALSO, REFERENCED))
    records = {(r.question_id, r.arm, r.sample): r.evaluation for r in RunStore(pipeline.store).load_samples(run_id)}
    assert len(records) == 12
    wanted = {"bare": "hallucinated", "also": "supported", "ref": "supported"}
    for (question, arm, _), evaluation in records.items():
        assert evaluation.outcome == (wanted[question] if arm == "rag" else "hallucinated")
    good, bad = records["bare", "rag", 0].verdicts
    assert (good.label, bad.label) == ("supported", "unverifiable")
    assert (good.evidence[0].document_id, good.evidence[0].text) == (
        "warranty",
        "The warranty of the Heron 4 lasts for three years.",
    )
    assert len(records["ref", "rag", 0].verdicts) == 1
    assert {v.verifier for e in records.values() for v in e.verdicts} == {
        RunStore(pipeline.store).load_run(run_id).config.verifier
    }


def test_the_report_says_what_was_trusted_and_marks_weak_words(pipeline: Pipeline) -> None:
    chosen = plan(BARE, ALSO, REFERENCED)
    judge = open_judge(pipeline, chosen.judging, chosen.questions, "notes", overlap)
    run_id = evaluate(pipeline, chosen, judge=judge).run_id
    data = report_data(pipeline, run_id)
    assert data.config.same_collection
    assert data.entailment is not None
    assert (data.entailment.judged, data.entailment.threshold) == (2, 0.8)
    # Two sentences of each answer judged by documents; of the one with references, which is wrong in the first
    # arm only, the whole as well.
    assert [c.per_response for c in claims_of(data)] == [pytest.approx(7 / 3), pytest.approx(5 / 3)]
    assert any("1 question was judged by its reference answers, the other 2 by" in n for n in data.notes)
    settings = {name: value for section in data.config.sections for name, value in section.entries}
    assert (settings["trusted"], settings["threshold"]) == ("notes", "0.8")
    assert judge.entailment is not None
    marked = with_marks(data, judge.entailment, chosen.questions)
    (bare,) = [q for q in marked.questions if q.id == "bare"]
    sample = next(a for a in bare.arms if a.arm == "rag").samples[0]
    words = {sample.text[w.start : w.end] for w in sample.weak}
    assert "Zeppelin" in words and "warranty" not in words
    (referenced,) = [q for q in marked.questions if q.id == "ref"]
    assert referenced == next(q for q in data.questions if q.id == "ref")


def test_marking_stops_after_so_many_claims_and_survives_a_failing_scorer(pipeline: Pipeline) -> None:
    chosen = plan(BARE, ALSO)
    judge = open_judge(pipeline, chosen.judging, chosen.questions, "notes", overlap)
    data = report_data(pipeline, evaluate(pipeline, chosen, judge=judge).run_id)
    assert judge.entailment is not None
    one = with_marks(data, judge.entailment, chosen.questions, most=1)
    assert [any(s.weak for a in q.arms for s in a.samples) for q in one.questions].count(True) == 1

    class Gone(Overlap):
        def score(self, pairs: Sequence[Pair], progress: object = None) -> tuple[float, ...]:
            raise ModelError("the device has gone")

    broken = open_judge(pipeline, chosen.judging, chosen.questions, "notes", lambda f, d: Gone()).entailment
    assert broken is not None
    failed = with_marks(data, broken, chosen.questions)
    assert failed.questions == data.questions
    assert "the device has gone" in failed.notes[-1]


def test_stopped_after_every_cell_and_resumed_equals_undisturbed(pipeline: Pipeline) -> None:
    chosen = plan(BARE, REFERENCED, ALSO)
    records = RunStore(pipeline.store).load_samples(run(pipeline, chosen))
    store = RunStore(pipeline.store)
    with pipeline.store.write() as connection:  # forget the run, to draw it again in pieces
        connection.execute(delete(runs))
    for cell in range(6):
        judge = open_judge(pipeline, chosen.judging, chosen.questions, "notes", overlap)
        part = evaluate(pipeline, chosen, judge=judge, limit=1)
        assert (part.resumed, part.drawn) == (2 * cell, 2)
    assert part.complete
    # The chunks' search scores are left out: the encoder embeds other batches, which moves their last digits.
    resumed = store.load_samples(part.run_id)
    assert [replace(r, chunks=()) for r in resumed] == [replace(r, chunks=()) for r in records]
    assert [[c.text for c in r.chunks] for r in resumed] == [[c.text for c in r.chunks] for r in records]


def test_references_alone_load_nothing_and_keep_the_verifier(pipeline: Pipeline) -> None:
    judge = open_judge(pipeline, VerifierPlan("reference"), (REFERENCED,), "notes", never)
    assert (judge.verifier.name, judge.entailment, judge.labels) == (ReferenceVerifier().name, None, ())
    unanswerable = Question("un", "Who is the postman?", answerable=False)
    strict = open_judge(pipeline, VerifierPlan("reference"), (REFERENCED, unanswerable), "notes", never)
    assert strict.verifier.name == ReferenceVerifier().name
    chosen = plan(REFERENCED, judging=VerifierPlan("reference"))
    assert judge_of(pipeline, chosen).verifier.name == ReferenceVerifier().name
    run_id = evaluate(pipeline, chosen, judge=judge).run_id
    info = RunStore(pipeline.store).load_run(run_id)
    assert reopen_judge(pipeline, info, chosen.questions, never) is None
    data = report_data(pipeline, run_id)
    assert (data.entailment, data.config.reference_collection) == (None, None)


def test_each_choice_judges_as_it_says(pipeline: Pipeline) -> None:
    questions = (BARE, REFERENCED)
    kinds = {
        choice: open_judge(
            pipeline, VerifierPlan(choice), questions, "notes", never if choice == "reference" else overlap
        )  # type: ignore[arg-type]
        for choice in ("auto", "reference", "entailment")
    }
    assert [j.verifier.name.split("/")[0] for j in kinds.values()] == ["routed", "reference", "entailment"]
    both = open_judge(pipeline, VerifierPlan("entailment"), (REFERENCED,), "notes", overlap)
    assert both.verifier is both.entailment
    with pytest.raises(AppError, match="psychic"):
        VerifierPlan("psychic")  # type: ignore[arg-type]


def test_threshold_collection_and_scorer_are_part_of_the_runs_identity(pipeline: Pipeline) -> None:
    pipeline.index("other", [Document("pelicans", "Pelicans", "It was founded by pelicans. I like them.")])
    names = set()
    for options in ({}, {"threshold": 0.7}, {"trusted": "other"}, {"k": 2}):
        judge = open_judge(pipeline, VerifierPlan(**options), (BARE,), "notes", overlap)  # type: ignore[arg-type]
        names.add(judge.verifier.name)
    assert len(names) == 4
    # Against a collection that says so, the closed-book answer is true.
    chosen = plan(BARE, judging=VerifierPlan(trusted="other", threshold=0.8), collection="notes")
    run_id = run(pipeline, chosen)
    outcomes = {r.arm: r.evaluation.outcome for r in RunStore(pipeline.store).load_samples(run_id)}
    assert outcomes == {"closed_book": "supported", "rag": "hallucinated"}
    assert not report_data(pipeline, run_id).config.same_collection


def test_a_stored_run_finds_its_judge_again_or_says_why_not(pipeline: Pipeline) -> None:
    chosen = plan(BARE)
    run_id = run(pipeline, chosen)
    info = RunStore(pipeline.store).load_run(run_id)
    judge = reopen_judge(pipeline, info, chosen.questions, overlap)
    assert judge is not None and judge.verifier.name == info.config.verifier

    class Other(Overlap):
        name = "overlap/2"

    with pytest.raises(AppError, match="overlap/2"):
        reopen_judge(pipeline, info, chosen.questions, lambda f, d: Other())


def test_without_a_collection_the_message_says_what_to_do(
    make_pipeline: Callable[..., Pipeline], make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    empty = make_pipeline(make_settings(tmp_path / "empty"))
    with pytest.raises(AppError, match=r"1 of 2.*trusted collection.*verifier"):
        open_judge(empty, VerifierPlan(), (BARE, REFERENCED), None, never)


def questions_file(folder: Path) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(json.dumps({"id": q.id, "text": q.text}) for q in (BARE, ALSO)))
    return path


def test_the_command_end_to_end(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app.judging.run_judge, "load_scorer", overlap)
    report = tmp_path / "report.html"
    arguments: argparse.Namespace = build_parser().parse_args(
        ["evaluate", str(questions_file(tmp_path)), "--arms", "closed_book,rag", "--n", "2", "--threshold", "0.8",
         "--report", str(report), "--json"]
    )  # fmt: skip
    found = []
    for _ in range(2):
        assert evaluate_and_report(arguments, Output(as_json=True), pipeline, "plumbline evaluate") == 0
        found.append(capsys.readouterr())
    one, two = (json.loads(f.out) for f in found)
    assert one == two and "8 of 8" in found[1].err
    assert one["entailment"]["judged"] == 2
    rates = {a["arm"]: a["hallucinated"]["default"]["rate"] for a in one["summary"]["arms"]}
    assert rates == {"closed_book": 1.0, "rag": 0.5}
    page = report.read_text("utf-8")
    assert 'weak">Zeppelin</span>' in page and "0.8 (this run)" in page
    assert "The warranty of the Heron 4 lasts for three years." in page
    report_run(pipeline, one["run"], ReportFiles(report), Output(as_json=True))
    assert 'weak">' not in report.read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (("--threshold", "0"), 2, "--threshold 0"),
        (("--threshold", "1.5"), 2, "--threshold 1.5"),
        (("--threshold", "nan"), 2, "--threshold nan"),
        (("--verifier", "psychic"), 2, "psychic"),
        (("--trusted", "nowhere"), 1, "nowhere"),
        (("--verifier-model", "/no/such/folder"), 1, "/no/such/folder"),
    ],
)
def test_bad_options_get_one_clear_message(
    capsys: pytest.CaptureFixture[str],
    small_home: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    code: int,
    expected: str,
) -> None:
    ask = ["evaluate", str(questions_file(tmp_path)), "--home", str(small_home), "--collection", "notes", *options]
    try:
        found = SimpleNamespace(code=main(ask))
    except SystemExit as error:
        found = SimpleNamespace(code=error.code)
    captured = capsys.readouterr()
    assert found.code == code, captured.err
    assert all(word in captured.err for word in expected.split()) and "Traceback" not in captured.err
