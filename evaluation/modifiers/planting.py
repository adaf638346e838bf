"""Planted first claims: the answer begins with a wrong claim, a right one of the same form, or none.

The continuation shows whether a false claim causes others; see evaluation.drift.forced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.drift.forced import Planted
from evaluation.modifiers.modifier import Modifier
from evaluation.modifiers.suggestion import WrongAnswers
from evaluation.runs.arms import NotPossibleError

PLANTINGS: tuple[Planted, ...] = ("false", "true", "none")
_LONG_ANSWER = "{question} Answer in several sentences."
"""Used with all three: a short answer has no later claims."""


@dataclass(frozen=True, slots=True)
class PlantedAnswers:
    """The right answer of a question, and a wrong one of the same kind."""

    true: str
    false: str

    def of(self, planted: Planted) -> str:
        """The answer to plant, "" for none."""
        return {"false": self.false, "true": self.true, "none": ""}[planted]


class PlantedAnswerSet:
    """Answers to plant for a run's questions."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._wrong = WrongAnswers(questions)

    def answers(self, question: Question) -> PlantedAnswers:
        """The first reference, and a wrong reference answer of the same kind from another question of the run.

        Deterministic. Raises NotPossibleError if there is no reference or no such answer.
        """
        if not question.references:
            raise NotPossibleError(
                f"question {question.id!r} has no reference answer: no claim could be known to be right"
            )
        return PlantedAnswers(question.references[0], self._wrong.wrong_for(question, "planted"))


def planted_claim(answer: str) -> str:
    """The planted sentence, with one form for right and wrong answers."""
    return f"The answer is {answer.strip().rstrip('.')}."


class PlantedClaim(Modifier):
    """Begin the answer with the claim, and ask for several sentences."""

    def __init__(self, planted: Planted, run: str) -> None:
        """run: id of the run that this belongs to."""
        self._planted: Planted = planted
        self.name = f"planted:{planted}"
        self.settings = f"planted={planted}/1 of={run}"
        self._plantings = PlantedAnswerSet(())

    def begin(self, questions: Sequence[Question]) -> None:
        """See Modifier.begin."""
        self._plantings = PlantedAnswerSet(questions)

    def question_text(self, question: Question, text: str) -> str:
        """See Modifier.question_text."""
        return _LONG_ANSWER.format(question=text)

    def beginning(self, question: Question) -> str:
        """See Modifier.beginning. A question without both answers gets no planted claim in any of the three arms."""
        answer = self._plantings.answers(question).of(self._planted)
        return planted_claim(answer) if answer else ""
