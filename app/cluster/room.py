"""Compute how many workers fit on the nodes of a cluster, and how many processors each of them gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from data.block_work import WorkerError

_PROCESSORS_EACH = 4
"""Default number of processors per worker. More need fewer copies of the model; fewer keep the processors busier."""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster. address: address for messages."""

    address: str
    processors: float
    gpus: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkerRoom:
    """The workers that fit. workers: number of workers. processors, gpus: processors and GPU share of each worker."""

    workers: int
    processors: int
    gpus: float


def allocate_processors(nodes: Sequence[Node], workers: int | None, gpus: float) -> WorkerRoom:
    """Distribute the processors of the nodes among workers.

    workers: number of workers; None for the number of GPU shares, or one per four processors if gpus is 0. gpus: share
    of a GPU per worker. Raises WorkerError if the workers do not fit.
    """
    total = sum(int(node.processors) for node in nodes)
    shares = sum(int(node.gpus / gpus + 1e-9) for node in nodes) if gpus else 0
    if gpus and not shares:
        raise WorkerError(
            f"no node of the cluster has {gpus:g} GPU: leave the share out to work on processors",
            parameter="gpus_per_worker",
        )
    if workers is None:
        by_processors = sum(max(1, int(node.processors) // _PROCESSORS_EACH) for node in nodes if node.processors >= 1)
        workers = max(1, min(shares, total) if gpus else by_processors)
    for processors in range(max(1, total // workers), 0, -1):
        if sum(_fitting(node, processors, gpus) for node in nodes) >= workers:
            return WorkerRoom(workers, processors, gpus)
    what = f"{total} processors" + (f" and {shares} shares of {gpus:g} GPU" if gpus else "")
    raise WorkerError(
        f"{workers} workers do not fit on {len(nodes)} nodes with {what}: give fewer", parameter="ray_workers"
    )


def _fitting(node: Node, processors: int, gpus: float) -> int:
    by_processors = int(node.processors) // processors
    return min(by_processors, int(node.gpus / gpus + 1e-9)) if gpus else by_processors
