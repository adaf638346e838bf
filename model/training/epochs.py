"""Batches of a run, epoch after epoch, planned when they are reached."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from model.training.loop import TrainSettings

Indices = tuple[int, ...]


class Rounds:
    """The row indices of batch 0, 1 ... of a run with any number of epochs, in reading order."""

    def __init__(self, batches: Callable[[int], Sequence[Indices]]) -> None:
        """batches: those of epoch 0, 1 ...; at least one each."""
        self._batches = batches
        self._planned: list[Indices] = []
        self._rounds = 0

    def batch(self, step: int) -> Indices:
        """Row indices of a step's batch."""
        while step >= len(self._planned):
            self._plan()
        return self._planned[step]

    def steps(self, settings: TrainSettings) -> int:
        """Number of steps for these settings; practically unlimited if the clock ends the run."""
        if settings.seconds is not None:
            return settings.max_steps or sys.maxsize
        while self._rounds < settings.epochs:
            self._plan()
        return min(len(self._planned), settings.max_steps or len(self._planned))

    def _plan(self) -> None:
        self._planned += self._batches(self._rounds)
        self._rounds += 1
