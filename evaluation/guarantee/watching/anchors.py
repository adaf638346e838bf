"""Anchors: a fixed set of labelled answers that the verifier judges again after every change of model or version.

The monitored rate is based on human labels, but the threshold is based on the verifier's scores. A change of the
verifier shows on answers with fixed labels.
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
    """Comparison of two verdicts on each anchor with its label.

    anchors: number of anchors. worse, better: anchors on which only the old, or only the new, verdict agrees with the
    label.
    unscored: anchors that have no score now; they count as below the threshold. passed_before, passed_now: anchors at
    or above the threshold.
    p_value: p-value of "the verifier did not get worse". level: level of this check. alarm: whether p_value is at most
    the level.
    """

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
    """Compare two scores of the same anchors with labels at the certificate's threshold.

    before, now: (N,) scores, NO_SCORE for none. hallucinated: (N,) labels. number: number of this check, from 1. Its
    level is delta / (number (number + 1)), so all checks together raise a false alarm with probability at most delta.

    A verdict agrees with the label if it accepts a supported answer or rejects a hallucinated one. The test is the
    one-sided exact test of McNemar 1947: of the anchors on which the verdicts differ, the number of worse ones is
    Binomial(n, 1/2). Raises EvaluationError for unequal lengths, no anchors, or a number below 1.
    """
    check_level("delta", delta)
    if not len(before) == len(now) == len(hallucinated) or not len(before):
        raise EvaluationError(
            f"{len(before)} scores before and {len(now)} now for {len(hallucinated)} anchors: one of each is needed"
        )
    if number < 1:
        raise EvaluationError(f"the number of the check is {number}: the first check has number 1")
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
