"""Judge claims by asking a language model whether the evidence supports them. Any Generator can be used.

Several answers (yes or no) are drawn per claim. If their probabilities are known, V is P(yes) over the observed
answers. Otherwise V is the share of votes. If the model says neither yes nor no, the claim is unscored. The judge
cannot distinguish a contradiction from missing evidence, so a claim below the threshold is "unverifiable". It judges
each claim without the other claims.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.claims.splitting import split_name
from evaluation.errors import EvaluationError
from evaluation.outcomes import Claim, Evidence, Verdict
from evaluation.verifiers.claim_requests import (
    align_verdicts,
    by_support,
    distinct_requests,
    no_claim_verdict,
    requests_of,
    unscored,
    without_evidence,
)
from evaluation.verifiers.entailment import THRESHOLD
from evaluation.verifiers.evidence import ClaimRequest, EvidenceSource, EvidenceText
from evaluation.verifiers.evidence_verifier import EvidenceVerifier
from evaluation.verifiers.verifier import FAILED, VerificationItem
from evaluation.verifiers.votes import count_votes, support_of, vote_of
from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.generator import GenerationTask, Generator, generate_many
from generation.prompt import Prompt
from retrieval.chunking.chunks import Chunk, RetrievedChunk

VERSION = 1
VOTES = 5
_MAX_TOKENS = 8
_CHUNK_CHARACTERS = 6000
"""Maximum number of characters of an evidence text in the prompt. Chunks from a search are much shorter."""


class LanguageJudge(EvidenceVerifier):
    """A verifier that asks a generator about each claim with its evidence. The threshold applies to P(yes).

    Its name is ``judge/VERSION MODEL votes=N >=THRESHOLD EVIDENCE``.
    """

    def __init__(
        self,
        generator: Generator,
        evidence: EvidenceSource,
        threshold: float = THRESHOLD,
        votes: int = VOTES,
        split: bool = False,
    ) -> None:
        """Create the judge.

        threshold: minimum support of a supported claim, in (0, 1].
        votes: number of answers drawn per claim, at least 1. The first is greedy.
        split: whether sentences are split into simpler claims.

        Raises EvaluationError for invalid values, and the errors of the generator's fingerprint.
        """
        if not 0.0 < threshold <= 1.0:
            raise EvaluationError(f"the judge's threshold is {threshold}: it must be above 0 and at most 1")
        if votes < 1:
            raise EvaluationError(f"the judge has {votes} votes: at least 1 is needed")
        self._generator, self._evidence, self._votes = generator, evidence, votes
        model = f"{generator.name[-60:]}/{generator.fingerprint[:12]}"
        name = f"judge/{VERSION} {model} votes={votes} >={threshold:g} {evidence.name}{split_name(split)}"
        super().__init__(name, threshold, split)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Return one verdict per claim of every item (see ``Verifier.verify``).

        If the generator fails, the claim is unscored. Raises the errors of the search for evidence.
        """
        all_requests = requests_of(items)
        requests = distinct_requests(all_requests)
        evidence = self._evidence.evidence_for(requests) if requests else ()
        found = dict(zip(requests, self._ask(requests, evidence), strict=True))
        return align_verdicts(items, all_requests, found, self._verdict)

    def _ask(
        self, requests: Sequence[ClaimRequest], evidence: Sequence[tuple[EvidenceText, ...]]
    ) -> list[_ClaimResult]:
        """Return the generator's answers to all requests, from one call; from single calls if that call fails."""
        prompts = [self._prompt(r, texts) if texts else None for r, texts in zip(requests, evidence, strict=True)]
        tasks = [
            task
            for request, prompt in zip(requests, prompts, strict=True)
            if isinstance(prompt, Prompt)
            for task in self._tasks(request, prompt)
        ]
        drawn = self._drawn(tasks)
        results, position = [], 0
        for prompt in prompts:
            if isinstance(prompt, Prompt):
                results_of_claim = drawn[position : position + self._rounds]
                position += self._rounds
                results.append(_result_of(prompt, results_of_claim))
            else:
                results.append(_ClaimResult(None, prompt or "", (), prompt is None))
        return results

    @property
    def _rounds(self) -> int:
        return 1 if self._votes == 1 else 2

    def _prompt(self, request: ClaimRequest, texts: Sequence[EvidenceText]) -> Prompt | str:
        """Return the prompt, or the reason why it cannot be built."""
        chunks = [
            RetrievedChunk(Chunk(t.document_id, t.start, t.start + len(text), text, t.title), 1.0, rank)
            for rank, t in enumerate(texts, start=1)
            if (text := t.text[:_CHUNK_CHARACTERS])
        ]
        try:
            return self._generator.prompt(_question(request), chunks, _MAX_TOKENS)
        except GenerationError as error:
            return f"{FAILED}: {error}"

    def _tasks(self, request: ClaimRequest, prompt: Prompt) -> list[GenerationTask]:
        """Return the tasks of a claim: a greedy answer, and the other votes at temperature 1.

        The seeds are derived from the claim.
        """
        greedy = GenerationTask(prompt, SamplingParams(max_tokens=_MAX_TOKENS), (0,))
        if self._votes == 1:
            return [greedy]
        digest = hashlib.sha256(f"{request.question.text}\0{request.claim}".encode("utf-8", "replace")).digest()
        first = int.from_bytes(digest[:4]) % 2**31
        seeds = tuple((first + n) % 2**31 for n in range(self._votes - 1))
        return [greedy, GenerationTask(prompt, SamplingParams(temperature=1.0, max_tokens=_MAX_TOKENS), seeds)]

    def _drawn(self, tasks: Sequence[GenerationTask]) -> list[tuple[Completion, ...] | str]:
        if not tasks:
            return []
        try:
            return list(generate_many(self._generator, tasks))
        except Exception:  # single calls show which requests fail
            return [self._one(task) for task in tasks]

    def _one(self, task: GenerationTask) -> tuple[Completion, ...] | str:
        try:
            return self._generator.generate(task.prompt, task.params, task.seeds)
        except Exception as error:
            return f"{FAILED}: {type(error).__name__}: {error}"[:500]

    def _verdict(self, claim: Claim, answered: _ClaimResult | None) -> Verdict:
        if answered is None:
            return no_claim_verdict(claim, self._name)
        if answered.no_evidence:
            return without_evidence(claim, self._name)
        if answered.support is None:
            return unscored(claim, answered.reason, self._name)
        return by_support(claim, answered.support, self._threshold, answered.reason, answered.evidence, self._name)


