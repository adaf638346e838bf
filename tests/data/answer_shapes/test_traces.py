"""Answers from traces of Langfuse, OTLP, Phoenix, TruLens 2 and LangSmith."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from data.answers import answers_from_rows, load_answers
from data.errors import DataError

ASKED, ANSWERED = "How long is the ferry crossing?", "It takes forty minutes."
PASSAGE, OTHER = "The crossing takes forty minutes.", "The fare is nine crowns."


def langfuse_trace(**fields: Any) -> dict[str, Any]:
    """Return a trace with a retriever span and a generation."""
    return {
        "id": "t1",
        "name": "ask",
        "input": {"question": ASKED},
        "output": {"answer": ANSWERED},
        "htmlPath": "/project/p/traces/t1",
        "observations": [
            {"id": "o1", "type": "RETRIEVER", "name": "search", "input": ASKED, "output": [{"page_content": PASSAGE}]},
            {
                "id": "o2",
                "type": "GENERATION",
                "name": "chat",
                "input": [{"role": "user", "content": f"{PASSAGE} {ASKED}"}],
                "output": {"role": "assistant", "content": ANSWERED},
            },
        ],
        **fields,
    }


def test_langfuse_traces_with_and_without_contexts(tmp_path: Path) -> None:
    bare = langfuse_trace(id="t2", observations=[])
    silent = langfuse_trace(id="t3", observations=[], output=None)
    path = tmp_path / "traces.json"
    path.write_text(json.dumps({"data": [langfuse_trace(), bare, silent], "meta": {"page": 1}}))
    file = load_answers([path])
    first, second = file.records
    assert (first.id, first.question, first.answer, first.contexts) == ("t1", ASKED, ANSWERED, (PASSAGE,))
    assert (second.id, second.contexts) == ("t2", ())
    assert any("1 left out" in note and "t3" in note for note in file.notes)


def test_langfuse_observations_of_the_export_are_grouped_by_trace(tmp_path: Path) -> None:
    def observation(trace: str, number: int, kind: str, parent: str | None, **fields: Any) -> dict[str, Any]:
        start = f"2026-03-01T10:00:0{number}Z"
        return {"id": f"{trace}{number}", "traceId": trace, "type": kind, "parentObservationId": parent} | {
            "startTime": start,
            **fields,
        }

    rows = [
        observation("b", 2, "RETRIEVER", "b1", name="retrieve", output=json.dumps([OTHER])),
        observation("a", 1, "SPAN", None, input=json.dumps({"query": ASKED}), output=json.dumps(ANSWERED)),
        observation("a", 2, "RETRIEVER", "a1", output=json.dumps({"documents": [{"content": PASSAGE}]})),
        observation("b", 1, "CHAIN", None, input="What is the fare?", output={"answer": "Nine crowns."}),
    ]
    path = tmp_path / "observations.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    records = {record.id: record for record in load_answers([path]).records}
    assert (records["a"].question, records["a"].answer, records["a"].contexts) == (ASKED, ANSWERED, (PASSAGE,))
    assert (records["b"].answer, records["b"].contexts) == ("Nine crowns.", (OTHER,))


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """Return spans in OTLP's JSON."""
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def span(number: int, parent: int | None, trace: str = "aa", **attributes: Any) -> dict[str, Any]:
    """Return a span with attributes. ``__`` in a name becomes a dot."""
    listed = []
    for name, value in attributes.items():
        typed = {"stringValue": value}
        if isinstance(value, list):
            typed = {"arrayValue": {"values": [{"stringValue": text} for text in value]}}
        listed.append({"key": name.replace("__", "."), "value": typed})
    return {
        "traceId": trace * 16,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": "step",
        "startTimeUnixNano": str(number),
        "attributes": listed,
    }


