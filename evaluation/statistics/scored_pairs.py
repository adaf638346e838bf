"""Compare two arms on the same questions, over the cross-pairs of samples in which both responses are scored.

A response that could not be judged is not evidence for either arm. It counts neither as hallucinated nor as not
hallucinated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.outcomes import OUTCOMES
from evaluation.statistics.counts import Floats, shares
from evaluation.statistics.estimates import Measurement, unmeasured
from evaluation.statistics.measure import Resampler, Settings, measure_ratio
from evaluation.statistics.paired import measure_fixed_minus_broken
from evaluation.statistics.permutation import SignFlipTest, sign_flip_test

HALLUCINATED, UNSCORED = OUTCOMES.index("hallucinated"), OUTCOMES.index("unscored")
NO_PAIR = "no question has a scored response in both arms"


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """Cross-pairs of scored responses, by question.

    used: (N,), whether a question has any such cross-pair. The other arrays are (M,), one entry per used question.
    weight: share of the question's cross-pairs in which both responses are scored.
    fixed, broken: share of the cross-pairs, both scored, in which only the first or only the second arm's response is
        hallucinated.
    first, second: share of the cross-pairs, both scored, in which the first or the second arm's response is
        hallucinated.
    responses: number of scored responses of both arms.
    independent: upper bound on the number of independent responses.
    """

    used: NDArray[np.bool_]
    weight: Floats
    fixed: Floats
    broken: Floats
    first: Floats
    second: Floats
    responses: int
    independent: float

    @property
    def change(self) -> Floats:
        """Difference of the arms' shares, fixed minus broken, (M,)."""
        return self.first - self.second

    def measure(self, resampler: Resampler) -> tuple[Measurement, Measurement, Measurement]:
        """Return the difference (fixed minus broken), fixed, and broken, as shares of the cross-pairs.

        All three are undefined, with the reason, if there is no such cross-pair.
        """
        if not self.weight.size:
            nothing = unmeasured(resampler.settings.level, NO_PAIR)
            return nothing, nothing, nothing
        weight, responses, independent = self.weight, self.responses, self.independent
        return (
            measure_fixed_minus_broken(self.fixed, self.broken, weight, responses, independent, resampler),
            measure_ratio(self.fixed, weight, responses, resampler, independent, "a fixed answer"),
            measure_ratio(self.broken, weight, responses, resampler, independent, "a broken answer"),
        )

    def test(self, settings: Settings) -> SignFlipTest | None:
        """Return the sign-flip test of the difference; None without a question.

        It swaps the arms of complete questions, which does not change the weights.
        """
        if not self.weight.size:
            return None
        return sign_flip_test(self.change, settings.permutations, settings.seed)


def paired_outcomes(counts1: Floats, counts2: Floats) -> ScoredPairs:
    """Return the scored cross-pairs of two arms.

    counts1, counts2: (N, 4), counts on the same questions in the order of OUTCOMES.
    """
    scored1, scored2 = (counts.sum(axis=1) - counts[:, UNSCORED] for counts in (counts1, counts2))
    used = (scored1 > 0) & (scored2 > 0)
    s1, s2 = shares(counts1[used]), shares(counts2[used])
    h1, h2 = s1[:, HALLUCINATED], s2[:, HALLUCINATED]
    r1, r2 = 1.0 - s1[:, UNSCORED], 1.0 - s2[:, UNSCORED]
    weight = r1 * r2
    fixed = h1 * np.maximum(r2 - h2, 0.0)
    broken = h2 * np.maximum(r1 - h1, 0.0)
    responses = int(scored1[used].sum() + scored2[used].sum())
    return ScoredPairs(
        used,
        weight,
        np.minimum(fixed, weight),
        np.minimum(broken, weight),
        h1 * r2,
        h2 * r1,
        responses,
        effective_responses(weight, np.minimum(scored1, scored2)[used]),
    )


def effective_responses(weight: Floats, samples: Floats) -> float:
    """Return (sum w)^2 / sum (w^2 / n), the number of independent samples with a weighted mean's variance.

    weight, samples: (M,), weight and number of samples of each question.

    With equal weights it equals ``mean_responses``. It is 0 without a question.
    """
    if not weight.size:
        return 0.0
    return float(weight.sum() ** 2 / (weight**2 / samples).sum())
