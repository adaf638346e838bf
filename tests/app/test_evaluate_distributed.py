"""Runs on the workers of an executor: samples, verdicts, resuming, and rejected options. Needs no Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from app.cli import main
from app.judging.run_judge import VerifierPlan
from app.models.generators import absolute_choice, is_server, open_generator
from app.pipeline import Pipeline
from app.runs.distributed import RunWorkers, ScorerBlock, WorkerModels, run_workers
from app.runs.evaluate import EvaluationPlan, evaluate, judge_of
from app.settings import Settings
from data.block_work import WorkerError
from data.questions import Question
from data.schema import runs
from evaluation.runs.experiment import RunResult
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunStore
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.layered_scorer import without_reader
from generation.generator import Generator
from model.pairs.scoring import Pair
from tests.block_executors import ThreadExecutor

QUESTIONS = (
    Question("ref", "How long does the warranty last?", ("three years",), ("warranty",)),
    Question("bare", "What do you know of the Heron 4?", (), ("warranty",)),
    Question("office", "Where is the office?", ("Lisbon",), ("office",)),
    Question("un", "Who minds the office in Lisbon?", answerable=False),
    Question("also", "What do you know of the office?", (), ("office",)),
)
PLAN = EvaluationPlan(
    QUESTIONS, ("closed_book", "rag", "oracle"), samples=2, judging=VerifierPlan(model="token-overlap", threshold=0.8)
)


@pytest.fixture
def reader(make_pipeline: Callable[..., Pipeline], make_settings: Callable[..., Settings], home_copy: Path) -> Pipeline:
    return make_pipeline(make_settings(home_copy))


@pytest.fixture
def executor() -> Iterator[ThreadExecutor]:
    made = ThreadExecutor(2)
    yield made
    for group in made.groups:
        group.close()


def drawn(pipeline: Pipeline, workers: RunWorkers | None = None, limit: int | None = None) -> RunResult:
    load = workers.load_scorer if workers else None
    generation = workers.generation(pipeline.generator) if workers else None
    return evaluate(pipeline, PLAN, judge=judge_of(pipeline, PLAN, load), worker_generation=generation, limit=limit)


def records(pipeline: Pipeline, run_id: str) -> list[SampleRecord]:
    """Return the samples without the scores of their chunks, which depend on the encoder's batches."""
    found = RunStore(pipeline.store).load_samples(run_id)
    assert all(r.completion is None or r.chunks or r.arm != "rag" for r in found)
    return [replace(r, chunks=()) for r in found]


def forget(pipeline: Pipeline) -> None:
    with pipeline.store.write() as connection:
        connection.execute(delete(runs))


def test_samples_and_verdicts_are_those_of_this_process(reader: Pipeline, executor: ThreadExecutor) -> None:
    with run_workers(executor, reader) as workers:
        there = drawn(reader, workers)
    assert there.complete
    found = records(reader, there.run_id)
    forget(reader)
    here = drawn(reader)
    assert (here.run_id, here.total, here.failed) == (there.run_id, there.total, there.failed)
    assert records(reader, here.run_id) == found
    (group,) = executor.groups
    assert group.models and group.closed and group.opened <= 2
    assert group.blocks > sum(r.completion is not None for r in found) / PLAN.samples  # cells, and pairs


@pytest.mark.parametrize("first", ["here", "there"])
def test_a_run_begun_by_one_engine_is_finished_by_the_other(
    first: str, reader: Pipeline, executor: ThreadExecutor
) -> None:
    whole = records(reader, drawn(reader).run_id)
    forget(reader)
    with run_workers(executor, reader) as workers:
        drawn(reader, workers if first == "there" else None, limit=7)
        result = drawn(reader, None if first == "there" else workers)
    assert result.complete and result.resumed == 7 * PLAN.samples
    assert records(reader, result.run_id) == whole


def other_reader(device: str) -> Generator:
    return open_generator("reader", device=device)  # the shipped one, not the pipeline's


def missing_reader(device: str) -> Generator:
    raise FileNotFoundError("no such folder: /models/reader")


