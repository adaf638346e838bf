"""Judged responses in OpenTelemetry's protocol (OTLP 1.x, JSON encoding): spans with events, or events as log records.

Semantic conventions 1.38.0 for generative AI: the event ``gen_ai.evaluation.result`` with gen_ai.evaluation.name,
.score.value, .score.label and .explanation. A response that already belongs to a trace gets a child span (or a log
record with the IDs of its trace and span). Any other response gets a new span with its question, answer and passages,
which are also written under OpenInference's names. IDs are derived from the response, so every export has the same IDs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, Literal

from evaluation.exports.responses import JudgedResponse

SEMANTIC_CONVENTIONS: Final = "1.38.0"
SCHEMA_URL: Final = f"https://opentelemetry.io/schemas/{SEMANTIC_CONVENTIONS}"
EVENT: Final = "gen_ai.evaluation.result"
HALLUCINATED, SUPPORT = "plumbline.hallucinated", "plumbline.support"
Signal = Literal["traces", "logs"]
BATCH_SIZE: Final = 50
"""Number of responses in one document (one request)."""
_INTERNAL: Final = 1  # SpanKind
_INFO: Final = 9  # SeverityNumber
_MAX_EXPLANATION: Final = 2000  # of an explanation, in characters


def otlp_documents(
    responses: Iterable[JudgedResponse], signal: Signal, version: str, at_once: int = BATCH_SIZE
) -> Iterator[dict[str, Any]]:
    """Yield export requests, each with up to ``at_once`` responses. version: version of Plumbline."""
    iterator = iter(responses)
    while batch := list(islice(iterator, at_once)):
        resource = {"attributes": _attributes({"service.name": "plumbline", "service.version": version})}
        scope = {"name": "plumbline", "version": version}
        if signal == "traces":
            spans = [span for response in batch for span in _spans(response)]
            inner: dict[str, Any] = {"scopeSpans": [{"scope": scope, "spans": spans, "schemaUrl": SCHEMA_URL}]}
        else:
            records = [record for response in batch for record in _log_records(response)]
            inner = {"scopeLogs": [{"scope": scope, "logRecords": records, "schemaUrl": SCHEMA_URL}]}
        name = "resourceSpans" if signal == "traces" else "resourceLogs"
        yield {name: [{"resource": resource, **inner, "schemaUrl": SCHEMA_URL}]}


def evaluation_results(response: JudgedResponse) -> list[dict[str, Any]]:
    """Return the attributes of a response's events.

    plumbline.hallucinated: 1 or 0, with the outcome as label; without a value if the response is unscored, never 0.
    plumbline.support: support of the worst claim, in [0, 1]; present if a claim was scored.
    """
    evaluation = response.evaluation
    explanation = evaluation.reason or "; ".join(f"not supported: {text}" for text in response.unsupported)
    common = {"gen_ai.response.id": response.key[:32]} | (
        {"gen_ai.evaluation.explanation": explanation[:_MAX_EXPLANATION]} if explanation else {}
    )
    known = (
        {}
        if evaluation.outcome == "unscored"
        else {"gen_ai.evaluation.score.value": float(evaluation.outcome == "hallucinated")}
    )
    found: list[dict[str, Any]] = [
        {"gen_ai.evaluation.name": HALLUCINATED, "gen_ai.evaluation.score.label": evaluation.outcome} | known | common
    ]
    if response.support is not None:
        found.append(
            {"gen_ai.evaluation.name": SUPPORT, "gen_ai.evaluation.score.value": float(response.support)} | common
        )
    return found


def _spans(response: JudgedResponse) -> Iterator[dict[str, Any]]:
    start = response.created
    events = [
        {"timeUnixNano": str(start + 1), "name": EVENT, "attributes": _attributes(attributes)}
        for attributes in evaluation_results(response)
    ]
    own = _plumbline_attributes(response)
    if response.trace_id:
        yield _span(response, "plumbline evaluation", response.key[:16], response.span_id, own, events)
        return
    messages = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "plumbline",
        "gen_ai.request.model": response.model or None,
        "gen_ai.response.id": response.key[:32],
        "gen_ai.input.messages": _message("user", response.question),
        "gen_ai.output.messages": _message("assistant", response.answer, response.finish_reason or "stop"),
        "gen_ai.usage.input_tokens": response.tokens[0] if response.tokens else None,
        "gen_ai.usage.output_tokens": response.tokens[1] if response.tokens else None,
        "openinference.span.kind": "CHAIN",
        "input.value": response.question,
        "output.value": response.answer,
    }
    name = f"chat {response.model}".strip()
    yield _span(response, name, response.key[:16], "", messages | own, events)
    if response.contexts:
        documents: dict[str, Any] = {"openinference.span.kind": "RETRIEVER"}
        for number, text in enumerate(response.contexts):
            documents[f"retrieval.documents.{number}.document.content"] = text
            if number < len(response.context_documents):
                documents[f"retrieval.documents.{number}.document.id"] = response.context_documents[number]
        yield _span(response, "retrieval", response.key[16:32], response.key[:16], documents, [])


def _plumbline_attributes(response: JudgedResponse) -> dict[str, Any]:
    """Return the attributes that Plumbline defines itself."""
    return {
        "plumbline.run.id": response.run or None,
        "plumbline.question.id": response.question_id,
        "plumbline.question.kind": response.kind or None,
        "plumbline.question.answerable": response.answerable,
        "plumbline.question.references": list(response.references) or None,
        "plumbline.arm": response.arm,
        "plumbline.decoding": response.decoding or None,
        "plumbline.sample": response.sample,
        "plumbline.verifier": response.verifier or None,
    }


def _span(
    response: JudgedResponse,
    name: str,
    span_id: str,
    parent: str,
    attributes: dict[str, Any],
    events: list[dict[str, Any]],
) -> dict[str, Any]:
    span: dict[str, Any] = {
        "traceId": response.trace_id or response.key[32:],
        "spanId": span_id,
        "name": name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(response.created),
        "endTimeUnixNano": str(response.created + 1),
        "attributes": _attributes(attributes),
    }
    return span | ({"parentSpanId": parent} if parent else {}) | ({"events": events} if events else {})


def _log_records(response: JudgedResponse) -> Iterator[dict[str, Any]]:
    for attributes in evaluation_results(response):
        yield {
            "timeUnixNano": str(response.created),
            "observedTimeUnixNano": str(response.created),
            "severityNumber": _INFO,
            "eventName": EVENT,
            "attributes": _attributes(attributes | _plumbline_attributes(response)),
            "traceId": response.trace_id or response.key[32:],
            "spanId": response.span_id or response.key[:16],
        }


def _message(role: str, text: str, finish_reason: str = "") -> str:
    message = {"role": role, "parts": [{"type": "text", "content": text}]}
    return json.dumps([message | ({"finish_reason": finish_reason} if finish_reason else {})], ensure_ascii=False)


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return OTLP's list of keys and typed values; None is left out."""
    return [{"key": key, "value": _typed(value)} for key, value in values.items() if value is not None]


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # protobuf's JSON writes 64-bit integers as strings
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_typed(item) for item in value]}}
    return {"stringValue": str(value)}
