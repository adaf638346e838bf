"""Labelled answers with the verifier's scores, and the selection of answers at or above a threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.outcomes import AnswerEvaluation, Outcome
from evaluation.statistics.counts import Floats

NO_SCORE = -math.inf
"""Score of an answer that the verifier could not score or that makes no claim; below every threshold."""
Bools = NDArray[np.bool_]


def answer_score(evaluation: AnswerEvaluation) -> float | None:
    """Return the support of an answer's least supported claim, in [0, 1].

    None for an answer without claims (an abstention, or a text that cannot be judged) and for an answer with an
    unscored claim. No threshold accepts such answers.
    """
    supports = [verdict.support for verdict in evaluation.verdicts]
    if not supports or any(support is None for support in supports):
        return None
    return min(float(support) for support in supports if support is not None)


@dataclass(frozen=True, slots=True)
class LabelledAnswers:
    """N labelled answers; all arrays have shape (N,).

    question: integers that are equal for samples of one question. score: the verifier's score, ``NO_SCORE`` if there is
    none. hallucinated: label; "could not tell" counts as hallucinated. declined: whether the answer is labelled as an
    abstention; such an answer passes no threshold.

    Raises EvaluationError for arrays of unequal lengths and for scores that are neither in [0, 1] nor ``NO_SCORE``.
    """

    question: NDArray[np.intp]
    score: Floats
    hallucinated: Bools
    declined: Bools

    def __post_init__(self) -> None:
        sizes = {len(a) for a in (self.question, self.score, self.hallucinated, self.declined)}
        if len(sizes) != 1:
            raise EvaluationError(
                f"questions, scores and labels have the lengths {sorted(sizes)}: the lengths must be equal"
            )
        check_scores(self.score)

    @property
    def questions(self) -> int:
        """Number of distinct questions."""
        return len(np.unique(self.question))

    @property
    def one_each(self) -> bool:
        """Whether every question has exactly one labelled answer."""
        return self.questions == len(self.question)

    def passes(self, threshold: float) -> Bools:
        """Return a mask of the answers that a policy would give that abstains below the threshold, (N,)."""
        return (self.score >= threshold) & ~self.declined

    def part(self, chosen: NDArray[np.intp] | Bools) -> LabelledAnswers:
        """Return the answers selected by index or mask."""
        return LabelledAnswers(
            self.question[chosen], self.score[chosen], self.hallucinated[chosen], self.declined[chosen]
        )


def check_scores(scores: Floats) -> None:
    """Raise EvaluationError, with the value, for a score that is neither in [0, 1] nor ``NO_SCORE``."""
    bad = ~((scores == NO_SCORE) | ((scores >= 0.0) & (scores <= 1.0)))
    if bad.any():
        raise EvaluationError(f"a score is {float(scores[bad][0])}: it must lie in [0, 1]")


def labelled_answers(
    questions: Sequence[str], scores: Sequence[float | None], labels: Sequence[Outcome]
) -> LabelledAnswers:
    """Create LabelledAnswers from the question IDs, scores and labels of N answers.

    Raises EvaluationError as LabelledAnswers does.
    """
    index_of = {name: index for index, name in enumerate(dict.fromkeys(questions))}
    return LabelledAnswers(
        np.array([index_of[name] for name in questions], dtype=np.intp),
        np.array([NO_SCORE if score is None else score for score in scores], dtype=np.float64),
        np.array([label in ("hallucinated", "unscored") for label in labels], dtype=np.bool_),
        np.array([label == "abstained" for label in labels], dtype=np.bool_),
    )
