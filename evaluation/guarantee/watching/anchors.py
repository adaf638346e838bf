"""Anchors: a fixed set of labelled answers that the verifier judges again after every change of model or version.

The rate watch rests on people's labels, the threshold on the verifier's scores. A verifier that changed shows on
answers whose labels are known and that do not change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evaluation.errors import EvaluationError
from evaluation.guarantee.levels import check_level
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class AnchorCheck:
    """worse, better: anchors that only the old, only the new verdict agrees with the label on. unscored: now without a
    score, counted as let through by neither. p_value: of "it did not get worse", exact. level: of this check. alarm:
    p_value at most level. passed_before, passed_now: let through by the threshold."""

    anchors: int
    worse: int
    better: int
    unscored: int
    passed_before: int
    passed_now: int
    p_value: float
    level: float
    alarm: bool


def check_anchors(
    before: Floats,
    now: Floats,
    hallucinated: NDArray[np.bool_],
    threshold: float,
    number: int = 1,
    delta: float = 0.05,
) -> AnchorCheck:
    """Compare scores of the same anchors, (N,) each, NO_SCORE for none, against labels at the certificate's threshold.

    A verdict agrees with the label where it lets a supported answer through or holds a hallucinated one back. The
    one-sided exact test of McNemar 1947: of the anchors on which the verdicts differ, worse ones are Binomial(n, 1/2).
    number: of this check, from 1; its level is delta / (number (number + 1)), so that all together raise a false alarm
    with probability at most delta. Raises EvaluationError for unequal lengths, none, or a number below 1.
    """
    check_level("delta", delta)
    if not len(before) == len(now) == len(hallucinated) or not len(before):
        raise EvaluationError(f"{len(before)}, {len(now)} scores of {len(hallucinated)} anchors: one of each is needed")
    if number < 1:
        raise EvaluationError(f"the check has number {number}: the first is 1")
    was, is_now = ((scores >= threshold) != hallucinated for scores in (before, now))
    worse, better = int((was & ~is_now).sum()), int((~was & is_now).sum())
    p = float(stats.binom.sf(worse - 1, worse + better, 0.5)) if worse + better else 1.0
    level = delta / (number * (number + 1))
    return AnchorCheck(
        len(before),
        worse,
        better,
        int(np.isneginf(now).sum()),
        int((before >= threshold).sum()),
        int((now >= threshold).sum()),
        p,
        level,
        p <= level,
    )