@pytest.mark.parametrize(
    "spans",
    [
        [
            span(1, None, input__value=ASKED, output__value=ANSWERED, openinference__span__kind="CHAIN"),
            span(
                2,
                1,
                openinference__span__kind="RETRIEVER",
                retrieval__documents__0__document__content=PASSAGE,
                retrieval__documents__1__document__content=OTHER,
            ),
        ],
        [
            span(1, None, http__route="/ask"),
            span(
                2,
                1,
                gen_ai__operation__name="retrieval",
                gen_ai__retrieval__documents=json.dumps([{"id": "d", "content": PASSAGE}, {"content": OTHER}]),
            ),
            span(
                3,
                1,
                gen_ai__operation__name="chat",
                gen_ai__input__messages=json.dumps(
                    [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}],
                ),
                gen_ai__output__messages=json.dumps(
                    [{"role": "assistant", "parts": [{"type": "text", "content": ANSWERED}], "finish_reason": "stop"}]
                ),
            ),
        ],
        [
            span(
                1,
                None,
                ai__observability__span_type="record_root",
                ai__observability__record_root__input=ASKED,
                ai__observability__record_root__output=ANSWERED,
            ),
            span(
                2,
                1,
                ai__observability__span_type="retrieval",
                ai__observability__retrieval__retrieved_contexts=[PASSAGE, OTHER],
            ),
        ],
    ],
    ids=["openinference", "gen_ai", "trulens"],
)
def test_otlp_spans_of_three_conventions(tmp_path: Path, spans: list[dict[str, Any]]) -> None:
    health = span(9, None, trace="bb", http__route="/health")
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(otlp(*spans, health)))
    file = load_answers([path])
    (record,) = file.records
    assert (record.question, record.answer, record.contexts) == (ASKED, ANSWERED, (PASSAGE, OTHER))
    assert any("left out" in note for note in file.notes)
    lines = tmp_path / "collector.jsonl"  # as the file exporter of a collector writes batches
    lines.write_text("\n".join(json.dumps(otlp(one)) for one in spans))
    assert [r.contexts for r in load_answers([lines]).records] == [(PASSAGE, OTHER)]


def test_phoenix_spans_of_a_data_frame() -> None:
    root = {
        "context.trace_id": "t",
        "context.span_id": "1",
        "parent_id": None,
        "span_kind": "CHAIN",
        "attributes.input.value": ASKED,
        "attributes.output.value": ANSWERED,
    }
    found = root | {
        "context.span_id": "2",
        "parent_id": "1",
        "span_kind": "RETRIEVER",
        "attributes.output.value": None,
        "attributes.retrieval.documents": [{"document.content": PASSAGE, "document.score": 0.5}],
    }
    (record,) = answers_from_rows([root, found]).records
    assert (record.question, record.answer, record.contexts) == (ASKED, ANSWERED, (PASSAGE,))


def test_phoenix_spans_as_its_client_writes_them(tmp_path: Path) -> None:
    """Columns contain objects, the index repeats a column, and cells are in Python's notation."""
    root = {
        "index": "1",
        "context.trace_id": "t",
        "context.span_id": "1",
        "parent_id": None,
        "attributes.input.value": json.dumps({"question": ASKED}),
        "attributes.output.value": ANSWERED,
        "attributes.plumbline": {"arm": "two", "question": {"references": ["40 minutes"]}},
        "attributes.retrieval.documents": None,
    }
    found = {**dict.fromkeys(root), "context.trace_id": "t", "context.span_id": "2", "parent_id": "1", "index": "2"}
    found |= {"attributes.openinference.span.kind": "RETRIEVER"}
    found |= {"attributes.retrieval.documents": [{"document.id": "d", "document.content": PASSAGE}]}
    root |= {"attributes.openinference.span.kind": "CHAIN"}
    header = ["context.span_id" if name == "index" else name for name in root]
    path = tmp_path / "spans.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for row in (root, found):
            writer.writerow(["" if value is None else value for value in row.values()])
    for records in (answers_from_rows([root, found]).records, load_answers([path]).records):
        (record,) = records
        assert (record.question, record.answer, record.contexts) == (ASKED, ANSWERED, (PASSAGE,))
        assert (record.arm, record.references) == ("two", ("40 minutes",))


def test_an_answer_of_a_citation_alone_is_an_answer() -> None:
    (record,) = answers_from_rows([langfuse_trace(output="[1]")]).records
    assert record.answer == "[1]"


def test_langsmith_runs() -> None:
    root = {"id": "1", "trace_id": "1", "parent_run_id": None, "run_type": "chain", "name": "rag"} | {
        "inputs": {"question": ASKED},
        "outputs": {"output": ANSWERED},
    }
    found = {"id": "2", "trace_id": "1", "parent_run_id": "1", "run_type": "retriever", "name": "Retriever"} | {
        "inputs": {"query": ASKED},
        "outputs": {"documents": [{"page_content": PASSAGE, "metadata": {}}]},
    }
    (record,) = answers_from_rows([found, root]).records
    assert (record.question, record.answer, record.contexts) == (ASKED, ANSWERED, (PASSAGE,))


def test_a_file_of_traces_without_any_answer_says_so(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(otlp(span(1, None, http__route="/health"))))
    with pytest.raises(DataError, match="without an answer"):
        load_answers([path])
