"""Runs and samples survive the way to the database and back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from data.questions import EvidenceSpan, Question
from data.store import Store
from evaluation.errors import EvaluationError
from evaluation.outcomes import AnswerEvaluation, Claim, Evidence, Verdict
from evaluation.runs.records import SampleRecord, storable
from evaluation.runs.run_config import ArmSpec, Decoding, RunConfig, config_from_json, config_to_json, hash_questions
from evaluation.runs.run_store import Cell, RunStore
from generation.completion import Citation, Completion, Usage
from generation.errors import GenerationError
from generation.prompt import PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk

QUESTIONS = (
    Question("b", "Where?", ("Paris", "the Paris"), ("d1",), True, "one_fact", (EvidenceSpan("d1", 0, 5),)),
    Question("a", "Why? ☂", answerable=False),
)
CONFIG = RunConfig(
    questions_sha256=hash_questions(QUESTIONS),
    arms=(ArmSpec("rag", "k=4"), ArmSpec("closed_book", "")),
    samples=2,
    decoding=Decoding(temperature=0.7, stop=("\n",)),
    seed=7,
    generator="g" * 64,
    verifier="test/1",
    version="0.1.0",
)
CLAIM = Claim("Paris", 1, 6)


@pytest.fixture
def runs(database_url: str) -> Iterator[RunStore]:
    with Store.open(database_url) as store:
        yield RunStore(store)


def record(question: str = "b", arm: str = "rag", sample: int = 0, **changes: object) -> SampleRecord:
    chunk = Chunk("d1", 10, 25, "Paris is there.", "A title")
    verdict = Verdict(
        CLAIM, "contradicted", 0.0, "why", (Evidence(None, 0, 5, "Paris"), Evidence("d1", 0, 5, "")), "test/1"
    )
    made = SampleRecord(
        question_id=question,
        arm=arm,
        decoding=CONFIG.decoding.label,
        sample=sample,
        seed=2**63 - 1 - sample,
        completion=Completion(
            " Paris [1]", (1, 2), (-0.1, -math.inf), "length", Usage(9, 2), 2**63 - 1 - sample, (Citation(1, 7, 10),)
        ),
        chunks=(PromptChunk(1, RetrievedChunk(chunk, 0.25, 1, 2, 0.5, None, None), 0, 8),),
        omitted=("d1:30-40",),
        evaluation=AnswerEvaluation("hallucinated", (verdict,)),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_samples_come_back_as_they_were(runs: RunStore) -> None:
    run_id = runs.create_or_open_run(CONFIG, QUESTIONS)
    unscored = record(
        "a",
        "closed_book",
        completion=None,
        chunks=(),
        evaluation=AnswerEvaluation("unscored", (), "no gold"),
        failure="gold",
    )
    saved = [record(), record(sample=1), unscored]
    runs.save_samples(run_id, saved)
    assert runs.load_samples(run_id) == tuple(saved)
    assert runs.load_questions(run_id) == QUESTIONS
    assert runs.committed(run_id) == {Cell("b", "rag"), Cell("a", "closed_book")}


def test_samples_come_in_the_order_of_questions_and_arms(runs: RunStore) -> None:
    run_id = runs.create_or_open_run(CONFIG, QUESTIONS)
    for question, arm in (("a", "closed_book"), ("b", "closed_book"), ("a", "rag"), ("b", "rag")):
        runs.save_samples(run_id, [record(question, arm, 1), record(question, arm, 0)])
    found = [(r.question_id, r.arm, r.sample) for r in runs.load_samples(run_id)]
    assert found == [(q, a, s) for q in ("b", "a") for a in ("rag", "closed_book") for s in (0, 1)]


def test_a_stored_cell_is_left_as_it_is(runs: RunStore) -> None:
    run_id = runs.create_or_open_run(CONFIG, QUESTIONS)
    runs.save_samples(run_id, [record()])
    runs.save_samples(run_id, [record(seed=5), record("a", seed=6)])
    assert [r.seed for r in runs.load_samples(run_id)] == [2**63 - 1, 6]


def test_a_cell_is_written_whole_or_not_at_all(runs: RunStore) -> None:
    run_id = runs.create_or_open_run(CONFIG, QUESTIONS)
    broken = record(sample=1, omitted=(math.nan,))
    with pytest.raises(Exception, match="JSON"):
        runs.save_samples(run_id, [record(), broken])
    assert runs.load_samples(run_id) == ()


def test_failed_cells_can_be_dropped(runs: RunStore) -> None:
    run_id = runs.create_or_open_run(CONFIG, QUESTIONS)
    runs.save_samples(run_id, [record(), record(sample=1, failure="verifier"), record("a", failure="gold")])
    assert runs.drop_failed(run_id) == 1
    assert runs.committed(run_id) == {Cell("a", "rag")}


def test_runs_are_listed_and_found_by_a_unique_beginning(runs: RunStore) -> None:
    run_id = runs.create_or_open_run(CONFIG, QUESTIONS, "first", [("device", "cpu")])
    assert runs.create_or_open_run(CONFIG, QUESTIONS, "again") == run_id == CONFIG.run_id
    other = runs.create_or_open_run(replace(CONFIG, seed=8), QUESTIONS)
    runs.save_samples(run_id, [record()])
    runs.set_status(run_id, "finished")
    assert {r.id for r in runs.list_runs()} == {run_id, other}
    info = runs.load_run(run_id[:6])
    assert (info.name, info.status, info.samples, info.labels) == ("again", "finished", 1, (("device", "cpu"),))
    assert info.config == CONFIG
    assert info.finished_at is not None
    runs.create_or_open_run(CONFIG, QUESTIONS)
    assert runs.load_run(run_id).finished_at is None


def test_unknown_run_lists_the_known_ones(runs: RunStore) -> None:
    with pytest.raises(EvaluationError, match=r"'nope'.*no runs"):
        runs.load_samples("nope")
    run_id = runs.create_or_open_run(CONFIG, QUESTIONS, "first")
    with pytest.raises(EvaluationError, match=rf"'nope'.*first \({run_id}\)"):
        runs.load_samples("nope")
    with pytest.raises(EvaluationError, match="run ''"):
        runs.load_run("")


def test_config_survives_json() -> None:
    assert config_from_json(config_to_json(CONFIG), "x") == CONFIG
    with pytest.raises(EvaluationError, match="run x"):
        config_from_json({"arms": []}, "x")


@pytest.mark.parametrize(
    "changes",
    [
        {"questions_sha256": "0"},
        {"arms": CONFIG.arms[::-1]},
        {"arms": (ArmSpec("rag", "k=5"),)},
        {"samples": 3},
        {"decoding": Decoding(temperature=0.8, stop=("\n",))},
        {"decoding": Decoding(temperature=0.7)},
        {"seed": 8},
        {"generator": "h"},
        {"verifier": "test/2"},
        {"version": "0.2.0"},
        {"generation": "x"},
        {"encoder": "x"},
    ],
)
def test_every_setting_makes_another_run(changes: dict[str, object]) -> None:
    assert replace(CONFIG, **changes).run_id != CONFIG.run_id  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arms": ()}, "at least one arm"),
        ({"arms": (ArmSpec("rag", ""), ArmSpec("rag", "k"))}, "'rag'.*twice"),
        ({"arms": (ArmSpec("", ""),)}, "1 to 64"),
        ({"samples": 0}, "0 samples"),
        ({"seed": -1}, "seed.*-1"),
        ({"verifier": ""}, "verifier"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        replace(CONFIG, **changes)  # type: ignore[arg-type]


def test_decoding_label_is_short_and_tells_settings_apart() -> None:
    labels = {
        Decoding(temperature=t, top_k=k, top_p=p, max_tokens=m, stop=s).label
        for t in (0.0, 0.7, 1 / 3)
        for k in (None, 5)
        for p in (1.0, 0.1 + 0.2)
        for m in (1, 10**40)
        for s in ((), ("a", "b"), ("ab",))
    }
    assert len(labels) == 3 * 2 * 2 * 2 * 3
    assert max(map(len, labels)) <= 64
    with pytest.raises(GenerationError, match="temperature"):
        Decoding(temperature=-1)


def test_storable_keeps_lengths() -> None:
    assert storable("a\0b\ud800c☂") == "a\ufffdb\ufffdc☂"
