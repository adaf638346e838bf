"""Simulated worlds with a known truth: the hallucination rate for each score, and draws of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_POINTS = 20_001


@dataclass(frozen=True)
class World:
    """A world with scores uniform on [0, 1].

    rate: maps scores (N,) to P(hallucinated | score).
    samples: number of samples per question, which have equal scores.
    correlation: correlation of the labels of a question: 1 / (k + 1) for question rates Beta(p k, (1 - p) k).
    """

    name: str
    rate: Callable[[Floats], Floats]
    samples: int = 1
    correlation: float = 0.0

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Draw scores and counts of hallucinated samples. shape: (data sets, questions)."""
        score = rng.random(shape)
        rates = self.rate(score)
        if self.correlation:
            k = 1.0 / self.correlation - 1.0
            inside = np.clip(rates, 1e-9, 1 - 1e-9)
            rates = rng.beta(inside * k, (1 - inside) * k)
        return score, rng.binomial(self.samples, rates).astype(np.float64)

    def true_rate(self, threshold: Any) -> Floats:
        """Return E[H | score >= threshold], computed by the trapezoid rule on a fine grid."""
        s = np.linspace(0.0, 1.0, _POINTS)
        p = self.rate(s)
        step = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) / 2)]) / (_POINTS - 1)
        t = np.clip(np.asarray(threshold, dtype=np.float64), 0.0, 1.0 - 1e-6)
        above = step[-1] - np.interp(t, s, step)
        result: Floats = above / (1.0 - t)
        return result


def constant(p: float) -> Callable[[Floats], Floats]:
    """Return a rate of p for every score: the score is uninformative."""
    return lambda s: np.full_like(s, p)


def falling(top: float, bottom: float) -> Callable[[Floats], Floats]:
    """Return a rate that falls linearly from ``bottom`` at score 0 (at most 0.95) to ``top`` at score 1."""
    return lambda s: np.minimum(bottom + (top - bottom) * s, 0.95)


def bump(s: Floats) -> Floats:
    """Return a rate that is low, then well above 10 %, then low: the rate among answers is not monotone in the
    threshold.
    """
    return np.where((s > 0.3) & (s < 0.6), 0.3, 0.03)


def overconfident(s: Floats) -> Floats:
    """Return a rate that is greatest for the highest scores."""
    return np.where(s > 0.9, 0.25, 0.06)


def worlds(alpha: float) -> tuple[World, ...]:
    """Return worlds with one sample per question."""
    return (
        World("r = alpha at every threshold", constant(alpha)),
        World("falls through alpha", falling(0.0, 4 * alpha)),
        World("falls through alpha early", falling(0.5 * alpha, 8 * alpha)),
        World("not monotone", bump),
        World("highest scores hallucinate most", overconfident),
        World("far below alpha", constant(alpha / 4)),
    )


def sampled_worlds(alpha: float) -> tuple[World, ...]:
    """Return worlds with four samples per question, with correlated labels."""
    return (
        World("r = alpha, 4 samples, correlation 0.3", constant(alpha), 4, 0.3),
        World("r = alpha, 4 samples, correlation 0.8", constant(alpha), 4, 0.8),
        World("falls through alpha, 4 samples, correlation 0.8", falling(0.0, 4 * alpha), 4, 0.8),
    )
