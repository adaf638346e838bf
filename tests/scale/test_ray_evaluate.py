"""Evaluation on a two-worker cluster: the samples and verdicts of the local engine, whatever happens to a worker."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.cluster.executor import ClusterOptions, RayExecutor
from app.judging.run_judge import VerifierPlan
from app.pipeline import Pipeline
from app.runs.distributed import RunWorkers, WorkerModels, run_workers
from app.runs.evaluate import EvaluationPlan, evaluate, judge_of
from app.settings import Settings
from data.block_work import WorkerError
from data.documents import Document
from data.questions import Question
from evaluation.runs.experiment import RunResult
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunStore
from evaluation.verifiers.verifier import failed
from generation.generator import Generator
from tests.scale.ray_clusters import clean_environment
from tests.scale.ray_generators import Told, open_told

pytestmark = pytest.mark.scale

ROOT = Path(__file__).resolve().parents[2]
COLOURS = ("red", "blue", "green")
DOCUMENTS = tuple(
    Document(
        f"heron{n}",
        f"Heron {n}",
        f"Heron {n} is a {COLOURS[n % 3]} boat of {n + 5} metres. It was built in {1900 + 3 * n}. It lies in Leith.",
    )
    for n in range(12)
)
QUESTIONS = tuple(
    Question(
        f"q{n}",
        f"What is the colour of Heron {n}?" if n % 2 else f"What do you know of Heron {n}?",
        (COLOURS[n % 3],) if n % 2 else (),
        (f"heron{n}",),
    )
    for n in range(12)
)
DEADLY = QUESTIONS[5].text


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the collection "notes". Copy it."""
    folder = tmp_path_factory.mktemp("evaluate") / "home"
    with Pipeline(Settings(home=folder)) as pipeline:
        pipeline.index("notes", DOCUMENTS)
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayExecutor]:
    with RayExecutor(ClusterOptions(workers=2)) as opened:
        yield opened


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    folder = tmp_path / "calls"
    folder.mkdir()
    return folder


def opened(home: Path, to: Path, generator: Generator | None = None, model: str = "reader") -> Pipeline:
    """A pipeline on a copy of the home."""
    pipeline = Pipeline(Settings(home=shutil.copytree(home, to), model=model))
    if generator is not None:
        pipeline.__dict__["generator"] = generator
    return pipeline


def plan(**fields: Any) -> EvaluationPlan:
    return EvaluationPlan(QUESTIONS, **({"arms": ("rag", "oracle"), "samples": 3} | fields))


def drawn(
    pipeline: Pipeline, chosen: EvaluationPlan, workers: RunWorkers | None = None, limit: int | None = None
) -> RunResult:
    judge = judge_of(pipeline, chosen, workers.load_scorer if workers else None)
    generation = workers.generation(pipeline.generator) if workers else None
    return evaluate(pipeline, chosen, judge=judge, worker_generation=generation, limit=limit)


def records(pipeline: Pipeline, run_id: str) -> tuple[SampleRecord, ...]:
    found = RunStore(pipeline.store).load_samples(run_id)
    assert found
    return found


def same(here: Any, there: Any) -> None:
    """Equal, numbers to 1e-5."""
    if isinstance(here, dict):
        assert here.keys() == there.keys()
        for key in here:
            same(here[key], there[key])
    elif isinstance(here, list | tuple):
        assert len(here) == len(there)
        for a, b in zip(here, there, strict=True):
            same(a, b)
    elif isinstance(here, float):
        assert there == pytest.approx(here, abs=1e-5)
    else:
        assert there == here


def same_records(here: Sequence[SampleRecord], there: Sequence[SampleRecord]) -> None:
    same([asdict(record) for record in here], [asdict(record) for record in there])


@pytest.mark.parametrize(("model", "arms"), [("reader", ("rag", "oracle")), ("decoder", ("closed_book", "rag"))])
def test_samples_and_verdicts_are_those_of_the_local_engine(
    model: str, arms: tuple[str, ...], cluster: RayExecutor, home: Path, tmp_path: Path
) -> None:
    chosen = plan(arms=arms)
    with opened(home, tmp_path / "here", model=model) as pipeline:
        here = records(pipeline, drawn(pipeline, chosen).run_id)
    with opened(home, tmp_path / "there", model=model) as pipeline, run_workers(cluster, pipeline) as workers:
        result = drawn(pipeline, chosen, workers)
        there = records(pipeline, result.run_id)
    assert result.complete and result.failed == 0
    same_records(here, there)
    verdicts = [verdict for record in there for verdict in record.evaluation.verdicts]
    assert any(verdict.support not in (None, 0.0, 1.0) for verdict in verdicts)  # entailment gives a probability
    assert len({record.completion.text for record in there if record.completion}) > len(QUESTIONS)


