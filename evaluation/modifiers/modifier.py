"""Modifier: one thing that an arm does differently, and ModifiedArm: a plain arm with such things on it, in order.

Write your own by overriding what is to change; see docs/arms.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from data.questions import Question
from evaluation.runs.arms import ActiveArm, Arm
from evaluation.runs.records import ObservedEvent
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.chunking.sentences import Span


class Modifier:
    """Changes nothing: the base of those that do.

    name: as it stands behind the ``+`` of an arm's name. settings: all that determines what it does, in words; part of
    the run's id. What a modifier does to a question may depend on all questions of the run, never on those that are
    still to be drawn, or a run that was resumed would differ from one that was not.
    """

    name = ""
    settings = ""

    def begin(self, questions: Sequence[Question]) -> None:
        """See all questions of the run, in its order."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Fetch for these at once what ``chunks`` will need. Not needed for correctness."""

    def chunks(self, question: Question, chunks: tuple[RetrievedChunk, ...]) -> tuple[RetrievedChunk, ...]:
        """The chunks to show instead of ``chunks``, best first. Raises NotPossibleError where it cannot."""
        return chunks

    def asked(self, question: Question, words: str) -> str:
        """What to ask instead of ``words``. Raises NotPossibleError where it cannot."""
        return words

    def beginning(self, question: Question) -> str:
        """The answer's first words, put into its mouth; "" for none. Raises NotPossibleError where it cannot."""
        return ""

    def answer_span(self, text: str, span: Span) -> Span:
        """Where inside ``text[span.start:span.end]`` the answer stands."""
        return span

    def observe(self, question: Question, completion: str, answer: str) -> ObservedEvent | None:
        """What it looks for in a completion and the answer in it; None where it looks for nothing."""
        return None


class ModifiedArm:
    """A plain arm with modifiers: chunks and words go through them in order, answers through them backwards."""

    def __init__(self, arm: Arm, modifiers: Sequence[Modifier], name: str = "") -> None:
        """name: the arm's own and its modifiers', joined by ``+``, by default."""
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

    def asked(self, question: Question) -> str:
        """See ActiveArm.asked."""
        words = self._arm.asked(question) if isinstance(self._arm, ActiveArm) else question.text
        for modifier in self._modifiers:
            words = modifier.asked(question, words)
        return words

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
