"""What fails in an experiment: a question, a search, the generator, the verifier, the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from data.questions import Question
from data.store import Store
from evaluation.errors import EvaluationError
from evaluation.outcomes import Verdict
from evaluation.runs.arms import ClosedBook
from evaluation.runs.experiment import FAILURES_IN_A_ROW, RunOptions, run_experiment
from evaluation.runs.run_config import ArmSpec
from evaluation.runs.run_store import RunStore
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem
from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


def failing(text: str) -> Callable[[str], str]:
    def act(question: str) -> str:
        if question == text:
            raise RuntimeError("no luck \ud800")
        return "Paris"

    return act


def test_a_generator_that_fails_on_one_question_leaves_it_unscored(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)
    result = lab.run(runs, lab.Scripted(failing(lab.QUESTIONS[1].text)))
    records = [r for r in runs.load_samples(result.run_id) if r.question_id == "q1"]
    assert result.complete
    assert result.failed == 9 + 3
    for r in records:
        assert (r.evaluation.outcome, r.failure, r.completion) == ("unscored", "generator", None)
        assert "RuntimeError: no luck \ufffd" in r.evaluation.reason
    again = lab.run(runs, lab.Parrot(), options=RunOptions(retry_failed=True))
    assert (again.drawn, again.failed) == (9, 0)
    fresh = [r for r in runs.load_samples(result.run_id) if r.question_id == "q1"]
    assert all(r.completion for r in fresh)


def test_a_generator_that_is_down_ends_the_run_and_keeps_what_was_good(lab: SimpleNamespace, store: Store) -> None:
    runs = RunStore(store)

    def down(question: str) -> str:
        if question != lab.QUESTIONS[0].text:
            raise ConnectionError("refused")
        return "Paris"

    with pytest.raises(EvaluationError, match=rf"{FAILURES_IN_A_ROW} cells.*ConnectionError: refused"):
        lab.run(runs, lab.Scripted(down))
    run_id = lab.config().run_id
    assert {r.question_id for r in runs.load_samples(run_id)} == {"q0"}
    assert runs.load_run(run_id).status == "failed"
    assert lab.run(runs).complete


def test_questions_that_do_not_fit_are_no_outage(lab: SimpleNamespace, store: Store) -> None:
    class Narrow(lab.Parrot):
        def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
            raise GenerationError("the question does not fit")

    result = lab.run(RunStore(store), Narrow())
    assert result.complete
    assert result.failed == 54


def test_a_wrong_number_of_completions_is_a_failure(lab: SimpleNamespace, store: Store) -> None:
    class Short(lab.Parrot):
        def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
            return super().generate(prompt, params, seeds[:1] if prompt.question == "Where is 1?" else seeds)

    runs = RunStore(store)
    reasons = {
        r.evaluation.reason for r in runs.load_samples(lab.run(runs, Short()).run_id) if r.failure == "generator"
    }
    assert reasons == {"the generator failed: EvaluationError: 1 completions came back for 3 seeds"}


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("", "unscored", "the completion is empty"),
        (" \n", "unscored", "the completion is empty"),
        ("[1]", "unscored", "the answer makes no claim and does not refuse"),
        ("The documents do not answer this.", "abstained", ""),
        ("Paris\ud800\0 [1]", "supported", ""),
        ("Paris [1].", "supported", ""),
    ],
)
def test_odd_completions(lab: SimpleNamespace, store: Store, text: str, outcome: str, reason: str) -> None:
    runs, questions, chosen = RunStore(store), lab.QUESTIONS[:1], lab.arms("closed_book")
    settings = lab.config(questions, chosen)
    result = run_experiment(settings, questions, chosen, lab.Scripted(lambda q: text), ReferenceVerifier(), runs)
    for r in runs.load_samples(result.run_id):
        assert (r.evaluation.outcome, r.evaluation.reason) == (outcome, reason)
        assert r.completion is not None
        assert len(r.completion.text) == len(text)
        assert all(r.completion.text[v.claim.start : v.claim.end] == v.claim.text for v in r.evaluation.verdicts)


def test_a_verifier_that_raises_leaves_the_claims_unscored(lab: SimpleNamespace, store: Store) -> None:
    def act(item: VerificationItem) -> None:
        if item.question.id == "q1":
            raise MemoryError("too long")

    verifier, runs, chosen = lab.Moody(act), RunStore(store), lab.arms("rag")
    settings = lab.config(chosen=chosen, verifier=verifier)
    generator = lab.Scripted(lambda q: "I don't know." if q == "Where is 0?" else "Paris")
    result = run_experiment(settings, lab.QUESTIONS, chosen, generator, verifier, runs)
    records = runs.load_samples(result.run_id)
    assert verifier.calls == [3] * 5  # one call for all samples of a cell, none where nothing is claimed
    assert [r.evaluation.outcome for r in records] == ["abstained"] * 3 + ["unscored"] * 3 + ["supported"] * 12
    failed = [r for r in records if r.failure == "verifier"]
    assert {r.question_id for r in failed} == {"q1"}
    assert "MemoryError: too long" in failed[0].evaluation.reason
    assert failed[0].evaluation.verdicts[0].label == "unscored"
    assert result.failed == 3


def test_verdicts_on_other_claims_are_not_taken(lab: SimpleNamespace, store: Store) -> None:
    class Careless(lab.Moody):
        def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
            return super().verify(items)[:-1]

    verifier, runs, chosen = Careless(), RunStore(store), lab.arms("closed_book")
    settings = lab.config(chosen=chosen, verifier=verifier)
    result = run_experiment(settings, lab.QUESTIONS, chosen, lab.Scripted(lambda q: "Paris"), verifier, runs)
    assert {r.evaluation.outcome for r in runs.load_samples(result.run_id)} == {"unscored"}


def test_a_search_that_fails_on_one_question_is_recorded(lab: SimpleNamespace, store: Store) -> None:
    class Gappy(ClosedBook):
        def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
            if question.id == "q2":
                raise RuntimeError("index gap")
            return ()

    runs, chosen = RunStore(store), [Gappy()]
    result = run_experiment(lab.config(chosen=chosen), lab.QUESTIONS, chosen, lab.Parrot(), ReferenceVerifier(), runs)
    failed = [r for r in runs.load_samples(result.run_id) if r.failure]
    assert {(r.question_id, r.failure) for r in failed} == {("q2", "retrieval")}
    assert all("RuntimeError: index gap" in r.evaluation.reason for r in failed)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"questions_sha256": "0"}, "question set"),
        ({"generator": "0"}, "generator"),
        ({"verifier": "0"}, "verifier"),
        ({"arms": (ArmSpec("closed_book", ""),)}, "arms"),
    ],
)
def test_what_differs_from_the_config_is_refused(
    lab: SimpleNamespace, store: Store, changes: dict[str, object], message: str
) -> None:
    other = replace(lab.config(), **changes)  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match=message):
        run_experiment(other, lab.QUESTIONS, lab.arms(), lab.Parrot(), ReferenceVerifier(), RunStore(store))
    assert RunStore(store).list_runs() == ()


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ((), "no questions"),
        ((Question("q0", "Where?"), Question("q0", "When?")), "'q0'.*twice"),
        ((Question("x" * 256, "?"),), "255"),
    ],
)
def test_unusable_question_sets_are_refused(
    lab: SimpleNamespace, store: Store, questions: tuple[Question, ...], message: str
) -> None:
    with pytest.raises(EvaluationError, match=message):
        run_experiment(lab.config(questions), questions, lab.arms(), lab.Parrot(), ReferenceVerifier(), RunStore(store))
