"""Prepare the last message of a chat: rewrite it as a standalone question, or reply to it without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from app.answering.answer_parts import Answer, Timings
from app.answers import QueryResult
from app.pipeline import query_seed
from app.service.engine.generation_queue import GenerationQueue
from app.service.engine.live_query import LiveQuery, PendingQuery
from app.service.engine.preparation import Preparation
from app.service.engine.standalone import (
    REWRITTEN_TOKENS,
    SHOWN_EXCHANGES,
    ConversationTurn,
    read_rewritten,
    rewriting_task,
    standalone_by_rule,
)
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.errors import ContextLengthError
from generation.generator import GenerationTask, Generator
from generation.live import InstructedGenerator
from generation.prompt import Prompt


async def rewrite_as_standalone(query: PendingQuery, generator: Generator, generating: GenerationQueue) -> PendingQuery:
    """Return the query with a question that needs no context. Raises the errors of the generator."""
    if not query.history or query.reply:
        return query
    request = query.request
    question = standalone_by_rule(request.question, query.history)
    if isinstance(generator, InstructedGenerator):
        prompt = _rewriting_prompt(generator, request.question, query.history)
        if prompt is None:
            return replace(query, request=replace(request, question=question), original=request)
        params = SamplingParams(max_tokens=REWRITTEN_TOKENS, stop=("\n",))
        generation = generating.begin(generator, GenerationTask(prompt, params, (0,), query.caller.tenant))
        try:
            async for _ in generation:
                pass
            question = read_rewritten(generation.drawn.completions[0].text) or question
        finally:
            generation.close()
    return replace(query, request=replace(request, question=question), original=request)


def preparation(query: PendingQuery) -> Preparation:
    """Return the preparation of a query. A query with a fixed reply needs no retrieval."""
    request = query.request
    if query.reply:  # no retrieval, but the collection must exist (judged below)
        request = replace(request, retrieval=False)
    judged = query.verify or bool(query.reply and query.request.retrieval)
    return Preparation(request, query.caller.tenant, query.instructions, judged)


def _rewriting_prompt(generator: Generator, question: str, history: Sequence[ConversationTurn]) -> Prompt | None:
    """Return the rewriting prompt, with as many recent exchanges as fit into the model's context; None if none fits."""
    for first in range(max(0, len(history) - SHOWN_EXCHANGES), len(history)):
        try:
            return generator.prompt(rewriting_task(question, history[first:]), (), REWRITTEN_TOKENS)
        except ContextLengthError:
            continue
    return None


def replied(live: LiveQuery) -> QueryResult:
    """Return the result of a query with a fixed reply."""
    params = live.query.request.params
    usage = Usage(0, 0)
    seeds = (query_seed(params.seed, sample) for sample in range(params.n))
    return QueryResult(
        id=live.id,
        request=live.query.shown,
        collection=live.prepared.searched.collection,
        generation=None,
        model=live.model,
        answers=tuple(Answer(Completion(live.query.reply, (), (), "stop", usage, seed)) for seed in seeds),
        sources=(),
        timings=Timings(0.0, 0.0, live.queued, perf_counter() - live.arrived),
    )
