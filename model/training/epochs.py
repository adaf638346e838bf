"""Plan the batches of a run, each epoch when it is reached."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from model.training.loop import TrainSettings

Indices = tuple[int, ...]


class Rounds:
    """The batches of a run with any number of epochs, as row indices."""

    def __init__(self, batches: Callable[[int], Sequence[Indices]]) -> None:
        """batches: returns the batches of an epoch, given its number from 0 on; at least one."""
        self._batches = batches
        self._planned: list[Indices] = []
        self._rounds = 0

    def batch(self, step: int) -> Indices:
        """Return the row indices of the batch of a step."""
        while step >= len(self._planned):
            self._plan()
        return self._planned[step]

    def steps(self, settings: TrainSettings) -> int:
        """Return the number of steps for these settings; practically unlimited if the time ends the run."""
        if settings.seconds is not None:
            return settings.max_steps or sys.maxsize
        while self._rounds < settings.epochs:
            self._plan()
        return min(len(self._planned), settings.max_steps or len(self._planned))

    def _plan(self) -> None:
        self._planned += self._batches(self._rounds)
        self._rounds += 1
