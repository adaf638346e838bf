"""Self-consistency: does each sentence of the answer stand in the samples too (SelfCheckGPT)?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.signals.samples import SignalValue

Supports = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Of each (text, statement), how far the first supports the second, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """inconsistency: the mean over statements; by_statement: 1 - mean support among the samples, one each."""

    inconsistency: SignalValue
    by_statement: tuple[float, ...]


def self_consistency(statements: Sequence[str], samples: Sequence[str], supports: Supports) -> SelfConsistency:
    """1 - (1/n) sum_i support(sample i, statement), averaged (Manakul et al. 2023: their NLI
    variant, with support in the place of 1 - P(contradiction)).

    Distinct pairs are asked once, all in one call. Raises EvaluationError when the function answers too few or out of
    range. A statement that is wrong every time in the same way is consistent: the signal cannot see it.
    """
    if not statements:
        return SelfConsistency(SignalValue(None, "the answer makes no statement"), ())
    if not samples:
        return SelfConsistency(SignalValue(None, "there are no samples"), ())
    pairs = list(dict.fromkeys((sample, statement) for statement in statements for sample in samples))
    scores = [float(v) for v in supports(pairs)]
    if len(scores) != len(pairs) or not all(0.0 <= v <= 1.0 for v in scores):
        raise EvaluationError(
            f"the support function gave {len(scores)} values for {len(pairs)} pairs: one each, in [0, 1], is needed"
        )
    table = dict(zip(pairs, scores, strict=True))
    by = tuple(1.0 - float(np.mean([table[sample, s] for sample in samples])) for s in statements)
    return SelfConsistency(SignalValue(float(np.mean(by))), by)
