"""Planting a first claim: the answer is made to begin with a wrong one, a right one of the same form, or with none.

What the model says after it shows whether a false claim causes others; see evaluation.drift.forced.
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
ASKED = "{question} Answer in several sentences."
"""Of all three: an answer of a few words has no later claim."""


@dataclass(frozen=True, slots=True)
class PlantedAnswers:
    """A question's right answer, and a wrong one of the same kind."""

    true: str
    false: str

    def of(self, planted: Planted) -> str:
        """The answer that is planted, "" for none."""
        return {"false": self.false, "true": self.true, "none": ""}[planted]


class PlantedAnswerSet:
    """The answers to plant for a run's questions."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._wrong = WrongAnswers(questions)

    def answers(self, question: Question) -> PlantedAnswers:
        """The first reference, and a reference answer of another question that is wrong here and of the same kind.

        The same for the same questions. Raises NotPossibleError where there is no reference, or no such answer.
        """
        if not question.references:
            raise NotPossibleError(
                f"question {question.id!r} has no reference answer: no claim could be known to be right"
            )
        return PlantedAnswers(question.references[0], self._wrong.wrong_for(question, "planted"))


def planted_claim(answer: str) -> str:
    """The sentence that is planted: one form for right and wrong answers."""
    return f"The answer is {answer.strip().rstrip('.')}."


class PlantedClaim(Modifier):
    """Begins the answer with the claim, and asks for several sentences."""

    def __init__(self, planted: Planted, run: str) -> None:
        """run: id of the run that this belongs to."""
        self._planted: Planted = planted
        self.name = f"planted:{planted}"
        self.settings = f"planted={planted}/1 of={run}"
        self._plantings = PlantedAnswerSet(())

    def begin(self, questions: Sequence[Question]) -> None:
        """See Modifier.begin."""
        self._plantings = PlantedAnswerSet(questions)

    def asked(self, question: Question, words: str) -> str:
        """See Modifier.asked."""
        return ASKED.format(question=words)

    def beginning(self, question: Question) -> str:
        """See Modifier.beginning. A question without both answers is left alone in all three."""
        answer = self._plantings.answers(question).of(self._planted)
        return planted_claim(answer) if answer else ""