@dataclass(frozen=True, slots=True)
class _ClaimResult:
    """Result of a claim's votes. support: None if unscored, with the reason. evidence: passages shown to the model."""

    support: float | None
    reason: str
    evidence: tuple[Evidence, ...]
    no_evidence: bool = False


def _result_of(prompt: Prompt, drawn: Sequence[tuple[Completion, ...] | str]) -> _ClaimResult:
    failures = [part for part in drawn if isinstance(part, str)]
    if failures:
        return _ClaimResult(None, failures[0], ())
    completions = [c for part in drawn if not isinstance(part, str) for c in part]
    votes = count_votes(completions)
    support = support_of(votes)
    if support is None or not math.isfinite(support):
        unreadable = next((c.text for c in completions if not vote_of(c.text)), "")
        return _ClaimResult(None, f"the judge says neither yes nor no, but {unreadable.strip()[:80]!r}", ())
    kind = "by probability" if votes.probabilities is not None else "by votes"
    evidence = tuple(
        Evidence(
            p.retrieved.chunk.document_id, p.retrieved.chunk.start + p.start, p.retrieved.chunk.start + p.end, p.text
        )
        for p in prompt.chunks
    )
    return _ClaimResult(support, f"{votes.yes} yes, {votes.no} no, {votes.neither} neither, {kind}", evidence)


def _question(request: ClaimRequest) -> str:
    question = " ".join(request.question.text.split())
    head = (
        f'To the question "{question}" somebody answered: "{request.claim}" '
        if question
        else f'Claim: "{request.claim}" '
    )
    return head + "Do the passages say that this is so? Answer with one word, yes or no."
