"""Compute pass^k, the probability that all of k answers are right (Yao et al. 2024, tau-bench, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from evaluation.outcomes import Outcome
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.measure import Resampler, measure_ratio


@dataclass(frozen=True, slots=True)
class PassRate:
    """pass^k of an arm.

    share: mean over clusters of the probability that k drawn answers are all supported. The probability is
        C(c, k) / C(n, k) for c supported answers of n.
    clusters: number of clusters, which are the independent units.
    """

    k: int
    share: HallucinationEstimate
    clusters: int


def pass_rates(
    outcomes: Mapping[str, Sequence[Outcome]], clusters: Mapping[str, str], resampler: Resampler
) -> tuple[PassRate, ...]:
    """Return pass^k for each k up to the smallest number of scored samples of a question.

    outcomes: outcomes of each question's samples, by question ID.
    clusters: cluster of each question, by question ID. Paraphrases share a cluster, whose share is the mean over its
        questions. A question without an entry is its own cluster.
    """
    scored = {q: [o for o in question_outcomes if o != "unscored"] for q, question_outcomes in outcomes.items()}
    scored = {q: question_outcomes for q, question_outcomes in scored.items() if question_outcomes}
    fewest = min((len(question_outcomes) for question_outcomes in scored.values()), default=0)
    rates = []
    for k in range(1, fewest + 1):
        by_cluster: dict[str, list[float]] = {}
        for question, question_outcomes in scored.items():
            supported = sum(o == "supported" for o in question_outcomes)
            by_cluster.setdefault(clusters.get(question, question), []).append(
                comb(supported, k) / comb(len(question_outcomes), k)
            )
        shares = np.array([sum(v) / len(v) for v in by_cluster.values()])
        event = f"{k} supported answers"
        share = measure_ratio(shares, np.ones(len(shares)), len(shares), resampler, event=event).default
        rates.append(PassRate(k, share, len(shares)))
    return tuple(rates)