@pytest.mark.parametrize(("opens", "words"), [(other_reader, "the command's is"), (missing_reader, "/models/reader")])
def test_a_worker_with_another_model_or_none_ends_the_run(
    opens: Any, words: str, reader: Pipeline, executor: ThreadExecutor
) -> None:
    with RunWorkers(executor, WorkerModels(opens)) as workers, pytest.raises(WorkerError, match=words):
        drawn(reader, workers)
    store = RunStore(reader.store)
    (run,) = store.list_runs()
    assert not [r for r in store.load_samples(run.id) if r.failure == "generator"]


def test_a_worker_with_another_verifier_ends_the_run(reader: Pipeline, executor: ThreadExecutor) -> None:
    with run_workers(executor, reader) as workers:
        assert workers is not None
        block = ScorerBlock((Pair("a b", "a"),), "another/1", "token-overlap", network=False)
        with pytest.raises(WorkerError, match="another/1"):
            workers.submit(block).result()


def test_a_stopped_run_takes_no_more_blocks(reader: Pipeline, executor: ThreadExecutor) -> None:
    with run_workers(executor, reader) as workers:
        assert workers is not None
        scorer = workers.load_scorer("token-overlap", "cpu")
        assert scorer.score([Pair("a b", "a"), Pair("b", "a")]) == (1.0, 0.0)
        workers.stop()
        with pytest.raises(WorkerError, match="stopped"):
            scorer.score([Pair("a b", "a")])


def test_the_shipped_verifier_scores_there_with_and_without_its_reader(
    reader: Pipeline, executor: ThreadExecutor
) -> None:
    from app.judging.run_judge import load_scorer

    pairs = [
        Pair("The office in Lisbon opens at nine.", "nine", "When does the office open?"),
        Pair("The office in Lisbon opens at nine.", "The office opens at ten."),
    ]
    here = CachedScorer(load_scorer(None, "cpu"))
    with run_workers(executor, reader) as workers:
        assert workers is not None
        there = CachedScorer(workers.load_scorer(None, "cpu"))
        assert there.name == here.name
        for mine, other in ((here, there), (without_reader(here), without_reader(there))):
            assert other.score(pairs) == pytest.approx(mine.score(pairs), abs=1e-5)
    assert here.score(pairs) != without_reader(here).score(pairs)


def test_a_model_is_named_so_that_another_process_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").mkdir()
    assert [absolute_choice(c) for c in ("", "reader", "decoder")] == ["", "reader", "decoder"]
    assert absolute_choice("m") == str(tmp_path / "m")
    assert absolute_choice("transformers:m") == f"transformers:{tmp_path / 'm'}"
    assert is_server("openai:http://127.0.0.1:1/v1#m") and not is_server("transformers:m") and not is_server("")


SERVER = "openai:http://127.0.0.1:1/v1#m"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--model", SERVER], "server"),
        (["--model", "reader", "--model", SERVER], "server"),
        (["--judge", SERVER], "judge"),
        (["--forced-drift"], "--forced-drift"),
        (["--policies", "strip"], "policies"),
        (["--dry-run"], "--dry-run"),
    ],
)
def test_what_workers_cannot_do_is_refused_before_a_cluster_is_needed(
    options: list[str], words: str, home_copy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("a cluster was started")

    monkeypatch.setattr("app.cluster.executor.RayExecutor", never)
    given = ["evaluate", "samples", "--collection", "notes", "--home", str(home_copy), "--engine", "ray", *options]
    assert main(given) == 2
    said = capsys.readouterr().err
    assert "--engine ray" in said and words in said


def test_the_command_gives_its_run_to_the_executor(
    home_copy: Path,
    reader_folder: Path,
    tmp_path: Path,
    executor: ThreadExecutor,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Executor(ThreadExecutor):
        def __init__(self, options: Any, notify: Any) -> None:
            super().__init__(options.workers)
            assert options.workers == 2
            executor.groups = self.groups

        def __enter__(self) -> Executor:
            return self

        def __exit__(self, *_: object) -> None:
            for group in self.groups:
                group.close()

    monkeypatch.setattr("app.cluster.executor.RayExecutor", Executor)
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "1", "text": "Where is the office?", "references": ["Lisbon"]}\n')
    given = ["evaluate", str(file), "--collection", "notes", "--home", str(home_copy), "--model", str(reader_folder)]
    code = main([*given, "--json", "--engine", "ray", "--ray-workers", "2"])
    shown = capsys.readouterr().out
    (group,) = executor.groups
    assert group.blocks >= 2 and group.closed
    assert (code, shown.startswith("{")) == (main([*given, "--json"]), True)
