"""The protocol every policy stands behind, and what it may ask for while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluation.outcomes import AnswerEvaluation
from evaluation.policies.candidate import Candidate
from generation.completion import Completion
from generation.prompt import Prompt


class PolicyTools(Protocol):
    """What a policy asks of the pipeline. All of it may raise what the pipeline raises."""

    async def judge(self, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        """One evaluation an answer, by the passages of its prompt."""

    async def search(self, query: str, earlier: Prompt) -> Prompt:
        """A prompt for the same question, with passages found for ``query`` beside those of the earlier prompt."""

    async def draw(self, prompt: Prompt, number: int) -> Completion:
        """One more answer, with the settings of the first. number: of the draw, from 1; each has its own seed."""

    @property
    def longest(self) -> int:
        """The largest number of tokens that an answer may take."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of correction. query: what was searched for. claim: the unsupported claim that it was for.

    score: of the new answer. kept: whether it replaced the earlier one. found: passages that the earlier prompt had
    not. tokens: of prompt and answer.
    """

    query: str
    claim: str
    text: str
    score: float | None
    kept: bool
    found: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Draft:
    """The answers to one question. rounds: of correction, so far. notes: what a policy could not do, in words."""

    question: str
    candidates: tuple[Candidate, ...]
    rounds: tuple[Round, ...] = ()
    notes: tuple[str, ...] = field(default=())


class Policy(Protocol):
    """Turns answers with verdicts into answers with verdicts."""

    @property
    def name(self) -> str:
        """One of ``ORDER``."""

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """The answers after this policy. Raises what the tools raise."""
