"""Convert traces to answers: Langfuse's exports, OpenTelemetry spans (OTLP, Phoenix, TruLens 2), LangSmith runs.

All spans of a trace give one answer. Question and answer come from its root span, or else from its last generation, and
contexts from its retrieval spans. Questions are extracted as in ``questions import``. The attribute names are those of
OpenInference (input.value, output.value, retrieval.documents.N.document.content), OpenTelemetry's generative-AI
conventions (gen_ai.input.messages, gen_ai.output.messages, gen_ai.retrieval.documents) and TruLens
(ai.observability.*).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from data.answer_shapes.texts import answer_of, contexts_in, parsed, passages_of
from data.question_logs.shapes import flat_attributes, is_root, question_in, records_in
from data.rows import LeftOut, Row

NO_ANSWER: Final = "a trace without an answer"
NO_QUESTION: Final = "a trace without a question"
_EXPORTS: Final = ("data", "traces", "spans", "runs", "records", "events")
_TRACE_IDS: Final = ("traceId", "trace_id", "context.trace_id")
_INTERNAL: Final = re.compile(r"attributes\.|openinference\.|gen_ai\.|ai\.observability\.|llm\.|langfuse\.")
_DOCUMENT: Final = re.compile(r"(?:retrieval|reranker)\.(?:output_)?documents\.(\d+)\.document\.content")
_OUTPUT: Final = re.compile(r"(?:gen_ai\.completion|llm\.output_messages)\.(\d+)\.(?:message\.)?content")
_PASSAGE_ATTRIBUTES: Final = (
    *("retrieval.documents", "gen_ai.retrieval.documents", "ai.observability.retrieval.retrieved_contexts"),
    *("traceloop.entity.output",),
)
_ANSWER_ATTRIBUTES: Final = (
    *("output.value", "gen_ai.output.messages", "llm.output_messages", "ai.observability.record_root.output"),
    *("langfuse.trace.output", "langfuse.observation.output", "traceloop.entity.output"),
)
_PLUMBLINE: Final = {
    "plumbline.arm": "arm",
    "plumbline.question.id": "group",
    "plumbline.question.kind": "kind",
    "plumbline.question.references": "references",
}
"""Attributes of Plumbline's own exports (evaluation/exports/otlp.py)."""
_SPAN_ID: Final = re.compile(r"[0-9a-fA-F]{16}")
_RETRIEVES: Final = re.compile(r"retriev|rerank|vector_?store|similarity_search|search_documents", re.IGNORECASE)
_GENERATES: Final = re.compile(r"generation|llm|chat|completion", re.IGNORECASE)


