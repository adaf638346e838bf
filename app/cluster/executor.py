"""The BlockExecutor on Ray: workers are actors. A lost actor is started again, and its unfinished blocks with it."""

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
from app.cluster.room import Node, WorkerRoom, worker_room
from app.cluster.worker import BlockRunner, Done, Failed
from data.block_work import BlockWorkers, WorkerError

Block = TypeVar("Block")
Result = TypeVar("Result")

_QUEUED = 2
"""Blocks a worker holds: one that it works on and one that is there when it is done."""
RETRIES = 2
"""How often a block is given to another worker after its worker was lost. Then it is the block's fault."""
_RESTARTS = 8
_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Which cluster, and how its processors are shared.

    address: HOST:PORT of the head node; None starts a cluster on this machine that ends with the executor. workers:
    None for one a GPU share, or one for four processors. gpus: share of a GPU for each worker that holds a model.
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
                f"the share of a GPU is {self.gpus:g}: give a part of one (0.25), or a whole number of them",
                parameter="gpus_per_worker",
            )


class RayExecutor:
    """Runs blocks on a Ray cluster. Use it as a context manager: leaving it ends the workers and leaves the cluster.

    One executor a process at a time, because Ray's connection belongs to the process.
    """

    def __init__(self, options: ClusterOptions, say: Callable[[str], None] = lambda _: None) -> None:
        """Connect. say: called when workers wait for processors that others use.

        Raises WorkerError as ``connected`` does, and if there is no room for the workers.
        """
        self._say = say
        self._connection: Connection = connected(options.address, len(os.sched_getaffinity(0)))
        self._groups: list[RayWorkers[Any, Any]] = []
        try:
            nodes = [
                Node(one["NodeManagerAddress"], one["Resources"].get("CPU", 0.0), one["Resources"].get("GPU", 0.0))
                for one in self._connection.ray.nodes()
                if one["Alive"]
            ]
            self.room: WorkerRoom = worker_room(nodes, options.workers, options.gpus)
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
        """See BlockExecutor. Workers without a model share the processors of the others."""
        group: RayWorkers[Block, Result] = RayWorkers(self._connection.ray, make, self.room, self._say, models=models)
        self._groups.append(group)
        return group

    def close(self) -> None:
        """End all workers, leave the cluster, and stop it if it was started here. May be called again."""
        for group in self._groups:
            group.close()
        self._groups = []
        self._connection.close()


class RayWorkers(Generic[Block, Result]):
    """Actors that apply one function. Thread-safe."""

    def __init__(
        self,
        ray: Any,
        make: Callable[[], Callable[[Block], Result]],
        room: WorkerRoom,
        say: Callable[[str], None],
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
        self._patience = threading.Timer(_PATIENCE_SECONDS, say, (text,))
        self._patience.daemon = True
        self._patience.start()
        self._first = self._actors[0].ready.remote()
        self._first.future().add_done_callback(lambda _: self._patience.cancel())

    @property
    def ahead(self) -> int:
        """See BlockWorkers."""
        return max(1, _QUEUED * len(self._actors))

    def submit(self, block: Block) -> Future[Result]:
        """Give the block to the worker that holds the fewest. See BlockWorkers."""
        with self._lock:
            if not self._actors:
                raise WorkerError("these workers have ended")
            index = min(range(len(self._load)), key=self._load.__getitem__)
            self._load[index] += 1
            reference = self._actors[index].run.remote(block)
        result: Future[Result] = Future()
        # The reference is kept until then: Ray forgets a result that nothing refers to.
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
