"""Fixtures: simulated runs with a verifier whose errors are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from evaluation.correction.rectified import LabelledSample
from evaluation.statistics.counts import Floats


@dataclass(frozen=True)
class World:
    """A simulated run: N questions with n responses each, m questions labelled.

    fixed: share of the hallucinations that the second arm lacks.
    """

    questions: int
    samples: int
    labelled: int
    rate: float
    correlation: float
    sensitivity: float
    specificity: float
    fixed: float | None = None

    def draw(self, seed: int) -> LabelledSample:
        rng = np.random.default_rng([17, seed])
        n, k = self.questions, 1.0 / self.correlation - 1.0
        rates = rng.beta(self.rate * k, (1 - self.rate) * k, n)
        place = rng.choice(n, self.labelled, replace=False)
        coin = rng.random(n) < (self.fixed or 0.0)
        arms = [rates] if self.fixed is None else [np.where(coin, 1.0, rates), np.where(coin, 0.0, rates)]
        columns: list[tuple[Floats, Floats, Floats]] = []
        for q in arms:
            h = rng.random((n, self.samples)) < q[:, None]
            wrong = rng.random((n, self.samples))
            f = np.where(h, wrong < self.sensitivity, wrong >= self.specificity)
            one = rng.integers(self.samples, size=self.labelled)
            columns.append((f.mean(axis=1), f[place, one] * 1.0, h[place, one] * 1.0))
        predicted, verifier, labels = (np.stack(c, axis=1) for c in zip(*columns, strict=True))
        return LabelledSample(predicted, place, verifier, labels, np.zeros(n, dtype=np.intp))


@pytest.fixture
def world() -> type[World]:
    return World
