"""The experiment end to end with small real parts: outcomes, seeds, failures, and kills at every commit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from data.questions import EvidenceSpan, Question
from data.store import Store
from evaluation.claims import Extraction, extract_claims
from evaluation.errors import EvaluationError
from evaluation.outcomes import Verdict
from evaluation.runs.arms import Arm, ClosedBook, Oracle, Rag
from evaluation.runs.experiment import FAILURES_IN_A_ROW, Progress, RunResult, configure, run_experiment
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import Decoding, RunConfig
from evaluation.runs.run_store import RunStore
from evaluation.runs.seeds import derive_seed
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem, Verifier
from generation.completion import Completion, Usage
from generation.errors import GenerationError
from generation.params import SamplingParams
from generation.prompt import Prompt, PromptChunk
from retrieval.chunks import Chunk, RetrievedChunk

CITIES = ("Paris", "Rome", "Leith", "Oslo")
QUESTIONS = (
    *(Question(f"q{i}", f"Where is {i}?", (c,), ("d",), True, "", (EvidenceSpan("d", 6 * i, 6 * i + 5),)) for i, c in
      enumerate(CITIES)),
    Question("open", "Where is 9?", relevant_document_ids=("d",), answerable=False),
    Question("bare", "Where is 8?"),
)  # fmt: skip
DOCUMENT = "Paris Rome! Leith Oslo! "
ARMS = ("closed_book", "rag", "oracle")
N = 3


class Passages:
    """One document in four chunks; also a search that returns them all."""

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return tuple(Chunk("d", i, i + 6, DOCUMENT[i : i + 6]) for i in range(0, 24, 6)) if document_id == "d" else ()

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        found = tuple(RetrievedChunk(c, 1 / r, r) for r, c in enumerate(self.chunks_of("d")[:k], 1))
        return tuple(found for _ in queries)


class Parrot:
    """Says a word of a chunk it was shown, a city it knows, or that it does not know: a pure function of the seed."""

    name = "parrot"
    fingerprint = "parrot-1"
    context_length = 100

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        shown = tuple(PromptChunk(i, c, 0, len(c.chunk.text)) for i, c in enumerate(chunks, 1))
        return Prompt(question, shown[:2], tuple(chunks[2:]), (1, 2, 3))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        known = [c.text.strip(" !") for c in prompt.chunks] or list(CITIES)
        return tuple(self.say(random.Random(seed).choice([*known, "I don't know."]), seed) for seed in seeds)

    def say(self, text: str, seed: int) -> Completion:
        return Completion(text, (1,), (-0.5,), "stop", Usage(3, 1), seed)


class Scripted(Parrot):
    """Does for each question what a function says."""

    def __init__(self, act: Callable[[str], str]) -> None:
        self.act = act

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        return tuple(self.say(self.act(prompt.question), seed) for seed in seeds)


class Moody:
    """A verifier that fails on one question and keeps what it was asked."""

    name = "moody/1"

    def __init__(self, act: Callable[[VerificationItem], None] = lambda item: None) -> None:
        self.act = act
        self.calls: list[int] = []

    def extract(self, question: Question, completion: str) -> Extraction:
        return extract_claims(completion)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        self.calls.append(len(items))
        for item in items:
            self.act(item)
        return tuple(tuple(Verdict(c, "supported", 1.0, "", (), self.name) for c in item.claims) for item in items)


class Stop(BaseException):
    """Raised where a test pulls the plug."""


class Fragile(RunStore):
    """Pulls the plug at one commit, before or after it is made."""

    def __init__(self, store: Store, at: int, after: bool, error: type[BaseException]) -> None:
        super().__init__(store)
        self.left, self.after, self.error = at, after, error

    def save_samples(self, run_id: str, records: Sequence[SampleRecord]) -> None:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise self.error
        super().save_samples(run_id, records)
        if self.left == 0:
            raise self.error


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'plumbline.db'}") as opened:
        yield opened


def arms(*names: str) -> list[Arm]:
    made: dict[str, Arm] = {
        "closed_book": ClosedBook(),
        "rag": Rag(Passages(), 3),
        "oracle": Oracle(Passages(), 2, Passages()),
    }
    return [made[n] for n in names or ARMS]


def config(
    questions: Sequence[Question] = QUESTIONS,
    chosen: Sequence[Arm] | None = None,
    verifier: Verifier | None = None,
    samples: int = N,
    seed: int = 11,
) -> RunConfig:
    return configure(
        questions,
        arms() if chosen is None else chosen,
        Parrot(),
        verifier or ReferenceVerifier(),
        samples=samples,
        decoding=Decoding(),
        seed=seed,
        version="0",
    )


def run(runs: RunStore, generator: Parrot | None = None, **options: object) -> RunResult:
    return run_experiment(config(), QUESTIONS, arms(), generator or Parrot(), ReferenceVerifier(), runs, **options)  # type: ignore[arg-type]


def test_every_question_gets_n_samples_in_every_arm(store: Store) -> None:
    runs = RunStore(store)
    result = run(runs)
    records = runs.load_samples(result.run_id)
    wanted = [(q.id, a, s) for q in QUESTIONS for a in ARMS for s in range(N)]
    assert [(r.question_id, r.arm, r.sample) for r in records] == wanted
    assert (result.total, result.drawn, result.resumed, result.failed) == (54, 54, 0, 3)
    assert result.complete
    assert runs.load_run(result.run_id).status == "finished"
    for r in records:
        assert r.seed == derive_seed(11, r.question_id, r.arm, Decoding().label, r.sample)
        assert (r.completion is None) == (r.question_id == "bare" and r.arm == "oracle")


def test_outcomes_follow_from_what_was_said(store: Store) -> None:
    runs = RunStore(store)
    records = runs.load_samples(run(runs).run_id)
    by_id = {q.id: q for q in QUESTIONS}
    seen = set()
    for r in records:
        question, outcome = by_id[r.question_id], r.evaluation.outcome
        seen.add(outcome)
        if r.completion is None:
            assert (outcome, r.failure) == ("unscored", "gold")
            assert "names no evidence" in r.evaluation.reason
        elif r.completion.text == "I don't know.":
            assert (outcome, r.evaluation.verdicts) == ("abstained", ())
        elif not question.answerable:
            assert outcome == "hallucinated"
        elif not question.references:
            assert outcome == "unscored"
            assert "no reference" in r.evaluation.reason
        else:
            assert outcome == ("supported" if r.completion.text in question.references else "hallucinated")
    assert seen == {"supported", "hallucinated", "abstained", "unscored"}


def test_what_was_shown_is_kept(store: Store) -> None:
    runs = RunStore(store)
    records = runs.load_samples(run(runs).run_id)
    rag = next(r for r in records if r.arm == "rag")
    assert [c.text for c in rag.chunks] == ["Paris ", "Rome! "]
    assert rag.omitted == ("d:12-18",)
    assert all(r.chunks == () for r in records if r.arm == "closed_book")
    oracle = next(r for r in records if r.arm == "oracle" and r.question_id == "q2")
    assert [c.text for c in oracle.chunks] == ["Leith "]


@pytest.mark.parametrize(("after", "error"), [(False, KeyboardInterrupt), (True, Stop), (True, RuntimeError)])
def test_killed_at_every_commit_and_resumed_equals_undisturbed(
    store: Store, tmp_path: Path, after: bool, error: type[BaseException]
) -> None:
    whole = RunStore(store)
    expected = whole.load_samples(run(whole).run_id)
    cells = len(QUESTIONS) * len(ARMS)
    with Store.open(f"sqlite:///{tmp_path / 'killed.db'}") as other:
        for at in range(1, cells + 1):
            # Each call gets one commit further before the plug is pulled; resumed cells are not drawn again.
            with pytest.raises(error):
                run(Fragile(other, 1 if after else 2, after, error))
            runs = RunStore(other)
            run_id = config().run_id
            assert runs.load_run(run_id).status == ("failed" if issubclass(error, Exception) else "interrupted")
            assert runs.load_samples(run_id) == expected[: at * N]
            if at == cells - 1 and not after:
                break
        result = run(RunStore(other))
        assert result.complete
        assert result.resumed == (cells if after else cells - 1) * N
        assert RunStore(other).load_samples(result.run_id) == expected


def test_resume_draws_nothing_twice(store: Store) -> None:
    runs = RunStore(store)
    first = run(runs, limit=4)
    assert (first.drawn, first.resumed, first.complete) == (12, 0, False)
    assert runs.load_run(first.run_id).status == "interrupted"
    second = run(runs)
    assert (second.drawn, second.resumed, second.complete) == (42, 12, True)

    def refuse(question: str) -> str:
        raise AssertionError(question)

    third = run(runs, Scripted(refuse))
    assert (third.drawn, third.resumed, third.failed) == (0, 54, 0)


def test_samples_do_not_depend_on_order_or_number(store: Store) -> None:
    runs = RunStore(store)
    some = {(r.question_id, r.arm, r.sample): r for r in runs.load_samples(run(runs).run_id)}
    turned, chosen = QUESTIONS[::-1], arms(*ARMS[::-1])
    more = config(turned, chosen, samples=5)
    result = run_experiment(more, turned, chosen, Parrot(), ReferenceVerifier(), runs)
    assert result.run_id != config().run_id
    many = {(r.question_id, r.arm, r.sample): r for r in runs.load_samples(result.run_id)}
    assert {k: many[k] for k in some} == some


def test_another_seed_is_another_run(store: Store) -> None:
    runs = RunStore(store)
    first = run(runs)
    other = config(seed=12)
    second = run_experiment(other, QUESTIONS, arms(), Parrot(), ReferenceVerifier(), runs)
    assert second.run_id != first.run_id
    assert second.resumed == 0
    # False alarm: 45 drawn answers equal by chance, below 0.6 ** 45.
    said = [[r.completion and r.completion.text for r in runs.load_samples(i.run_id)] for i in (first, second)]
    assert said[0] != said[1]


def test_progress_counts_samples(store: Store) -> None:
    seen: list[Progress] = []
    ticks = iter(range(1000))
    runs = RunStore(store)
    run(runs, limit=2)
    run(runs, progress=seen.append, clock=lambda: float(next(ticks)))
    assert [p.done for p in seen] == list(range(6, 55, 3))
    assert {(p.total, p.resumed) for p in seen} == {(54, 6)}
    assert (seen[0].rate, seen[0].remaining_s) == (None, None)
    assert seen[1].rate == pytest.approx(3 / 2)
    assert seen[1].remaining_s == pytest.approx(30.0)


def failing(text: str) -> Callable[[str], str]:
    def act(question: str) -> str:
        if question == text:
            raise RuntimeError("no luck \ud800")
        return "Paris"

    return act


def test_a_generator_that_fails_on_one_question_leaves_it_unscored(store: Store) -> None:
    runs = RunStore(store)
    result = run(runs, Scripted(failing(QUESTIONS[1].text)))
    records = [r for r in runs.load_samples(result.run_id) if r.question_id == "q1"]
    assert result.complete
    assert result.failed == 9 + 3
    for r in records:
        assert (r.evaluation.outcome, r.failure, r.completion) == ("unscored", "generator", None)
        assert r.evaluation.reason == "the generator failed: RuntimeError: no luck \ufffd"
    again = run(runs, Parrot(), retry_failed=True)
    assert (again.drawn, again.failed) == (9, 0)
    fresh = [r for r in runs.load_samples(result.run_id) if r.question_id == "q1"]
    assert all(r.completion for r in fresh)


def test_a_generator_that_is_down_ends_the_run_and_keeps_what_was_good(store: Store) -> None:
    runs = RunStore(store)

    def down(question: str) -> str:
        if question != QUESTIONS[0].text:
            raise ConnectionError("refused")
        return "Paris"

    with pytest.raises(
        EvaluationError, match=rf"failed on {FAILURES_IN_A_ROW} cells in a row.*ConnectionError: refused"
    ):
        run(runs, Scripted(down))
    run_id = config().run_id
    assert {r.question_id for r in runs.load_samples(run_id)} == {"q0"}
    assert runs.load_run(run_id).status == "failed"
    assert run(runs).complete


def test_questions_that_do_not_fit_are_no_outage(store: Store) -> None:
    class Narrow(Parrot):
        def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
            raise GenerationError("the question does not fit")

    result = run(RunStore(store), Narrow())
    assert result.complete
    assert result.failed == 54


def test_a_wrong_number_of_completions_is_a_failure(store: Store) -> None:
    class Short(Parrot):
        def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
            return super().generate(prompt, params, seeds[:1] if prompt.question == "Where is 1?" else seeds)

    runs = RunStore(store)
    reasons = {r.evaluation.reason for r in runs.load_samples(run(runs, Short()).run_id) if r.failure == "generator"}
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
def test_odd_completions(store: Store, text: str, outcome: str, reason: str) -> None:
    runs, questions, chosen = RunStore(store), QUESTIONS[:1], arms("closed_book")
    settings = config(questions, chosen)
    result = run_experiment(settings, questions, chosen, Scripted(lambda q: text), ReferenceVerifier(), runs)
    for r in runs.load_samples(result.run_id):
        assert (r.evaluation.outcome, r.evaluation.reason) == (outcome, reason)
        assert r.completion is not None
        assert len(r.completion.text) == len(text)
        assert all(r.completion.text[v.claim.start : v.claim.end] == v.claim.text for v in r.evaluation.verdicts)


def test_a_verifier_that_raises_leaves_the_claims_unscored(store: Store) -> None:
    def act(item: VerificationItem) -> None:
        if item.question.id == "q1":
            raise MemoryError("too long")

    verifier, runs, chosen = Moody(act), RunStore(store), arms("rag")
    settings = config(chosen=chosen, verifier=verifier)
    generator = Scripted(lambda q: "I don't know." if q == "Where is 0?" else "Paris")
    result = run_experiment(settings, QUESTIONS, chosen, generator, verifier, runs)
    records = runs.load_samples(result.run_id)
    assert verifier.calls == [3] * 5  # one call for all samples of a cell, none where nothing is claimed
    assert [r.evaluation.outcome for r in records] == ["abstained"] * 3 + ["unscored"] * 3 + ["supported"] * 12
    failed = [r for r in records if r.failure == "verifier"]
    assert {r.question_id for r in failed} == {"q1"}
    assert failed[0].evaluation.reason == "the verifier failed: MemoryError: too long"
    assert failed[0].evaluation.verdicts[0].label == "unscored"
    assert result.failed == 3


def test_verdicts_on_other_claims_are_not_taken(store: Store) -> None:
    class Careless(Moody):
        def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
            return super().verify(items)[:-1]

    verifier, runs, chosen = Careless(), RunStore(store), arms("closed_book")
    settings = config(chosen=chosen, verifier=verifier)
    result = run_experiment(settings, QUESTIONS, chosen, Scripted(lambda q: "Paris"), verifier, runs)
    assert {r.evaluation.outcome for r in runs.load_samples(result.run_id)} == {"unscored"}


def test_a_search_that_fails_on_one_question_is_recorded(store: Store) -> None:
    class Gappy(ClosedBook):
        def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
            if question.id == "q2":
                raise RuntimeError("index gap")
            return ()

    runs, chosen = RunStore(store), [Gappy()]
    result = run_experiment(config(chosen=chosen), QUESTIONS, chosen, Parrot(), ReferenceVerifier(), runs)
    failed = [r for r in runs.load_samples(result.run_id) if r.failure]
    assert {(r.question_id, r.failure, r.evaluation.reason) for r in failed} == {
        ("q2", "retrieval", "the search failed: RuntimeError: index gap")
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"questions_sha256": "0"}, "question set"),
        ({"generator": "0"}, "generator"),
        ({"verifier": "0"}, "verifier"),
        ({"arms": config().arms[:2]}, "arms"),
    ],
)
def test_what_differs_from_the_config_is_refused(store: Store, changes: dict[str, object], message: str) -> None:
    other = replace(config(), **changes)  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match=f"configured for {message}"):
        run_experiment(other, QUESTIONS, arms(), Parrot(), ReferenceVerifier(), RunStore(store))
    assert RunStore(store).list_runs() == ()


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ((), "no questions"),
        ((QUESTIONS[0], QUESTIONS[0]), "'q0' occurs twice"),
        ((Question("x" * 256, "?"),), "longer than 255"),
    ],
)
def test_unusable_question_sets_are_refused(store: Store, questions: tuple[Question, ...], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        run_experiment(config(questions), questions, arms(), Parrot(), ReferenceVerifier(), RunStore(store))
