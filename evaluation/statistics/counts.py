"""Count outcomes by arm and question. These counts are the only input of the estimates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.outcomes import OUTCOMES, Outcome

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OutcomeRecord:
    """Outcome of one sample (numbered from 0) of one question in one arm."""

    question_id: str
    arm: str
    sample: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """Number of responses to one question by outcome, in the order of OUTCOMES."""

    question_id: str
    counts: tuple[int, int, int, int]

    @property
    def samples(self) -> int:
        """Number of responses to this question, at least 1."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class ArmCounts:
    """Counts of one arm. The questions are sorted by ID."""

    arm: str
    questions: tuple[QuestionCounts, ...]

    def matrix(self, question_ids: Iterable[str] | None = None) -> Floats:
        """Return the counts as an array (N questions, 4 outcomes).

        question_ids: questions to return, in this order; all questions by default.

        Raises KeyError for a question that the arm does not have.
        """
        if question_ids is None:
            return np.array([q.counts for q in self.questions], dtype=np.float64).reshape(-1, len(OUTCOMES))
        by_id = {q.question_id: q.counts for q in self.questions}
        return np.array([by_id[i] for i in question_ids], dtype=np.float64).reshape(-1, len(OUTCOMES))

    @property
    def question_ids(self) -> tuple[str, ...]:
        """Sorted IDs of this arm's questions."""
        return tuple(q.question_id for q in self.questions)


@dataclass(frozen=True, slots=True)
class OutcomeTable:
    """Counts of all arms, in the order in which the arms first appear.

    Every question has the same weight, however many samples it has: a rate is the mean over questions of the share
    within the question. With equal numbers of samples this is the share of all responses. Unequal numbers (an
    interrupted run) are counted as they are. Arms may have different questions; a pair is compared on the questions
    that both have.
    """

    arms: tuple[ArmCounts, ...]

    @classmethod
    def from_records(cls, records: Iterable[OutcomeRecord]) -> OutcomeTable:
        """Count records. Raises EvaluationError for an unknown outcome, a duplicate sample, or no records."""
        index = {outcome: i for i, outcome in enumerate(OUTCOMES)}
        seen: set[tuple[str, str, int]] = set()
        tally: dict[str, dict[str, list[int]]] = {}
        for record in records:
            key = (record.arm, record.question_id, record.sample)
            where = f"sample {record.sample} of question {record.question_id!r} in arm {record.arm!r}"
            if record.outcome not in index:
                raise EvaluationError(
                    f"{where} has outcome {record.outcome!r}: it must be one of {', '.join(OUTCOMES)}"
                )
            if key in seen:
                raise EvaluationError(f"{where} appears twice: count each sample once")
            seen.add(key)
            counts = tally.setdefault(record.arm, {}).setdefault(record.question_id, [0] * len(OUTCOMES))
            counts[index[record.outcome]] += 1
        if not tally:
            raise EvaluationError("there is no outcome to summarise: run the experiment first")
        return cls(tuple(_arm_counts(arm, questions) for arm, questions in tally.items()))

    def arm(self, name: str) -> ArmCounts:
        """Return the counts of an arm. Raises EvaluationError, which lists the existing arms, for an unknown name."""
        for counts in self.arms:
            if counts.arm == name:
                return counts
        raise EvaluationError(f"there is no arm {name!r} in this run: it has {', '.join(a.arm for a in self.arms)}")


def _arm_counts(arm: str, questions: dict[str, list[int]]) -> ArmCounts:
    return ArmCounts(arm, tuple(QuestionCounts(i, (c[0], c[1], c[2], c[3])) for i, c in sorted(questions.items())))


def shares(counts: Floats) -> Floats:
    """Return the shares of outcomes within each question: (N, 4) counts -> (N, 4). Each row adds up to 1."""
    result: Floats = counts / counts.sum(axis=1, keepdims=True)
    return result
