"""Extract the question of a log record: OpenAI requests, Langfuse, OpenTelemetry (Phoenix) spans, LangSmith runs.

The field names are those of OpenAI's chat and batch formats, Langfuse's trace export (input), OpenInference
(input.value, llm.input_messages), OpenTelemetry's generative-AI conventions (gen_ai.input.messages,
gen_ai.prompt.N.content), and LangSmith's run export (inputs).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_DIRECT: Final = ("question", "query", "user_input", "prompt", "input", "inputs", "text", "content", "human_input")
_NESTED: Final = ("request", "body", "payload", "input", "inputs", "kwargs", "trace")
_PARENTS: Final = ("parent_run_id", "parentObservationId", "parentSpanId", "parent_id", "parent_span_id")
_LISTS: Final = ("data", "traces", "runs", "spans", "observations", "records", "logs", "examples")
_PROMPT: Final = re.compile(r"(?:gen_ai\.prompt|llm\.input_messages)\.(\d+)\.(?:message\.)?(role|content)")
_MAX_DEPTH: Final = 6


def records_in(document: object) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a JSON document.

    The records are the items of a list, of a list inside an export, or of OTLP's resourceSpans. Any other object is
    itself a record.
    """
    if isinstance(document, list):
        for item in document:
            yield from records_in(item)
        return
    if not isinstance(document, dict):
        return
    if isinstance(document.get("resourceSpans"), list):
        yield from _otlp_spans(document["resourceSpans"])
        return
    listed = next((document[name] for name in _LISTS if isinstance(document.get(name), list)), None)
    if listed is not None and question_in(document) is None:
        yield from records_in(listed)
        return
    yield document


def is_root(record: Mapping[str, Any]) -> bool:
    """Return whether a record is not a child of another span or run. A child repeats its parent's question."""
    return not any(record.get(name) not in (None, "", "0000000000000000") for name in _PARENTS)


def question_in(record: Mapping[str, Any]) -> str | None:
    """Return the user's question, or None if the record has none."""
    return _find_question(record, 0)


def _find_question(value: object, depth: int) -> str | None:
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, str):
        return _question_in_text(value, depth)
    if isinstance(value, list):
        return _last_user_message(value)
    if not isinstance(value, dict):
        return None
    for name in ("messages", "gen_ai.input.messages", "input_messages"):
        if (text := _messages_field(value.get(name))) is not None:
            return text
    attributes = value.get("attributes")
    if isinstance(attributes, list):
        attributes = flat_attributes(attributes)
    if isinstance(attributes, dict) and (text := _question_in_attributes(attributes, depth)) is not None:
        return text
    for name in _DIRECT:
        if (
            isinstance(inner_value := value.get(name), str)
            and (text := _question_in_text(inner_value, depth)) is not None
        ):
            return text
    for name in _NESTED:
        if (
            isinstance(inner_value := value.get(name), dict | list)
            and (text := _find_question(inner_value, depth + 1)) is not None
        ):
            return text
    return None


def _question_in_text(text: str, depth: int) -> str | None:
    """Return the text, or the question inside it if it is a JSON document."""
    stripped = text.strip()
    if stripped[:1] in "{[" and stripped:
        try:
            return _find_question(json.loads(stripped), depth + 1)
        except (ValueError, RecursionError):
            return stripped or None
    return stripped or None


def _messages_field(value: object) -> str | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return _last_user_message(value) if isinstance(value, list) else None


def _last_user_message(messages: list[Any]) -> str | None:
    """Return the text of the last user message."""
    for message in reversed(messages):
        if isinstance(message, list):  # LangChain has a list of messages for each prompt of a batch
            return _last_user_message(message)
        if not isinstance(message, dict):
            continue
        inner = message.get("kwargs") if isinstance(message.get("kwargs"), dict) else message.get("message")
        content = inner if isinstance(inner, dict) else message
        role = str(
            message.get("role") or content.get("role") or content.get("type") or message.get("type") or ""
        ).lower()
        names = message.get("id")
        human = isinstance(names, list) and "HumanMessage" in names
        if role in ("user", "human") or human:
            return _message_text(content.get("content", content.get("parts")))
    return None


def _message_text(content: object) -> str | None:
    if isinstance(content, str):
        return content.strip() or None
    if isinstance(content, list):
        parts = [
            p if isinstance(p, str) else p.get("text") or p.get("content") for p in content if isinstance(p, str | dict)
        ]
        return "\n".join(p for p in parts if isinstance(p, str)).strip() or None
    return None


def _question_in_attributes(attributes: Mapping[str, Any], depth: int) -> str | None:
    for name in ("gen_ai.input.messages", "llm.input_messages"):
        if (text := _messages_field(attributes.get(name))) is not None:
            return text
    turns: dict[int, dict[str, str]] = {}
    for name, value in attributes.items():
        if (match := _PROMPT.fullmatch(str(name))) and isinstance(value, str):
            turns.setdefault(int(match[1]), {})[match[2]] = value
    for number in sorted(turns, reverse=True):
        if turns[number].get("role", "user") == "user" and turns[number].get("content", "").strip():
            return turns[number]["content"].strip()
    value = attributes.get("input.value")
    nested = attributes.get("input")
    if value is None and isinstance(nested, dict):
        value = nested.get("value")
    return _find_question(value, depth + 1) if isinstance(value, str | dict | list) else None


def _otlp_spans(resources: list[Any]) -> Iterator[dict[str, Any]]:
    for resource in resources:
        for scope in _list_field(resource, "scopeSpans"):
            for span in _list_field(scope, "spans"):
                if isinstance(span, dict):
                    yield span


def _list_field(value: object, name: str) -> list[Any]:
    field = value.get(name) if isinstance(value, dict) else None
    return field if isinstance(field, list) else []


def flat_attributes(attributes: list[Any]) -> dict[str, Any]:
    """Convert OTLP's list of keys and typed values to a mapping. Arrays become lists."""
    found: dict[str, Any] = {}
    for item in attributes:
        if isinstance(item, dict) and isinstance(item.get("value"), dict):
            found[str(item.get("key"))] = _untyped_value(item["value"], 0)
    return found


def _untyped_value(value: dict[str, Any], depth: int) -> Any:
    """Return the value inside an OTLP value such as {"stringValue": ...} or {"arrayValue": {"values": [...]}}."""
    kind, inner = next(iter(value.items()), ("", None))
    if kind == "arrayValue" and isinstance(inner, dict) and depth < _MAX_DEPTH:
        return [_untyped_value(item, depth + 1) for item in _list_field(inner, "values") if isinstance(item, dict)]
    return inner
