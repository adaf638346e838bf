"""Find the Viterbi path of an answer's tokens through the positions from which they may have been copied.

The part on which all possible paths agree is final, because later tokens cannot change it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from generation.decoding.loop import CopySource

_CONTINUATION_BONUS = 3.0  # nats: bonus for continuing at the next prompt position, so that long spans are preferred


class CopyPath:
    """The path with the highest sum of log shares and continuation bonuses."""

    def __init__(self) -> None:
        self._steps: list[Sequence[CopySource]] = []
        self._scores: list[list[float]] = []
        self._backs: list[list[int]] = []

    def push(self, options: Sequence[CopySource]) -> None:
        """Add a token. options: its possible sources; empty if it was not copied."""
        index = len(self._steps)
        row, back = [], []
        before = self._scores[-1] if index else []
        for option in options:
            best, origin = (max(before), before.index(max(before))) if before else (0.0, -1)
            for j, previous in enumerate(self._steps[-1] if index else ()):
                if previous.position + 1 == option.position and before[j] + _CONTINUATION_BONUS > best:
                    best, origin = before[j] + _CONTINUATION_BONUS, j
            row.append(best + math.log(option.share + 1e-6))
            back.append(origin)
        self._steps.append(options)
        self._scores.append(row)
        self._backs.append(back)

    def best(self) -> list[CopySource | None]:
        """Return the source of each token on the best path; None for tokens that were not copied."""
        path: list[CopySource | None] = [None] * len(self._steps)
        choice = -1
        for index in range(len(self._steps) - 1, -1, -1):
            if not self._steps[index]:
                choice = -1
                continue
            if choice < 0:
                choice = self._scores[index].index(max(self._scores[index]))
            path[index] = self._steps[index][choice]
            choice = self._backs[index][choice]
        return path

    def final_count(self) -> int:
        """Return the number of leading tokens whose source in ``best`` no further token can change."""
        alive = set(range(len(self._steps[-1]))) if self._steps else set()
        for index in range(len(self._steps) - 1, -1, -1):
            if len(alive) < 2:  # one path remains, or the token was not copied and a new path starts after it
                return index + 1
            if index == 0 or not self._steps[index - 1]:
                return index
            alive = {self._backs[index][choice] for choice in alive}
        return 0
