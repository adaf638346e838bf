"""Define the interface of policies, and the tools that a policy may use while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluation.outcomes import AnswerEvaluation
from evaluation.policies.candidate import Candidate
from generation.completion import Completion
from generation.prompt import Prompt


class PolicyTools(Protocol):
    """Interface of the pipeline for policies. All methods may raise the errors of the pipeline."""

    async def judge(self, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        """Return one evaluation per answer, judged by the passages of its prompt."""

    async def search(self, query: str, earlier: Prompt) -> Prompt:
        """Return a prompt for the same question that adds the passages found for ``query`` to the earlier ones."""

    async def draw(self, prompt: Prompt, number: int) -> Completion:
        """Draw a further answer with the settings of the first. number: number of the draw, from 1, for its seed."""

    @property
    def longest(self) -> int:
        """Maximum number of tokens of an answer."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of correction.

    query: query of the search.
    claim: unsupported claim for which the search was made.
    text, score: text and score of the new answer.
    kept: whether the new answer replaced the earlier one.
    found: number of passages that the earlier prompt does not have.
    prompt_tokens, completion_tokens: numbers of tokens of prompt and answer.
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
    """The answers to one question between policies.

    rounds: rounds of correction so far.
    notes: what policies could not do, as text.
    """

    question: str
    candidates: tuple[Candidate, ...]
    rounds: tuple[Round, ...] = ()
    notes: tuple[str, ...] = field(default=())


class Policy(Protocol):
    """Interface of a policy, which changes or selects answers with verdicts."""

    @property
    def name(self) -> str:
        """Name of the policy, one of ``ORDER``."""

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """Return the answers after this policy. Raises the errors of the tools."""
