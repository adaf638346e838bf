"""Unlabelled data of a prediction-powered test: the verifier's scores of the answers without a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.guarantee.answers import NO_SCORE, Bools, LabelledAnswers
from evaluation.guarantee.predicted import active_p_value, uniform_p_value
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class UniformUnlabelledScores:
    """Scores of unlabelled questions, where the labelled ones were drawn uniformly at random. others: (M,) scores."""

    others: Floats

    def p_value(self, answers: LabelledAnswers, threshold: float, alpha: float) -> float:
        """Return the p-value of "the rate is at least alpha" at the threshold.

        Raises EvaluationError for several labelled answers per question.
        """
        _one_each(answers)
        gain = _gain(answers, threshold, alpha)
        return float(
            uniform_p_value(gain, _guess(answers.score, threshold, alpha), _guess(self.others, threshold, alpha), alpha)
        )

    def answer_rate(self, answers: LabelledAnswers, threshold: float) -> float:
        """Return the share of the labelled answers that reach the threshold."""
        return float(answers.passes(threshold).mean())


@dataclass(frozen=True, slots=True)
class ActiveUnlabelledScores:
    """Scores of unlabelled questions, where each labelled question was drawn with its own probability.

    others: (N - n,), scores of all questions that were not drawn. probability: (n,), drawing probabilities of the
    labelled answers. floor: smallest probability in use.
    """

    others: Floats
    probability: Floats
    floor: float

    def p_value(self, answers: LabelledAnswers, threshold: float, alpha: float) -> float:
        """Return the p-value of "the rate is at least alpha" at the threshold.

        Raises EvaluationError for several labelled answers per question.
        """
        _one_each(answers)
        gain = _gain(answers, threshold, alpha)
        score = np.concatenate([answers.score, self.others])
        left = np.zeros(len(self.others))
        return float(
            active_p_value(
                np.concatenate([gain, left]),
                _guess(score, threshold, alpha),
                np.concatenate([np.ones(len(gain)), left]),
                np.concatenate([self.probability, left + self.floor]),
                alpha,
            )
        )

    def answer_rate(self, answers: LabelledAnswers, threshold: float) -> float:
        """Return the share of all questions that reach the threshold.

        Unlabelled abstentions are unknown and count by their score.
        """
        passing = int(answers.passes(threshold).sum()) + int((self.others >= threshold).sum())
        return passing / (len(answers.score) + len(self.others))


UnlabelledScores = UniformUnlabelledScores | ActiveUnlabelledScores


def _gain(answers: LabelledAnswers, threshold: float, alpha: float) -> Floats:
    """Return alpha A - H A by label."""
    result: Floats = np.where(answers.passes(threshold), alpha - answers.hallucinated.astype(np.float64), 0.0)
    return result


def _guess(score: Floats, threshold: float, alpha: float) -> Floats:
    """Return alpha A - H A as the verifier predicts it, in [alpha - 1, alpha].

    H is 1 - score, and A is whether the score reaches the threshold.
    """
    predicted = np.where(score > NO_SCORE, 1.0 - np.where(score > NO_SCORE, score, 0.0), 0.0)
    passes: Bools = score >= threshold
    result: Floats = (alpha - predicted) * passes
    return result


def _one_each(answers: LabelledAnswers) -> None:
    if not answers.one_each:
        raise EvaluationError("a prediction-powered test needs exactly one labelled answer per question")
