"""Plant first claims: the answer begins with a wrong claim, a right one of the same form, or none.

The continuation shows whether a false claim causes others (see evaluation.drift.forced).
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
"""Question text for all three plantings. It asks for several sentences because a short answer has no later claims."""


@dataclass(frozen=True, slots=True)
class PlantedAnswers:
    """Answers to plant for a question. true: the right answer. false: a wrong answer of the same kind."""

    true: str
    false: str

    def of(self, planted: Planted) -> str:
        """Return the answer to plant; "" for none."""
        return {"false": self.false, "true": self.true, "none": ""}[planted]


class PlantedAnswerSet:
    """Source of the answers to plant for a run's questions."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._wrong = WrongAnswers(questions)

    def answers(self, question: Question) -> PlantedAnswers:
        """Return the first reference, and a wrong answer of the same kind from another question of the run.

        The result is deterministic. Raises NotPossibleError if there is no reference or no such answer.
        """
        if not question.references:
            raise NotPossibleError(f"question {question.id!r} has no reference answer, so no right claim is known")
        return PlantedAnswers(question.references[0], self._wrong.wrong_answer_for(question, "planted"))


def planted_claim(answer: str) -> str:
    """Return the sentence to plant. Right and wrong answers have the same form."""
    return f"The answer is {answer.strip().rstrip('.')}."


class PlantedClaim(Modifier):
    """A modifier that begins the answer with the planted claim and asks for several sentences."""

    def __init__(self, planted: Planted, run: str) -> None:
        """Create the modifier.

        planted: which answer to plant.
        run: ID of the run to which the planted answers belong.
        """
        self._planted: Planted = planted
        self.name = f"planted:{planted}"
        self.settings = f"planted={planted}/1 of={run}"
        self._plantings = PlantedAnswerSet(())

    def begin(self, questions: Sequence[Question]) -> None:
        """Receive the questions from which answers are taken (see ``Modifier.begin``)."""
        self._plantings = PlantedAnswerSet(questions)

    def question_text(self, question: Question, text: str) -> str:
        """Return the question with the request for several sentences."""
        return _LONG_ANSWER.format(question=text)

    def beginning(self, question: Question) -> str:
        """Return the planted claim. Raises NotPossibleError in all three arms for a question without both answers."""
        answer = self._plantings.answers(question).of(self._planted)
        return planted_claim(answer) if answer else ""
