"""Draw the cells of a run and yield them in order, one by one or several at a time in worker processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

from data.questions import Question
from evaluation.runs.arms import Arm
from evaluation.runs.cells import CellDrawer, StartedCell
from evaluation.runs.policy_arm import PolicyArm
from evaluation.runs.records import SampleRecord
from generation.generator import QueueingGenerator

DrawnCell = tuple[Question, Arm, tuple[SampleRecord, ...]]


@dataclass(frozen=True, slots=True)
class WorkerGeneration:
    """Access to worker processes that generate the samples of a run, and may run its verifier's model.

    queue: generates the same samples as the run's generator.
    cells: maximum number of cells in progress at the same time.
    stop: ends all generation in progress. Threads that wait for it get an error.
    """

    queue: QueueingGenerator
    cells: int
    stop: Callable[[], None]


def drawn_cells(
    cells: CellDrawer, pending: Sequence[tuple[Question, Arm]], worker_generation: WorkerGeneration | None = None
) -> Generator[DrawnCell]:
    """Draw the pending cells and yield them in order.

    worker_generation: workers that generate the samples; None to generate them in this process.

    Raises the errors of ``CellDrawer.draw``; cells in progress are then dropped. Raises ValueError for arms with
    policies if ``worker_generation`` is given, because policies answer one question after another.
    """
    if worker_generation is None:
        return _one_by_one(cells, pending)
    if any(isinstance(arm, PolicyArm) for _, arm in pending):
        raise ValueError("arms with policies cannot be drawn by workers")
    return _several(cells, pending, worker_generation)


def _one_by_one(cells: CellDrawer, pending: Sequence[tuple[Question, Arm]]) -> Generator[DrawnCell]:
    """Draw cells in this process. A queueing generator works on the next cells while one is judged."""
    started: deque[StartedCell] = deque()
    rest = iter(pending)
    try:
        while True:
            started.extend(cells.start(question, arm) for question, arm in islice(rest, cells.ahead - len(started)))
            if not started:
                return
            cell = started.popleft()
            yield cell.question, cell.arm, cells.finish(cell)
    finally:
        for cell in started:
            cell.cancel()


def _several(
    cells: CellDrawer, pending: Sequence[tuple[Question, Arm]], worker_generation: WorkerGeneration
) -> Generator[DrawnCell]:
    """Start cells in this thread and finish them in worker threads.

    The cells of one question are finished one after another. A verifier that caches the pairs of a question therefore
    scores the same new pairs, in the same batches, as with ``_one_by_one``.
    """
    started: deque[tuple[StartedCell, Future[tuple[SampleRecord, ...]]]] = deque()
    rest = iter(pending)
    threads = ThreadPoolExecutor(worker_generation.cells, thread_name_prefix="cell")
    complete = False
    try:
        while True:
            for question, arm in islice(rest, worker_generation.cells - len(started)):
                cell = cells.start(question, arm)
                before = started[-1] if started and started[-1][0].question is question else None
                started.append((cell, threads.submit(_finish, cells, cell, before[1] if before else None)))
            if not started:
                complete = True
                return
            cell, finished = started.popleft()
            yield cell.question, cell.arm, finished.result()
    finally:
        if not complete:
            worker_generation.stop()
        threads.shutdown(cancel_futures=True)


def _finish(
    cells: CellDrawer, cell: StartedCell, before: Future[tuple[SampleRecord, ...]] | None
) -> tuple[SampleRecord, ...]:
    if before is not None:
        wait([before])
    return cells.finish(cell)
