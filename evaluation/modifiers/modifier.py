"""Define Modifier, a change to an arm, and ModifiedArm, a base arm with modifiers that are applied in order.

To write a modifier, override the methods whose behaviour it changes (see docs/arms.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from data.questions import Question
from evaluation.runs.arms import ActiveArm, Arm
from evaluation.runs.records import ObservedEvent
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.chunking.sentences import Span


class Modifier:
    """Base class of modifiers, which changes nothing.

    name: name as it follows the ``+`` in an arm's name.
    settings: description of everything that determines the behaviour. It is part of the run's ID.

    The change to a question may depend on all questions of the run, but not on which questions are still to be drawn.
    Otherwise a resumed run would differ from an uninterrupted one.
    """

    name = ""
    settings = ""

    def begin(self, questions: Sequence[Question]) -> None:
        """Receive all questions of the run, in order."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Fetch in one call what ``chunks`` needs for these questions. Calling it is optional."""

    def chunks(self, question: Question, chunks: tuple[RetrievedChunk, ...]) -> tuple[RetrievedChunk, ...]:
        """Return the chunks to show instead of ``chunks``, best first. Raises NotPossibleError if there are none."""
        return chunks

    def question_text(self, question: Question, text: str) -> str:
        """Return the text to use instead of ``text``. Raises NotPossibleError if it cannot be built."""
        return text

    def beginning(self, question: Question) -> str:
        """Return the prefilled beginning of the answer; "" for none. Raises NotPossibleError if it cannot be built."""
        return ""

    def answer_span(self, text: str, span: Span) -> Span:
        """Return the span of the answer inside ``text[span.start:span.end]``."""
        return span

    def observe(self, question: Question, completion: str, answer: str) -> ObservedEvent | None:
        """Return the event observed in a completion and the answer in it; None if the modifier observes nothing."""
        return None


class ModifiedArm:
    """An arm that applies modifiers to a base arm.

    The modifiers change chunks and questions in order, and answers in reverse order.
    """

    def __init__(self, arm: Arm, modifiers: Sequence[Modifier], name: str = "") -> None:
        """Create the arm. name: by default the names of the base arm and its modifiers, joined by ``+``."""
        self._arm, self._modifiers = arm, tuple(modifiers)
        self.name = name or "+".join((arm.name, *(m.name for m in self._modifiers)))
        self.settings = " ".join(filter(None, (arm.settings, *(m.settings for m in self._modifiers))))

    def begin(self, questions: Sequence[Question]) -> None:
        """Pass all questions of the run to the base arm and the modifiers (see ``ActiveArm.begin``)."""
        if isinstance(self._arm, ActiveArm):
            self._arm.begin(questions)
        for modifier in self._modifiers:
            modifier.begin(questions)

    def prepare(self, questions: Sequence[Question]) -> None:
        """Prepare the base arm and the modifiers (see ``Arm.prepare``)."""
        self._arm.prepare(questions)
        for modifier in self._modifiers:
            modifier.prepare(questions)

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Return the modified chunks of the base arm (see ``Arm.chunks``)."""
        chunks = self._arm.chunks(question)
        for modifier in self._modifiers:
            chunks = modifier.chunks(question, chunks)
        return chunks

    def question_text(self, question: Question) -> str:
        """Return the modified text of the question (see ``ActiveArm.question_text``)."""
        text = self._arm.question_text(question) if isinstance(self._arm, ActiveArm) else question.text
        for modifier in self._modifiers:
            text = modifier.question_text(question, text)
        return text

    def beginning(self, question: Question) -> str:
        """Return the beginnings of all modifiers, joined by blanks (see ``PrefixedArm.beginning``)."""
        return " ".join(filter(None, (m.beginning(question) for m in self._modifiers)))

    def answer_span(self, text: str) -> Span:
        """Return the span of the answer after all modifiers (see ``ActiveArm.answer_span``)."""
        span = self._arm.answer_span(text) if isinstance(self._arm, ActiveArm) else Span(0, len(text))
        for modifier in reversed(self._modifiers):
            span = modifier.answer_span(text, span)
        return span

    def observe(self, question: Question, completion: str, answer: str) -> tuple[ObservedEvent, ...]:
        """Return the events that base arm and modifiers observe (see ``ActiveArm.observe``)."""
        seen = self._arm.observe(question, completion, answer) if isinstance(self._arm, ActiveArm) else ()
        return (
            *seen,
            *(found for m in self._modifiers if (found := m.observe(question, completion, answer)) is not None),
        )
