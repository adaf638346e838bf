"""Convert TruLens' records: ``get_records_and_feedback()[0]`` as CSV, JSON or Parquet, and records as JSON.

The record's JSON (``record_json``) contains the calls of the app. Contexts are the return values of retrieval calls, or
else the context arguments of feedback functions (the columns ``..._calls``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from data.answer_shapes.texts import answer_of, parsed, passages_of
from data.written_lists import written_list

_RETRIEVES: Final = re.compile(r"retriev|relevant_documents|similarity_search|fetch_contexts?|get_contexts?", re.I)
_SOURCES: Final = ("source", "contexts", "context", "retrieved_contexts")
_REFERENCES: Final = ("ground_truth", "ground_truth_output", "expected_response", "expected_output")


def is_record(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a record of TruLens."""
    return "record_id" in row and ("record_json" in row or "main_input" in row or ("app_id" in row and "input" in row))


def answer_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record."""
    inner = parsed(row.get("record_json"))
    record: Mapping[str, Any] = inner if isinstance(inner, Mapping) else {}
    question_value = _first_value(row, record, ("input", "main_input"))
    answer_value = _first_value(row, record, ("output", "main_output"))
    question = parsed(question_value)
    fields: dict[str, Any] = {
        "id": str(row["record_id"]),
        "question": question if isinstance(question, str) else answer_of(question_value) or "",
        "answer": answer_of(answer_value) or "",
        "contexts": _contexts(row, record),
        "arm": _app_name(row),
    }
    reference = next((row[name] for name in _REFERENCES if row.get(name)), None)
    return fields | ({"references": parsed(reference)} if reference is not None else {})


def _first_value(row: Mapping[str, Any], record: Mapping[str, Any], names: tuple[str, ...]) -> object:
    return next((value for source in (row, record) for name in names if (value := source.get(name)) is not None), None)


def _app_name(row: Mapping[str, Any]) -> str:
    name, version = row.get("app_name"), row.get("app_version")
    if isinstance(name, str) and name:
        return f"{name} {version}" if isinstance(version, str) and version else name
    return str(row.get("app_id") or "")


def _contexts(row: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
    calls = record.get("calls", row.get("calls"))
    found = [text for call in calls for text in _returned_passages(call)] if isinstance(calls, list) else []
    return list(dict.fromkeys(found or [text for given in _context_arguments(row) for text in passages_of(given)]))


def _returned_passages(call: object) -> list[str]:
    """Return the passages that a call returned, empty if its method does not retrieve."""
    if not isinstance(call, Mapping):
        return []
    stack = call.get("stack")
    last = stack[-1] if isinstance(stack, list) and stack else None
    method = last.get("method") if isinstance(last, Mapping) else None
    name = method.get("name") if isinstance(method, Mapping) else method
    return passages_of(call.get("rets")) if isinstance(name, str) and _RETRIEVES.search(name) else []


def _context_arguments(row: Mapping[str, Any]) -> Iterator[object]:
    """Yield the contexts that were passed to feedback functions."""
    for name, value in row.items():
        if not name.endswith("_calls"):
            continue
        calls = parsed(value)
        if isinstance(calls, str):
            calls = written_list(calls)
        for call in calls if isinstance(calls, list) else ():
            given = call.get("args") if isinstance(call, Mapping) else None
            if isinstance(given, Mapping):
                yield next((given[key] for key in _SOURCES if given.get(key)), None)
