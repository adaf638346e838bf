"""Add few-shot exemplars: other questions of the run with their reference answers, before the question.

No exemplar has an answer that a reference of the question supports, because it would reveal the answer. The text
follows "Question: " in an instruction, so its format is: question, answer, question, answer, question.
"""

from __future__ import annotations

from collections.abc import Sequence

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.modifiers.modifier import Modifier
from evaluation.modifiers.selection import order_by_hash
from evaluation.modifiers.suggestion import is_wrong
from evaluation.runs.arms import NotPossibleError


class FewShot(Modifier):
    """A modifier that shows ``count`` exemplars. A question always gets the same ones."""

    def __init__(self, count: int) -> None:
        """Create the modifier. Raises EvaluationError for count < 1."""
        if count < 1:
            raise EvaluationError(f"few_shot:{count}: at least 1 exemplar is needed")
        self._count = count
        self.name = f"few_shot:{count}"
        self.settings = f"exemplars={count}/1"
        self._pool: list[Question] = []

    def begin(self, questions: Sequence[Question]) -> None:
        """Receive the questions from which exemplars are taken (see ``Modifier.begin``)."""
        self._pool = [q for q in questions if q.references]

    def question_text(self, question: Question, text: str) -> str:
        """Return the exemplars and the question. Raises NotPossibleError if too few other questions have references."""
        shown: list[str] = []
        others = [q for q in self._pool if q.id != question.id and q.text != question.text]
        for other in order_by_hash(others, [q.id for q in others], f"exemplar\0{question.id}"):
            if len(shown) == self._count:
                break
            if is_wrong(question, other.references[0]):
                shown.append(f"{other.text}\nAnswer: {other.references[0]}\n\nQuestion: ")
        if len(shown) < self._count:
            raise NotPossibleError(
                f"the run has only {len(shown)} other questions with reference answers for question {question.id!r}: "
                f"{self._count} exemplars were requested"
            )
        return "".join(shown) + text
