"""Modifier: one change to an arm, and ModifiedArm: a base arm with modifiers, applied in order.

Override the methods to change; see docs/arms.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from data.questions import Question
from evaluation.runs.arms import ActiveArm, Arm
from evaluation.runs.records import ObservedEvent
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.chunking.sentences import Span


class Modifier:
    """Base class that changes nothing.

    name: as it follows the ``+`` of an arm's name. settings: description of everything that determines the behaviour;
    part of the run's id. The change to a question may depend on all questions of the run, but not on which ones are
    still to be drawn; otherwise a resumed run would differ from an uninterrupted one.
    """

    name = ""
    settings = ""

    def begin(self, questions: Sequence[Question]) -> None:
        """Receive all questions of the run, in order."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Fetch in one call what ``chunks`` will need for these questions. Optional."""

    def chunks(self, question: Question, chunks: tuple[RetrievedChunk, ...]) -> tuple[RetrievedChunk, ...]:
        """Chunks to show instead of ``chunks``, best first. Raises NotPossibleError if there are none to show."""
        return chunks

    def question_text(self, question: Question, text: str) -> str:
        """Text to use instead of ``text`` for the question. Raises NotPossibleError if it cannot be built."""
        return text

    def beginning(self, question: Question) -> str:
        """Prefix of the answer, given to the model; "" for none. Raises NotPossibleError if it cannot be built."""
        return ""

    def answer_span(self, text: str, span: Span) -> Span:
        """Span of the answer inside ``text[span.start:span.end]``."""
        return span

    def observe(self, question: Question, completion: str, answer: str) -> ObservedEvent | None:
        """Event observed in a completion and the answer in it; None if the modifier observes nothing."""
        return None


class ModifiedArm:
    """A base arm with modifiers. Chunks and questions pass through them in order, answers in reverse order."""

    def __init__(self, arm: Arm, modifiers: Sequence[Modifier], name: str = "") -> None:
        """name: by default the arm's name and those of its modifiers, joined by ``+``."""
        self._arm, self._modifiers = arm, tuple(modifiers)
        self.name = name or "+".join((arm.name, *(m.name for m in self._modifiers)))
        self.settings = " ".join(filter(None, (arm.settings, *(m.settings for m in self._modifiers))))

    def begin(self, questions: Sequence[Question]) -> None:
        """See ActiveArm.begin."""
        if isinstance(self._arm, ActiveArm):
            self._arm.begin(questions)
        for modifier in self._modifiers:
            modifier.begin(questions)

    def prepare(self, questions: Sequence[Question]) -> None:
        """See Arm.prepare."""
        self._arm.prepare(questions)
        for modifier in self._modifiers:
            modifier.prepare(questions)

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """See Arm.chunks."""
        chunks = self._arm.chunks(question)
        for modifier in self._modifiers:
            chunks = modifier.chunks(question, chunks)
        return chunks

    def question_text(self, question: Question) -> str:
        """See ActiveArm.question_text."""
        text = self._arm.question_text(question) if isinstance(self._arm, ActiveArm) else question.text
        for modifier in self._modifiers:
            text = modifier.question_text(question, text)
        return text

    def beginning(self, question: Question) -> str:
        """See BeginningArm.beginning."""
        return " ".join(filter(None, (m.beginning(question) for m in self._modifiers)))

    def answer_span(self, text: str) -> Span:
        """See ActiveArm.answer_span."""
        span = self._arm.answer_span(text) if isinstance(self._arm, ActiveArm) else Span(0, len(text))
        for modifier in reversed(self._modifiers):
            span = modifier.answer_span(text, span)
        return span

    def observe(self, question: Question, completion: str, answer: str) -> tuple[ObservedEvent, ...]:
        """See ActiveArm.observe."""
        seen = self._arm.observe(question, completion, answer) if isinstance(self._arm, ActiveArm) else ()
        return (
            *seen,
            *(found for m in self._modifiers if (found := m.observe(question, completion, answer)) is not None),
        )
