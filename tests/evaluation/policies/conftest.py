"""Fixtures for policies: passages are texts, and the support of a claim is the share of its words that they contain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from evaluation.claims.splitting import extract_by
from evaluation.outcomes import AnswerEvaluation, Verdict, outcome_of
from evaluation.policies.candidate import Candidate, judged_candidate
from generation.citations import find_citations
from generation.completion import Completion, Usage
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk


def words(text: str) -> set[str]:
    return {word.strip(".,!?[]").casefold() for word in text.split()}


@dataclass
class TinyTools:
    """Tools for policies. documents: all documents. answers: drawn in order. longest: maximum tokens of an answer."""

    documents: Sequence[str] = ()
    answers: list[str] = field(default_factory=list)
    longest: int = 8
    queries: list[str] = field(default_factory=list)

    def prompt(self, texts: Sequence[str]) -> Prompt:
        chunks = [RetrievedChunk(Chunk(t.split()[0], 0, len(t), t), 1.0, n) for n, t in enumerate(texts, start=1)]
        shown = tuple(PromptChunk(n, c, 0, len(c.chunk.text)) for n, c in enumerate(chunks, start=1))
        return Prompt("What?", shown, (), tuple(range(sum(len(t.split()) for t in texts))))

    def completion(self, text: str, seed: int = 0) -> Completion:
        return Completion(text, (1,), (-0.1,), "stop", Usage(10, len(text.split())), seed, find_citations(text, 9))

    def evaluation(self, prompt: Prompt, text: str) -> AnswerEvaluation:
        extracted = extract_by(False, text)
        known = set().union(*(words(c.text) for c in prompt.chunks)) if prompt.chunks else set()
        verdicts = []
        for claim in extracted.claims:
            own = words(claim.text)
            support = len(own & known) / len(own)
            label = "supported" if support >= 0.5 else "unverifiable"
            verdicts.append(Verdict(claim, label, support, "", (), "tiny"))
        return outcome_of(tuple(verdicts), extracted.refused)

    def candidate(self, text: str, *texts: str, seed: int = 0) -> Candidate:
        prompt = self.prompt(texts)
        return judged_candidate(self.completion(text, seed), prompt, self.evaluation(prompt, text))

    async def judge(self, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        return tuple(self.evaluation(prompt, completion.text) for prompt, completion in answers)

    async def search(self, query: str, earlier: Prompt) -> Prompt:
        self.queries.append(query)
        best = max(self.documents, key=lambda d: len(words(d) & words(query)))
        return self.prompt(list(dict.fromkeys([best, *(c.text for c in earlier.chunks)])))

    async def draw(self, prompt: Prompt, number: int) -> Completion:
        return self.completion(self.answers.pop(0), seed=100 + number)


@pytest.fixture
def tiny() -> Callable[..., TinyTools]:
    return TinyTools
