"""Answer queries concurrently, with admission, retrieval, generation and verification shared by all requests.

Each query runs in its own task and writes to a queue, so that a slow client delays only its own response.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from app.answering.answer_parts import Timings
from app.answers import QueryResult, query_result
from app.judging.verification import CheckedClaim
from app.pipeline import Pipeline, query_seed
from app.policies.judging import PolicyJudging
from app.service.engine.admission import Admission, Limits, Slot
from app.service.engine.background_writer import BackgroundWriter
from app.service.engine.batching import MicroBatcher
from app.service.engine.generation_queue import GenerationQueue
from app.service.engine.health import Health, not_ready
from app.service.engine.last_message import preparation, replied, rewrite_as_standalone
from app.service.engine.live_query import LiveQuery, PendingQuery
from app.service.engine.memory import memory_left
from app.service.engine.policies import PolicyService, checked_plan
from app.service.engine.preparation import Preparation, PreparedQuery, QueryPreparer
from app.service.engine.verification import CheckRequest, JudgeRequest, VerificationService
from app.service.http.access import Caller
from app.service.http.errors import ApiError
from app.service.http.problems import late, problem, raise_problem
from app.service.observability.logs import LOGGER, log_event
from app.service.observability.metrics import Metrics
from app.watching.drawing import drawn_audit
from data.columns import utc_now
from evaluation.audits.audit import Audit
from evaluation.audits.audit_store import AuditStore
from evaluation.outcomes import AnswerEvaluation, outcome_of
from generation.completion import TextDelta
from generation.generator import GenerationTask
from generation.live import FinishedRequest
from retrieval.collections import CollectionInfo, list_collections

_GRACE_S = 2.0
"""Seconds after its deadline at which a generator without deadline support is abandoned."""
_MEBIBYTE = 1 << 20


class QueryService:
    """The query engine of one pipeline, with one admission queue. Create and close it in the event loop that it serves.

    spend: called with the caller and the number of tokens used. log_text: whether questions and answers are logged.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        health: Health,
        *,
        metrics: Metrics | None = None,
        spend: Callable[[Caller, int], None] = lambda caller, tokens: None,
        log_text: bool = False,
    ) -> None:
        self.pipeline = pipeline
        self.health = health
        self.metrics = metrics = metrics or Metrics()
        settings = pipeline.settings
        limits = Limits(settings.max_active, settings.max_queue, settings.min_free_memory_mb * _MEBIBYTE)
        self.admission = Admission(limits, memory_left)
        self._spend, self._log_text = spend, log_text
        self._generating = GenerationQueue()
        self._keeping: BackgroundWriter[tuple[QueryResult, str | None]] = BackgroundWriter(
            lambda batch: pipeline.keep([result for result, _ in batch], [stored for _, stored in batch]),
            "queries",
            lambda size: metrics.batch("storing", size),
        )
        self._auditing: BackgroundWriter[Audit] = BackgroundWriter(
            lambda batch: AuditStore(pipeline.store).add(batch, utc_now()), "audits"
        )
        self._preparing: MicroBatcher[Preparation, PreparedQuery] = MicroBatcher(
            QueryPreparer(pipeline), name="retrieval", seen=lambda size: metrics.batch("retrieval", size)
        )
        verifying = VerificationService(pipeline)
        self._judging: MicroBatcher[JudgeRequest, tuple[AnswerEvaluation, ...]] = MicroBatcher(
            verifying.judge, name="judging", seen=lambda size: metrics.batch("verification", size)
        )
        self._checking: MicroBatcher[CheckRequest, tuple[CheckedClaim, ...]] = MicroBatcher(
            verifying.check, name="checking", seen=lambda size: metrics.batch("checking", size)
        )
        self._policy_judging: MicroBatcher[PolicyJudging, tuple[AnswerEvaluation, ...]] = MicroBatcher(
            verifying.judge_for_policies, name="policies", seen=lambda size: metrics.batch("policies", size)
        )
        self._policing = PolicyService(pipeline, verifying, self._policy_judging, self._generating)
        self._log = logging.getLogger(LOGGER)

    async def begin(self, query: PendingQuery) -> LiveQuery:
        """Admit the query, retrieve, and start generation. The caller reads the result to its end or cancels it.

        Raises ApiError: 404 and 422 for an invalid request, 409 for a rate that no certificate guarantees, 429 if the
        queue is full, 503 if a resource is not ready, memory is short, the server is stopping, or the deadline passes
        first.
        """
        if not self.health.parts.all_open:
            raise not_ready()
        self._check_limits(query)
        plan = checked_plan(query)
        settings = self.pipeline.settings
        arrived = perf_counter()
        deadline = asyncio.get_running_loop().time() + min(
            query.deadline_s or settings.max_request_s, settings.max_request_s
        )
        slot: Slot | None = None
        try:
            async with asyncio.timeout_at(deadline):
                slot = await self.admission.enter()
                queued = perf_counter() - arrived
                query = await rewrite_as_standalone(query, self.pipeline.generator, self._generating)
                prepared = await self._preparing.do(preparation(query))
                settled = None if plan is None else await self._policing.settle(query, plan, prepared)
        except TimeoutError as error:
            _release(slot)
            raise late() from error
        except Exception as error:  # Every failure releases the slot and becomes an error object.
            _release(slot)
            raise_problem(error, self._log)
        except BaseException:
            _release(slot)
            raise
        live = LiveQuery(query, prepared, self.pipeline.generator.name, arrived, queued, settled)
        live.work(self._work(live, deadline), slot.release)
        return live

    async def answer(self, query: PendingQuery) -> QueryResult:
        """Run ``begin`` and return its result. Cancelling it cancels the query. Raises the ApiErrors of ``begin``."""
        live = await self.begin(query)
        try:
            return await live.result()
        finally:
            live.cancel()

    async def check(self, checking: CheckRequest) -> tuple[CheckedClaim, ...]:
        """Judge claims by the evidence that is given with them, batched with other requests. Raises ApiError 503."""
        try:
            return await self._checking.do(checking)
        except Exception as error:  # An error of the shared judge is returned to this request as an error object.
            raise_problem(error, self._log)

    def collections(self, tenant: str = "") -> tuple[CollectionInfo, ...]:
        """Return the tenant's collections, sorted by name. Raises ApiError 503 if the database does not respond."""
        try:
            return list_collections(self.pipeline.store, tenant)
        except Exception as error:  # Becomes an error object.
            raise_problem(error, self._log)

    async def close(self) -> None:
        """Store pending queries and stop the threads."""
        await self._keeping.close()
        await self._auditing.close()
        for batcher in (self._preparing, self._judging, self._checking, self._policy_judging):
            batcher.close()
        self._generating.close()

    def _check_limits(self, query: PendingQuery) -> None:
        settings, params = self.pipeline.settings, query.request.params
        most, given = settings.max_question_characters, len(query.request.question)
        if given > most:
            raise refused(f"question has {given} characters: this server accepts at most {most}", "question")
        if params.n > settings.max_samples:
            raise refused(f"n is {params.n}: this server generates at most {settings.max_samples} samples", "n")
        context = self.pipeline.generator.context_length
        if params.max_tokens >= context:
            raise refused(
                f"max_tokens is {params.max_tokens}: it must be less than the model's context of {context} tokens",
                "max_tokens",
            )
        allowed = query.caller.limits.max_tokens
        if allowed is not None and params.max_tokens > allowed:
            raise refused(f"max_tokens is {params.max_tokens}: this key may request at most {allowed}", "max_tokens")

    async def _work(self, live: LiveQuery, deadline: float) -> None:
        """Run everything after retrieval. Errors are passed to the reader of the query."""
        try:
            async with asyncio.timeout_at(deadline + _GRACE_S):
                result = await self._generated(live, deadline)
                if live.settled is not None:
                    result = await self._policing.apply(live, live.settled, result, deadline)
                live.answered(result)
                if live.query.verify:
                    result = await self._verified(live, result)
                    live.answered(result)
            self._count(live, result)
            live.ended()
        except TimeoutError:
            live.failed(late())
        except Exception as error:  # Becomes an error object.
            live.failed(problem(error, self._log))

    async def _generated(self, live: LiveQuery, deadline: float) -> QueryResult:
        query, request, prepared = live.query, live.query.request, live.prepared
        params = request.params
        if query.reply:
            for sample in range(params.n):
                live.emit(TextDelta(query.reply, sample))
            return replied(live)
        left = max(0.001, deadline - asyncio.get_running_loop().time())
        seeds = tuple(query_seed(params.seed, sample) for sample in range(params.n))
        task = GenerationTask(prepared.prompt, replace(params, deadline_seconds=left), seeds, query.caller.tenant)
        started = perf_counter()
        first: float | None = None
        generation = self._generating.begin(self.pipeline.generator, task)
        try:
            async for delta in generation:
                first = first or perf_counter() - live.arrived
                # Another style is produced from the complete answer; reasoning has no style.
                styled = request.style != "short" and isinstance(delta, TextDelta)
                if not styled and not live.buffered:
                    live.emit(delta)
            drawn: FinishedRequest = generation.drawn
        finally:
            generation.close()
        return query_result(
            live.id,
            request,
            prepared.prompt,
            drawn.completions,
            prepared.searched,
            Timings(prepared.retrieval_s, perf_counter() - started, live.queued, first),
            model=live.model,
            shared_tokens=drawn.shared_tokens,
            shown=query.shown,
        )

    async def _verified(self, live: LiveQuery, result: QueryResult) -> QueryResult:
        started = perf_counter()
        stored = live.prepared.judge
        if stored is None:
            raise AssertionError("a query that is to be judged was prepared without a judge")
        texts = tuple(answer.text for answer in result.answers)
        evaluations: tuple[AnswerEvaluation, ...]
        if live.query.reply:  # An answer without claims.
            evaluations = (outcome_of((), refused=False),) * len(texts)
        else:
            evaluations = await self._judging.do(JudgeRequest(live.query.request.question, texts, stored))
        self.metrics.judged(evaluations)
        judged = zip(result.answers, evaluations, strict=True)
        return replace(
            result,
            answers=tuple(replace(answer, evaluation=evaluation) for answer, evaluation in judged),
            timings=replace(result.timings, verification=perf_counter() - started),
        )

    def _count(self, live: LiveQuery, result: QueryResult) -> None:
        stored, rate = live.prepared.stored, self.pipeline.settings.audit_rate
        self._keeping.put((result, stored), f"query {result.id}")
        # a reply to a greeting is not an answer of the model
        audit = None if live.query.reply else drawn_audit(result, live.query.request.question, stored, rate)
        if audit is not None:
            self._auditing.put(audit, f"the audit of query {result.id}")
        self._spend(live.query.caller, result.prompt_tokens + result.completion_tokens)
        self.metrics.answered(result.prompt_tokens, result.shared_tokens, result.completion_tokens)
        timings = result.timings
        stages = {
            "queue": timings.queue,
            "retrieval": timings.retrieval if result.generation is not None else None,
            "first_token": timings.first_token,
            "generation": timings.generation,
            "verification": timings.verification,
            "total": perf_counter() - live.arrived,
        }
        for stage, seconds in stages.items():
            if seconds is not None:
                self.metrics.stage(stage, seconds)
        record = {"question": live.query.shown.question, "answers": [answer.text for answer in result.answers]}
        log_event(
            self._log,
            "query",
            f"query {result.id}{f' {json.dumps(record, ensure_ascii=False)}' if self._log_text else ''}",
            level=logging.INFO if self._log_text else logging.DEBUG,
            query_id=result.id,
            collection=result.collection,
            prompt_tokens=result.prompt_tokens,
            cached_tokens=result.shared_tokens,
            completion_tokens=result.completion_tokens,
            **{f"{stage}_s": seconds for stage, seconds in stages.items() if seconds is not None},
            **(record if self._log_text else {}),
        )


def refused(message: str, param: str) -> ApiError:
    """Return a 422 error for an invalid value."""
    return ApiError(422, message, code="invalid_value", param=param)


def _release(slot: Slot | None) -> None:
    if slot is not None:
        slot.release()
