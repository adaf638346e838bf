"""Policies of queries in progress: check the request before retrieval, find the certificate before generation, then
run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from app.answering.answer_parts import sources_of
from app.answers import QueryResult
from app.pipeline import Pipeline, query_seed
from app.policies.answering import correction_prompt, new_prompt, with_policy
from app.policies.certifying import NoCertificateError, ResolvedPolicy, resolve_policy
from app.policies.judging import PolicyJudging
from app.policies.policy_request import plan_of
from app.retrieval.chunk_locations import chunk_locations
from app.service.engine.batching import MicroBatcher
from app.service.engine.generation_queue import GenerationQueue
from app.service.engine.live_query import LiveQuery, PendingQuery
from app.service.engine.preparation import PreparedQuery
from app.service.engine.verification import VerificationService
from app.service.http.errors import ApiError
from evaluation.outcomes import AnswerEvaluation
from evaluation.policies.plan import PolicyError, PolicyPlan
from evaluation.policies.running import run_policies
from generation.completion import Completion
from generation.generator import GenerationTask
from generation.prompt import Prompt
from generation.style.restyling import apply_style

PolicyBatcher = MicroBatcher[PolicyJudging, tuple[AnswerEvaluation, ...]]
_REPLIED = "no policy ran: the reply to a greeting needs no model"


def checked_plan(query: PendingQuery) -> PolicyPlan | None:
    """Return the plan of a query; None if it requests no policy. Raises ApiError 422 for an invalid request."""
    if not query.policy.asked:
        return None
    request = query.request
    if query.reply and not request.retrieval:  # nothing is judged
        return PolicyPlan()
    try:
        return plan_of(query.policy, request)
    except PolicyError as error:
        raise ApiError(422, str(error), code="invalid_value", param=error.parameter) from error


class PolicyService:
    """The policies of the queries of one event loop. Blocking work runs in threads and batches."""

    def __init__(
        self, pipeline: Pipeline, verifying: VerificationService, judging: PolicyBatcher, generating: GenerationQueue
    ) -> None:
        self._pipeline, self._verifying, self._judging, self._generating = pipeline, verifying, judging, generating

    async def settle(self, query: PendingQuery, plan: PolicyPlan, prepared: PreparedQuery) -> ResolvedPolicy:
        """Return the plan with its verifier and, if a rate was requested, its certificate.

        Raises ApiError 409 if no valid certificate guarantees the requested rate. Raises 503 if a new index of the
        collection was published after the question's retrieval.
        """
        return await asyncio.to_thread(self._settled, query, plan, prepared)

    def _settled(self, query: PendingQuery, plan: PolicyPlan, prepared: PreparedQuery) -> ResolvedPolicy:
        if not plan.judges:
            return ResolvedPolicy(plan, "")
        request, stored = query.request, prepared.stored or prepared.judge
        if stored is None:
            raise AssertionError("a query with policies was prepared without a collection")
        search = self._pipeline.search(stored, request.mode, request.fusion)
        if prepared.searched.generation not in (None, search.retriever.generation_hash):
            raise ApiError(
                503,
                "a new index of the collection was published meanwhile: try again",
                code="collection_changed",
                retry_after=1,
            )
        judge = self._verifying.policy_judge()
        try:
            return resolve_policy(
                self._pipeline, judge, query.policy, plan, request, stored, search, query.instructions
            )
        except NoCertificateError as error:
            raise ApiError(409, str(error), code="no_certificate", param="max_hallucination_rate") from error

    async def apply(
        self, live: LiveQuery, settled: ResolvedPolicy, result: QueryResult, deadline: float
    ) -> QueryResult:
        """Return the result after the policies. Raises the errors of judging, searching and generating."""
        completions = [answer.completion for answer in result.answers]
        plan = PolicyPlan() if live.query.reply else settled.plan
        outcome = await run_policies(
            plan,
            live.query.request.question,
            live.prepared.prompt,
            completions,
            _Tools(self._pipeline, self._judging, self._generating, live, settled, deadline),
            verifier=settled.verifier,
            drawing_s=result.timings.generation,
        )
        if live.query.reply:
            outcome = replace(outcome, notes=(*outcome.notes, _REPLIED))
        final = with_policy(result, outcome, replace(settled, plan=plan), live.query.policy)
        if (prompt := new_prompt(outcome, live.prepared.prompt)) is not None:
            chunks = [c.retrieved.chunk for c in prompt.chunks] + [r.chunk for r in prompt.omitted]
            stored = live.prepared.stored or ""
            places = await asyncio.to_thread(chunk_locations, self._pipeline.store, stored, chunks)
            final = replace(final, sources=sources_of(prompt, places))
        if live.buffered:  # no text was sent yet
            final = replace(final, timings=replace(final.timings, first_token=perf_counter() - live.arrived))
        return final


@dataclass(frozen=True, slots=True)
class _Tools:
    """PolicyTools of one query in the service. deadline: time of the event loop's clock."""

    pipeline: Pipeline
    judging: PolicyBatcher
    generating: GenerationQueue
    live: LiveQuery
    settled: ResolvedPolicy
    deadline: float

    @property
    def longest(self) -> int:
        return self.live.query.request.params.max_tokens

    async def judge(self, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        return await self.judging.do(
            PolicyJudging(self.live.query.request.question, tuple(answers), self.settled.search)
        )

    async def search(self, query: str, earlier: Prompt) -> Prompt:
        return await asyncio.to_thread(self._found, query, earlier)

    def _found(self, query: str, earlier: Prompt) -> Prompt:
        pending, request = self.live.query, self.live.query.request
        search = self.pipeline.search(self.live.prepared.stored or "", request.mode, request.fusion)
        hits = search.retrieve(query, request.k)
        return correction_prompt(self.pipeline.generator, request, hits, earlier, pending.instructions)

    async def draw(self, prompt: Prompt, number: int) -> Completion:
        request = self.live.query.request
        params = request.params
        left = max(0.001, self.deadline - asyncio.get_running_loop().time())
        seed = query_seed(params.seed, params.n - 1 + number)
        task = GenerationTask(prompt, replace(params, deadline_seconds=left), (seed,), self.live.query.caller.tenant)
        generation = self.generating.begin(self.pipeline.generator, task)
        try:
            async for _ in generation:
                pass
            completion = generation.drawn.completions[0]
        finally:
            generation.close()
        return apply_style(completion, request.question, request.style)
