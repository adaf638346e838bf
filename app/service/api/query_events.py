"""The server-sent events of a streamed query: sources, text, answers with citations, verdicts, usage.

``sources``: sent once, and again before the text if a policy searched again. Its field ``buffered`` tells whether no
text is sent before the policies have ended. Its field ``policy`` lists the policies.
``thought``: sent repeatedly, {"sample", "text"}, by reasoning models. The texts of a sample concatenate to its thought.
``text``: sent repeatedly, {"sample", "text"}. The texts of a sample concatenate to its answer.
``answers``: sent once, in the format of POST /v1/query.
``policy``, ``verdicts``: sent once each if requested.
``done``: usage and timings.
``error``: the error object, in place of all remaining events.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from app.answering.answer_json import answer_json, source_json, timings_json, verdict_json
from app.answering.policy_json import policy_json
from app.answers import QueryResult, usage_json
from app.service.engine.live_query import LiveQuery
from app.service.http.errors import error_body
from app.service.http.sse import event
from app.service.http.stream_errors import streamed_error
from generation.completion import TextDelta, ThoughtDelta


async def query_events(live: LiveQuery) -> AsyncIterator[bytes]:
    """Yield the events of a query in progress."""
    searched = live.prepared.searched
    head = {
        "id": live.id,
        "question": live.query.shown.question,
        "collection": searched.collection,
        "generation": searched.generation,
        "search": searched.settings,
        "model": live.model,
        "sources": [source_json(source) for source in live.sources],
        "buffered": live.buffered,
        "policy": None if live.settled is None else list(live.settled.plan.names),
    }
    yield event(head, "sources")
    last: QueryResult | None = None
    try:
        async for item in live:
            if isinstance(item, TextDelta):
                yield event({"sample": item.sample, "text": item.text}, "text")
            elif isinstance(item, ThoughtDelta):
                yield event({"sample": item.sample, "text": item.text}, "thought")
            elif last is None:
                if item.sources != live.sources:  # A policy searched again.
                    yield event({**head, "sources": [source_json(source) for source in item.sources]}, "sources")
                for chunk in _answered(live, item):
                    yield chunk
                if item.policy is not None:
                    yield event(policy_json(item.policy), "policy")
                last = item
            else:
                last = item
                yield event({"answers": [_judged(item, sample) for sample in range(len(item.answers))]}, "verdicts")
    except Exception as error:  # The status has been sent: the stream ends with an error event.
        api_error = streamed_error(error)
        yield event(error_body(api_error.status, api_error.message, api_error.code, api_error.param), "error")
        return
    if last is None:
        raise AssertionError("a query ended without a result")
    yield event({"id": live.id, "usage": usage_json(last), "timings": timings_json(last.timings)}, "done")


def _answered(live: LiveQuery, result: QueryResult) -> list[bytes]:
    """Return the events of the answers. Reasoning and texts come first if they were held back until complete."""
    thoughts = [
        event({"sample": sample, "text": answer.completion.thought}, "thought")
        for sample, answer in enumerate(result.answers)
        if live.buffered and answer.completion.thought
    ]
    whole_text = live.query.request.style != "short" or live.buffered
    texts = [
        event({"sample": sample, "text": answer.text}, "text")
        for sample, answer in enumerate(result.answers)
        if whole_text and answer.text
    ]
    return [
        *thoughts,
        *texts,
        event({"answers": [answer_json(answer, result.sources) for answer in result.answers]}, "answers"),
    ]


def _judged(result: QueryResult, sample: int) -> dict[str, object]:
    evaluation = result.answers[sample].evaluation
    verdicts = [] if evaluation is None else [verdict_json(verdict) for verdict in evaluation.verdicts]
    return {"sample": sample, "outcome": None if evaluation is None else evaluation.outcome, "verdicts": verdicts}
