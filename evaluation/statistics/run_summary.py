"""Define the summary of a run: rates of every arm and differences of pairs of arms."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from evaluation.statistics.estimates import HallucinationEstimate, Measurement
from evaluation.statistics.measure import Settings
from evaluation.statistics.permutation import SignFlipTest


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """Summary of one arm.

    fewest_samples, most_samples: smallest and largest number of responses to a question.
    hallucinated, supported, abstained, unscored: rates of the outcomes among all responses. They add up to 1.
    hall_answered: hallucinated share of the scored answers (hallucinated + supported), a ratio of totals.
    hall_scored: hallucinated share of the scored responses, including abstentions.
    hall_if_unscored_*: the rate if all unscored responses were supported (equal to ``hallucinated``) or hallucinated.
    """

    arm: str
    questions: int
    responses: int
    fewest_samples: int
    most_samples: int
    hallucinated: Measurement
    supported: Measurement
    abstained: Measurement
    unscored: Measurement
    hall_answered: Measurement
    hall_scored: Measurement
    hall_if_unscored_supported: HallucinationEstimate
    hall_if_unscored_hallucinated: HallucinationEstimate

    @property
    def headline(self) -> Measurement:
        """Headline rate of the arm: among all responses, or among the scored ones if some are unscored."""
        return self.hall_scored if self.unscored.default.rate else self.hallucinated


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """Shares fixed and broken of one question, each in [0, 1], over all cross-pairs of its samples."""

    question_id: str
    fixed: float
    broken: float


@dataclass(frozen=True, slots=True)
class DifferenceBounds:
    """Bounds of a difference under the extreme outcomes of unscored responses.

    low: difference if they were supported in baseline and hallucinated in other; high: in the reverse case.
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BothAnswered:
    """Rates over the cross-pairs of samples that both arms answered. The arms' own abstentions select these pairs.

    pairs_share: share of these pairs among all cross-pairs. baseline, other: rates of hallucinations of the arms.
    fixed, broken: rates of pairs that only baseline or only other hallucinates. difference: fixed minus broken.
    """

    pairs_share: float
    baseline: Measurement
    other: Measurement
    fixed: Measurement
    broken: Measurement
    difference: Measurement


@dataclass(frozen=True, slots=True)
class PairSummary:
    """Comparison of two arms, baseline minus other, on the questions that both have.

    A positive difference means that other hallucinates less. A cross-pair is scored if both its responses are.

    questions: number of questions with at least one scored cross-pair.
    left_out: number of questions that only one of the two arms has.
    fixed, broken: share of the scored cross-pairs that are hallucinated only in baseline, or only in other.
    difference: fixed minus broken. All three are undefined without a scored cross-pair.
    bounds: bounds of the difference over all shared questions, whatever the unscored responses were.
    fixed_questions, broken_questions: sums of the shares fixed and broken over questions, in questions.
    transitions[i][j]: mean share of all cross-pairs with baseline in OUTCOMES[i] and other in OUTCOMES[j].
    answered_difference: difference of the arms' ``hall_answered``.
    test: sign-flip test of the difference; None if the difference is undefined.
    p_holm: p-value corrected over all pairs of this summary, including the undefined ones.
    changes: changes of the compared questions, worst first (most broken, then most fixed).
    excluded: number of shared questions that are left out because their verdicts cannot be compared between arms.
    unscored: number of shared questions without a scored cross-pair.
    scored_share: share of scored cross-pairs among those of all shared questions (1 if nothing is unscored).
    """

    baseline: str
    other: str
    questions: int
    left_out: int
    difference: Measurement
    bounds: DifferenceBounds
    fixed: Measurement
    broken: Measurement
    fixed_questions: float | None
    broken_questions: float | None
    transitions: tuple[tuple[float, ...], ...]
    answered_difference: Measurement
    both_answered: BothAnswered
    test: SignFlipTest | None
    p_holm: float | None
    changes: tuple[QuestionChange, ...]
    excluded: int = 0
    unscored: int = 0
    scored_share: float = 1.0


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Summary of a run: all arms, and all declared pairs of arms."""

    settings: Settings
    baseline: str
    arms: tuple[ArmSummary, ...]
    pairs: tuple[PairSummary, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON values. An undefined number is None, never NaN."""
        result: dict[str, Any] = dataclasses.asdict(self)
        return result
