"""Forced drift: continuations after a false first claim, a true one of the same form, and none, paired by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.statistics.counts import Floats
from evaluation.statistics.estimates import Measurement, unmeasured
from evaluation.statistics.measure import Resampler, measure_ratio
from evaluation.statistics.paired import measure_ratio_difference
from evaluation.statistics.permutation import SignFlipTest, sign_flip_test

Planted = Literal["false", "true", "none"]


@dataclass(frozen=True, slots=True)
class Continuation:
    """Continuation after a planted first claim (or after none).

    unsupported: for each later claim, whether it is unsupported; None if unscored. follows: for each, whether it
    restates or follows from the planted claim. Such claims are excluded, because they are false by the planting, not by
    the model.
    """

    question_id: str
    planted: Planted
    unsupported: tuple[bool | None, ...]
    follows: tuple[bool, ...]

    def __post_init__(self) -> None:
        if len(self.unsupported) != len(self.follows):
            raise ValueError(
                f"{len(self.unsupported)} claims and {len(self.follows)} marks: one mark per claim is needed"
            )
        if self.planted not in ("false", "true", "none"):
            raise ValueError(f"planted is {self.planted!r}: it must be false, true or none")


@dataclass(frozen=True, slots=True)
class ForcedDrift:
    """Unsupported share of later claims after each planting, on the questions with both, and the difference.

    effect: share after a false claim minus share after a true one. test: test that false and true are exchangeable
    within each question.
    unforced: share on the same questions without planting.
    left_out: number of questions without both plantings.
    excluded: number of claims that restate or follow from the planted one. unscored: number of later claims without a
    verdict.
    """

    questions: int
    left_out: int
    excluded: int
    unscored: int
    after_false: Measurement
    after_true: Measurement
    unforced: Measurement
    effect: Measurement
    test: SignFlipTest | None
    reading: str


def forced_drift(continuations: Sequence[Continuation], resampler: Resampler) -> ForcedDrift:
    """Estimate the effect of a planted false claim, paired by question.

    Raises EvaluationError if no question has both a false and a true planting.
    """
    by_question: dict[str, dict[Planted, list[Continuation]]] = {}
    for c in continuations:
        by_question.setdefault(c.question_id, {}).setdefault(c.planted, []).append(c)
    ids = sorted(q for q, kinds in by_question.items() if "false" in kinds and "true" in kinds)
    if not ids:
        raise EvaluationError("no question has both a false and a true planted claim: force both on the same questions")
    (h1, a1), (h0, a0), (hn, an) = (_shares(ids, by_question, kind) for kind in ("false", "true", "none"))
    used = [c for q in ids for cs in by_question[q].values() for c in cs]
    excluded = sum(sum(c.follows) for c in used)
    unscored = sum(v is None and not f for c in used for v, f in zip(c.unsupported, c.follows, strict=True))
    counts = [_count(ids, by_question, kind) for kind in ("false", "true", "none")]
    event = "an unsupported later claim"
    test = None
    if a1.sum() > 0 and a0.sum() > 0:
        # Swapping a question's two plantings changes the sign of the difference, not the pooled rate.
        pooled = (h1.sum() + h0.sum()) / (a1.sum() + a0.sum())
        z = (h1 - pooled * a1) - (h0 - pooled * a0)
        test = sign_flip_test(z, resampler.settings.permutations, resampler.settings.seed)
    none = unmeasured(resampler.settings.level, "no unforced continuation was given")
    return ForcedDrift(
        len(ids),
        len(by_question) - len(ids),
        excluded,
        unscored,
        measure_ratio(h1, a1, counts[0], resampler, event=event),
        measure_ratio(h0, a0, counts[1], resampler, event=event),
        measure_ratio(hn, an, counts[2], resampler, event=event) if counts[2] else none,
        measure_ratio_difference(h1, a1, h0, a0, counts[0], counts[1], resampler),
        test,
        "Plumbline chose the planted claim, so a difference is an effect of planting it. The figure describes claims "
        "planted in this form. Claims marked as restating or following from the planted claim are left out. Such a "
        "claim that was not marked would itself cause a difference.",
    )


def _shares(
    ids: list[str], by_question: dict[str, dict[Planted, list[Continuation]]], kind: Planted
) -> tuple[Floats, Floats]:
    """Return the unsupported and the scored later claims, averaged over each question's continuations: (Q,), (Q,)."""
    h, a = np.zeros(len(ids)), np.zeros(len(ids))
    for row, question in enumerate(ids):
        chains = by_question[question].get(kind, [])
        for c in chains:
            kept = [v for v, follows in zip(c.unsupported, c.follows, strict=True) if not follows and v is not None]
            h[row] += sum(kept) / len(chains)
            a[row] += len(kept) / len(chains)
    return h, a


def _count(ids: list[str], by_question: dict[str, dict[Planted, list[Continuation]]], kind: Planted) -> int:
    chains = [c for q in ids for c in by_question[q].get(kind, [])]
    return sum(not f and v is not None for c in chains for v, f in zip(c.unsupported, c.follows, strict=True))
