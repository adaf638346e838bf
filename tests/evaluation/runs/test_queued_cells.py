"""A generator that queues, such as a server's client, works on several cells at once; the records are the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from data.store import Store
from evaluation.errors import EvaluationError
from evaluation.runs.experiment import FAILURES_IN_A_ROW
from evaluation.runs.run_store import RunStore
from evaluation.runs.run_upkeep import delete_run
from generation.completion import Completion
from generation.generator import GenerationTask, QueueingGenerator
from generation.remote.pending import PendingReplies

_WAIT_S = 60
PARALLEL = 7  # two cells of three samples, and one sample of a third


class Queue:
    """Draws the parrot's samples in threads; the first PARALLEL of them wait until all of these have begun."""

    name, fingerprint, context_length, parallel = "parrot", "parrot-1", 100, PARALLEL

    def __init__(self, parrot: Any) -> None:
        self.parrot, self.prompt = parrot, parrot.prompt
        self.begun: list[int] = []
        self.together = threading.Barrier(PARALLEL)
        self._lock = threading.Lock()
        self.pool = ThreadPoolExecutor(PARALLEL)

    def submit_many(self, tasks: Sequence[GenerationTask]) -> PendingReplies:
        return PendingReplies([[self.pool.submit(self._one, task, seed) for seed in task.seeds] for task in tasks])

    def generate_many(self, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
        return self.submit_many(tasks).result()

    def _one(self, task: GenerationTask, seed: int) -> tuple[Completion, ...]:
        with self._lock:
            self.begun.append(seed)
            wait = len(self.begun) <= PARALLEL
        if wait:
            self.together.wait(_WAIT_S)
        found: tuple[Completion, ...] = self.parrot.generate(task.prompt, task.params, (seed,))
        return found


@pytest.fixture
def queue(lab: SimpleNamespace) -> Iterator[Queue]:
    made = Queue(lab.Parrot())
    yield made
    made.pool.shutdown()


def test_samples_of_several_cells_are_drawn_together_and_recorded_the_same(
    lab: SimpleNamespace, store: Store, queue: Queue
) -> None:
    assert isinstance(queue, QueueingGenerator)
    runs = RunStore(store)
    result = lab.run(runs, queue)  # the barrier breaks, and cells fail, unless seven samples run at once
    assert (result.complete, result.failed) == (True, lab.N)  # one question has no gold passages
    drawn = runs.load_samples(result.run_id)
    assert lab.run(runs).drawn == 0
    delete_run(store, result.run_id)
    expected = runs.load_samples(lab.run(runs).run_id)
    assert drawn == expected
    assert len(queue.begun) == len(set(queue.begun)) == sum(r.completion is not None for r in expected)


def test_a_queue_that_is_down_ends_the_run(lab: SimpleNamespace, store: Store, queue: Queue) -> None:
    def down(question: str) -> str:
        if question != lab.QUESTIONS[0].text:
            raise ConnectionError("refused")
        return "Paris"

    queue.parrot = lab.Scripted(down)
    runs = RunStore(store)
    with pytest.raises(EvaluationError, match=rf"{FAILURES_IN_A_ROW} cells.*ConnectionError: refused"):
        lab.run(runs, queue)
    begun = len(queue.begun)
    queue.pool.shutdown()
    assert len(queue.begun) - begun <= PARALLEL  # the rest was cancelled


def test_an_interruption_cancels_what_waits(lab: SimpleNamespace, store: Store, queue: Queue) -> None:
    with pytest.raises(KeyboardInterrupt):
        lab.run(lab.Fragile(store, 1, False, KeyboardInterrupt), queue)
    queue.pool.shutdown()
    assert 0 < len(queue.begun) < 15 * lab.N
