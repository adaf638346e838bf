"""Compute self-consistency, the support of each sentence of an answer by the samples (SelfCheckGPT)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.signals.samples import SignalValue

Supports = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Function that returns the support of the second text by the first, in [0, 1], for each (text, statement)."""


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Self-consistency of an answer.

    inconsistency: mean over statements. by_statement: 1 - mean support by the samples, for each statement.
    """

    inconsistency: SignalValue
    by_statement: tuple[float, ...]


def self_consistency(statements: Sequence[str], samples: Sequence[str], supports: Supports) -> SelfConsistency:
    """Return 1 - (1/n) sum_i support(sample i, statement), averaged over statements.

    This is the NLI variant of Manakul et al. 2023 with support in place of 1 - P(contradiction). Distinct pairs are
    scored once, in one call. The signal cannot detect a statement that is wrong in the same way in every sample.

    Raises EvaluationError if ``supports`` returns a wrong number of values or values outside [0, 1].
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
