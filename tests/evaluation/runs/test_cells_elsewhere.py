"""Samples of a run that are generated elsewhere, several cells at once: the same records, and what ends the run."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from data.block_work import WorkerError
from data.store import Store
from evaluation.outcomes import Verdict
from evaluation.runs.cell_order import DrawnElsewhere
from evaluation.runs.experiment import run_experiment
from evaluation.runs.run_store import RunStore
from evaluation.runs.run_upkeep import delete_run
from evaluation.verifiers.verifier import VerificationItem
from generation.completion import Completion
from generation.generator import GenerationTask
from generation.remote.pending import PendingReplies

_WAIT_S = 60
CELLS = 6


class Workers:
    """Generates a cell in each of CELLS threads. The first CELLS cells wait until all of them have begun."""

    parallel = CELLS

    def __init__(self, parrot: Any, lost: str = "") -> None:
        self.parrot, self.lost = parrot, lost
        self.begun: list[str] = []
        self.stopped = False
        self.together = threading.Barrier(CELLS)
        self._lock = threading.Lock()
        self.pool = ThreadPoolExecutor(CELLS)

    @property
    def elsewhere(self) -> DrawnElsewhere:
        return DrawnElsewhere(self, CELLS, self.stop)

    def stop(self) -> None:
        self.stopped = True
        self.together.abort()

    def submit_many(self, tasks: Sequence[GenerationTask]) -> PendingReplies:
        return PendingReplies([[self.pool.submit(self._one, task)] for task in tasks])

    def _one(self, task: GenerationTask) -> tuple[Completion, ...]:
        with self._lock:
            self.begun.append(task.prompt.question)
            wait = len(self.begun) <= CELLS
        if wait:
            self.together.wait(_WAIT_S)
        if task.prompt.question == self.lost:
            raise WorkerError("a worker was lost 3 times")
        found: tuple[Completion, ...] = self.parrot.generate(task.prompt, task.params, task.seeds)
        return found


@pytest.fixture
def workers(lab: SimpleNamespace) -> Iterator[Workers]:
    made = Workers(lab.Parrot())
    yield made
    made.pool.shutdown()


def test_records_are_those_of_this_process(lab: SimpleNamespace, store: Store, workers: Workers) -> None:
    runs = RunStore(store)
    result = lab.run(runs, elsewhere=workers.elsewhere)  # the barrier breaks unless six cells are drawn at once
    assert (result.complete, result.failed, workers.stopped) == (True, lab.N, False)  # one question has no gold
    drawn = runs.load_samples(result.run_id)
    delete_run(store, result.run_id)
    assert drawn == runs.load_samples(lab.run(runs).run_id)
    assert len(workers.begun) == sum(r.completion is not None for r in drawn) / lab.N


def test_cells_of_one_question_are_judged_one_after_another(
    lab: SimpleNamespace, store: Store, workers: Workers
) -> None:
    judged: list[str] = []
    at_work: set[str] = set()
    several: list[bool] = []
    lock = threading.Lock()

    class Judge(lab.Moody):  # type: ignore[misc, name-defined]
        def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
            question = items[0].question.id
            with lock:
                assert question not in at_work
                at_work.add(question)
                several.append(len(at_work) > 1)
            threading.Event().wait(0.02)
            with lock:
                at_work.discard(question)
                judged.append(question)
            found: tuple[tuple[Verdict, ...], ...] = super().verify(items)
            return found

    judge, runs, chosen = Judge(), RunStore(store), lab.arms()
    config = lab.config(verifier=judge)
    given = (config, lab.QUESTIONS, chosen, lab.Parrot(), judge, runs)
    result = run_experiment(*given, elsewhere=workers.elsewhere)
    assert result.complete and result.failed == lab.N
    assert any(several) and {q.id for q in lab.QUESTIONS} >= set(judged) and len(judged) > CELLS


def test_lost_workers_end_the_run_and_the_next_call_goes_on(
    lab: SimpleNamespace, store: Store, workers: Workers
) -> None:
    runs = RunStore(store)
    workers.lost = lab.QUESTIONS[3].text
    with pytest.raises(WorkerError, match="3 times"):
        lab.run(runs, elsewhere=workers.elsewhere)
    assert workers.stopped
    rest = lab.run(runs)
    assert (rest.complete, rest.failed) == (True, lab.N)
    assert rest.resumed == 9 * lab.N  # three questions in three arms; nothing was recorded as failed
    whole = runs.load_samples(rest.run_id)
    delete_run(store, rest.run_id)
    assert whole == runs.load_samples(lab.run(runs).run_id)


def test_a_verifier_whose_workers_are_lost_ends_the_run(lab: SimpleNamespace, store: Store, workers: Workers) -> None:
    def lost(item: VerificationItem) -> None:
        if item.question.id == "q2":
            raise WorkerError("a worker was lost 3 times")

    judge, runs = lab.Moody(lost), RunStore(store)
    config = lab.config(verifier=judge)
    given = (config, lab.QUESTIONS, lab.arms(), lab.Parrot())
    with pytest.raises(WorkerError, match="3 times"):
        run_experiment(*given, judge, runs, elsewhere=workers.elsewhere)
    assert run_experiment(*given, lab.Moody(), runs).resumed == 6 * lab.N


def test_an_interruption_stops_what_is_in_progress(lab: SimpleNamespace, store: Store, workers: Workers) -> None:
    with pytest.raises(KeyboardInterrupt):
        lab.run(lab.Fragile(store, 1, False, KeyboardInterrupt), elsewhere=workers.elsewhere)
    assert workers.stopped and len(workers.begun) < 15
