"""Select the windows of each step, depending only on the stream's length, the settings and the seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.errors import ModelError
from model.training.pretrain_corpus import TokenStream


@dataclass(frozen=True, slots=True)
class _Epoch:
    number: int
    offset: int
    order: tuple[int, ...]


class WindowPlan:
    """The windows of each step of a run, which are computed for any step directly.

    context: a window has context + 1 tokens. batch: windows of a step. An epoch splits the circular stream into n =
    tokens // context windows, which overlap by the token that is the last target of one and the first input of the
    next. Each epoch has its own order and starts at its own offset, so that the cuts in documents differ. Raises
    ModelError if the stream is shorter than a window.
    """

    def __init__(self, stream: TokenStream, *, context: int, batch: int, seed: int) -> None:
        if len(stream) <= context:
            raise ModelError(
                f"the corpus has {len(stream)} tokens to train on, one window takes {context + 1}: lower the context "
                "or give more text",
                parameter="context",
            )
        self._stream, self._context, self._batch, self._seed = stream, context, batch, seed
        self.windows = len(stream) // context
        self._epoch: _Epoch | None = None

    def steps(self, epochs: float) -> int:
        """Return the number of steps in ``epochs`` epochs, at least one."""
        return max(1, int(epochs * self.windows) // self._batch)

    def batch(self, step: int) -> NDArray[np.int64]:
        """Return the windows of a step: (B, context + 1)."""
        first = step * self._batch
        return np.stack([self._window(index) for index in range(first, first + self._batch)])

    def _window(self, index: int) -> NDArray[np.int64]:
        number, position = divmod(index, self.windows)
        if self._epoch is None or self._epoch.number != number:
            rng = random.Random(f"{self._seed}:{number}")
            order = list(range(self.windows))
            rng.shuffle(order)
            self._epoch = _Epoch(number, rng.randrange(len(self._stream)), tuple(order))
        start = self._epoch.offset + self._epoch.order[position] * self._context
        return self._stream.read(start, self._context + 1)
