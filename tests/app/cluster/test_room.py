from __future__ import annotations

import pytest

from app.cluster.room import Node, WorkerRoom, allocate_processors
from data.block_work import WorkerError

TWO, SIXTEEN = Node("a", 2), Node("b", 16)


@pytest.mark.parametrize(
    ("nodes", "workers", "gpus", "room"),
    [
        ([TWO], None, 0.0, (1, 2)),
        ([TWO], 2, 0.0, (2, 1)),
        ([SIXTEEN], None, 0.0, (4, 4)),
        ([SIXTEEN], 3, 0.0, (3, 5)),
        ([TWO, SIXTEEN], None, 0.0, (5, 3)),
        ([TWO, TWO], 2, 0.0, (2, 2)),
        ([TWO, TWO], 3, 0.0, (3, 1)),
        ([Node("c", 8, 1)], None, 0.25, (4, 2)),
        ([Node("c", 8, 2), TWO], None, 1.0, (2, 4)),
        ([Node("c", 8, 2)], 1, 2.0, (1, 8)),
        ([Node("c", 8, 0.3)], None, 0.1, (3, 2)),
    ],
)
def test_processors_are_shared_out(nodes: list[Node], workers: int | None, gpus: float, room: tuple[int, int]) -> None:
    assert allocate_processors(nodes, workers, gpus) == WorkerRoom(*room, gpus)


@pytest.mark.parametrize(
    ("nodes", "workers", "gpus", "parameter"),
    [
        ([TWO], 3, 0.0, "ray_workers"),
        ([TWO], None, 0.5, "gpus_per_worker"),
        ([Node("c", 8, 1)], 3, 0.5, "ray_workers"),
        ([Node("c", 8, 1), Node("d", 8, 1)], None, 2.0, "gpus_per_worker"),
    ],
)
def test_what_does_not_fit_is_refused(nodes: list[Node], workers: int | None, gpus: float, parameter: str) -> None:
    with pytest.raises(WorkerError) as caught:
        allocate_processors(nodes, workers, gpus)
    assert caught.value.parameter == parameter
