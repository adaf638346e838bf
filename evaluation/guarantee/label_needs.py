"""Number of labels that a certificate needs, which is computed before labelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.errors import EvaluationError
from evaluation.guarantee.exact import answered_needed, fewest_answered, labels_needed
from evaluation.guarantee.levels import share_of_delta

SHARES_OF_ALPHA = (0.0, 0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class LabelNeed:
    """Numbers of questions needed to certify a rate.

    rate: true rate among answers. answered, labels: numbers of answered and of labelled questions; None if no number
    suffices.
    """

    rate: float
    answered: int | None
    labels: int | None


@dataclass(frozen=True, slots=True)
class LabelNeeds:
    """Plan of the labels for one alpha.

    level: level of each test; the certificates that are offered together share delta. fewest: minimum number of
    answered questions if none is hallucinated. needs: numbers needed, by true rate.
    """

    alpha: float
    level: float
    answer_rate: float
    power: float
    fewest: int
    needs: tuple[LabelNeed, ...]


def label_needs(
    alphas: Sequence[float], delta: float, answer_rate: float, rates: Sequence[float] = (), power: float = 0.8
) -> tuple[LabelNeeds, ...]:
    """Return one plan per alpha, for certificates offered together.

    rates: true rates to plan for; by default 0, 1/4, 1/2 and 3/4 of alpha. With the planned number of labels, the first
    threshold passes with probability ``power`` if it is fixed in advance and answers ``answer_rate`` of the questions.
    Raises EvaluationError for numbers outside their ranges, and for an answer rate of 0.
    """
    if not 0.0 < answer_rate <= 1.0:
        raise EvaluationError(f"answer rate is {answer_rate:g}: it must be above 0 and at most 1")
    level = share_of_delta(delta, len(alphas))
    plans = []
    for alpha in alphas:
        fewest = fewest_answered(alpha, level)
        planned = tuple(rates) or tuple(share * alpha for share in SHARES_OF_ALPHA)
        needs = tuple(
            LabelNeed(
                rate,
                answered_needed(rate, alpha, level, power),
                labels_needed(rate, answer_rate, alpha, level, power),
            )
            for rate in planned
        )
        plans.append(LabelNeeds(alpha, level, answer_rate, power, fewest, needs))
    return tuple(plans)
