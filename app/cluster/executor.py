"""A BlockExecutor whose workers are Ray actors. A lost actor is restarted and repeats its unfinished blocks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar

from app.cluster.connection import Connection, connected
from app.cluster.room import Node, WorkerRoom, allocate_processors
from app.cluster.worker import BlockRunner, Done, Failed
from data.block_work import BlockWorkers, WorkerError

Block = TypeVar("Block")
Result = TypeVar("Result")

_QUEUED = 2
"""Number of blocks submitted to a worker: the current block and the next one."""
RETRIES = 2
"""Number of times that a block is submitted again after its worker was lost. Then the block fails."""
_RESTARTS = 8
_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The cluster to use, and the resources of each worker.

    address: HOST:PORT of the head node; None starts a cluster on this machine, which ends with the executor. workers:
    number of workers; None for one per GPU share, or one per four processors without GPUs. gpus: share of a GPU for
    each worker that loads a model. Raises WorkerError for invalid values.
    """

    address: str | None = None
    workers: int | None = None
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise WorkerError(
                f"the number of workers is {self.workers}: it must be at least 1", parameter="ray_workers"
            )
        if not 0.0 <= self.gpus <= 8.0 or (self.gpus > 1.0 and self.gpus != int(self.gpus)):
            raise WorkerError(
                f"the share of a GPU is {self.gpus:g}: give a fraction (0.25) or an integer",
                parameter="gpus_per_worker",
            )


class RayExecutor:
    """An executor that runs blocks on a Ray cluster.

    As a context manager it ends the workers and leaves the cluster on exit. A process can have one executor at a time,
    because it has only one connection to Ray.
    """

    def __init__(self, options: ClusterOptions, notify: Callable[[str], None] = lambda _: None) -> None:
        """Connect to the cluster. say: called with a message if the workers wait for processors.

        Raises the errors of ``connected``, and WorkerError if the workers do not fit on the cluster.
        """
        self._notify = notify
        self._connection: Connection = connected(options.address, len(os.sched_getaffinity(0)))
        self._groups: list[RayWorkers[Any, Any]] = []
        try:
            nodes = [
                Node(one["NodeManagerAddress"], one["Resources"].get("CPU", 0.0), one["Resources"].get("GPU", 0.0))
                for one in self._connection.ray.nodes()
                if one["Alive"]
            ]
            self.room: WorkerRoom = allocate_processors(nodes, options.workers, options.gpus)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def workers(
        self, make: Callable[[], Callable[[Block], Result]], *, models: bool = True
    ) -> BlockWorkers[Block, Result]:
        """Start workers (see BlockExecutor). Workers without a model share the processors of the others."""
        group: RayWorkers[Block, Result] = RayWorkers(
            self._connection.ray, make, self.room, self._notify, models=models
        )
        self._groups.append(group)
        return group

    def close(self) -> None:
        """End all workers and leave the cluster, or stop it if it was started here. Can be called repeatedly."""
        for group in self._groups:
            group.close()
        self._groups = []
        self._connection.close()


class RayWorkers(Generic[Block, Result]):
    """Ray actors that apply one function to blocks. Thread-safe."""

    def __init__(
        self,
        ray: Any,
        make: Callable[[], Callable[[Block], Result]],
        room: WorkerRoom,
        notify: Callable[[str], None],
        *,
        models: bool,
    ) -> None:
        kind = ray.remote(BlockRunner).options(
            num_cpus=room.processors if models else 0,
            num_gpus=room.gpus if models else 0,
            max_restarts=_RESTARTS,
            max_task_retries=RETRIES,
            scheduling_strategy="SPREAD",
        )
        self._ray = ray
        self._actors = [kind.remote(make, room.processors) for _ in range(room.workers)]
        self._load = [0] * room.workers
        self._lock = threading.Lock()
        shares = f" and {room.gpus:g} GPU" if room.gpus else ""
        text = f"waiting for {room.workers} workers with {room.processors} processors{shares} each, which others use"
        self._patience = threading.Timer(_PATIENCE_SECONDS, notify, (text,))
        self._patience.daemon = True
        self._patience.start()
        self._first = self._actors[0].ready.remote()
        self._first.future().add_done_callback(lambda _: self._patience.cancel())

    @property
    def ahead(self) -> int:
        """Number of blocks to submit before waiting for results; see BlockWorkers."""
        return max(1, _QUEUED * len(self._actors))

    def submit(self, block: Block) -> Future[Result]:
        """Submit a block to the worker with the fewest blocks; see BlockWorkers."""
        with self._lock:
            if not self._actors:
                raise WorkerError("these workers have ended")
            index = min(range(len(self._load)), key=self._load.__getitem__)
            self._load[index] += 1
            reference = self._actors[index].run.remote(block)
        result: Future[Result] = Future()
        # The callback keeps the reference, because Ray deletes results without references.
        reference.future().add_done_callback(partial(self._finished, result, index, reference))
        return result

    def close(self) -> None:
        """End the actors."""
        self._patience.cancel()
        with self._lock:
            actors, self._actors = self._actors, []
        for actor in actors:
            self._ray.kill(actor)

    def _finished(self, result: Future[Result], index: int, reference: object, found: Future[Done | Failed]) -> None:
        with self._lock:
            self._load[index] -= 1
        if not result.set_running_or_notify_cancel():  # the caller has cancelled it
            return
        try:
            outcome = found.result()
        except Exception as error:  # the worker or its node was lost, or could not read the block
            lines = str(error).strip().splitlines() or [type(error).__name__]
            result.set_exception(
                WorkerError(
                    f"a worker was lost {RETRIES + 1} times with the same block, or cannot start (out of memory?): "
                    f"{lines[0][:300]}. Finished work is kept: run the same command again"
                )
            )
            return
        if isinstance(outcome, Failed):
            result.set_exception(outcome.error)
        else:
            result.set_result(outcome.value)
