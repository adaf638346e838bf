"""The events of a streamed query: sources, text, answers with citations, verdicts, then usage.

``sources`` once; ``text`` many times, {"sample", "text"}, whose texts joined by sample give the answers; ``answers``
once, as in the response of POST /v1/query; ``verdicts`` once if requested; ``done`` with usage and timings. Or
``error`` with the error object, in place of all remaining events.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from app.answers import QueryResult, answer_json, source_json, timings_json, usage_json, verdict_json
from app.service.engine.live_query import LiveQuery
from app.service.http.errors import error_body
from app.service.http.sse import event
from app.service.http.stream_errors import streamed_error
from generation.completion import TextDelta


async def query_events(live: LiveQuery) -> AsyncIterator[bytes]:
    """The events of a started query."""
    searched = live.prepared.searched
    head = {
        "id": live.id,
        "question": live.ask.shown.question,
        "collection": searched.collection,
        "generation": searched.generation,
        "search": searched.settings,
        "model": live.model,
        "sources": [source_json(source) for source in live.sources],
    }
    yield event(head, "sources")
    last: QueryResult | None = None
    try:
        async for item in live:
            if isinstance(item, TextDelta):
                yield event({"sample": item.sample, "text": item.text}, "text")
            elif last is None:
                for chunk in _answered(live, item):
                    yield chunk
                last = item
            else:
                last = item
                yield event({"answers": [_judged(item, sample) for sample in range(len(item.answers))]}, "verdicts")
    except Exception as error:
        found = streamed_error(error)
        yield event(error_body(found.status, found.message, found.code, found.param), "error")
        return
    if last is None:
        raise AssertionError("a query ended without a result")
    yield event({"id": live.id, "usage": usage_json(last), "timings": timings_json(last.timings)}, "done")


def _answered(live: LiveQuery, result: QueryResult) -> list[bytes]:
    """The answers event, preceded by their texts if these were not streamed."""
    held = live.ask.request.style != "short"
    texts = [
        event({"sample": sample, "text": answer.text}, "text")
        for sample, answer in enumerate(result.answers)
        if held and answer.text
    ]
    return [*texts, event({"answers": [answer_json(answer, result.sources) for answer in result.answers]}, "answers")]


def _judged(result: QueryResult, sample: int) -> dict[str, object]:
    evaluation = result.answers[sample].evaluation
    verdicts = [] if evaluation is None else [verdict_json(verdict) for verdict in evaluation.verdicts]
    return {"sample": sample, "outcome": None if evaluation is None else evaluation.outcome, "verdicts": verdicts}