def test_a_killed_worker_costs_only_its_cell(cluster: RayExecutor, home: Path, tmp_path: Path, calls: Path) -> None:
    chosen = plan(arms=("closed_book", "rag", "oracle"), judging=VerifierPlan(model="token-overlap"))
    with opened(home, tmp_path / "here", Told()) as pipeline:
        here = records(pipeline, drawn(pipeline, chosen).run_id)
    models = WorkerModels(partial(open_told, calls=calls, deadly=DEADLY))
    with opened(home, tmp_path / "there", Told()) as pipeline, RunWorkers(cluster, models) as workers:
        result = drawn(pipeline, chosen, workers)
        there = records(pipeline, result.run_id)
    assert (tmp_path / "died").exists()
    assert result.complete and result.failed == 0
    same_records(here, there)
    assert not any(failed(verdict) for record in there for verdict in record.evaluation.verdicts)
    drawn_again = len(list(calls.iterdir())) - len(QUESTIONS) * 3
    assert 1 <= drawn_again <= 2  # the killed call; one more may have been begun
    assert len({file.name.split("-")[0] for file in calls.iterdir()}) == 3  # two workers, and one in its place


def test_a_cell_that_kills_every_worker_ends_the_run_and_the_local_engine_finishes_it(
    cluster: RayExecutor, home: Path, tmp_path: Path, calls: Path
) -> None:
    chosen = plan(judging=VerifierPlan(model="token-overlap"))
    models = WorkerModels(partial(open_told, calls=calls, deadly=DEADLY, always=True))
    with opened(home, tmp_path / "there", Told()) as pipeline:
        with RunWorkers(cluster, models) as workers, pytest.raises(WorkerError, match="3 times"):
            drawn(pipeline, chosen, workers)
        rest = drawn(pipeline, chosen)
        assert rest.complete and rest.failed == 0
        # Of the five questions before the deadly one, those that were judged before its worker was given up.
        assert 3 * 3 <= rest.resumed <= 5 * 2 * 3
        there = records(pipeline, rest.run_id)
    with opened(home, tmp_path / "here", Told()) as pipeline:
        begun = drawn(pipeline, chosen, limit=3)
        good = WorkerModels(partial(open_told, calls=calls))
        with RunWorkers(cluster, good) as workers:
            result = drawn(pipeline, chosen, workers)
        assert (result.resumed, result.complete) == (begun.drawn, True)
        same_records(records(pipeline, result.run_id), there)


def test_the_command_is_interrupted_and_the_local_engine_finishes_its_run(home: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(home, tmp_path / "home"))
    file = tmp_path / "questions.jsonl"
    rows = [{"id": q.id, "text": q.text} for q in QUESTIONS]  # entailment takes longest
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = [
        *(sys.executable, "-m", "app.cli", "evaluate", str(file), "--collection", "notes", "--arms", "rag"),
        *("--n", "3", "--json"),
    ]
    environment = clean_environment(PLUMBLINE_HOME=str(folder), HOME=str(tmp_path))
    process = subprocess.Popen(
        [*given, "--engine", "ray", "--ray-workers", "2"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    kept = 0
    with Pipeline(Settings(home=folder)) as pipeline:
        runs = RunStore(pipeline.store)
        while process.poll() is None and not kept:
            kept = sum(len(runs.load_samples(run.id)) for run in runs.list_runs())
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
    os.killpg(process.pid, signal.SIGINT)
    printed, said = process.communicate(timeout=120)
    assert (process.returncode, printed) == (130, ""), said
    assert "Traceback" not in said
    done = subprocess.run(given, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 4), done.stderr
    assert "samples were already committed" in done.stderr
    summary = json.loads(done.stdout)["summary"]
    assert [arm["arm"] for arm in summary["arms"]] == ["rag"]
