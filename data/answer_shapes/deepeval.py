"""Convert DeepEval's test runs: ``.latest_test_run.json`` and the files of DEEPEVAL_RESULTS_FOLDER.

Each test case is an answer. Its fields have the names of DeepEval's JSON (actualOutput, expectedOutput,
retrievalContext) or of its Python objects (actual_output, ...). Conversational test cases contain turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from data.answer_shapes.conversations import is_conversation, split_conversation

_LISTS: Final = (
    *("testCases", "conversationalTestCases", "test_cases", "conversational_test_cases"),
    *("test_results", "testResults"),
)
_RUNS: Final = ("testRunData", "test_run_data", "testRun")
_NAMES: Final = {
    "actualOutput": "answer",
    "actual_output": "answer",
    "expectedOutput": "references",
    "expected_output": "references",
    "retrievalContext": "contexts",
    "retrieval_context": "contexts",
    "input": "question",
}


def test_cases(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the fields of each test case of a test run, None if the document is not a test run."""
    run = next((document[name] for name in _RUNS if isinstance(document.get(name), Mapping)), document)
    lists = [run[name] for name in _LISTS if isinstance(run.get(name), list)]
    if not lists:
        return None
    return [answer_fields(case) if isinstance(case, Mapping) else case for cases in lists for case in cases]


def is_test_case(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a test case of DeepEval, with an answer or a conversation."""
    return (
        "actualOutput" in row
        or "retrievalContext" in row
        or ("actual_output" in row and "metrics_data" in row)
        or (is_conversation(row.get("turns")))
    )


def answer_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a test case.

    ``context`` (the ideal context) is used only if no retrieval context was recorded. The ID contains the test case's
    order in the run.
    """
    if is_conversation(row.get("turns")):
        fields = split_conversation(row, "turns")
    else:
        fields = {_NAMES[name]: value for name, value in row.items() if name in _NAMES and value is not None}
    fields.setdefault("answer", "")
    if not fields.get("contexts") and row.get("context"):
        fields["contexts"] = row["context"]
    kept = {name: row[name] for name in ("metadata", "arm", "model", "group") if row.get(name) is not None}
    order = row.get("order")
    label = {"id": f"{row.get('name', 'case')} {order}"} if isinstance(order, int) else {}
    parts = ("question", "answer", "contexts", "references")
    return {name: fields[name] for name in parts if name in fields} | kept | label
