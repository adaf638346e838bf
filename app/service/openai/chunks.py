"""Streams a chat completion as chunks in OpenAI's format."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from app.answering.answer_json import source_json
from app.answers import QueryResult
from app.service.engine.live_query import LiveQuery
from app.service.http.errors import error_body
from app.service.http.sse import event
from app.service.http.stream_errors import streamed_error
from app.service.openai.replies import (
    ChatHead,
    annotations_json,
    chat_usage_json,
    finish_json,
    logprobs_json,
    plumbline_json,
)
from generation.completion import TextDelta, ThoughtDelta
from generation.generator import Generator

_DONE = b"data: [DONE]\n\n"


async def chat_chunks(live: LiveQuery, head: ChatHead, generator: Generator, *, usage: bool) -> AsyncIterator[bytes]:
    """Yield the chunks of a chat completion.

    The first chunk has the sources. Chunks with text and reasoning follow. The last chunk with choices has citations,
    log-probabilities and verdicts. With policies, the first chunk says ``buffered``, and the last one has all text,
    with the sources again if a policy retrieved others.

    usage: whether a chunk with token counts follows.
    """
    fields = head.fields("chat.completion.chunk")
    whole_text = live.query.request.style != "short" or live.buffered
    nothing = {"usage": None} if usage else {}

    def chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
        return event({**fields, "choices": choices, **nothing, **more})

    samples = range(live.query.request.params.n)
    opening = {"role": "assistant", "content": ""}
    sources = [source_json(source) for source in live.sources]
    buffering = (
        {"plumbline": {"buffered": True, "policy": list(live.settled.plan.names)}}
        if live.buffered and live.settled
        else {}
    )
    yield chunk([_choice(sample, opening) for sample in samples], sources=sources, **buffering)
    last: QueryResult | None = None
    try:
        async for item in live:
            if isinstance(item, TextDelta):
                yield chunk([_choice(item.sample, {"content": item.text})])
                continue
            if isinstance(item, ThoughtDelta):
                yield chunk([_choice(item.sample, {"reasoning_content": item.text})])
                continue
            last = item
        if last is None:
            raise AssertionError("a query ended without a result")
    except Exception as error:  # The status has been sent: the stream ends with an error event.
        api_error = streamed_error(error)
        yield event(error_body(api_error.status, api_error.message, api_error.code, api_error.param))
        return
    choices = []
    for sample, answer in enumerate(last.answers):
        delta: dict[str, Any] = {"content": answer.text} if whole_text else {}
        if live.buffered and answer.completion.thought:
            delta["reasoning_content"] = answer.completion.thought
        delta["annotations"] = annotations_json(answer, last)
        choice = _choice(sample, delta, finish_json(answer.completion))
        if head.logprobs:
            choice["logprobs"] = logprobs_json(answer.completion, generator)
        choices.append(choice)
    again = {} if last.sources == live.sources else {"sources": [source_json(source) for source in last.sources]}
    yield chunk(choices, plumbline=plumbline_json(head, last, live.query.request.question), **again)
    if usage:
        yield chunk([], usage=chat_usage_json(last))
    yield _DONE


def _choice(index: int, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