def is_trace(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a span, an observation, a run or a complete trace of a tracing tool."""
    if isinstance(row.get("resourceSpans"), list) or isinstance(row.get("observations"), list):
        return True
    if exported(row) is not None:
        return True
    if _trace_id(row) and ("attributes" in row or any(_INTERNAL.match(str(name)) for name in row)):
        return True
    if "run_type" in row and "inputs" in row:
        return True
    langfuse = "parentObservationId" in row or "parent_observation_id" in row or "htmlPath" in row
    return langfuse or ("traceId" in row and "startTime" in row and "output" in row)


def trace_rows(rows: Iterable[Row], name: str) -> Iterator[Row | LeftOut]:
    """Yield an answer for each trace, in order of first appearance.

    A trace without a question or an answer gives a LeftOut. An answer without retrieved passages has no contexts. name:
    name of the file, for messages.
    """
    traces: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        for record in _spans(row.fields):
            traces.setdefault(_trace_id(record) or f"#{len(traces)}", []).append(record)
    for number, (trace, records) in enumerate(traces.items(), start=1):
        where = f"{name}, trace {number if trace.startswith('#') else trace}"
        fields = _trace_answer(records)
        if not fields.get("answer"):
            yield LeftOut(where, NO_ANSWER)
        elif not fields.get("question"):
            yield LeftOut(where, NO_QUESTION)
        else:
            yield Row(number, where, fields | ({} if trace.startswith("#") else {"id": trace}))


def _spans(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the spans of a row, including the trace itself."""
    listed = exported(document)
    if listed is not None:
        for item in listed:
            if isinstance(item, Mapping):
                yield from _spans(item)
    elif isinstance(document.get("resourceSpans"), list):
        for span in records_in(dict(document)):
            yield _with_attributes(span)
    elif isinstance(document.get("observations"), list):
        trace_object = document.get("trace")
        trace = (
            trace_object
            if isinstance(trace_object, Mapping)
            else {k: v for k, v in document.items() if k != "observations"}
        )
        identity = {"traceId": trace.get("id")}
        yield {**trace, **identity}
        for item in document["observations"]:
            if isinstance(item, Mapping):
                yield {"parentObservationId": trace.get("id"), **_without_none(item), **identity}
    else:
        yield _with_attributes(document)


def exported(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the list of traces, spans or runs in an export, None if the document is not an export."""
    for name in _EXPORTS:
        items = document.get(name)
        if isinstance(items, list) and items and isinstance(items[0], Mapping) and is_trace(items[0]):
            return items
    return None


def _without_none(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if value is not None}


def _with_attributes(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the span with its attributes as a flat mapping.

    The attributes may be OTLP's list, nested objects or the columns of a data frame.
    """
    stated = parsed(record.get("attributes") or record.get("record_attributes"))
    if isinstance(stated, list):
        attributes = flat_attributes(stated)
    elif isinstance(stated, Mapping):
        attributes = _flatten(stated)
    else:
        columns = {str(k).removeprefix("attributes."): v for k, v in record.items() if _INTERNAL.match(str(k))}
        nested = {k: parsed(v) if "." not in k else v for k, v in columns.items()}  # "gen_ai": {...} of Phoenix
        attributes = _flatten(nested)
    attributes = {name: value for name, value in attributes.items() if value is not None}
    return {**record, "attributes": attributes} if attributes else record


def _flatten(value: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, inner in value.items():
        if isinstance(inner, Mapping) and depth < 4 and name != "value":
            found |= _flatten(inner, f"{prefix}{name}.", depth + 1)
        else:
            found[f"{prefix}{name}"] = inner
    return found


def _trace_id(record: Mapping[str, Any]) -> str:
    context = record.get("context")
    inner = context.get("trace_id") if isinstance(context, Mapping) else None
    return next((str(v) for v in (*(record.get(name) for name in _TRACE_IDS), inner) if v not in (None, "")), "")


def _attributes(record: Mapping[str, Any]) -> Mapping[str, Any]:
    found = record.get("attributes")
    return found if isinstance(found, Mapping) else {}


def _span_id(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the first valid span ID (16 hexadecimal digits), "" if there is none."""
    for record in records:
        context = record.get("context")
        inner = context.get("span_id") if isinstance(context, Mapping) else None
        for value in (*(record.get(name) for name in ("spanId", "span_id", "context.span_id", "id")), inner):
            if isinstance(value, str) and _SPAN_ID.fullmatch(value):
                return value
    return ""


def _trace_answer(records: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of the answer of a trace."""
    ordered = sorted(records, key=lambda record: (not is_root(record), _start_time(record)))
    roots = [record for record in ordered if is_root(record)] or ordered[:1]
    generations = [
        r for r in reversed(ordered) if _GENERATES.search(_kind_text(r)) and not _RETRIEVES.search(_kind_text(r))
    ]
    question = next((q for record in (*roots, *ordered) if (q := _span_question(record))), "")
    answer = next((a for record in (*roots, *generations) if (a := _span_answer(record))), "")
    contexts: list[str] = [text for record in ordered for text in _passages(record)]
    if not contexts:
        named = [contexts_in(part) for record in roots for part in _context_values(record)]
        contexts = next((found for found in named if found), contexts)
    fields: dict[str, Any] = {"question": question, "answer": answer, "contexts": list(dict.fromkeys(contexts))}
    metadata = next((found for record in roots if isinstance(found := parsed(record.get("metadata")), Mapping)), {})
    for name in ("references", "reference", "ground_truth", "expected_output", "arm"):
        if metadata.get(name):
            fields["arm" if name == "arm" else "references"] = metadata[name]
    truth = next(
        (t for r in roots if (t := _attributes(r).get("ai.observability.record_root.ground_truth_output"))), None
    )
    fields |= {"references": truth} if truth and "references" not in fields else {}
    attributes = _attributes(roots[0])
    fields |= {part: attributes[name] for name, part in _PLUMBLINE.items() if attributes.get(name)}
    return fields | {"trace_id": _trace_id(roots[0]), "span_id": _span_id((*roots, *ordered))}


def _span_question(record: Mapping[str, Any]) -> str:
    named = _attributes(record).get("ai.observability.record_root.input")
    return named if isinstance(named, str) else question_in(record) or ""


def _start_time(record: Mapping[str, Any]) -> str:
    names = ("startTimeUnixNano", "startTime", "start_time", "start_timestamp", "timestamp")
    return next((str(record[name]) for name in names if record.get(name) is not None), "")


def _kind_text(record: Mapping[str, Any]) -> str:
    """Return the kind, operation, type and name of a span, joined, as its tool recorded them."""
    attributes = _attributes(record)
    names = ("openinference.span.kind", "gen_ai.operation.name", "ai.observability.span_type")
    kinds = [attributes.get(name) for name in names]
    stated = [*kinds, record.get("span_kind"), record.get("type"), record.get("run_type"), record.get("name")]
    return " ".join(str(word) for word in stated if isinstance(word, str))


def _passages(record: Mapping[str, Any]) -> list[str]:
    """Return the passages that a retrieval span returned."""
    attributes = _attributes(record)
    numbered = sorted(
        (int(match[1]), value) for name, value in attributes.items() if (match := _DOCUMENT.fullmatch(str(name)))
    )
    if numbered:
        return [value for _, value in numbered if isinstance(value, str) and value.strip()]
    retrieves = bool(_RETRIEVES.search(_kind_text(record)))
    for name in _PASSAGE_ATTRIBUTES if retrieves else _PASSAGE_ATTRIBUTES[:3]:
        if found := passages_of(attributes.get(name)):
            return found
    if not retrieves:
        return []
    outputs = (record.get("output"), record.get("outputs"), attributes.get("output.value"))
    return next((found for output in outputs if (found := passages_of(output))), [])


def _span_answer(record: Mapping[str, Any]) -> str:
    """Return the answer of a span, "" if there is none."""
    attributes = _attributes(record)
    for value in (record.get("output"), record.get("outputs"), *(attributes.get(name) for name in _ANSWER_ATTRIBUTES)):
        if found := answer_of(value):
            return found
    numbered = sorted((int(m[1]), value) for name, value in attributes.items() if (m := _OUTPUT.fullmatch(str(name))))
    return next((value for _, value in reversed(numbered) if isinstance(value, str) and value.strip()), "")


def _context_values(record: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the values in which a root span may contain its contexts."""
    attributes = _attributes(record)
    return (
        *(record.get(name) for name in ("output", "outputs", "input", "inputs", "metadata")),
        *(attributes.get(name) for name in ("output.value", "input.value", "metadata")),
    )
